//! Reads topics and maps of DITA, the XML of technical manuals: headings, steps, notes, tables and source text.

mod map;
mod walk;

use super::{Emit, Input, Stop, flow, xml};
use crate::error::Failure;
use crate::extract::protocol::{Line, ReadFailure, Tail};

use walk::DitaWalk;

/// Elements whose text is not shown: links between topics by their place in a table, and what is not finished.
const LEFT_OUT: &[&str] = &["reltable", "required-cleanup"];

/// Reads a topic or a map.
pub(crate) fn read(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<Tail, Stop> {
    let text = xml::decode(input.bytes)?;
    let mut walk = DitaWalk::default();
    walk.omits_remarks = input.request.omits_remarks;
    let outcome = flow::each(&text, LEFT_OUT, |content| walk.on(&content));
    walk.end_paragraph();
    if let Ok(left_out) = &outcome {
        walk.writer.left_out.merge(left_out);
    }
    let page = walk.writer.page(1);
    let mut warnings = Vec::new();
    match outcome {
        Ok(_) if !walk.is_dita => {
            return Err(ReadFailure::new(Failure::WrongFormat, "it is XML, not DITA").into());
        }
        Ok(_) => {}
        Err(failed) if page.blocks.is_empty() => return Err(failed.into()),
        Err(ReadFailure { detail, .. }) => {
            warnings.push(format!("the text after a damaged place is missing: {detail}"));
        }
    }
    emit(Line::Document(walk.head))?;
    emit(Line::Page(page))?;
    Ok(Tail { warnings, ..Tail::default() })
}

#[cfg(test)]
mod tests;
