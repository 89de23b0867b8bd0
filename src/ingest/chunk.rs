//! Blocks in, chunks within the token budget out.
