//! Recognises Western text in the encodings of MS-DOS and the old Mac, which no detector knows.
//!
//! Their letters beyond ASCII are other letters, marks or symbols in Windows-1252. In Western languages such letters
//! are inside words of ASCII letters, mostly single; symbols are not. So the encoding that puts letters into words and
//! symbols between them is the right one, in any of these languages.

use encoding_rs::{MACINTOSH, WINDOWS_1252};

use super::charset::{CP437, CP850, Charset};
use crate::text::language::NaturalLanguage;

/// The encoding of the old Mac.
const MAC: Charset = Charset::Known(MACINTOSH);

/// Shorter texts have too few such letters: at 500 bytes nine in ten texts are right, at 50 most would be guesses.
const MIN_BYTES: usize = 400;

/// Bytes of a text that are looked at; more do not change the result.
const SAMPLE_BYTES: usize = 1 << 20;

/// Bytes of a text whose language is recognised.
const LANGUAGE_BYTES: usize = 64 << 10;

/// Letters of Western European languages beyond ASCII, in lower case.
const LETTERS: &str = "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿßœ";

/// Those of single languages. Another one in a word shows another encoding.
const LETTERS_OF_LANGUAGES: [(&str, &str); 11] = [
    ("ca", "àçèéíïòóúü"),
    ("da", "åæéø"),
    ("de", "äößü"),
    ("es", "áéíñóúü"),
    ("fi", "åäö"),
    ("fr", "àâçèéêëîïôùûœ"),
    ("it", "àèéìòù"),
    ("nb", "åæéèòôø"),
    ("nl", "èéêëïóöü"),
    ("pt", "àáâãçéêíóôõúü"),
    ("sv", "åäéö"),
];

/// Marks that may follow a letter.
const AFTER_LETTERS: &str = "’”»«›‹“‘…–—®™°²³¹ªº·€\u{A0}\u{AD}";

/// More letters beyond ASCII in a row are not Western.
const MAX_IN_A_ROW: usize = 2;

/// In names of files, at most one letter in this many is beyond ASCII, unless they are surely Latin.
const LETTERS_PER_OTHER: usize = 4;

/// How the characters beyond ASCII of a text are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Placement {
    /// Letters inside words, and quotes around them.
    num_fitting: usize,
    /// Symbols inside words, and letters that no Western word has there.
    num_odd: usize,
}

impl Placement {
    /// `letters` are those of its language.
    fn of(text: &str, letters: &str) -> Self {
        let mut found = Self::default();
        let mut num_in_a_row = 0;
        let (mut before, mut chars) = (' ', text.chars().peekable());
        while let Some(c) = chars.next() {
            let after = chars.peek().copied().unwrap_or(' ');
            num_in_a_row = if c.is_ascii() { 0 } else { num_in_a_row + 1 };
            if !c.is_ascii() {
                match fits(before, c, after, letters) {
                    _ if num_in_a_row > MAX_IN_A_ROW => found.num_odd += 1,
                    Some(true) => found.num_fitting += 1,
                    Some(false) => found.num_odd += 1,
                    None => {}
                }
            }
            before = c;
        }
        found
    }

    /// Whether nearly all characters fit: at least five for each that does not.
    fn is_good(self) -> bool {
        self.num_fitting > 0 && self.num_odd * 5 <= self.num_fitting
    }

    /// Whether many characters do not fit: more than one for four that do.
    fn is_bad(self) -> bool {
        self.num_odd * 4 > self.num_fitting
    }
}

/// Whether a character fits between two others; `None` if it says nothing.
fn fits(before: char, c: char, after: char, letters: &str) -> Option<bool> {
    let (follows, precedes) = (before.is_alphabetic(), after.is_alphabetic());
    if c.is_alphabetic() && !"ªº".contains(c) {
        let is_capital = c.is_uppercase() && before.is_lowercase();
        let is_usual = c.to_lowercase().all(|c| letters.contains(c)) && !is_capital;
        return (follows || precedes).then_some(is_usual);
    }
    match c {
        '’' if follows && precedes => Some(true),
        '“' | '‘' if !follows && precedes => Some(true),
        '”' if follows && !precedes => Some(true),
        _ if c.is_control() => Some(false),
        '–' | '—' => None,
        _ if follows && (precedes || !AFTER_LETTERS.contains(c)) => Some(false),
        _ => None,
    }
}

