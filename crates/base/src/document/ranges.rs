//! Defines ranges of the lines of a file and of the pages of a document.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Defines a range of numbers that count from 1. A macro, so that lines are not taken for pages.
macro_rules! number_range {
    ($(#[$about:meta])* $name:ident) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name {
            first: u32,
            last: u32,
        }

        impl $name {
            /// Returns a range, both ends inclusive; `None` if one of them is 0, or if they are not in order.
            pub const fn new(first: u32, last: u32) -> Option<Self> {
                if 0 < first && first <= last { Some(Self { first, last }) } else { None }
            }

            /// Returns the smallest range that has two numbers, in any order; 0 counts as 1.
            pub fn between(one: u32, other: u32) -> Self {
                Self { first: one.min(other).max(1), last: one.max(other).max(1) }
            }

            /// Returns the range of one number; 0 counts as 1.
            pub fn single(number: u32) -> Self {
                Self::between(number, number)
            }

            /// Parses `A:B`; `A:` goes to the end, `A` is one number.
            pub fn parse(typed: &str) -> Option<Self> {
                let (first, last) = typed.split_once(':').unwrap_or((typed, typed));
                let last = if last.is_empty() { u32::MAX } else { last.parse().ok()? };
                Self::new(first.parse().ok()?, last)
            }

            /// Returns the first number.
            pub fn first(self) -> u32 {
                self.first
            }

            /// Returns the last number, which is in the range.
            pub fn last(self) -> u32 {
                self.last
            }

            /// Returns how many numbers it has, at least 1.
            pub fn count(self) -> u32 {
                self.last - self.first + 1
            }

            /// Whether it has only one number.
            pub fn is_single(self) -> bool {
                self.first == self.last
            }

            /// Whether it has a number.
            pub fn contains(self, number: u32) -> bool {
                (self.first..=self.last).contains(&number)
            }

            /// Whether a number is the next one after its last.
            pub fn is_followed_by(self, number: u32) -> bool {
                self.last.checked_add(1) == Some(number)
            }

            /// Whether two ranges have a number in common.
            pub fn overlaps(self, other: Self) -> bool {
                self.first <= other.last && other.first <= self.last
            }

            /// Returns the range of its first number.
            pub fn first_only(self) -> Self {
                Self { last: self.first, ..self }
            }

            /// Returns the range from its first number to the last one of another range.
            pub fn to_end_of(self, other: Self) -> Self {
                Self::between(self.first, other.last)
            }
        }

        impl fmt::Display for $name {
            /// Writes `3`, or `3-7`.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if self.is_single() {
                    write!(f, "{}", self.first)
                } else {
                    write!(f, "{}-{}", self.first, self.last)
                }
            }
        }
    };
}

number_range! {
    /// Lines from the first to the last, inclusive, counted from 1.
    LineRange
}

number_range! {
    /// Physical pages from the first to the last, inclusive, counted from 1.
    PageRange
}

impl LineRange {
    /// Returns the lines that a part of a text has here: of a text with these lines, whose own lines are counted from 1.
    /// Those past the end are its last line.
    pub fn part(self, own: Self) -> Self {
        let line = |own: u32| self.first.saturating_add(own - 1).min(self.last);
        Self { first: line(own.first), last: line(own.last) }
    }
}

impl PageRange {
    /// Parses a page or pages as citations have them: `3`, `3-4`, `p. 3`, `pp. 3–4`.
    pub fn parse_cited(typed: &str) -> Option<Self> {
        let numbers = typed.trim_start_matches(|letter: char| "p. ".contains(letter));
        let (first, last) = numbers.split_once(['-', '–']).unwrap_or((numbers, numbers));
        Self::new(first.trim().parse().ok()?, last.trim().parse().ok()?)
    }
}

/// The JSON keys of a range of lines.
#[derive(Serialize, JsonSchema)]
pub struct LineKeys {
    /// First line in the file, from 1; null if lines are unknown.
    start_line: Option<u32>,
    /// Last line in the file, inclusive.
    end_line: Option<u32>,
}

/// The JSON keys of a range of pages.
#[derive(Serialize, JsonSchema)]
pub struct PageKeys {
    /// First page, from 1; null for a document without pages.
    page: Option<u32>,
    /// Last page, inclusive.
    last_page: Option<u32>,
}

/// Writes lines as `start_line` and `end_line`.
pub fn line_keys<S: Serializer>(lines: &Option<LineRange>, to: S) -> Result<S::Ok, S::Error> {
    let (start_line, end_line) = lines.map(|lines| (lines.first, lines.last)).unzip();
    LineKeys { start_line, end_line }.serialize(to)
}

