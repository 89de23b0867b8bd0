//! Decodes bytes as text with `\n` line ends.
//!
//! Knows encodings and line ends, no file formats. A byte order mark decides first; then valid
//! UTF-8, then UTF-16 recognised by its zero bytes, then Windows-1252, in which every byte is
//! valid.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Bytes at the beginning of a file that distinguish text from binary; git uses as many.
pub const HEAD_BYTES: usize = 8000;

/// Control characters accepted in text, in percent: terminal captures have some.
const MAX_CONTROL_PERCENT: usize = 10;

/// One zero byte in this many is accepted after the head; more mean a program with a text header.
const BYTES_PER_STRAY_NUL: usize = 1000;

/// Valid UTF-8 sequences per broken one from which a file counts as damaged UTF-8 and not as
/// Windows-1252, where two non-ASCII letters in a row are rare.
const VALID_PER_BROKEN: usize = 4;

/// Whether the first bytes of a file are not text.
///
/// An empty file is text.
pub fn is_binary(head: &[u8]) -> bool {
    let head = &head[..head.len().min(HEAD_BYTES)];
    // UTF-32 is not supported; its mark begins like that of UTF-16.
    if head.starts_with(&[0xFF, 0xFE, 0, 0]) {
        return true;
    }
    if Encoding::for_bom(head).is_some() || sniff_utf16(head).is_some() {
        return false;
    }
    let num_controls = head.iter().filter(|byte| is_control(u32::from(**byte))).count();
    head.contains(&0) || num_controls * 100 > head.len() * MAX_CONTROL_PERCENT
}

/// Returns a file's text with `\n` line ends and without byte order mark; `None` if it is binary.
///
/// `\r\n` and a single `\r` are one line end each, so lines count as in an editor. Broken sequences
/// and stray zero bytes become U+FFFD.
pub fn decode(bytes: &[u8]) -> Option<String> {
    if is_binary(bytes) {
        return None;
    }
    let (encoding, bytes) = match Encoding::for_bom(bytes) {
        Some((encoding, len)) => (encoding, &bytes[len..]),
        None => (sniff(bytes), bytes),
    };
    if encoding != UTF_16LE && encoding != UTF_16BE {
        let num_nuls = bytes.iter().filter(|byte| **byte == 0).count();
        if num_nuls > bytes.len() / BYTES_PER_STRAY_NUL {
            return None;
        }
    }
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    // SQLite's text functions end at a zero byte.
    let text = if text.contains('\0') { text.replace('\0', "\u{FFFD}").into() } else { text };
    Some(normalize_line_ends(&text))
}

/// As [`decode`], for text that names its encoding. The name is used unless the bytes are clearly
/// in another encoding; an unknown name is ignored.
pub fn decode_as(bytes: &[u8], label: Option<&[u8]>) -> Option<String> {
    let is_certain = Encoding::for_bom(bytes).is_some() || std::str::from_utf8(bytes).is_ok();
    match label.and_then(Encoding::for_label) {
        // A page in UTF-16 could not name its encoding in ASCII.
        Some(encoding) if !is_certain && encoding.is_ascii_compatible() && !is_binary(bytes) => {
            let (text, _) = encoding.decode_without_bom_handling(bytes);
            Some(normalize_line_ends(&text.replace('\0', "\u{FFFD}")))
        }
        _ => decode(bytes),
    }
}

/// Returns text in the encoding with this label, for formats that always name it; Windows-1252 if
/// the label is unknown.
pub fn decode_with(bytes: &[u8], label: &str) -> String {
    let encoding = Encoding::for_label(label.as_bytes()).unwrap_or(WINDOWS_1252);
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    text.replace('\0', "\u{FFFD}")
}

/// Whether a line end in these bytes is `\n`, `\r` or `\r\n` as single bytes, which UTF-16 does not
/// have.
pub fn has_line_bytes(bytes: &[u8]) -> bool {
    let encoding = Encoding::for_bom(bytes).map_or_else(|| sniff(bytes), |(encoding, _)| encoding);
    encoding != UTF_16LE && encoding != UTF_16BE
}

fn normalize_line_ends(text: &str) -> String {
    if !text.contains('\r') {
        return text.to_owned();
    }
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Guesses the encoding of text without a byte order mark.
fn sniff(bytes: &[u8]) -> &'static Encoding {
    if let Some(encoding) = sniff_utf16(&bytes[..bytes.len().min(HEAD_BYTES)]) {
        return encoding;
    }
    let mut num_valid = 0;
    let mut num_broken = 0;
    for piece in bytes.utf8_chunks() {
        num_valid += piece.valid().chars().filter(|c| !c.is_ascii()).count();
        num_broken += usize::from(!piece.invalid().is_empty());
    }
    if num_valid >= num_broken * VALID_PER_BROKEN { UTF_8 } else { WINDOWS_1252 }
}

