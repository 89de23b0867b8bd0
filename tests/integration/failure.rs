//! Bad input in, one clear line and the right status out; what was stored stays.
