//! Brings letters into one form, so that the same letters are the same characters.
//!
//! Text is shown unchanged. Only the forms to compare are folded, in the index and in a query alike.

use std::borrow::Cow;
use std::iter;
use std::ops::Range;

use memchr::{memchr2, memmem};
use unicode_normalization::char::{
    canonical_combining_class, decompose_canonical, is_combining_mark,
};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Letters that do not decompose, and what people type for them who do not have them on their keyboard.
const OTHER_LETTERS: [(char, &str); 16] = [
    ('ß', "ss"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "o"),
    ('ł', "l"),
    ('đ', "d"),
    ('ð', "d"),
    ('þ', "th"),
    ('ı', "i"),
    ('ħ', "h"),
    ('ŧ', "t"),
    ('ŋ', "n"),
    ('ĸ', "k"),
    ('ƒ', "f"),
    ('ə', "a"),
    ('ς', "σ"),
];

/// Letters that people write as two letters if their keyboard lacks them.
const TWO_LETTERS: [(char, &str); 5] =
    [('ä', "ae"), ('ö', "oe"), ('ü', "ue"), ('å', "aa"), ('ø', "oe")];

/// Returns text in composed form (NFC), in which `ü` is one character; borrowed if it already is.
///
/// File names from macOS are decomposed: `u` and a combining mark. Nothing else is changed.
pub fn composed(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.nfc().collect())
}

/// Bytes that begin a mark of Latin, Greek or Cyrillic letters (U+0300 to U+036F) in UTF-8.
const MARKS: [u8; 2] = [0xCC, 0xCD];

/// How other characters begin in UTF-8 that may become one with the letter before them: vowels and ends of Korean
/// syllables, marks of Japanese and Arabic letters.
const OTHER_MARKS: [&[u8]; 8] = [
    b"\xE1\x85", b"\xE1\x86", b"\xE1\x87", b"\xE3\x82\x99", b"\xE3\x82\x9A", b"\xD9\x93",
    b"\xD9\x94", b"\xD9\x95",
];

/// Whether a text may have letters apart from their marks. Few texts have any.
pub fn has_marks(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr2(MARKS[0], MARKS[1], bytes).is_some()
        || OTHER_MARKS.iter().any(|start| memmem::find(bytes, start).is_some())
}

/// Composes letters with their marks, and leaves all other characters unchanged.
pub fn with_composed_marks(text: &str) -> Cow<'_, str> {
    if !has_marks(text) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(letters(text).map(|letter| composed_letter(letter)).collect())
}

/// Returns a letter with its marks in composed form; a character without marks is returned unchanged.
pub fn composed_letter(letter: &str) -> Cow<'_, str> {
    match letter.chars().nth(1) {
        Some(_) => composed(letter),
        None => Cow::Borrowed(letter),
    }
}

/// Splits a text into its characters, each with the marks behind it.
pub fn letters(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    iter::from_fn(move || {
        let end = rest.char_indices().skip(1).find(|(_, c)| !joins_letter(*c));
        let (part, next) = rest.split_at(end.map_or(rest.len(), |end| end.0));
        rest = next;
        (!part.is_empty()).then_some(part)
    })
}

/// Whether a character may be composed with the one before it.
fn joins_letter(c: char) -> bool {
    canonical_combining_class(c) != 0 || is_nfc_quick(iter::once(c)) != IsNormalized::Yes
}

/// Returns text with whole letters for kana of half width and letters of Hangul that are written in parts, so that runs of
/// scripts without spaces have the same pairs; borrowed if it has none of these.
pub fn with_whole_letters(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(is_part_of_letter) {
        return Cow::Borrowed(text);
    }
    let mut whole = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_kana) {
        let (before, run) = rest.split_at(start);
        let end = run.find(|c| !is_kana(c)).unwrap_or(run.len());
        whole += before;
        whole.extend(run[..end].nfkc());
        rest = &run[end..];
    }
    Cow::Owned(whole + rest)
}

/// Whether a character is kana, or a part of a letter.
fn is_kana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}') || is_part_of_letter(c)
}

/// Whether a character is kana of half width, or a part of a letter of Hangul or kana.
fn is_part_of_letter(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3099}' | '\u{309a}' | '\u{ff61}'..='\u{ffdc}')
}

