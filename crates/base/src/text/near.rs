//! Measures how far words are from each other: in letters that are wrong, missing, too many, or exchanged with their neighbours.
//! Pure.

/// The features of a word, prepared for comparison with other words.
#[derive(Debug, Clone)]
pub struct WordShape {
    word: String,
    /// Which letters it has, each as one of the bits.
    bits: u64,
}

impl WordShape {
    /// Returns the shape of a word.
    pub fn of(word: String) -> Self {
        Self { bits: bits(&word), word }
    }

    /// Returns the distance of another word, if it is at most so many (the restricted distance of Damerau, 1964: no letter is
    /// changed twice).
    pub fn distance_at_most(&self, other: &str, most: usize) -> Option<usize> {
        // Each change adds at most one letter and takes at most one away. Most words differ in more.
        let num_other = (self.bits ^ bits(other)).count_ones() as usize;
        if num_other > 2 * most {
            return None;
        }
        Some(strsim::osa_distance(&self.word, other)).filter(|distance| *distance <= most)
    }
}

fn bits(word: &str) -> u64 {
    word.chars().fold(0, |bits, c| bits | 1 << (u32::from(c) % u64::BITS))
}

/// Returns how alike two names are, in 0..=1, the beginning counting more (Winkler, 1990).
pub fn likeness(one: &str, other: &str) -> f64 {
    strsim::jaro_winkler(one, other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distance_counts_letters() {
        for (one, other, expected) in [
            ("isolation", "isolation", Some(0)),
            ("isolaton", "isolation", Some(1)),
            ("isolatoin", "isolation", Some(1)),
            ("prunne", "prune", Some(1)),
            ("gräße", "größe", Some(1)),
            ("isolates", "isolated", Some(1)),
            ("isalatien", "isolation", Some(2)),
            ("isalatyen", "isolation", None),
            ("", "abc", None),
        ] {
            assert_eq!(
                WordShape::of(one.to_owned()).distance_at_most(other, 2),
                expected,
                "{one} {other}"
            );
        }
        assert_eq!(WordShape::of("isalatien".to_owned()).distance_at_most("isolation", 1), None);
    }
}
