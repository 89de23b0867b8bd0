//! Plain text in, one block per paragraph out.
