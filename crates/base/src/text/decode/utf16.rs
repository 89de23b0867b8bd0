//! Recognises UTF-16 without a byte order mark.
//!
//! Text in UTF-16 is read as 16-bit numbers in both orders. One order gives letters of a script with
//! spaces and line ends between them; the other gives characters of many scripts.

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use super::charset::is_control;

// `tests/quality/encodings` measures these bounds on texts in 28 languages.

/// Fewer characters could be anything, unless half of them are Latin.
const MIN_CHARS: usize = 6;

/// One character in this many may be a control character or none at all.
const CHARS_PER_ODD: usize = 100;

/// One letter in this many may be of another script than the others. Latin letters are in texts of all scripts.
const LETTERS_PER_OTHER: usize = 30;

/// At least one character in this many is a letter of the script; digits and Latin words may be the others.
const CHARS_PER_LETTER: usize = 5;

/// At least one character in this many is a space or a line end, in scripts with spaces.
const CHARS_PER_SPACE: usize = 40;

/// At least one character in this many is [usual](USUAL), in scripts without spaces.
const CHARS_PER_USUAL: usize = 20;

/// The most usual characters of Chinese texts. Numbers that are not text have few of them. In Japanese texts any kana
/// is usual.
const USUAL: &str = "、。，的一是不了在有人我他这個这们中来上大为和国地到以说时要就出会";

/// The evidence that a character gives about the script of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScriptClass {
    /// Nothing: digits, punctuation, symbols, Latin letters.
    Common,
    /// It is of the script with this position in [`SCRIPTS`].
    Script(usize),
    /// It is of no script that is usual in files.
    Odd,
}

/// The blocks of scripts, a script in each line; Chinese, Japanese and Korean texts share their characters.
const SCRIPTS: [&[(u32, u32)]; 15] = [
    &[(0x370, 0x3FF), (0x1F00, 0x1FFF)],
    &[(0x400, 0x52F)],
    &[(0x530, 0x58F)],
    &[(0x590, 0x5FF), (0xFB1D, 0xFB4F)],
    &[(0x600, 0x6FF), (0x750, 0x77F), (0xFB50, 0xFDCF), (0xFE70, 0xFEFC)],
    &[(0x900, 0x97F)],
    &[(0x980, 0x9FF)],
    &[(0xB80, 0xBFF)],
    &[(0xC00, 0xC7F)],
    &[(0xE00, 0xE7F)],
    &[(0x10A0, 0x10FF)],
    &[(0x1200, 0x137F)],
    &[(0x1780, 0x17FF)],
    &[(0x3040, 0x312F), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0xFF66, 0xFF9D)],
    &[(0xAC00, 0xD7A3)],
];

/// The place of Chinese and Japanese in [`SCRIPTS`].
const HAN: usize = 13;

/// The place of Korean in [`SCRIPTS`].
const HANGUL: usize = 14;

/// The place of Thai in [`SCRIPTS`].
const THAI: usize = 9;

/// Blocks without letters of a script, and Latin.
const COMMON: [(u32, u32); 7] = [
    (0x20, 0x36F),
    (0x1E00, 0x1EFF),
    (0x2000, 0x206F),
    (0x20A0, 0x27BF),
    (0x3000, 0x303F),
    (0xFE0F, 0xFE0F),
    (0xFF00, 0xFF65),
];

/// Returns the order of the bytes if the beginning of a file is UTF-16.
pub(super) fn sniff(head: &[u8]) -> Option<&'static Encoding> {
    of_latin(head).or_else(|| of_script(head))
}

/// Recognises mostly Latin text: every other byte is zero, and the result is text.
fn of_latin(head: &[u8]) -> Option<&'static Encoding> {
    let num_pairs = head.len() / 2;
    let (num_first, num_second) = (num_zeros(head, 0), num_zeros(head, 1));
    let (encoding, num_zeros, num_wrong) = if num_first > num_second {
        (UTF_16BE, num_first, num_second)
    } else {
        (UTF_16LE, num_second, num_first)
    };
    // At least half of the characters are Latin, with a zero at one place. At most one in fifty has a zero at the other
    // place.
    if num_zeros * 2 < num_pairs || num_wrong * 50 > num_pairs || num_pairs < 2 {
        return None;
    }
    let text = text_of(head, encoding);
    let num_odd = text.chars().filter(|c| is_odd(*c)).count();
    (num_odd * CHARS_PER_ODD <= text.chars().count()).then_some(encoding)
}

/// Counts the zeros at every other byte from `start` on.
fn num_zeros(head: &[u8], start: usize) -> usize {
    head.iter().skip(start).step_by(2).filter(|byte| **byte == 0).count()
}

/// Recognises text in any script.
fn of_script(head: &[u8]) -> Option<&'static Encoding> {
    // Two bytes of a text of single bytes may be any character, but such a text has neither zeros nor many controls.
    let num_controls = head.iter().filter(|byte| is_control(u32::from(**byte))).count();
    if !head.contains(&0) && num_controls * CHARS_PER_ODD < head.len() {
        return None;
    }
    [UTF_16LE, UTF_16BE].into_iter().find(|encoding| is_text(&text_of(head, encoding)))
}

fn text_of(head: &[u8], encoding: &'static Encoding) -> String {
    let (text, _) = encoding.decode_without_bom_handling(&head[..head.len() / 2 * 2]);
    text.into_owned()
}

