//! Cleans the text of a PDF, so that it reads as typed.

use unicode_normalization::UnicodeNormalization;

use crate::protocol::LINE_HYPHEN;

/// Returns `text` in NFC, with ligatures split into letters, one kind of space, accents combined
/// with their letters, and without control and zero-width characters. Line breaks are kept (`\n`),
/// several blank lines become one, and no line begins or ends with a space.
pub fn text(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut num_breaks = 2; // nothing to separate at the start
    let mut is_spaced = false;
    for character in text.chars().flat_map(spelled_out).nfc() {
        match character {
            '\n' => {
                if num_breaks < 2 {
                    cleaned.push('\n');
                }
                num_breaks += 1;
                is_spaced = false;
            }
            ' ' => is_spaced = true,
            _ => {
                if is_spaced && num_breaks == 0 {
                    cleaned.push(' ');
                }
                is_spaced = false;
                num_breaks = 0;
                cleaned.push(character);
            }
        }
    }
    cleaned.truncate(cleaned.trim_end().len());
    if cleaned.contains(|c| combining(c).is_some()) { accented(&cleaned) } else { cleaned }
}

/// Combines accents with the letters after them: `Lema\u{2C6}\u{131}tre`, `M\u{A8}uhlen`. Old TeX
/// fonts draw accents this way.
fn accented(text: &str) -> String {
    let mut accented = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let letter = characters.peek().copied().unwrap_or(' ');
        let plain = if letter == '\u{131}' { 'i' } else { letter };
        // The acute accent in `l\u{B4}eau` is used as an apostrophe.
        let is_apostrophe = character == '\u{B4}' && {
            let mut before = accented.chars().rev();
            before.next().is_some_and(char::is_alphabetic)
                && !before.next().is_some_and(char::is_alphabetic)
        };
        let composed = combining(character)
            .filter(|_| !is_apostrophe)
            .and_then(|mark| unicode_normalization::char::compose(plain, mark));
        match composed {
            Some(letter) => {
                accented.push(letter);
                characters.next();
            }
            None => accented.push(character),
        }
    }
    accented
}

/// Returns the combining mark for a standalone accent.
fn combining(accent: char) -> Option<char> {
    match accent {
        '\u{A8}' => Some('\u{308}'),
        '\u{B4}' => Some('\u{301}'),
        '\u{2C6}' => Some('\u{302}'),
        '\u{2C7}' => Some('\u{30C}'),
        '\u{2DC}' => Some('\u{303}'),
        '\u{2DA}' => Some('\u{30A}'),
        _ => None,
    }
}

/// Returns the paragraphs of plain text, each on one line.
pub fn paragraphs(plain: &str) -> impl Iterator<Item = String> + use<> {
    let plain = text(plain);
    let paragraphs = plain.split("\n\n").map(join_lines).filter(|paragraph| !paragraph.is_empty());
    paragraphs.collect::<Vec<_>>().into_iter()
}

/// Joins the lines of a paragraph with spaces, and the parts of words broken at line ends.
///
/// A hyphen is only removed between two lower-case letters: `exam-\nple` becomes `example`; `UTF-\n8` keeps its hyphen. It
/// is kept if it belongs to the word: `state-of-the-\nart`. A soft hyphen is always removed.
pub fn join_lines(paragraph: &str) -> String {
    let mut joined = join_marked_lines(paragraph);
    joined.retain(|c| c != LINE_HYPHEN);
    joined
}

/// Joins lines as [`join_lines`] does, with [`LINE_HYPHEN`] instead of a hyphen that may belong to its word. The rest of the
/// document decides whether it does.
pub fn join_marked_lines(paragraph: &str) -> String {
    let mut joined = String::with_capacity(paragraph.len());
    for line in paragraph.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match LineContinuation::of(&joined, line) {
            LineContinuation::Unspaced => {}
            LineContinuation::Hyphenated if keeps_hyphen(&joined, line) => {}
            LineContinuation::Hyphenated => {
                let is_soft = joined.pop() == Some(SOFT_HYPHEN);
                joined.extend((!is_soft).then_some(LINE_HYPHEN));
            }
            LineContinuation::Complete => joined.push(' '),
        }
        joined.push_str(line);
    }
    joined.retain(|c| c != SOFT_HYPHEN);
    joined
}

const SOFT_HYPHEN: char = '\u{AD}';

/// Words of English that begin compounds with a hyphen, and how words go on that begin with the same letters and have none:
/// `selfish`, `wellness`, `crossing`.
const COMPOUNDS: [(&str, &[&str]); 4] = [
    ("self", &["hood", "ish", "less", "same"]),
    ("well", &["being", "head", "ing", "ness", "spring"]),
    ("ill", &["ness", "u"]),
    ("half", &["penny", "way"]),
];

/// Longest word of which the beginning is looked at, in bytes: bounds the work at each line end of a text without
/// spaces.
const MAX_WORD_BYTES: usize = 64;

/// Whether a hyphen at the end of a line surely belongs to the word: the word has another one before it, or its beginning
/// always has one.
fn keeps_hyphen(before: &str, line: &str) -> bool {
    if before.ends_with(SOFT_HYPHEN) {
        return false;
    }
    let sample = &before[before.ceil_char_boundary(before.len().saturating_sub(MAX_WORD_BYTES))..];
    let first = sample.trim_end_matches(is_hyphen);
    let first = first.rsplit(|c: char| !(c.is_alphanumeric() || is_hyphen(c))).next();
    let first = first.unwrap_or_default();
    first.contains(is_hyphen)
        || COMPOUNDS.iter().any(|(word, others)| {
            first.eq_ignore_ascii_case(word) && !others.iter().any(|other| line.starts_with(other))
        })
}

