//! Says which arguments of Typst's functions are words that a document shows.

/// Functions whose texts are names of files and settings.
const SILENT: &[&str] = &[
    "image", "bibliography", "csv", "json", "yaml", "toml", "xml", "read", "cbor", "cite", "ref",
    "plugin", "rgb", "luma", "cmyk", "regex", "label", "counter", "state", "numbering", "datetime",
    "query", "selector", "locate", "lorem", "outline", "include", "import", "stroke", "measure",
    "symbol", "range", "calc", "type", "str", "eval", "metadata", "page", "set", "document",
];

/// Names of arguments whose texts are shown.
const SHOWN: &[&str] = &[
    "title", "subtitle", "author", "authors", "name", "names", "abstract", "caption", "alt",
    "attribution", "body", "description", "keywords", "date", "affiliation", "affiliations",
    "department", "organization", "institution", "location", "email", "supplement", "header",
    "footer", "term", "summary", "note", "notes",
];

/// Whether a text in quotes is shown that is an argument of a function; `argument` is its name, or empty.
pub(super) fn is_shown(function: &str, argument: &str) -> bool {
    match argument {
        "" => !SILENT.contains(&function),
        argument => SHOWN.contains(&argument),
    }
}

/// Whether the content of a function's argument is part of the line around it.
pub(super) fn is_inline(function: &str) -> bool {
    matches!(
        function,
        "strong"
            | "emph"
            | "text"
            | "link"
            | "underline"
            | "highlight"
            | "strike"
            | "smallcaps"
            | "sub"
            | "super"
            | "overline"
            | "box"
            | "h"
            | "upper"
            | "lower"
            | "raw"
            | "footnote"
            | "ref"
            | "cite"
    )
}

/// Returns the number of columns that the argument `columns` of a table states: `3`, `(auto, 1fr)`, `(1fr,) * 4`.
pub(super) fn num_columns(value: &str) -> usize {
    let value = value.trim();
    if let Ok(number) = value.parse() {
        return number;
    }
    let Some(inside) = value.strip_prefix('(') else { return 1 };
    let (mut depth, mut num_items, mut has_item, mut end) = (1_usize, 0, false, inside.len());
    for (at, c) in inside.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => {
                end = at;
                break;
            }
            ')' => depth -= 1,
            ',' if depth == 1 => {
                num_items += usize::from(has_item);
                has_item = false;
                continue;
            }
            _ => {}
        }
        has_item |= !c.is_whitespace();
    }
    num_items += usize::from(has_item);
    let factor = inside[end..].trim_start_matches(')').trim().strip_prefix('*');
    let factor = factor.and_then(|factor| factor.trim().parse().ok());
    num_items.max(1).saturating_mul(factor.unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_a_table_are_counted() {
        for (value, expected) in [
            ("3", 3),
            ("(auto, 1fr)", 2),
            ("(1fr, 2fr,)", 2),
            ("(1fr,) * 4", 4),
            ("(calc.max(1, 2) * 1cm, auto)", 2),
            ("auto", 1),
            ("()", 1),
        ] {
            assert_eq!(num_columns(value), expected, "{value}");
        }
    }
}