/// Writes pages as `page` and `last_page`.
pub fn page_keys<S: Serializer>(pages: &Option<PageRange>, to: S) -> Result<S::Ok, S::Error> {
    let (page, last_page) = pages.map(|pages| (pages.first, pages.last)).unzip();
    PageKeys { page, last_page }.serialize(to)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_typed_range_is_one_number_or_two_in_order() {
        for (typed, expected) in [
            ("3:7", LineRange::new(3, 7)),
            ("3", LineRange::new(3, 3)),
            ("3:", LineRange::new(3, u32::MAX)),
        ] {
            assert_eq!(LineRange::parse(typed), expected, "{typed}");
        }
        for typed in ["", ":", ":7", "0:3", "0", "7:3", "3:x", "3:7:9", "3-7", " 3", "4294967296"] {
            assert_eq!(LineRange::parse(typed), None, "{typed}");
        }
    }

    #[test]
    fn pages_may_be_written_as_citations_have_them() {
        for typed in ["3-4", "pp. 3-4", "pp.3–4", " p. 3 - 4 "] {
            assert_eq!(PageRange::parse_cited(typed), PageRange::new(3, 4), "{typed}");
        }
        for typed in ["3", "p. 3", " 3 "] {
            assert_eq!(PageRange::parse_cited(typed), PageRange::new(3, 3), "{typed}");
        }
        for typed in ["", "0", "4-3", "three", "3-", "3-4-5", "-3"] {
            assert_eq!(PageRange::parse_cited(typed), None, "{typed}");
        }
    }

    #[test]
    fn a_range_up_to_the_largest_number_is_a_range() {
        let all = LineRange::between(0, u32::MAX);
        assert_eq!((all.first(), all.count(), all.is_followed_by(0)), (1, u32::MAX, false));
    }

    /// Numbers near each other, so that ranges often touch, and 0.
    fn number() -> impl Strategy<Value = u32> {
        0_u32..12
    }

    proptest! {
        #[test]
        fn a_range_has_the_numbers_from_its_first_to_its_last(
            first in number(),
            last in number(),
            other in number(),
        ) {
            let range = LineRange::new(first, last);
            prop_assert_eq!(range.is_some(), first > 0 && first <= last);
            let range = range.unwrap_or(LineRange::between(first, last));
            prop_assert!(0 < range.first() && range.first() <= range.last());
            let numbers: Vec<u32> = (0..=12).filter(|number| range.contains(*number)).collect();
            prop_assert_eq!(&numbers, &(range.first()..=range.last()).collect::<Vec<_>>());
            prop_assert_eq!(range.count() as usize, numbers.len());
            prop_assert_eq!(range.is_single(), numbers.len() == 1);
            prop_assert_eq!(range.is_followed_by(other), numbers.last() == other.checked_sub(1).as_ref());
            prop_assert_eq!(range.first_only(), LineRange::single(numbers[0]));
        }

        #[test]
        fn two_ranges_overlap_if_they_have_a_number_in_common(
            ends in [number(), number(), number(), number()],
        ) {
            let one = PageRange::between(ends[0], ends[1]);
            let other = PageRange::between(ends[2], ends[3]);
            let is_shared = (0..=12).any(|page| one.contains(page) && other.contains(page));
            prop_assert_eq!(one.overlaps(other), is_shared);
            prop_assert_eq!(other.overlaps(one), is_shared);
            let joined = one.to_end_of(other);
            prop_assert!(joined.contains(one.first()) && joined.contains(other.last()));
        }

        #[test]
        fn a_part_of_a_text_is_in_its_lines(ends in [number(), number(), number(), number()]) {
            let text = LineRange::between(ends[0], ends[1]);
            let own = LineRange::between(ends[2], ends[3]);
            let numbers: Vec<u32> = (text.first()..=text.last()).collect();
            let line = |own: u32| numbers.get(own as usize - 1).copied().unwrap_or(text.last());
            let part = text.part(own);
            prop_assert_eq!([part.first(), part.last()], [line(own.first()), line(own.last())]);
        }

        #[test]
        fn a_shown_range_of_pages_is_read_back(first in number(), last in number()) {
            let range = PageRange::between(first, last);
            prop_assert_eq!(PageRange::parse_cited(&range.to_string()), Some(range));
            prop_assert_eq!(PageRange::parse(&range.to_string().replace('-', ":")), Some(range));
        }
    }
}
