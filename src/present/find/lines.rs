//! Makes the lines of a list for the screen of `kb find` from what they are about.

use crate::document::CHAIN_SEPARATOR;
use crate::present::find::{Line, Meaning, Piece, justified, piece};
use crate::present::text::quote;
use crate::read::{Part, PartKind};
use crate::search::Hit;
use crate::text::printable::{clean, clean_name};

/// Between the parts of a header chain.
const CHAIN: &str = " › ";

/// Returns the header chain and symbol of an entry.
pub(super) fn chain_line(section: Option<&str>, symbol: Option<&str>) -> Line {
    let chain = section
        .map(|section| section.split(CHAIN_SEPARATOR).map(clean).collect::<Vec<_>>().join(CHAIN));
    let parts: Vec<String> = chain.into_iter().chain(symbol.map(clean)).collect();
    if parts.is_empty() { Line::new() } else { vec![piece(Meaning::Place, parts.join(CHAIN))] }
}

/// Returns date, tags and state of a hit.
pub(super) fn hit_marks(hit: &Hit) -> Line {
    let mut marks = tags(&hit.stored.tags);
    if let Some(stale) = hit.stale {
        marks.push(piece(Meaning::Warning, format!("  {}", stale.as_str())));
    }
    if let Some(date) = &hit.stored.date {
        marks.push(piece(Meaning::Faint, format!("  {}", clean_name(date))));
    }
    marks
}

/// Returns the tags of a document.
pub(super) fn tags(tags: &[String]) -> Line {
    let tag = |tag: &String| -> Piece { piece(Meaning::Tag, format!("  #{}", clean(tag))) };
    tags.iter().map(tag).collect()
}

/// Returns the row of a part of a document.
pub(super) fn part_line(part: &Part, columns: usize) -> Line {
    let name = clean(part.name.as_deref().unwrap_or(&part.preview));
    let word = if part.kind == PartKind::Page { "page " } else { "" };
    let indent = "  ".repeat(part.level as usize);
    let place = match part.kind {
        PartKind::Page => String::new(),
        _ => quote::place(part.start_line, part.page),
    };
    let left = vec![piece(Meaning::Plain, format!("{indent}{word}{name}"))];
    justified(left, vec![piece(Meaning::Place, place)], columns)
}
