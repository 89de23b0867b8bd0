//! Roots in, files out.
