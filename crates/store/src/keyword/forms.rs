//! Says under which terms the indexes have the other forms of a word. Pure.
//!
//! The index of words removes the accents of Latin letters and English endings, and knows a word in this form only. A word that
//! people also write in another way, or that the index divides, has a marked term in the second index: `straße` as
//! `strasse`, `oﬃcial`, `1,234,567`, an emoji, the `GPU` of `GPU加速`. A word of a query is asked for in both.

use crate::text::emoji::emoji;
use crate::text::forms::{folded, seen, unfolded, with_two_letters, with_whole_letters, words};
use crate::text::joined_numbers::joined_numbers;
use crate::text::scripts::{is_unspaced, parts};
use crate::text::stem::stem;

/// Begins the term of a word in the second index. A private letter is in no word, because words are divided at it, but FTS5
/// counts it as a letter.
const MARK: char = '\u{e002}';

/// Returns the marked terms of a text, each as often as it occurs.
pub(crate) fn indexed(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if !text.is_ascii() {
        let text = with_whole_letters(text);
        for word in words(&text).map(|word| &text[word]) {
            if word.is_ascii() {
                continue;
            }
            if word.contains(is_unspaced) {
                let others = parts(word).into_iter().filter(|part| !part.starts_with(is_unspaced));
                found.extend(others.map(|part| marked(&folded(part))));
                continue;
            }
            let form = folded(word);
            if form != unfolded(word) {
                found.push(marked(&form));
            }
            found.extend(
                with_two_letters(word).filter(|other| *other != form).map(|word| marked(&word)),
            );
        }
        found.extend(emoji(&text).iter().map(|emoji| marked(&emoji.term)));
    }
    found.extend(joined_numbers(&seen(text)).iter().map(|number| marked(&number.term)));
    found
}

/// Returns the marked terms that a word or a number of a query stands for; none for several words. A word that ends in `*` stands for all
/// that begin so.
pub(crate) fn terms(text: &str) -> Vec<String> {
    if let [number] = joined_numbers(text).as_slice() {
        return vec![marked(&number.term)];
    }
    if text.contains(char::is_whitespace) || text.contains(is_unspaced) {
        return Vec::new();
    }
    if let [only] = emoji(text).as_slice() {
        return vec![marked(&only.term)];
    }
    if let Some(beginning) = text.strip_suffix('*') {
        return vec![format!("{MARK}{}*", folded(beginning))];
    }
    let form = folded(text);
    let other = with_two_letters(text).filter(|other| *other != form);
    [form.into_owned()].into_iter().chain(other).map(|form| marked(&form)).collect()
}

/// Returns the other forms of a word or a number of a query as the index of words has them.
pub(crate) fn plain(text: &str) -> Vec<String> {
    if let [number] = joined_numbers(text).as_slice() {
        return vec![number.term.clone()];
    }
    if text.is_ascii() || text.contains(char::is_whitespace) || text.contains(is_unspaced) {
        return Vec::new();
    }
    let form = Some(folded(text).into_owned()).filter(|form| *form != unfolded(text));
    let other = with_two_letters(text).filter(|other| Some(other) != form.as_ref());
    form.into_iter().chain(other).collect()
}

fn marked(form: &str) -> String {
    format!("{MARK}{}", stem(form))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyword::splitter::{Splitter, TermIndex};

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let expected: Vec<String> = expected.iter().map(|term| format!("{MARK}{term}")).collect();
        assert_eq!(indexed(text), expected, "{text}");
    }

    #[test]
    fn only_words_that_the_index_does_not_know_as_such_are_marked() {
        check("Plain words, naïve café, 2024-03-05: “quoted” – dash", &[]);
        check("Straßen und Müller", &["strassen", "mueller"]);
        check("oﬃcially GPU加速 第3章", &["offici", "gpu", "3"]);
        check("1,234,567 🚀", &["u1f680", "1234567"]);
        check("प्रश्न Москва", &[]);
        check("एक ไทย 東京都", &[]);
    }

    #[test]
    fn a_word_of_a_query_is_asked_for_in_all_forms() {
        let all = |text: &str| (plain(text), terms(text).join(" ").replace(MARK, ""));
        let of = |plain: &[&str], terms: &str| {
            (plain.iter().map(|form| (*form).to_owned()).collect(), terms.to_owned())
        };
        assert_eq!(all("officially"), of(&[], "offici"));
        assert_eq!(all("Straße"), of(&["strasse"], "strass"));
        assert_eq!(all("Größe"), of(&["grosse", "groesse"], "gross groess"));
        assert_eq!(all("Müller"), of(&["mueller"], "muller mueller"));
        assert_eq!(all("🚀"), of(&[], "u1f680"));
        assert_eq!(all("str*"), of(&[], "str*"));
        assert_eq!(all("two words"), of(&[], ""));
        assert_eq!(all("1,234,567"), of(&["1234567"], "1234567"));
        assert_eq!(all("(030) 1234 5678"), of(&["3012345678"], "3012345678"));
    }

    #[test]
    fn every_letter_that_the_index_changes_less_is_marked() {
        let splitter = Splitter::new().unwrap();
        let is_letter = |c: &char| words(&c.to_string()).next().is_some() && !is_unspaced(*c);
        // SQLite does not know the newest capitals.
        let alphabets = ('\u{80}'..='\u{6ff}').chain('\u{1d00}'..='\u{2c7f}');
        let letters = alphabets.filter(|c| is_letter(c) && !c.is_uppercase());
        for letter in letters {
            let word = format!("{letter}b");
            let known = splitter.terms(TermIndex::Words, &word).unwrap();
            let form = folded(&word);
            let is_known = known.len() == 1 && known[0] == stem(&form);
            assert!(is_known || indexed(&word).contains(&marked(&form)), "{word}: {known:?}");
        }
    }
}
