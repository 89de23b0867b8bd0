//! Recognises passages that nearly repeat each other, by the runs of words they share.
//!
//! Two questions are asked of the same comparison. A page of hits leaves out what is *the same passage
//! again*, which is symmetrical: of what either says, nearly all is in both ([`COPY`]). A text to read out
//! leaves out what *says nothing new*, which is not: nearly all that the new one says is there, however much
//! more the other says ([`NOTHING_NEW`]). Resemblance and containment in Broder's words ("On the resemblance
//! and containment of documents", 1997).

use std::collections::HashSet;

use crate::text::shingles::shingles;

/// When one passage nearly repeats another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    /// Words in a row that are compared as one.
    num_words: usize,
    /// Passages with fewer such rows are too short to be called copies.
    min_rows: usize,
    /// Of which rows a part must be in both.
    whole: Whole,
    /// Part of them that is in both, from which on one passage repeats the other.
    min_shared: f64,
}

/// The rows of which a part must be in both passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whole {
    /// Those of either passage.
    Either,
    /// Those of the new one.
    New,
}

/// The passage is there already, as a whole. Where manuals and licences repeat each other, 5 of 40 pages of
/// ten hits had 31 copies; on collections with judgments leaving them out changed no nDCG@10.
pub(super) const COPY: Measure =
    Measure { num_words: 3, min_rows: 15, whole: Whole::Either, min_shared: 0.8 };

/// What the passage says is there already, whatever its length: the answer is cut to a budget, in which a
/// short repetition costs tokens, too.
pub(super) const NOTHING_NEW: Measure =
    Measure { num_words: 4, min_rows: 0, whole: Whole::New, min_shared: 0.8 };

/// Passages, with what others are compared by.
pub(super) struct NearCopies {
    measure: Measure,
    seen: Vec<HashSet<u64>>,
}

/// The rows of words of a passage.
pub(super) struct Rows(HashSet<u64>);

impl NearCopies {
    /// Begins without any passage.
    pub(super) fn by(measure: Measure) -> Self {
        Self { measure, seen: Vec::new() }
    }

    /// Reads the rows of a passage.
    pub(super) fn rows(&self, text: &str) -> Rows {
        Rows(shingles(text, self.measure.num_words))
    }

    /// Returns the position of the first passage that a new one repeats, in the order of [`Self::push`].
    pub(super) fn find(&self, new: &Rows) -> Option<usize> {
        self.seen.iter().position(|seen| self.measure.holds(seen, &new.0))
    }

    /// Adds a passage.
    pub(super) fn push(&mut self, new: Rows) {
        self.seen.push(new.0);
    }
}

impl Measure {
    fn holds(&self, seen: &HashSet<u64>, new: &HashSet<u64>) -> bool {
        let (num_seen, num_new) = (count(seen.len()), count(new.len()));
        let fewer = num_seen.min(num_new);
        let least_whole = match self.whole {
            Whole::Either => num_seen.max(num_new),
            Whole::New => num_new,
        };
        // Not even if all rows of the shorter one were in both.
        if fewer < count(self.min_rows) || fewer < self.min_shared * least_whole {
            return false;
        }
        let num_shared = count(seen.intersection(new).count());
        let whole = match self.whole {
            Whole::Either => num_seen + num_new - num_shared,
            Whole::New => num_new,
        };
        num_shared >= self.min_shared * whole
    }
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(measure: Measure, seen: &str, new: &str, expected: bool) {
        let mut copies = NearCopies::by(measure);
        copies.push(copies.rows("something else that is no copy of either"));
        copies.push(copies.rows(seen));
        let found = copies.find(&copies.rows(new));
        assert_eq!(found, expected.then_some(1), "{seen:?}, {new:?}");
    }

    #[track_caller]
    fn check_copy(a: &str, b: &str, expected: bool) {
        check(COPY, a, b, expected);
        check(COPY, b, a, expected);
    }

    const TEXT: &str = "The station keeps its log in a blue box under the stairs, and whoever reads the \
        gauge at noon writes the level, the wind and the hour into it before anything else is done.";

    #[test]
    fn a_passage_with_few_other_words_is_a_copy() {
        check_copy(TEXT, TEXT, true);
        check_copy(TEXT, &TEXT.to_uppercase().replace(',', ";"), true);
        check_copy(TEXT, &TEXT.replace("noon", "dawn"), true);
        check_copy(TEXT, &TEXT.replace("the", "a"), false);
        check_copy(TEXT, &TEXT[..80], false);
    }

    #[test]
    fn short_passages_are_no_copies() {
        check_copy("See the manual.", "See the manual.", false);
        check_copy("", "", false);
    }

    #[test]
    fn a_part_says_nothing_new_but_what_holds_it_does() {
        check(NOTHING_NEW, TEXT, &TEXT[..80], true);
        check(NOTHING_NEW, &TEXT[..80], TEXT, false);
        check(NOTHING_NEW, "See the manual.", "see the manual", true);
        check(NOTHING_NEW, "See the manual.", "See the index.", false);
    }
}
