//! Remembers where the marks that close constructs are, so that a missing one is searched for only
//! once.
//!
//! A construct that nothing closes is prose. A search up to the end of the text for each of many
//! openings would take quadratic time.

use std::cell::Cell;
use std::collections::HashMap;

use super::writer::SourceLine;

/// How deep constructs may be nested; deeper ones are prose. Bounds the recursion on a hostile file.
pub(super) const MAX_DEPTH: usize = 24;

/// Where marks are, in order: positions in a text, or numbers of lines.
#[derive(Default)]
pub(super) struct MarkPositions {
    places: HashMap<String, Vec<usize>>,
}

impl MarkPositions {
    /// Finds the lines that close something; `marks` returns what a line closes.
    pub(super) fn of_lines<M: IntoIterator<Item = String>>(
        lines: &[SourceLine<'_>],
        marks: impl Fn(&str) -> M,
    ) -> Self {
        let mut found = Self::default();
        for line in lines {
            for mark in marks(line.text) {
                found.places.entry(mark).or_default().push(line.number as usize);
            }
        }
        found
    }

    /// Returns the index of the first of these consecutive lines that has a mark.
    pub(super) fn line(&self, mark: &str, lines: &[SourceLine<'_>]) -> Option<usize> {
        let first = lines.first()?.number as usize;
        let idx = after(self.places.get(mark)?, first)? - first;
        (idx < lines.len()).then_some(idx)
    }

    /// Returns the position of the first mark of a text from a position on. It must always be the
    /// same text.
    pub(super) fn find(&mut self, text: &str, mark: &str, from: usize) -> Option<usize> {
        if !self.places.contains_key(mark) {
            let places = text.match_indices(mark).map(|(at, _)| at).collect();
            self.places.insert(mark.to_owned(), places);
        }
        after(&self.places[mark], from)
    }
}

fn after(places: &[usize], from: usize) -> Option<usize> {
    places.get(places.partition_point(|place| *place < from)).copied()
}

/// The groups of a text: where each bracket that opens one is, and the bracket that closes it.
#[derive(Default)]
pub(super) struct Groups {
    pairs: Vec<(usize, usize)>,
}

impl Groups {
    /// Finds the groups between two brackets. A backslash escapes the character after it.
    pub(super) fn of(text: &str, open: char, close: char) -> Self {
        let (mut pairs, mut waiting) = (Vec::new(), Vec::new());
        let mut is_escaped = false;
        for (at, c) in text.char_indices() {
            match c {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                c if c == open => waiting.push(at),
                c if c == close => pairs.extend(waiting.pop().map(|open| (open, at))),
                // Options in brackets end with the paragraph.
                '\n' if open == '[' && text[at + 1..].starts_with('\n') => waiting.clear(),
                _ => {}
            }
        }
        pairs.sort_unstable();
        Self { pairs }
    }

    /// Returns where the group ends that begins at a position.
    pub(super) fn end(&self, open: usize) -> Option<usize> {
        let idx = self.pairs.binary_search_by_key(&open, |pair| pair.0).ok()?;
        Some(self.pairs[idx].1)
    }
}

/// How many bytes a text may still grow by what its names stand for.
#[derive(Default)]
pub(super) struct GrowthBudget(Cell<usize>);

impl GrowthBudget {
    /// Most times that a text may grow by its own length.
    const TIMES: usize = 8;

    /// How much any text may grow, in bytes.
    const FREE_BYTES: usize = 10_000;

    pub(super) fn of(text: &str) -> Self {
        Self(Cell::new(text.len().saturating_mul(Self::TIMES).saturating_add(Self::FREE_BYTES)))
    }

    /// Whether this many bytes may be inserted.
    pub(super) fn take(&self, num_bytes: usize) -> bool {
        let left = self.0.get().checked_sub(num_bytes);
        self.0.set(left.unwrap_or(self.0.get()));
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_lines_are_found_from_any_line() {
        let lines = SourceLine::all("a\n..\nb\n..\nc");
        let marks = MarkPositions::of_lines(&lines, |text| (text == "..").then(|| text.to_owned()));
        assert_eq!(marks.line("..", &lines), Some(1));
        assert_eq!(marks.line("..", &lines[2..]), Some(1));
        assert_eq!(marks.line("..", &lines[2..3]), None);
        assert_eq!(marks.line("..", &lines[4..]), None);
        assert_eq!(marks.line("b", &lines), None);
    }

    #[test]
    fn marks_of_a_text_are_found_from_any_position() {
        let (mut marks, text) = (MarkPositions::default(), "a]b]");
        let found: Vec<_> = (0..5).map(|from| marks.find(text, "]", from)).collect();
        assert_eq!(found, [Some(1), Some(1), Some(3), Some(3), None]);
        assert_eq!(marks.find(text, "}", 0), None);
    }

    #[test]
    fn groups_nest_and_options_end_with_the_paragraph() {
        let braces = Groups::of(r"{a{b}\}}{", '{', '}');
        let ends: Vec<_> = [0, 2, 8].map(|open| braces.end(open)).into();
        assert_eq!(ends, [Some(7), Some(4), None]);
        let brackets = Groups::of("[a\n\n] [b\nc]", '[', ']');
        assert_eq!([brackets.end(0), brackets.end(6)], [None, Some(10)]);
    }

    #[test]
    fn a_text_grows_by_a_multiple_of_its_length() {
        let growth = GrowthBudget::of("four");
        assert!(growth.take(GrowthBudget::FREE_BYTES) && growth.take(32) && !growth.take(1));
    }
}
