//! Reads topics and maps of DITA, the XML of technical manuals: headings, steps, notes, tables and source text.

mod map;
mod walk;

use super::{EarlyEnd, Emit, ReaderInput, flow};
use crate::extract::protocol::ReadingSummary;
use crate::text::decode::Decoded;

use walk::DitaWalk;

/// Elements whose text is not shown: links between topics by their place in a table, and what is not finished.
const LEFT_OUT: &[&str] = &["reltable", "required-cleanup"];

/// Reads a topic or a map.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let Decoded { text, encoding } = input.text()?;
    let mut walk = DitaWalk::default();
    walk.omits_remarks = input.request.omits_remarks;
    let outcome = flow::each(&text, LEFT_OUT, |content| walk.on(&content));
    walk.end_paragraph();
    let (head, writer, has_root) = (walk.head, walk.writer, walk.is_dita);
    let tail = flow::WalkedXml { head, writer, has_root }.emit(outcome, "DITA", emit)?;
    Ok(ReadingSummary { encoding, ..tail })
}

#[cfg(test)]
mod tests;
