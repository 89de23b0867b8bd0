//! Leaves out most words of a text before they are stemmed. Pure.

/// How words begin that have one of some stems.
///
/// Stemming removes endings, and changes at most one letter before them: `eyed` has the stem `ei`, and `sensibility` has
/// `sensibl`. So a word begins with its stem without the last letter.
#[derive(Debug, Default)]
pub(super) struct Beginnings {
    /// The bits of the first letters.
    firsts: u128,
    /// The stems without their last letters; at least one letter of each.
    beginnings: Vec<String>,
}

impl Beginnings {
    /// Adds a stem. One with other letters than those of ASCII is of no word that [`Self::may_be_of`] compares.
    pub(super) fn add(&mut self, stem: &str) {
        if let Some(first) = stem.bytes().next().filter(|_| stem.is_ascii()) {
            self.firsts |= 1 << first;
            self.beginnings.push(stem[..(stem.len() - 1).max(1)].to_owned());
        }
    }

    /// Whether the stem of a word may be one of them. Letters beyond ASCII may stand for any.
    pub(super) fn may_be_of(&self, word: &str) -> bool {
        if !word.is_ascii() {
            return true;
        }
        let first = word.bytes().next().map_or(0, |first| 1 << first.to_ascii_lowercase());
        self.firsts & first != 0
            && self.beginnings.iter().any(|beginning| {
                let begins = word.get(..beginning.len());
                begins.is_some_and(|begins| begins.eq_ignore_ascii_case(beginning))
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::stem::stem;

    #[track_caller]
    fn check(word: &str) {
        let mut beginnings = Beginnings::default();
        beginnings.add(&stem(word));
        assert!(beginnings.may_be_of(word), "{word}: {}", stem(word));
    }

    #[test]
    fn a_word_may_be_of_its_own_stem() {
        let mut words = vec![String::new()];
        for _ in 0..5 {
            let longer = words
                .iter()
                .flat_map(|word| "aeiydglnst".chars().map(move |c| format!("{word}{c}")));
            words = longer.collect();
            words.iter().for_each(|word| check(word));
        }
        let endings = "s es ies ed ied ing e y able ible ability ibility ably ibly al ally ality alism ance ancy ant ate \
            ated ation ational ator ement ence ency ent ently er ful fulness fully iable ical icate iciti ion iousness \
            ism ist iti ity ive iveness ivity ize ized izer ization less ment ness ogy ologically ous ously tional";
        for root in [
            "oper", "rel", "hop", "fall", "siz", "conflat", "sens", "digit", "tr", "y", "agre", "b",
        ] {
            for ending in endings.split_whitespace() {
                check(&format!("{root}{ending}"));
                for last in endings.split_whitespace() {
                    check(&format!("{root}{ending}{last}"));
                }
            }
        }
    }

    #[test]
    fn most_words_are_left_out() {
        let mut beginnings = Beginnings::default();
        ["gaug", "i", "été", "sensibl"].iter().for_each(|stem| beginnings.add(stem));
        let may_be = ["gauge", "GAUGES", "gàuge", "i", "ice", "Été", "été", "sensibility"];
        assert!(may_be.iter().all(|word| beginnings.may_be_of(word)));
        let others = ["great", "g1", "ga", "gala", "tide", "sense", ""];
        assert!(!others.iter().any(|word| beginnings.may_be_of(word)));
    }
}
