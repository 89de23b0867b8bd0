//! Leaves out most words of a text before they are stemmed. Pure.

/// The first two letters of stems, as far as they are ASCII: for each first one the bits of the second ones.
pub(super) struct Beginnings([u128; 128]);

impl Default for Beginnings {
    fn default() -> Self {
        Self([0; 128])
    }
}

impl Beginnings {
    /// Adds a stem.
    pub(super) fn add(&mut self, stem: &str) {
        let mut bytes = stem.bytes();
        let Some(seconds) = bytes.next().and_then(|first| self.0.get_mut(usize::from(first)))
        else {
            return;
        };
        *seconds |= match bytes.next() {
            // The only letter that stemming changes so early: `eyed` has the stem `ei`.
            Some(b'i' | b'y') => 1 << b'i' | 1 << b'y',
            Some(second) if second.is_ascii() => 1 << second,
            _ => u128::MAX,
        };
    }

    /// Whether the stem of a word may be one of them. Letters beyond ASCII may stand for any.
    pub(super) fn may_be_of(&self, word: &str) -> bool {
        let mut bytes = word.bytes().map(|byte| byte.to_ascii_lowercase());
        let Some(seconds) = bytes.next().map(|first| self.0.get(usize::from(first))) else {
            return false;
        };
        match (seconds, bytes.next()) {
            (None, _) => true,
            (Some(seconds), Some(second)) if second.is_ascii() => seconds >> second & 1 == 1,
            (Some(seconds), _) => *seconds != 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::stem::stem;

    #[test]
    fn a_word_may_be_of_its_own_stem() {
        let mut words = vec![String::new()];
        for _ in 0..5 {
            let longer = words
                .iter()
                .flat_map(|word| "aeiydglnst".chars().map(move |c| format!("{word}{c}")));
            words = longer.collect();
            for word in &words {
                let mut beginnings = Beginnings::default();
                beginnings.add(&stem(word));
                assert!(beginnings.may_be_of(word), "{word}");
            }
        }
        let mut beginnings = Beginnings::default();
        ["gaug", "i", "été"].iter().for_each(|stem| beginnings.add(stem));
        assert_eq!(stem("eyed"), "ei");
        let may_be = ["gauge", "GAUGES", "gàuge", "i", "ice", "Été", "été"];
        assert!(may_be.iter().all(|word| beginnings.may_be_of(word)));
        assert!(!["great", "g1", "tide", ""].iter().any(|word| beginnings.may_be_of(word)));
    }
}
