//! Finds the lines that match a regular expression or a fixed string, with ripgrep's matcher.
//!
//! Letters and their marks match composed or not: pattern and text are compared in composed form, and ranges are those of
//! the unchanged text.

use std::ops::Range;

use grep_matcher::{LineMatchKind, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::error::{Error, Result};
use crate::text::forms::{composed_letter, has_marks, letters, with_composed_marks};
use crate::wording::{kb, option, wording};

/// How a pattern is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PatternOptions {
    /// Whether it is the text itself instead of a regular expression.
    pub is_fixed: bool,
    /// Whether upper and lower case are the same.
    pub ignores_case: bool,
    /// Whether it only matches whole words.
    pub is_word: bool,
}

/// A pattern that never matches more than a line. A clone has memory of its own for matching, which threads would
/// otherwise wait for.
#[derive(Debug, Clone)]
pub struct LinePattern {
    matcher: RegexMatcher,
}

impl LinePattern {
    /// Compiles a pattern.
    pub fn new(typed: &str, options: PatternOptions) -> Result<Self> {
        if typed.is_empty() {
            return Err(Error::usage("the pattern is empty").with_hint(wording!(
                "`{}` prints every line that is not blank",
                kb("grep").arg(".")
            )));
        }
        let mut builder = RegexMatcherBuilder::new();
        builder
            .case_insensitive(options.ignores_case)
            .word(options.is_word)
            .fixed_strings(options.is_fixed)
            .multi_line(true)
            .line_terminator(Some(b'\n'));
        let matcher = builder
            .build(&with_composed_marks(typed))
            .map_err(|error| wrong(typed, &error.to_string()))?;
        Ok(Self { matcher })
    }

    /// Calls `visit` with the range of each matching line without its end, in order, until it returns false.
    pub(super) fn visit_lines(&self, text: &str, mut visit: impl FnMut(Range<usize>) -> bool) {
        if !has_marks(text) {
            return self.visit_composed(text, visit);
        }
        // Composing changes no line end, so the lines of both texts correspond.
        let composed = with_composed_marks(text);
        let mut lines = text.split('\n').zip(composed.split('\n'));
        let (mut at, mut at_composed) = (0, 0);
        self.visit_composed(&composed, |found| {
            for (line, line_composed) in lines.by_ref() {
                let (range, start) = (at..at + line.len(), at_composed);
                at += line.len() + 1;
                at_composed += line_composed.len() + 1;
                if start == found.start {
                    return visit(range);
                }
            }
            false
        });
    }

    /// As [`Self::visit_lines`], for composed text.
    fn visit_composed(&self, text: &str, mut visit: impl FnMut(Range<usize>) -> bool) {
        let bytes = text.as_bytes();
        let mut start = 0;
        while start < bytes.len() {
            // Searching bytes in memory has no errors.
            let Ok(Some(found)) = self.matcher.find_candidate_line(&bytes[start..]) else { return };
            let (at, is_certain) = match found {
                LineMatchKind::Confirmed(at) => (start + at, true),
                LineMatchKind::Candidate(at) => (start + at, false),
            };
            let line = line_at(text, at);
            // The place after the last line end is no line.
            if line.start == bytes.len() {
                return;
            }
            let is_match =
                is_certain || matches!(self.matcher.is_match(&bytes[line.clone()]), Ok(true));
            if is_match && !visit(line.clone()) {
                return;
            }
            start = line.end + 1;
        }
    }

    /// Returns the ranges of the matches in a line.
    pub(super) fn matches(&self, line: &str) -> Vec<Range<usize>> {
        if !has_marks(line) {
            return self.matches_in_composed(line);
        }
        // `starts` has where each letter begins in the composed line and in the line.
        let (mut text, mut starts, mut at) = (String::new(), Vec::new(), 0);
        for letter in letters(line) {
            starts.push((text.len(), at));
            text += &composed_letter(letter);
            at += letter.len();
        }
        starts.push((text.len(), at));
        let mut ranges = self.matches_in_composed(&text);
        for range in &mut ranges {
            // A match in the middle of a letter includes the whole letter.
            let after_first = starts.partition_point(|(start, _)| *start <= range.start);
            let start = starts[after_first.saturating_sub(1)].1;
            let past_last = starts.partition_point(|(start, _)| *start < range.end);
            *range = start..starts.get(past_last).map_or(at, |(_, end)| *end);
        }
        ranges
    }

    fn matches_in_composed(&self, line: &str) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        let outcome = self.matcher.find_iter(line.as_bytes(), |found| {
            ranges.push(found.start()..found.end());
            true
        });
        debug_assert!(outcome.is_ok(), "this matcher has no errors");
        ranges
    }
}

/// Returns the line around a position, without its end.
pub(super) fn line_at(text: &str, at: usize) -> Range<usize> {
    let bytes = text.as_bytes();
    let start = bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let end =
        bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| at + end);
    start..end
}

