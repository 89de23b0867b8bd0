//! Computes the word shingles by which two texts are compared (Broder, "On the resemblance and
//! containment of documents", 1997).

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher as _};

/// Returns the hashes of all runs of `num_words` lower-case words; for a shorter text, the hash of
/// all its words.
pub fn shingles(text: &str, num_words: usize) -> HashSet<u64> {
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
