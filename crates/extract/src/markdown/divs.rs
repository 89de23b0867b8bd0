//! Finds the lines that fence a part of a page, such as a callout: `::: {.callout-note}` and `:::` of Pandoc and Quarto,
//! `:::note` of other programs.
//!
//! CommonMark takes such a line for the beginning of a paragraph, and a table or a list below it for its text.

use std::borrow::Cow;

/// Marks a fence.
const FENCE: &str = ":::";

/// Returns a text of the same length with blank lines instead of fences, for the parser. A fence that has a title
/// stays.
pub(super) fn without_fences(text: &str) -> Cow<'_, str> {
    if !text.contains(FENCE) {
        return Cow::Borrowed(text);
    }
    let mut blank = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if is_fence(line) {
            let words = line.trim_end_matches(['\n', '\r']);
            blank.push_str(&" ".repeat(words.len()));
            blank.push_str(&line[words.len()..]);
        } else {
            blank.push_str(line);
        }
    }
    Cow::Owned(blank)
}

fn is_fence(line: &str) -> bool {
    let Some(rest) = line.trim().strip_prefix(FENCE) else { return false };
    let rest = rest.trim_matches([':', ' ', '\t']);
    match rest.strip_prefix('{') {
        // Titles and captions are words.
        Some(attributes) => {
            attributes.ends_with('}')
                && !attributes.contains(['"', '\''])
                && attributes.matches('{').count() == 0
        }
        None => !rest.contains(char::is_whitespace) && !rest.contains(['[', '{']),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: bool) {
        assert_eq!(is_fence(line), expected, "{line}");
    }

    #[test]
    fn fences_are_told_from_prose() {
        check(":::", true);
        check("::: {.callout-note collapse=true}\n", true);
        check("::::: columns ::::\r\n", true);
        check("  :::warning\n", true);
        check(":::tip My own title", false);
        check("::: {.callout-tip title=\"Read this\"}", false);
        check("std::vec", false);
        check(":: two", false);
    }

    #[test]
    fn the_other_lines_stay_where_they_are() {
        assert_eq!(without_fences("é\n::: {.a}\r\nb\n:::"), "é\n        \r\nb\n   ");
        assert_eq!(without_fences("a::b"), "a::b");
    }
}
