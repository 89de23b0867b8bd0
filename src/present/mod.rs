//! Results in, bytes out.
