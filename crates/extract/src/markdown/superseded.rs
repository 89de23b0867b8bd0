//! Reads from front matter whether a document says that it is out of date, and what replaces it.

use yaml_serde::{Mapping, Value};

use super::front_words::words;
use crate::document::OutdatedNotice;
use crate::text::links::note_links;

/// Keys with the name of what replaces the document.
const SUCCESSORS: [&str; 6] = [
    "superseded_by", "superseded-by", "supersededBy", "replaced_by", "replaced-by", "deprecated_by",
];

/// Keys that mark a document unless their value is false.
const MARKS: [&str; 3] = ["superseded", "deprecated", "obsolete"];

/// The beginnings of a status that marks a document. An archived note is finished, and may still hold.
const STATES: [&str; 5] = ["superseded", "deprecated", "obsolete", "replaced", "outdated"];

/// The word between a status and a name: `superseded by [ADR-0005](0005-example.md)`.
const BY: &str = "by ";

/// Returns the mark of a document; `None` if it has none.
pub(super) fn read(fields: &Mapping) -> Option<OutdatedNotice> {
    if let Some(by) = SUCCESSORS.iter().find_map(|key| first(fields, key)) {
        return Some(OutdatedNotice { by: Some(target(&by)) });
    }
    let status = ["status", "Status"].iter().find_map(|key| first(fields, key)).unwrap_or_default();
    let lower = status.to_lowercase();
    let state = STATES.iter().find(|state| lower.starts_with(*state));
    if let Some(rest) = state.and_then(|state| status.get(state.len()..)) {
        let by = rest.trim_start().strip_prefix(BY).map(target);
        return Some(OutdatedNotice { by: by.filter(|by| !by.is_empty()) });
    }
    let is_marked = MARKS.iter().filter_map(|key| fields.get(*key)).any(is_mark);
    is_marked.then_some(OutdatedNotice { by: None })
}

fn first(fields: &Mapping, key: &str) -> Option<String> {
    words(fields.get(key)?).into_iter().next()
}

/// Whether the value of a mark is neither missing nor false.
fn is_mark(value: &Value) -> bool {
    let text = words(value).join(" ").to_lowercase();
    !matches!(text.as_str(), "" | "false" | "no" | "off" | "0" | "never" | "none" | "null")
}

/// Returns what a link leads to, or the name as written.
fn target(text: &str) -> String {
    match note_links(text).into_iter().next() {
        Some(link) => link.name,
        None => text.trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected` is the name of the successor, empty for a mark without one.
    #[track_caller]
    fn check(source: &str, expected: Option<&str>) {
        let fields = yaml_serde::from_str(source).unwrap();
        let found = read(&fields).map(|mark| mark.by.unwrap_or_default());
        assert_eq!(found.as_deref(), expected, "{source}");
    }

    #[test]
    fn a_successor_is_named() {
        check("superseded_by: policy/travel-2025.md", Some("policy/travel-2025.md"));
        check("superseded_by: [[Travel 2025]]", Some("Travel 2025"));
        check("superseded_by: '[[Travel 2025#Rates|new]]'", Some("Travel 2025"));
        check("replaced-by: [\"[new](b%20c.md)\", d]", Some("b c.md"));
        check("status: superseded by [ADR-0005](0005-example.md)", Some("0005-example.md"));
        check("status: Superseded by ADR-0005", Some("ADR-0005"));
        check("status: accepted\nsuperseded_by: 12", Some("12"));
    }

    #[test]
    fn a_mark_needs_no_name() {
        check("status: deprecated", Some(""));
        check("status: Obsolete", Some(""));
        check("deprecated: true", Some(""));
        check("deprecated: 2024-05-01", Some(""));
        check("superseded_by:\nstatus: superseded", Some(""));
    }

    #[test]
    fn other_documents_are_in_force() {
        for source in [
            "status: accepted",
            "status: archived",
            "deprecated: false",
            "superseded_by:",
            "superseded_by: ''",
            "deprecated: no",
            "title: Deprecated functions",
        ] {
            check(source, None);
        }
    }
}