/// Recognises UTF-16 of a mostly Latin text: every other byte is zero, and the result is text.
fn sniff_utf16(head: &[u8]) -> Option<&'static Encoding> {
    let num_pairs = head.len() / 2;
    let zeros_at =
        |parity: usize| head.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
    let (num_first, num_second) = (zeros_at(0), zeros_at(1));
    // At least half the characters are Latin, and no character is U+00xx with swapped bytes.
    let (encoding, num_zeros, num_wrong) = if num_first > num_second {
        (UTF_16BE, num_first, num_second)
    } else {
        (UTF_16LE, num_second, num_first)
    };
    if num_zeros * 2 < num_pairs || num_wrong * 50 > num_pairs || num_pairs < 2 {
        return None;
    }
    let (text, _) = encoding.decode_without_bom_handling(&head[..num_pairs * 2]);
    let (num_chars, num_odd) = text.chars().fold((0_usize, 0_usize), |(num_chars, num_odd), c| {
        let is_odd = is_control(u32::from(c)) || c == '\0' || c == '\u{FFFD}';
        (num_chars + 1, num_odd + usize::from(is_odd))
    });
    (num_odd * 100 <= num_chars).then_some(encoding)
}

/// Whether a character is not expected in text: C0 controls except tab, line ends, form feed,
/// backspace and escape, and delete.
fn is_control(code: u32) -> bool {
    matches!(code, 1..=7 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: Option<&str>) {
        assert_eq!(decode(bytes).as_deref(), expected);
    }

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn utf8_is_read_with_and_without_mark() {
        check("Grüße 日本\n".as_bytes(), Some("Grüße 日本\n"));
        check("\u{FEFF}Grüße".as_bytes(), Some("Grüße"));
        check(b"", Some(""));
    }

    #[test]
    fn utf16_is_read_with_and_without_mark() {
        let text = "A note: naïve text, two lines\r\nand more";
        let expected = Some("A note: naïve text, two lines\nand more");
        check(&utf16(&format!("\u{FEFF}{text}"), u16::to_le_bytes), expected);
        check(&utf16(&format!("\u{FEFF}{text}"), u16::to_be_bytes), expected);
        check(&utf16(text, u16::to_le_bytes), expected);
        check(&utf16(text, u16::to_be_bytes), expected);
    }

    #[test]
    fn other_bytes_are_read_as_windows_1252() {
        check(b"caf\xE9 \x93quoted\x94 \x80 5", Some("café “quoted” € 5"));
    }

    #[test]
    fn damaged_utf8_stays_utf8() {
        check(b"\xC3\xA4\xC3\xB6\xC3\xBC \xC3\x9F \xFF end", Some("äöü ß \u{FFFD} end"));
    }

    #[test]
    fn every_line_end_becomes_one_newline() {
        check(b"a\r\nb\rc\nd\r\n\r\ne", Some("a\nb\nc\nd\n\ne"));
    }

    #[test]
    fn binary_is_refused() {
        check(b"\x7FELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3E\0\x01\0\0\0", None);
        check(b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR", None);
        check(&[1, 2, 3, 4, 5, 6, 7], None);
        let samples: Vec<u8> =
            (0..4000_u16).flat_map(|number| (number * 7 % 900).to_le_bytes()).collect();
        check(&samples, None);
        check(&[b"#!/bin/sh\n".repeat(1000).as_slice(), &[0; 5000]].concat(), None);
    }

    #[test]
    fn a_stray_zero_byte_far_down_is_replaced() {
        let text = "line of text\n".repeat(1000);
        let bytes = [text.as_bytes(), b"\0", text.as_bytes()].concat();
        check(&bytes, Some(&format!("{text}\u{FFFD}{text}")));
    }

    proptest! {
        #[test]
        fn no_bytes_panic_and_no_text_has_carriage_returns(
            bytes in proptest::collection::vec(any::<u8>(), 0..400),
        ) {
            if let Some(text) = decode(&bytes) {
                prop_assert!(!text.contains(['\r', '\0']));
            }
        }

        #[test]
        fn text_is_read_back_unchanged(text in "[\\PC\n\t]{0,200}") {
            prop_assume!(!text.starts_with('\u{FEFF}'));
            prop_assert_eq!(decode(text.as_bytes()), Some(text));
        }
    }

    #[test]
    fn utf16_has_at_most_one_odd_character_in_a_hundred() {
        let sniffed = |num_letters: usize| {
            let text = "\u{1}".to_owned() + &"a".repeat(num_letters);
            sniff_utf16(&utf16(&text, u16::to_le_bytes))
        };
        assert_eq!(sniffed(99), Some(UTF_16LE));
        assert_eq!(sniffed(98), None);
    }
}
