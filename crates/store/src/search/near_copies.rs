//! Recognises passages that nearly repeat each other, by the word shingles they share.
//!
//! Three questions use the same comparison. A page of hits omits passages that are *the same passage
//! again*. That relation is symmetric: nearly all shingles of either passage are in both
//! ([`COPY`]). Newer documents first ([`EDITION`]) needs only half of them. Evidence omits passages that *add nothing new*. That relation is not symmetric:
//! nearly all shingles of the new passage are in the other, however much more the other says
//! ([`NOTHING_NEW`]). Broder calls these resemblance and containment ("On the resemblance and
//! containment of documents", 1997).

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher as _};

/// Defines when one passage nearly repeats another.
#[derive(Debug, Clone, Copy)]
pub(super) struct NearCopyRule {
    /// Consecutive words per shingle.
    num_words: usize,
    /// Passages with fewer shingles are too short to be called copies.
    min_shingles: usize,
    /// The shingles of which a share must be in both passages.
    base: OverlapDenominator,
    /// The least share for a repetition.
    min_shared: f64,
}

/// The shingles of which a share must be in both passages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OverlapDenominator {
    /// Those of either passage.
    Either,
    /// Those of the new one.
    New,
}

/// The entire passage is already present. Where manuals and licences repeat each other, 5 of 40 pages
/// of ten hits had 31 copies; on collections with judgments, leaving them out changed no nDCG@10.
pub(super) const COPY: NearCopyRule = NearCopyRule {
    num_words: 3,
    min_shingles: 15,
    base: OverlapDenominator::Either,
    min_shared: 0.8,
};

/// One passage is the other at another time: most of it is the same, and what has changed is what the question may be
/// about.
pub(super) const EDITION: NearCopyRule = NearCopyRule {
    num_words: 3,
    min_shingles: 10,
    base: OverlapDenominator::Either,
    min_shared: 0.5,
};

/// Everything in the passage is already present, whatever its length: the answer is cut to a budget,
/// in which even a short repetition costs tokens.
pub(super) const NOTHING_NEW: NearCopyRule =
    NearCopyRule { num_words: 4, min_shingles: 0, base: OverlapDenominator::New, min_shared: 0.8 };

/// Passages, prepared for comparison with others.
pub(super) struct NearCopies {
    measure: NearCopyRule,
    seen: Vec<Shingles>,
}

pub(super) struct Shingles(HashSet<u64>);

impl NearCopies {
    /// Creates an empty set of passages.
    pub(super) fn by(measure: NearCopyRule) -> Self {
        Self { measure, seen: Vec::new() }
    }

    pub(super) fn shingles_of(&self, text: &str) -> Shingles {
        Shingles(shingles(text, self.measure.num_words))
    }

    /// Returns the position of the first passage that the new one repeats, in the order of
    /// [`Self::push`].
    pub(super) fn find(&self, new: &Shingles) -> Option<usize> {
        self.find_where(new, |_| true)
    }

    /// As [`Self::find`], among the passages at the positions that `is_asked` accepts.
    pub(super) fn find_where(
        &self,
        new: &Shingles,
        is_asked: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        (0..self.seen.len()).find(|at| is_asked(*at) && self.measure.holds(&self.seen[*at], new))
    }

    pub(super) fn push(&mut self, new: Shingles) {
        self.seen.push(new);
    }
}

impl NearCopyRule {
    /// Whether a passage repeats one that was seen before.
    pub(super) fn holds(&self, seen: &Shingles, new: &Shingles) -> bool {
        let (Shingles(seen), Shingles(new)) = (seen, new);
        let (num_seen, num_new) = (count(seen.len()), count(new.len()));
        let fewer = num_seen.min(num_new);
        let least_base = match self.base {
            OverlapDenominator::Either => num_seen.max(num_new),
            OverlapDenominator::New => num_new,
        };
        // Counting ends early: even if all shingles of the shorter passage were in both, they would be too few.
        if fewer < count(self.min_shingles) || fewer < self.min_shared * least_base {
            return false;
        }
        let num_shared = count(seen.intersection(new).count());
        let base = match self.base {
            OverlapDenominator::Either => num_seen + num_new - num_shared,
            OverlapDenominator::New => num_new,
        };
        num_shared >= self.min_shared * base
    }
}

/// Returns the hashes of all runs of `num_words` lower-case words; for a shorter text, the hash of
/// all its words.
fn shingles(text: &str, num_words: usize) -> HashSet<u64> {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    // Each word is in several shingles, but hashed once.
    let words: Vec<u64> = words.map(|word| hash(&word)).collect();
    if words.len() < num_words {
        return HashSet::from([hash(&words)]);
    }
    words.windows(num_words).map(|row| hash(&row)).collect()
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn count(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(measure: NearCopyRule, seen: &str, new: &str, expected: bool) {
        let mut copies = NearCopies::by(measure);
        copies.push(copies.shingles_of("something else that is no copy of either"));
        copies.push(copies.shingles_of(seen));
        let found = copies.find(&copies.shingles_of(new));
        assert_eq!(found, expected.then_some(1), "{seen:?}, {new:?}");
    }

    #[track_caller]
    fn check_copy(a: &str, b: &str, expected: bool) {
        check(COPY, a, b, expected);
        check(COPY, b, a, expected);
    }

    const TEXT: &str = "The station keeps its log in a blue box under the stairs, and a person who reads the \
        gauge at noon writes the level, the wind and the hour into it before anything else is done.";

    #[test]
    fn a_passage_with_few_changed_words_is_a_copy() {
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
    fn a_part_adds_nothing_new_but_the_longer_text_does() {
        check(NOTHING_NEW, TEXT, &TEXT[..80], true);
        check(NOTHING_NEW, &TEXT[..80], TEXT, false);
        check(NOTHING_NEW, "See the manual.", "see the manual", true);
        check(NOTHING_NEW, "See the manual.", "See the index.", false);
    }

    #[test]
    fn shingles_overlap_and_ignore_punctuation() {
        assert_eq!(shingles("one two three four", 3).len(), 2);
        assert_eq!(shingles("One, two -- THREE", 3), shingles("one two three", 3));
        assert_ne!(shingles("one two three", 3), shingles("three two one", 3));
        // A repeated shingle counts once.
        assert_eq!(shingles("a a a a a", 3).len(), 1);
    }

    #[test]
    fn a_short_text_is_one_shingle() {
        assert_eq!(shingles("One two.", 3), shingles("one two", 4));
        assert_eq!(shingles("", 3).len(), 1);
    }
}