/// Returns the encoding of MS-DOS or of the old Mac that a text of single bytes is in, if it is in one.
///
/// A text of any length whose only line ends are `\r` is of an old Mac, unless its letters say otherwise.
pub(super) fn older(bytes: &[u8]) -> Option<Charset> {
    let sample = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let [today, mac, dos] = [Charset::Known(WINDOWS_1252), MAC, CP850].map(|charset| {
        let text = charset.text(sample).0;
        Placement::of(&text, letters_of(&text))
    });
    let has_mac_lines = sample.contains(&b'\r') && !sample.contains(&b'\n');
    if has_mac_lines && mac.num_odd <= today.num_odd && !mac.is_bad() {
        return Some(MAC);
    }
    if bytes.len() < MIN_BYTES || !today.is_bad() {
        return None;
    }
    let better =
        [(mac, MAC), (dos, CP850)].into_iter().filter(|(placement, _)| placement.is_good());
    better.max_by_key(|(placement, _)| placement.num_fitting).map(|(_, charset)| charset)
}

/// Whether the names of files in an archive are Western, in the encoding of MS-DOS. `is_latin` says that their letters are
/// not usual in any other script. Japanese names may look as if every other letter was a Western one.
pub(super) fn are_dos_names(names: &[u8], is_latin: bool) -> bool {
    let num_letters = names.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    let num_others = names.iter().filter(|byte| !byte.is_ascii()).count();
    let are_rare = num_others * LETTERS_PER_OTHER <= num_letters;
    (is_latin || are_rare) && Placement::of(&CP437.text(names).0, LETTERS).is_good()
}

/// Returns the letters of the language of a text.
fn letters_of(text: &str) -> &'static str {
    if text.len() < MIN_BYTES {
        return LETTERS;
    }
    let sample = &text[..text.floor_char_boundary(LANGUAGE_BYTES)];
    let language = NaturalLanguage::most_likely(sample).map(NaturalLanguage::code);
    let known = LETTERS_OF_LANGUAGES.iter().find(|(code, _)| Some(*code) == language);
    known.map_or(LETTERS, |(_, letters)| letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GERMAN: &str =
        "Die Tür zum Hof schließt nicht mehr, der Schlüssel hängt über dem Küchentisch. ";
    const FRENCH: &str =
        "La clé de la cave est accrochée près de la porte, remettez-la à sa place après. ";
    const DANISH: &str =
        "Nøglen til kælderen hænger ved døren, læg den tilbage, før du går hjem på fredag. ";

    #[track_caller]
    fn check(bytes: &[u8], expected: Option<Charset>) {
        assert_eq!(older(bytes), expected, "{}", WINDOWS_1252.decode(bytes).0);
    }

    /// Writes a text in an encoding, each of whose letters has one byte.
    fn written(text: &str, charset: Charset) -> Vec<u8> {
        let bytes: Vec<u8> = (0..=255).collect();
        let letters: Vec<char> = charset.text(&bytes).0.chars().collect();
        let byte = |c: char| letters.iter().position(|letter| *letter == c).unwrap();
        text.chars().map(|c| u8::try_from(byte(c)).unwrap()).collect()
    }

    #[test]
    fn long_texts_are_recognised_in_several_languages() {
        for text in [GERMAN, FRENCH, DANISH].map(|text| text.repeat(6)) {
            check(&written(&text, MAC), Some(MAC));
            check(&written(&text, CP850), Some(CP850));
            check(&WINDOWS_1252.encode(&text).0, None);
        }
    }

    #[test]
    fn short_texts_are_of_an_old_mac_by_their_line_ends_alone() {
        let text = GERMAN.replace(", ", ",\r");
        check(&written(&text, MAC), Some(MAC));
        check(&written(GERMAN, MAC), None);
        check(&WINDOWS_1252.encode(&text).0, None);
    }

    #[test]
    fn quotes_and_dashes_of_windows_are_no_letters() {
        let text =
            "He said “it’s done” – and left—for good. The price is 5 € per “piece”. ".repeat(7);
        check(&WINDOWS_1252.encode(&text).0, None);
    }
}