fn is_hyphen(c: char) -> bool {
    matches!(c, '-' | '\u{2010}')
}

/// How the text before a line is joined to the line.
enum LineContinuation {
    Hyphenated,
    Unspaced,
    Complete,
}

impl LineContinuation {
    fn of(before: &str, line: &str) -> Self {
        let mut backwards = before.chars().rev();
        let first = line.chars().next();
        match (backwards.next(), backwards.next()) {
            (None, _) => Self::Unspaced,
            (Some(SOFT_HYPHEN), _) => Self::Hyphenated,
            (Some('-' | '\u{2010}'), Some(letter))
                if letter.is_lowercase() && first.is_some_and(char::is_lowercase) =>
            {
                Self::Hyphenated
            }
            (Some('-' | '\u{2010}'), Some(letter)) if letter.is_alphanumeric() => Self::Unspaced,
            // Chinese and Japanese are written without spaces.
            (Some(last), _) if is_ideographic(last) && first.is_some_and(is_ideographic) => {
                Self::Unspaced
            }
            _ => Self::Complete,
        }
    }
}

/// Whether `character` belongs to a script without spaces: Han, kana, their punctuation.
pub fn is_ideographic(character: char) -> bool {
    matches!(character,
        '\u{3000}'..='\u{30FF}' | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF00}'..='\u{FFEF}' | '\u{20000}'..='\u{3FFFF}')
}

/// Returns what replaces `character`: itself, its letters, a plain space, or nothing.
fn spelled_out(character: char) -> impl Iterator<Item = char> {
    let letters = match character {
        '\u{FB00}' => "ff",
        '\u{FB01}' => "fi",
        '\u{FB02}' => "fl",
        '\u{FB03}' => "ffi",
        '\u{FB04}' => "ffl",
        '\u{FB05}' | '\u{FB06}' => "st",
        '\t' | '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' => " ",
        '\u{B}' | '\u{C}' | '\u{85}' | '\u{2028}' | '\u{2029}' => "\n",
        // Marks of direction and width, which would hide a word from the keyword index.
        '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FEFF}'
        | '\u{FFF9}'..='\u{FFFC}' => "",
        '\n' => "\n",
        control if control.is_control() => "",
        _ => return "".chars().chain(Some(character)),
    };
    letters.chars().chain(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, expected: &str) {
        assert_eq!(text(given), expected);
    }

    #[test]
    fn ligatures_become_letters() {
        check("e\u{FB03}cient \u{FB01}sh \u{FB06}", "efficient fish st");
    }

    #[test]
    fn accents_are_composed() {
        check("Mu\u{308}nchen", "M\u{FC}nchen");
    }

    #[test]
    fn accents_before_their_letter_are_combined_with_it() {
        check("Lema\u{2C6}\u{131}tre", "Lema\u{EE}tre");
        check("M\u{A8}uhlenberg", "M\u{FC}hlenberg");
        check("Poincar\u{B4}e", "Poincar\u{E9}");
        check("l\u{B4}eau 5 \u{B4}x", "l\u{B4}eau 5 \u{B4}x");
        check("20 \u{2DA}C \u{A8}", "20 \u{2DA}C \u{A8}");
    }

    #[test]
    fn control_and_zero_width_characters_are_removed() {
        check("a\u{0}b\u{7}c\u{200B}d\u{FEFF}e\u{202E}f", "abcdef");
    }

    #[test]
    fn all_kinds_of_space_become_one_space() {
        check("  a\u{A0}\u{2003} b\tc  \n  d ", "a b c\nd");
    }

    #[test]
    fn several_blank_lines_become_one() {
        check("\n\na\n\n \n\nb\r\n", "a\n\nb");
    }

    #[test]
    fn the_lines_of_a_paragraph_are_joined() {
        assert_eq!(join_lines("the tide\nturns at\n noon"), "the tide turns at noon");
        assert_eq!(join_lines(""), "");
    }

    #[test]
    fn words_broken_at_a_line_end_are_rejoined() {
        assert_eq!(join_lines("an exam-\nple of UTF-\n8 in A-\nB"), "an example of UTF-8 in A-B");
        assert_eq!(join_lines("soft\u{AD}\nware sof\u{AD}t"), "software soft");
    }

    #[test]
    fn a_hyphen_of_the_word_is_kept() {
        for (given, expected) in [
            ("the state-of-the-\nart lamp", "the state-of-the-art lamp"),
            ("a self-\ncontained lamp", "a self-contained lamp"),
            ("a Well-\nknown mirror", "a Well-known mirror"),
            ("self-\nish and well-\nness", "selfish and wellness"),
            ("ill-\nustrated, ill-\nfated", "illustrated, ill-fated"),
            ("the imple-\nmentation", "the implementation"),
            ("state-of-the\u{AD}\nart", "state-of-theart"),
        ] {
            assert_eq!(join_lines(given), expected);
        }
    }

    #[test]
    fn ideographs_are_joined_without_a_space() {
        assert_eq!(join_lines("\u{6F6E}\u{6C50}\n\u{8868}"), "\u{6F6E}\u{6C50}\u{8868}");
    }
}
