//! Runs a reader on bytes and returns what it reports, for tests.

use super::{Emit, Input, Stop};
use crate::extract::protocol::{Head, Line};

/// What stands at the head of a document, and the texts of its blocks.
pub(super) type Said = (Head, Vec<String>);

/// Returns what a reader says of some bytes.
pub(super) fn said(
    read: fn(&Input<'_>, &mut Emit<'_>) -> Result<(), Stop>,
    bytes: &[u8],
) -> Result<Said, Stop> {
    let (mut head, mut blocks) = (Head::default(), Vec::new());
    read(&Input { bytes, password: None, ocr: None }, &mut |line| {
        match line {
            Line::Document(it) => head = it,
            Line::Page(page) => blocks.extend(page.blocks.into_iter().map(|it| it.text)),
            _ => {}
        }
        Ok(())
    })?;
    Ok((head, blocks))
}