/// Returns a word in the form in which all its spellings are equal: in small letters, compatibility forms as the letters that
/// they are forms of (`ﬁ`, `Ａ`, `²`), Latin and Greek letters without accents, other letters as in `OTHER_LETTERS`, Arabic
/// and Hebrew without vowel points, and without characters that are not seen. Letters of scripts without spaces are
/// composed.
///
/// A superscript, a subscript or a fraction after a digit stays, because `10²` is not 102.
pub fn folded(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        if word.contains(|c: char| c.is_ascii_uppercase()) {
            return Cow::Owned(word.to_ascii_lowercase());
        }
        return Cow::Borrowed(word);
    }
    let mut compatible = String::with_capacity(word.len());
    let mut before = ' ';
    for c in word.chars().filter(|c| !is_unseen(*c)) {
        let is_power = before.is_ascii_digit() && c.is_numeric() && !c.is_alphabetic();
        if is_power || c.is_ascii() {
            compatible.push(c);
        } else {
            compatible.extend([c].into_iter().nfkd());
        }
        before = c;
    }
    let mut folded = String::with_capacity(compatible.len());
    let mut is_plain = false;
    for c in compatible.as_str().nfd().flat_map(char::to_lowercase).nfd() {
        if is_combining_mark(c) {
            if !(is_plain && is_accent(c) || is_point(c)) {
                folded.push(c);
            }
            continue;
        }
        is_plain = is_latin(c) || is_greek(c) || c == 'е';
        match OTHER_LETTERS.iter().find(|(letter, _)| *letter == c) {
            _ if c == '\u{640}' => {}
            Some((_, plain)) => folded += plain,
            None => folded.push(c),
        }
    }
    Cow::Owned(folded.nfc().collect())
}

/// Returns the form of a word with two letters for `ä`, `ö`, `ü`, `å` and `ø`, folded; `None` if it has none of these. The
/// opposite is never done: `ue` is in `true`.
pub fn with_two_letters(word: &str) -> Option<String> {
    if word.is_ascii() {
        return None;
    }
    let small = composed(word).to_lowercase();
    if !small.contains(|c| two_letters(c).is_some()) {
        return None;
    }
    let mut spelled = String::with_capacity(small.len());
    for c in small.chars() {
        match two_letters(c) {
            Some(two) => spelled += two,
            None => spelled.push(c),
        }
    }
    Some(folded(&spelled).into_owned())
}

fn two_letters(c: char) -> Option<&'static str> {
    TWO_LETTERS.iter().find(|(letter, _)| *letter == c).map(|(_, two)| *two)
}

/// Returns a word as an index without folding stores it: in small letters, without the accents on Latin letters that have
/// one. A word that folding changes further needs a separate term.
pub fn unfolded(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    for c in word.chars().filter(|c| !is_dropped(*c)).flat_map(char::to_lowercase) {
        let mut parts = [None; 3];
        let mut num_parts = 0;
        decompose_canonical(c, |part| {
            if let Some(place) = parts.get_mut(num_parts) {
                *place = Some(part);
            }
            num_parts += 1;
        });
        match parts {
            [Some(letter), Some(_), None] if letter.is_ascii_alphabetic() => plain.push(letter),
            _ if is_dropped(c) => {}
            _ => plain.push(c),
        }
    }
    plain
}

/// Whether a character is invisible in every position, such as a mark that permits or prevents a line break in a word.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{2060}' | '\u{feff}') || is_zero_width(c)
}

/// Whether a character only says where a word may end, or how letters are joined.
fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200d}')
}

/// Whether an invisible character is in the middle of a word, behind the character `before`. In scripts without spaces,
/// those of India and Arabic, a word may end there, or is written differently.
fn is_in_word(before: char, c: char) -> bool {
    is_unseen(c)
        && (!is_zero_width(c)
            || before.is_ascii_digit()
            || is_latin(before)
            || is_greek(before)
            || is_cyrillic(before))
}

/// Returns text without the characters inside words that are not seen; borrowed if it has none.
pub fn seen(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut seen = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        if !is_in_word(before, c) {
            seen.push(c);
            before = c;
        }
    }
    Cow::Owned(seen)
}

/// Returns where the words of a text are: runs of letters and digits, with their marks and the unseen characters inside.
pub fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    iter::from_fn(move || {
        at = ascii_end(bytes, at, |byte| !byte.is_ascii_alphanumeric());
        let is_plain = bytes.get(at)?.is_ascii();
        let start = at + if is_plain { 0 } else { text[at..].find(begins_word)? };
        at = ascii_end(bytes, start, u8::is_ascii_alphanumeric);
        if bytes.get(at).is_none_or(u8::is_ascii) {
            return Some(start..at);
        }
        let mut before = text[start..at].chars().next_back().unwrap_or(' ');
        let len = text[at..].find(|c: char| {
            if c.is_ascii() {
                before = c;
                return !c.is_ascii_alphanumeric();
            }
            let goes_on = c.is_alphanumeric() || is_combining_mark(c) || is_in_word(before, c);
            before = if is_unseen(c) { before } else { c };
            !goes_on
        });
        at += len.unwrap_or(text.len() - at);
        Some(start..at)
    })
}