/// Whether a text has the letters of one script, and what is usual between them.
fn is_text(text: &str) -> bool {
    let (mut num_chars, mut num_odd, mut num_spaces, mut num_usual) = (0, 0, 0, 0);
    let mut num_of_script = [0; SCRIPTS.len()];
    for c in text.chars() {
        num_chars += 1;
        num_spaces += usize::from(matches!(c, ' ' | '\n' | '\u{3000}'));
        num_usual += usize::from(USUAL.contains(c) || matches!(c, '\u{3041}'..='\u{30FE}'));
        match class_of(c) {
            ScriptClass::Common => {}
            ScriptClass::Script(script) => num_of_script[script] += 1,
            ScriptClass::Odd => num_odd += 1,
        }
    }
    let Some((script, num_letters)) = num_of_script.into_iter().enumerate().max_by_key(|of| of.1)
    else {
        return false;
    };
    // Korean texts may have Chinese characters.
    let num_shared = if script == HANGUL { num_of_script[HAN] } else { 0 };
    let num_others = num_of_script.iter().sum::<usize>() - num_letters - num_shared;
    let is_usual = match script {
        HAN => (num_usual + num_spaces) * CHARS_PER_USUAL >= num_chars,
        // Thai has spaces only between sentences.
        THAI => true,
        _ => num_spaces * CHARS_PER_SPACE >= num_chars,
    };
    num_chars >= MIN_CHARS
        && num_letters * CHARS_PER_LETTER >= num_chars
        && num_odd * CHARS_PER_ODD <= num_chars
        && num_others * LETTERS_PER_OTHER <= num_letters
        && is_usual
}

fn class_of(c: char) -> ScriptClass {
    if is_odd(c) {
        return ScriptClass::Odd;
    }
    let code = u32::from(c);
    match SCRIPTS.iter().position(|blocks| is_in(blocks, code)) {
        Some(script) => ScriptClass::Script(script),
        // Texts of any script may have emoji and rare Chinese characters.
        None if is_in(&COMMON, code)
            || code < 0x80
            || matches!(code, 0x1F000..=0x1FAFF | 0x20000..=0x323AF) =>
        {
            ScriptClass::Common
        }
        None => ScriptClass::Odd,
    }
}

fn is_in(blocks: &[(u32, u32)], code: u32) -> bool {
    blocks.iter().any(|(first, last)| (*first..=*last).contains(&code))
}

fn is_odd(c: char) -> bool {
    is_control(u32::from(c)) || c == '\0' || c == '\u{FFFD}'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn text_in_any_script_is_recognised_in_both_orders() {
        for text in [
            "Ключ от подвала висит у двери, верните его на место перед уходом.\n",
            "Το κλειδί του υπογείου κρέμεται δίπλα στην πόρτα της κουζίνας.\n",
            "המפתח של המרתף תלוי ליד הדלת, נא להחזיר אותו לפני שיוצאים.\n",
            "مفتاح القبو معلق بجانب الباب، يرجى إعادته قبل المغادرة.\n",
            "तहखाने की चाबी रसोई के दरवाजे के पास टंगी है।\n",
            "กุญแจห้องใต้ดินแขวนอยู่ข้างประตูครัว\n",
            "地下室の鍵は台所の扉の横に掛けてあります。\n",
            "地下室的钥匙挂在厨房门旁边，离开之前请放回原处。\n",
            "지하실 열쇠는 부엌 문 옆에 걸려 있으니 나가기 전에 돌려놓으세요.\n",
            "სარდაფის გასაღები კარის გვერდით კიდია.\n",
            "Номер;Имя\n1;Анна\n2;Пётр\n",
            "Привет, мир",
        ] {
            assert_eq!(sniff(&utf16(text, u16::to_le_bytes)), Some(UTF_16LE), "{text}");
            assert_eq!(sniff(&utf16(text, u16::to_be_bytes)), Some(UTF_16BE), "{text}");
        }
    }

    #[test]
    fn text_of_single_bytes_and_numbers_are_not_utf16() {
        #[track_caller]
        fn check(bytes: &[u8]) {
            assert_eq!(sniff(bytes), None);
        }
        check(b"Bush hid the facts, this app can break");
        check("地下室的钥匙挂在厨房门旁边".as_bytes());
        check(b"\xCA\xEB\xFE\xF7 \xEE\xF2 \xEF\xEE\xE4\xE2\xE0\xEB\xE0\n");
        let numbers = |numbers: &mut dyn Iterator<Item = u16>| -> Vec<u8> {
            numbers.flat_map(u16::to_le_bytes).collect()
        };
        check(&numbers(&mut (0..4000).map(|number: u16| 0x4E00 + number.wrapping_mul(37) % 20000)));
        check(&numbers(&mut (0..4000).map(|number: u16| 0x400 + number * 7 % 90)));
        check(&numbers(&mut (0..4000).map(|number: u16| number.wrapping_mul(40503))));
        check(&numbers(&mut (0..4000).map(|number: u16| 0xAC00 + number % 11172)));
    }

    #[test]
    fn one_odd_character_in_a_hundred_is_accepted() {
        let sniffed = |num_letters: usize| {
            let text = "\u{1}".to_owned() + &"a".repeat(num_letters);
            sniff(&utf16(&text, u16::to_le_bytes))
        };
        assert_eq!(sniffed(99), Some(UTF_16LE));
        assert_eq!(sniffed(98), None);
    }
}
