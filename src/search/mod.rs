//! Query in, hits out.