/// Returns the error for a pattern that the library refused; its report has several lines, the last of which says
/// why.
fn wrong(typed: &str, report: &str) -> Error {
    let reason = report.lines().last().unwrap_or_default();
    let reason = reason.strip_prefix("error: ").unwrap_or(reason);
    Error::usage(format!("`{typed}` is not a regular expression for one line: {reason}"))
        .with_hint(wording!("`{}` (fixed) searches for the text as it is", option("-F")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: PatternOptions =
        PatternOptions { is_fixed: false, ignores_case: false, is_word: false };

    fn lines(pattern: &str, options: PatternOptions, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        LinePattern::new(pattern, options).unwrap().visit_lines(text, |line| {
            found.push(text[line].to_owned());
            true
        });
        found
    }

    #[track_caller]
    fn check(pattern: &str, options: PatternOptions, expected: &[&str]) {
        let text = "The gauge froze.\n\n  a.b(c) Gauges\nΣΊΣΥΦΟΣ gauge_1\nlast";
        assert_eq!(lines(pattern, options, text), expected, "{pattern}");
    }

    #[test]
    fn every_matching_line_is_found_once() {
        check("gauge", PLAIN, &["The gauge froze.", "ΣΊΣΥΦΟΣ gauge_1"]);
        check("a", PLAIN, &["The gauge froze.", "  a.b(c) Gauges", "ΣΊΣΥΦΟΣ gauge_1", "last"]);
        check("^last$", PLAIN, &["last"]);
        check("^$", PLAIN, &[""]);
        check("nothing", PLAIN, &[]);
        // An inner literal only leads to candidates.
        check(r"\w+\s+gauge\s+\w+", PLAIN, &["The gauge froze."]);
    }

    #[test]
    fn a_match_never_spans_lines() {
        check(r"froze\.\s+a", PLAIN, &[]);
        check(r"(?s)froze.*last", PLAIN, &[]);
    }

    #[test]
    fn options_are_those_of_ripgrep() {
        check(
            "GAUGE",
            PatternOptions { ignores_case: true, ..PLAIN },
            &["The gauge froze.", "  a.b(c) Gauges", "ΣΊΣΥΦΟΣ gauge_1"],
        );
        check("σίσυφος", PatternOptions { ignores_case: true, ..PLAIN }, &["ΣΊΣΥΦΟΣ gauge_1"]);
        check("gauge", PatternOptions { is_word: true, ..PLAIN }, &["The gauge froze."]);
        check("a.b(c)", PatternOptions { is_fixed: true, ..PLAIN }, &["  a.b(c) Gauges"]);
    }

    #[test]
    fn all_matches_of_a_line_are_returned() {
        let pattern = LinePattern::new("a+", PLAIN).unwrap();
        assert_eq!(pattern.matches("aa b a"), [0..2, 5..6]);
        assert_eq!(LinePattern::new("^", PLAIN).unwrap().matches("b"), vec![Range::default()]);
    }

    #[test]
    fn what_is_no_pattern_is_refused_in_one_line() {
        for (typed, reason) in [
            ("", "empty"),
            ("a(", "unclosed group"),
            ("*", "repetition"),
            (r"a\nb", "not allowed"),
            ("(?P<n>a){5000}{5000}", "size"),
        ] {
            let error = LinePattern::new(typed, PLAIN).unwrap_err();
            let message = error.to_string();
            assert!(message.contains(reason) && !message.contains('\n'), "{typed}: {message}");
            assert!(error.hint().is_some());
        }
    }

    #[test]
    fn letters_and_their_marks_match_composed_or_not() {
        let text = "one\nU\u{308}bung fu\u{308}r Gro\u{308}\u{df}e\nÜbung\nlast";
        for typed in ["Übung", "U\u{308}bung"] {
            assert_eq!(
                lines(typed, PLAIN, text),
                ["U\u{308}bung fu\u{308}r Gro\u{308}\u{df}e", "Übung"]
            );
        }
        assert_eq!(lines("^last$", PLAIN, text), ["last"]);
        assert_eq!(lines("^Ubung", PLAIN, text), Vec::<String>::new());
        let line = "fu\u{308}r Gro\u{308}\u{df}e";
        let shown = |typed: &str| -> Vec<&str> {
            let found = LinePattern::new(typed, PLAIN).unwrap().matches(line);
            found.into_iter().map(|range| &line[range]).collect()
        };
        assert_eq!(shown("ü|ö"), ["u\u{308}", "o\u{308}"]);
        assert_eq!(shown("Größe"), ["Gro\u{308}\u{df}e"]);
        assert_eq!(shown(r"\w+"), ["fu\u{308}r", "Gro\u{308}\u{df}e"]);
        assert_eq!(shown("한"), Vec::<&str>::new());
        assert_eq!(
            lines("한글", PLAIN, "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}").len(),
            1
        );
    }

    proptest::proptest! {
        #[test]
        fn matches_in_decomposed_lines_are_within_the_line(line in "[uo\u{308}\u{301}a ]{0,20}") {
            for found in LinePattern::new("ü|a|$", PLAIN).unwrap().matches(&line) {
                proptest::prop_assert!(line.get(found).is_some());
            }
        }

        #[test]
        fn the_lines_are_those_that_match_alone(
            text in "[ab \n]{0,40}",
            pattern in r"(\^|\\b|)[ab]?(b|a\+|\[\^a\]|\\s)(\$|\\b|)",
        ) {
            let found = lines(&pattern, PLAIN, &text);
            let matcher = LinePattern::new(&pattern, PLAIN).unwrap();
            let expected: Vec<&str> = text
                .lines()
                .filter(|line| matcher.matcher.is_match(line.as_bytes()).unwrap())
                .collect();
            proptest::prop_assert_eq!(found, expected);
        }
    }
}