/// Returns where the ASCII characters from a position on end that pass.
fn ascii_end(bytes: &[u8], start: usize, passes: impl Fn(&u8) -> bool) -> usize {
    start + bytes[start..].iter().take_while(|byte| byte.is_ascii() && passes(byte)).count()
}

fn begins_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    c.is_alphanumeric() && !is_combining_mark(c)
}

/// Whether FTS5's tokenizer leaves out a mark; at others it divides a word.
fn is_dropped(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{331}')
}

/// Whether a character is an accent on the letter before it.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Whether a mark is a vowel of Arabic or Hebrew, which people seldom type.
fn is_point(c: char) -> bool {
    matches!(c, '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{652}' | '\u{656}'..='\u{65f}'
        | '\u{670}' | '\u{6d6}'..='\u{6ed}')
}

fn is_latin(c: char) -> bool {
    c.is_alphabetic()
        && matches!(c, '\0'..='\u{24f}' | '\u{250}'..='\u{2af}' | '\u{1e00}'..='\u{1eff}'
            | '\u{2c60}'..='\u{2c7f}' | '\u{a720}'..='\u{a7ff}' | '\u{fb00}'..='\u{fb06}')
}

fn is_greek(c: char) -> bool {
    matches!(c, '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}')
}

fn is_cyrillic(c: char) -> bool {
    matches!(c, '\u{400}'..='\u{52f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(composed(text), expected);
    }

    #[test]
    fn spellings_of_a_word_are_folded_alike() {
        for (word, expected) in [
            ("Straße STRASSE", "strasse strasse"),
            ("Wrocław Ørsted đồng cœur ægir þing ısı", "wroclaw orsted dong coeur aegir thing isi"),
            ("oﬃcial ＡＢＣ１２ CO₂ m² 10² 5½ ℃", "official abc12 co2 m2 10² 5½ °c"),
            ("ｶﾞｽ \u{1112}\u{1161}\u{11ab} 가", "ガス 한 가"),
            ("Ελλάδος ΕΛΛΑΔΟΣ", "ελλαδοσ ελλαδοσ"),
            ("ёлка йод и\u{306}од Ї", "елка йод йод ї"),
            ("السَّلام ﺍﻟﺴﻼﻡ كـتاب أمل", "السلام السلام كتاب أمل"),
            ("שָׁלוֹם", "שלום"),
            ("Rechts\u{ad}schutz tor\u{200b}que a\u{2060}b\u{feff}c", "rechtsschutz torque abc"),
            ("प्रश्न İzmir TITLE", "प्रश्न izmir title"),
        ] {
            let folded: Vec<_> = word.split(' ').map(folded).collect();
            assert_eq!(folded.join(" "), expected);
        }
    }

    #[test]
    fn letters_in_parts_become_whole() {
        assert_eq!(
            with_whole_letters("ｶﾞｽ ｷｺﾞｳ カ\u{3099} \u{1112}\u{1161}\u{11ab}"),
            "ガス キゴウ ガ 한"
        );
        assert!(matches!(with_whole_letters("ไทย 東京 é"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_word_may_be_typed_with_two_letters() {
        for (word, expected) in [
            ("Müller", Some("mueller")),
            ("ÅRSTAD", Some("aarstad")),
            ("u\u{308}ber", Some("ueber")),
            ("Größe", Some("groesse")),
            ("true", None),
            ("cœur", None),
        ] {
            assert_eq!(with_two_letters(word).as_deref(), expected, "{word}");
        }
    }

    #[test]
    fn words_keep_what_is_not_seen_inside_them() {
        let text = "A tor\u{200b}que, Rechts\u{ad}schutz; प्रश्न x\u{301}y ไทย\u{200b}ดี";
        let found: Vec<&str> = words(text).map(|word| &text[word]).collect();
        assert_eq!(
            found,
            ["A", "tor\u{200b}que", "Rechts\u{ad}schutz", "प्रश्न", "x\u{301}y", "ไทย", "ดี"]
        );
        assert_eq!(seen(text), "A torque, Rechtsschutz; प्रश्न x\u{301}y ไทย\u{200b}ดี");
        assert!(matches!(seen("plain é"), Cow::Borrowed(_)));
    }

    #[test]
    fn decomposed_letters_are_composed() {
        check("U\u{308}bung", "Übung");
        check("\u{1112}\u{1161}\u{11ab}", "한");
        check("plain", "plain");
    }

    #[test]
    fn other_spellings_of_letters_stay() {
        check("ﬁn ½ ①", "ﬁn ½ ①");
    }

    #[test]
    fn composed_text_is_not_copied() {
        assert!(matches!(composed("Übung 한"), Cow::Borrowed(_)));
    }
}
