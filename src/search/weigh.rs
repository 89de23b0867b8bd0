//! A query in, the weight of a leg out. Pure.
//!
//! A leg that cannot read the query must not outvote the one that can. Nothing here knows a
//! language: the model's own tokenizer says how well it knows the words.

/// Letters a token holds on average below which the model reads letters, not words. With
/// all-MiniLM-L6-v2 and 200 questions of XQuAD each, the median is 1.0 for Arabic and Russian, whose
/// vector ranking is noise.
const UNREAD: f64 = 1.5;

/// Letters a token holds on average from which the vector leg counts in full. Chosen below nearly
/// all English queries: on seven English sets the median is 3.8 to 4.6, and at most 4 of 200 queries
/// lie below; German has a median of 2.7. Raising it to 3.5 changed nothing on XQuAD's German.
const READ: f64 = 2.5;

/// Fewer letters say nothing of a language.
const MIN_LETTERS: usize = 6;

/// Returns how much the vector leg counts for a query: 1 where the model knows the words, 0 where
/// its vocabulary takes them apart into letters.
///
/// `num_tokens` counts as the model does. Chinese and Japanese characters are left out of the
/// account: one of them is a token in every vocabulary, and means something.
pub(super) fn vector_weight(query: &str, num_tokens: impl FnOnce(&str) -> usize) -> f64 {
    let words: String = query
        .chars()
        .map(|it| if it.is_alphabetic() && !is_ideograph(it) { it } else { ' ' })
        .collect();
    let num_letters = words.chars().filter(|it| *it != ' ').count();
    if num_letters < MIN_LETTERS {
        return 1.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "a query is short")]
    let letters_per_token = num_letters as f64 / num_tokens(&words).max(1) as f64;
    ((letters_per_token - UNREAD) / (READ - UNREAD)).clamp(0.0, 1.0)
}

/// Whether a character is Han, Hiragana or Katakana (blocks of Unicode 16).
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes words of Latin letters apart into fours, all others into letters.
    fn num_tokens(text: &str) -> usize {
        text.split_whitespace()
            .map(|it| if it.is_ascii() { it.len().div_ceil(4) } else { it.chars().count() })
            .sum()
    }

    #[track_caller]
    fn check(query: &str, weight: f64) {
        assert!((vector_weight(query, num_tokens) - weight).abs() < 1e-9, "{query}");
    }

    #[test]
    fn words_the_model_knows_count_in_full() {
        check("what does the station keep", 1.0);
    }

    #[test]
    fn words_taken_apart_into_letters_count_nothing() {
        check("как установить программу", 0.0);
    }

    #[test]
    fn ideographs_and_short_queries_count_in_full() {
        check("東京の天気はどうですか", 1.0);
        check("C++ и", 1.0);
        check("?!", 1.0);
    }
}
