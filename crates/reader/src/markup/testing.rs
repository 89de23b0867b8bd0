//! Compares the blocks of a document.

use crate::document::Document;

/// Returns the texts of the blocks.
pub(super) fn blocks(document: &Document) -> Vec<&str> {
    document.blocks.iter().map(|block| &document.text[block.bytes.clone()]).collect()
}

#[track_caller]
pub(super) fn check(extract: fn(&str) -> Document, text: &str, expected: &[&str]) {
    assert_eq!(blocks(&extract(text)), expected, "{text}");
}
