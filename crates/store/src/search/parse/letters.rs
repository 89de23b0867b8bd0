//! Says what the words of a query are made of. Pure.

use unicode_categories::UnicodeCategories;

use crate::text::emoji::is_emoji;

/// Whether a character continues a word: a letter, a digit, or a mark on the letter before it. Such
/// marks are separate accents and the signs that join letters of Hindi or Tamil.
pub(super) fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c.is_mark_nonspacing()
}

/// Whether an index has at least one term of a text; quoted punctuation matches nothing.
pub(super) fn is_searchable(text: &str) -> bool {
    text.chars().any(|c| c.is_alphanumeric() || is_emoji(c))
}

/// Returns the words of a name in camel case: `parseHttpRequest`, `HttpRequestParser`. Returns none
/// for names of products (`GitHub`, `JavaScript`), whose parts have other meanings.
pub(super) fn camel_case_words(word: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let mut starts = vec![0];
    for (idx, window) in chars.windows(2).enumerate() {
        let (at, c) = window[1];
        let begins_after_capitals = c.is_uppercase()
            && window[0].1.is_uppercase()
            && chars.get(idx + 2).is_some_and(|next| next.1.is_lowercase());
        if c.is_uppercase() && window[0].1.is_lowercase() || begins_after_capitals {
            starts.push(at);
        }
    }
    let is_name = word.starts_with(char::is_lowercase) && starts.len() > 1 || starts.len() > 2;
    let ends = starts.iter().skip(1).copied().chain([word.len()]);
    if is_name {
        starts.iter().zip(ends).map(|(start, end)| &word[*start..end]).collect()
    } else {
        vec![]
    }
}
