//! Computes the word shingles by which two texts are compared (Broder, "On the resemblance and
//! containment of documents", 1997).

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Returns the hashes of all runs of `num_words` lower-case words; for a shorter text, the hash of
/// all its words.
pub fn shingles(text: &str, num_words: usize) -> HashSet<u64> {
    let text = text.to_lowercase();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let hash = |row: &[&str]| {
        let mut hasher = DefaultHasher::new();
        row.hash(&mut hasher);
        hasher.finish()
    };
    if words.len() < num_words {
        return HashSet::from([hash(&words)]);
    }
    words.windows(num_words).map(hash).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
