//! Identifies the bytes of a document.

use crate::hash;

/// Returns the value of `documents.content_hash` for these bytes: SHA-256, lower-case hex.
pub fn content_hash(bytes: &[u8]) -> String {
    hash::sha256(bytes)
}
