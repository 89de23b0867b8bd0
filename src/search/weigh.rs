//! Weights a leg by the query and by what was found. Pure.
//!
//! A leg that cannot read the query must not outvote the one that can, nor one that finds words
//! where the words are not what is asked for. Nothing here knows a language: the model's own
//! tokenizer says how well it knows the words.

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

/// Tokens of a text, as the model's tokenizer makes them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tokens {
    /// How many there are.
    pub(super) num_tokens: usize,
    /// How many of them stand for something that the vocabulary does not have.
    pub(super) num_unknown: usize,
}

/// Returns how much the vector leg counts for a query: 1 where the model knows the words, 0 where
/// its vocabulary takes them apart into letters or lacks half of them. Of Chinese questions (XQuAD)
/// all-MiniLM-L6-v2 lacks two thirds in the median, of no other collection's questions a twentieth.
///
/// `count` counts as the model does. Chinese and Japanese characters are left out of the account of
/// letters: one of them is a token in many a vocabulary that knows them, and means something.
pub(super) fn vector_weight(query: &str, count: impl Fn(&str) -> Tokens) -> f64 {
    let all = count(query);
    let known = 1.0 - 2.0 * ratio(all.num_unknown, all.num_tokens);
    let words: String = query
        .chars()
        .map(|it| if it.is_alphabetic() && !is_ideograph(it) { it } else { ' ' })
        .collect();
    let num_letters = words.chars().filter(|it| *it != ' ').count();
    if num_letters < MIN_LETTERS {
        return known.clamp(0.0, 1.0);
    }
    let letters_per_token = ratio(num_letters, count(&words).num_tokens);
    known.clamp(0.0, 1.0) * ((letters_per_token - UNREAD) / (READ - UNREAD)).clamp(0.0, 1.0)
}

#[expect(clippy::cast_precision_loss, reason = "a query is short")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// What the keyword leg counts for a question in plain words that it answers with code alone. Code
/// seldom says in words what it does. On two collections of questions to code half
/// raised nDCG@10 of the fusion by 0.04 and 0.05; a quarter would raise it by another 0.01.
const CODE_WEIGHT: f64 = 0.5;

/// Returns how much the keyword leg counts for a query: 1, and less the more of what it ranks first
/// is code, unless the query names a symbol. `code_share` is the part of its first hits' scores that
/// code has, in 0..=1.
pub(super) fn keyword_weight(query: &str, code_share: f64) -> f64 {
    if query.split_whitespace().any(is_symbol) {
        return 1.0;
    }
    1.0 - (1.0 - CODE_WEIGHT) * code_share
}

/// Whether a word is written as programs write names: `parse_url`, `parseUrl`, `os.path`, `f()`,
/// `std::fs`, `$HOME`.
fn is_symbol(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', '"', '\'']);
    let is_joint = |a: char, b: char, c: char| {
        a.is_alphanumeric() && matches!(b, '_' | '.' | ':') && (c.is_alphanumeric() || c == ':')
    };
    let chars: Vec<char> = word.chars().collect();
    word.contains("()")
        || word.starts_with(['$', '_'])
        || chars.windows(3).any(|it| is_joint(it[0], it[1], it[2]))
        || chars.windows(2).any(|it| it[0].is_lowercase() && it[1].is_uppercase())
}

/// Whether a character is Han, Hiragana or Katakana (blocks of Unicode 16).
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes words of Latin letters apart into fours, all others into letters; lacks 猫.
    fn count(text: &str) -> Tokens {
        let num_tokens = text
            .split_whitespace()
            .map(|it| if it.is_ascii() { it.len().div_ceil(4) } else { it.chars().count() })
            .sum();
        Tokens { num_tokens, num_unknown: text.matches('猫').count() }
    }

    #[track_caller]
    fn check(query: &str, weight: f64) {
        assert!((vector_weight(query, count) - weight).abs() < 1e-9, "{query}");
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
    fn keywords_count_less_the_more_of_what_they_find_is_code() {
        assert!((keyword_weight("sort a list by length", 0.0) - 1.0).abs() < 1e-9);
        assert!((keyword_weight("sort a list by length", 1.0) - 0.5).abs() < 1e-9);
        assert!((keyword_weight("sort a list by length", 0.5) - 0.75).abs() < 1e-9);
    }

    #[test]
    fn a_name_in_the_query_is_looked_for_in_code() {
        for word in
            ["parse_url", "parseUrl", "os.path.join", "std::fs", "main()", "$HOME", "__init__"]
        {
            assert!(is_symbol(word), "{word}");
            assert!((keyword_weight(&format!("what is {word}?"), 1.0) - 1.0).abs() < 1e-9);
        }
        for word in ["length", "length.", "git-lfs", "URL", "Go", "ratio:", "\"list\"", "3"] {
            assert!(!is_symbol(word), "{word}");
        }
    }

    #[test]
    fn what_the_vocabulary_lacks_counts_nothing() {
        check("猫猫日本", 0.0);
        check("猫日本人三四五六", 0.75);
    }

    #[test]
    fn ideographs_and_short_queries_count_in_full() {
        check("東京の天気はどうですか", 1.0);
        check("C++ и", 1.0);
        check("?!", 1.0);
    }
}
