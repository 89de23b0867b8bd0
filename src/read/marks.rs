//! Marks the headings in the stored text of a document with pages, whose blocks have no marks.
//!
//! The database has the list of headings. For a document of an older kb it only has the header chain
//! of each chunk: a heading is then found where a chain begins, but not in the middle of a chunk.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::document::{CHAIN_SEPARATOR, Format, Markup};
use crate::read::parts::StoredText;
use crate::store::StoredDocument;
use crate::text::markdown;

/// Longest number before a heading that its chain lacks, in letters and digits: `appendix12`.
const MAX_NUMBER: usize = 10;

/// Returns a range of the text of a document with marks before its headings.
pub(super) fn marked<'a>(
    text: &'a StoredText,
    document: &StoredDocument,
    bytes: Range<usize>,
) -> Cow<'a, str> {
    let is_unmarked =
        Format::named(&document.format).is_some_and(|format| format.markup() == Markup::Blocks);
    if !is_unmarked {
        return Cow::Borrowed(&text.joined.text[bytes]);
    }
    let mut marked = String::with_capacity(bytes.len());
    let mut done = bytes.start;
    let listed = &document.metadata.headings;
    let headings =
        if listed.is_empty() { by_chains(text, &document.title) } else { by_list(text, listed) };
    for (heading, level) in headings {
        if heading.start < done || heading.end > bytes.end {
            continue;
        }
        marked += &text.joined.text[done..heading.start];
        marked += &markdown::heading(level, &text.joined.text[heading.clone()]);
        done = heading.end;
    }
    marked += &text.joined.text[done..bytes.end];
    Cow::Owned(marked)
}

/// Finds listed headings one after another.
fn by_list(text: &StoredText, listed: &[(u8, String)]) -> Vec<(Range<usize>, usize)> {
    let text = &text.joined.text;
    let mut places: HashMap<String, Vec<Range<usize>>> = HashMap::new();
    for paragraph in paragraphs(text, 0..text.len()) {
        places.entry(letters(&text[paragraph.clone()])).or_default().push(paragraph);
    }
    let mut from = 0;
    let found = listed.iter().filter_map(|(level, name)| {
        let places = places.get(&letters(name))?;
        let heading = places.get(places.partition_point(|place| place.start < from))?;
        from = heading.end;
        Some((heading.clone(), usize::from(*level)))
    });
    found.collect()
}

/// Returns the headings in order, with their levels. The title is in no chain; if it is in the text
/// before all headings, it is above them.
fn by_chains(text: &StoredText, title: &str) -> Vec<(Range<usize>, usize)> {
    let mut found: Vec<(Range<usize>, usize)> = Vec::new();
    let mut previous: Vec<&str> = Vec::new();
    // A section may begin in the chunk before the first one that it fills.
    let mut from = 0;
    let mut chunk_start = 0;
    for (stored, span) in text.chunks.iter().zip(&text.joined.spans) {
        let section = stored.chunk.section.as_deref();
        let path: Vec<&str> =
            section.map(|section| section.split(CHAIN_SEPARATOR).collect()).unwrap_or_default();
        let common = path.iter().zip(&previous).take_while(|(a, b)| a == b).count();
        for (idx, name) in path.iter().enumerate().skip(common) {
            if let Some(heading) = paragraph(&text.joined.text, from..span.end, name) {
                from = heading.end;
                found.push((heading, idx + 1));
            }
        }
        previous = path;
        from = from.max(chunk_start);
        chunk_start = span.start;
    }
    let first = found.first().map_or(text.joined.text.len(), |(heading, _)| heading.start);
    if let Some(title) = paragraph(&text.joined.text, 0..first, title) {
        found.iter_mut().for_each(|(_, level)| *level += 1);
        found.insert(0, (title, 1));
    }
    found
}

/// Returns the first paragraph in a range that is a heading with this name.
fn paragraph(text: &str, within: Range<usize>, name: &str) -> Option<Range<usize>> {
    let name = letters(name);
    if name.is_empty() {
        return None;
    }
    paragraphs(text, within).find(|place| is_called(&letters(&text[place.clone()]), &name))
}

/// Returns the paragraphs in a range, without white space around them.
fn paragraphs(text: &str, within: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut next = within.start;
    text[within].split("\n\n").map(move |paragraph| {
        let start = next + (paragraph.len() - paragraph.trim_start().len());
        next += paragraph.len() + "\n\n".len();
        start..start + paragraph.trim().len()
    })
}

/// Whether a paragraph is a name, or a number and a name: chains have the names of bookmarks, which
/// often lack the number.
fn is_called(paragraph: &str, name: &str) -> bool {
    paragraph.strip_suffix(name).is_some_and(|number| {
        number.is_empty()
            || number.len() <= MAX_NUMBER && number.bytes().any(|byte| byte.is_ascii_digit())
    })
}

fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_whole_paragraphs() {
        let text = "Tides rise.\n\n2.1 Tides\n\nTides\nfall.";
        let find = |name| paragraph(text, 0..text.len(), name).map(|range| &text[range]);
        assert_eq!(find("Tides"), Some("2.1 Tides"));
        assert_eq!(find("2.1 Tides"), Some("2.1 Tides"));
        assert_eq!(find("fall"), None);
        assert_eq!(find(""), None);
        let later = paragraph(text, 13..text.len(), "Tides").map(|range| &text[range]);
        assert_eq!(later, Some("2.1 Tides"));
    }

    #[test]
    fn a_heading_may_have_a_short_number_that_its_name_lacks() {
        for (paragraph, expected) in [
            ("tides", true),
            ("21tides", true),
            ("appendix12tides", true),
            ("appendices1tides", false),
            ("highertides", false),
            ("tides21", false),
        ] {
            assert_eq!(is_called(paragraph, "tides"), expected, "{paragraph}");
        }
    }

    #[test]
    fn paragraphs_are_returned_without_white_space() {
        let text = " a \n\n\n\n\n b\nc\n\nd";
        let found: Vec<&str> = paragraphs(text, 0..text.len()).map(|range| &text[range]).collect();
        assert_eq!(found, ["a", "", "b\nc", "d"]);
    }
}
