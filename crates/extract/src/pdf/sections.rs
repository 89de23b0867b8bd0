//! Finds the section numbers that run through a document, as in `2`, `2.1`, `2.2`. A pure function.

use std::collections::HashSet;

use super::headings;

/// One of this many numbered lines must have text below it: steps of a list follow each other, and sections have text
/// between them.
const MAX_LINES_PER_TEXT: usize = 3;

/// The numbers of lines that may be headings of sections.
#[derive(Debug, Default)]
pub(super) struct SectionNumbers {
    numbers: HashSet<Vec<u16>>,
    /// How many of the lines are known by their number only, and how many of these have text below them.
    num_plain: usize,
    num_with_text: usize,
}

impl SectionNumbers {
    /// Adds a line that may be a heading.
    pub(super) fn add(&mut self, text: &str) {
        self.numbers.extend(parts(text));
    }

    /// Counts a line that looks like the text around it.
    pub(super) fn count_plain(&mut self, has_text_below: bool) {
        self.num_plain += 1;
        self.num_with_text += usize::from(has_text_below);
    }

    /// Whether the number of a line that looks like the text around it shows that it is a heading: it has one above,
    /// below or next to it in the tree of numbers. `1`, `2`, `3` alone are the numbers of a list.
    pub(super) fn have(&self, text: &str) -> bool {
        let Some(number) = parts(text) else { return false };
        let Some((last, above)) = number.split_last() else { return false };
        let runs = if above.is_empty() {
            self.numbers.contains([*last, 1].as_slice())
        } else {
            let mut sibling = number.clone();
            let neighbours = [last.saturating_add(1), last.saturating_sub(1)];
            self.numbers.contains(above)
                || neighbours.into_iter().any(|neighbour| {
                    sibling.truncate(above.len());
                    sibling.push(neighbour);
                    self.numbers.contains(&sibling)
                })
        };
        runs && self.num_with_text * MAX_LINES_PER_TEXT >= self.num_plain
    }
}

/// Returns the parts of a section number.
fn parts(text: &str) -> Option<Vec<u16>> {
    headings::number_depth(text)?;
    let number = text.split_whitespace().next()?.trim_end_matches('.');
    number.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(lines: &[&str], has_text_below: bool, expected: &[bool]) {
        let mut numbers = SectionNumbers::default();
        for line in lines {
            numbers.add(line);
            numbers.count_plain(has_text_below);
        }
        let found: Vec<bool> = lines.iter().map(|line| numbers.have(line)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn numbers_with_parts_run_through_a_document() {
        check(&["2 Tides", "2.1 Ebb", "2.2 Flood", "3 Locks"], true, &[true, true, true, false]);
        check(&["2.1. Ebb", "2.2. Flood", "4.1 Moon"], true, &[true, true, false]);
    }

    #[test]
    fn numbers_without_parts_and_steps_are_lists() {
        check(&["1. Check the fuel", "2. Check the oil"], true, &[false, false]);
        check(&["1. Check the fuel", "1.1 Look at the gauge", "Tell us"], false, &[false; 3]);
    }
}
