//! Sets the weight of each leg from the query and from what the legs found. Pure.
//!
//! A leg that cannot read the query must not outvote the one that can. Nor must a leg that finds
//! words in places where words do not answer the question. Nothing here knows a language: the
//! model's own tokenizer shows how well the model knows the words.

/// At or below this average number of letters per token, the model reads letters, not words. With
/// all-MiniLM-L6-v2 and 200 questions of XQuAD each, the median is 1.0 for Arabic and Russian,
/// whose vector ranking is noise.
const MIN_LETTERS_PER_TOKEN: f64 = 1.5;

/// From this average number of letters per token on, the vector leg has full weight. Chosen below
/// nearly all English queries: on seven English sets the median is 3.8 to 4.6, and at most 4 of 200
/// queries are below; German has a median of 2.7. Raising it to 3.5 changed nothing on XQuAD's
/// German.
const FULL_LETTERS_PER_TOKEN: f64 = 2.5;

/// Queries with fewer letters are too short to judge their language.
const MIN_LETTERS: usize = 6;

/// The tokens of a text, as counted by the model's tokenizer.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextTokens {
    pub(super) num_tokens: usize,
    /// Number of unknown tokens, which replace words missing from the vocabulary.
    pub(super) num_unknown: usize,
}

/// Returns the weight of the vector leg for a query: 1 if the model knows the words, 0 if its
/// vocabulary splits them into letters or lacks half of them. all-MiniLM-L6-v2 lacks, in the
/// median, two thirds of the tokens of Chinese questions (XQuAD), and less than a twentieth of
/// those of any other collection.
///
/// `count` counts tokens as the model does. Chinese and Japanese characters are not counted as
/// letters: many vocabularies that know them have one token per character, and each has a meaning.
pub(super) fn vector_weight(query: &str, count: impl Fn(&str) -> TextTokens) -> f64 {
    let all = count(query);
    let known = 1.0 - 2.0 * ratio(all.num_unknown, all.num_tokens);
    let words: String = query
        .chars()
        .map(|c| if c.is_alphabetic() && !is_ideograph(c) { c } else { ' ' })
        .collect();
    let num_letters = words.chars().filter(|c| *c != ' ').count();
    if num_letters < MIN_LETTERS {
        return known.clamp(0.0, 1.0);
    }
    let letters_per_token = ratio(num_letters, count(&words).num_tokens);
    known.clamp(0.0, 1.0)
        * ((letters_per_token - MIN_LETTERS_PER_TOKEN)
            / (FULL_LETTERS_PER_TOKEN - MIN_LETTERS_PER_TOKEN))
            .clamp(0.0, 1.0)
}

#[expect(clippy::cast_precision_loss, reason = "a query is short and has few phrasings")]
pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Weight of the keyword leg for a question in plain words that it answers with code only. Code
/// seldom describes in words what it does. On two collections of questions about code with two models,
/// nDCG@10 of the fusion is best with 0.2, also if either collection is left out; with a half it is 0.015
/// lower on average, and below the vector leg.
const CODE_WEIGHT: f64 = 0.2;

/// Returns the weight of the keyword leg for a query: 1, or less the more code it ranks first,
/// unless the query names a symbol. `code_share` is code's share of the scores of the first hits,
/// in 0..=1.
pub(super) fn keyword_weight(query: &str, code_share: f64) -> f64 {
    if query.split_whitespace().any(is_symbol) {
        return 1.0;
    }
    1.0 - (1.0 - CODE_WEIGHT) * code_share
}

/// Whether a word is written like a name in a program: `parse_url`, `parseUrl`, `os.path`, `f()`,
/// `std::fs`, `$HOME`.
fn is_symbol(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', '"', '\'']);
    let chars: Vec<char> = word.chars().collect();
    word.contains("()")
        || word.starts_with(['$', '_'])
        || chars.windows(3).any(|chars| is_joint(chars[0], chars[1], chars[2]))
        || chars.windows(2).any(|pair| pair[0].is_lowercase() && pair[1].is_uppercase())
}

/// Whether `b` joins two parts of a name, of which these are the signs around it.
fn is_joint(a: char, b: char, c: char) -> bool {
    a.is_alphanumeric() && matches!(b, '_' | '.' | ':') && (c.is_alphanumeric() || c == ':')
}

/// Whether a character is Han, Hiragana or Katakana (blocks of Unicode 16).
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits ASCII words into tokens of four letters and other words into letters; 猫 is unknown.
    fn count(text: &str) -> TextTokens {
        let num_tokens = text
            .split_whitespace()
            .map(|word| if word.is_ascii() { word.len().div_ceil(4) } else { word.chars().count() })
            .sum();
        TextTokens { num_tokens, num_unknown: text.matches('猫').count() }
    }

    #[test]
    fn a_share_of_nothing_is_no_error() {
        for (part, whole, expected) in [(1, 4, 0.25), (0, 0, 0.0), (3, 0, 3.0)] {
            assert!((ratio(part, whole) - expected).abs() < 1e-12);
        }
    }

    #[track_caller]
    fn check(query: &str, weight: f64) {
        assert!((vector_weight(query, count) - weight).abs() < 1e-9, "{query}");
    }

    #[test]
    fn words_the_model_knows_give_full_weight() {
        check("what does the station keep", 1.0);
    }

    #[test]
    fn words_split_into_letters_give_no_weight() {
        check("как установить программу", 0.0);
    }

    #[test]
    fn the_keyword_leg_weighs_less_the_more_code_it_finds() {
        assert!((keyword_weight("sort a list by length", 0.0) - 1.0).abs() < 1e-9);
        assert!((keyword_weight("sort a list by length", 1.0) - CODE_WEIGHT).abs() < 1e-9);
        assert!(
            (keyword_weight("sort a list by length", 0.5) - (1.0 + CODE_WEIGHT) / 2.0).abs() < 1e-9
        );
    }

    #[test]
    fn a_symbol_in_the_query_keeps_the_keyword_weight() {
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
    fn words_missing_from_the_vocabulary_give_no_weight() {
        check("猫猫日本", 0.0);
        check("猫日本人三四五六", 0.75);
    }

    #[test]
    fn ideographs_and_short_queries_give_full_weight() {
        check("東京の天気はどうですか", 1.0);
        check("C++ и", 1.0);
        check("?!", 1.0);
    }
}
