//! Decodes the text strings of a PDF.

/// Characters of `PDFDocEncoding` that differ from Latin-1, from 0x18 and from 0x80.
const LOW: [char; 8] =
    ['\u{2D8}', '\u{2C7}', '\u{2C6}', '\u{2D9}', '\u{2DD}', '\u{2DB}', '\u{2DA}', '\u{2DC}'];
const HIGH: [char; 33] = [
    '\u{2022}', '\u{2020}', '\u{2021}', '\u{2026}', '\u{2014}', '\u{2013}', '\u{192}', '\u{2044}',
    '\u{2039}', '\u{203A}', '\u{2212}', '\u{2030}', '\u{201E}', '\u{201C}', '\u{201D}', '\u{2018}',
    '\u{2019}', '\u{201A}', '\u{2122}', '\u{FB01}', '\u{FB02}', '\u{141}', '\u{152}', '\u{160}',
    '\u{178}', '\u{17D}', '\u{131}', '\u{142}', '\u{153}', '\u{161}', '\u{17E}', '\u{FFFD}',
    '\u{20AC}',
];

/// Decodes a text string: UTF-16 or UTF-8 with a byte order mark, else `PDFDocEncoding`.
pub(super) fn decode(bytes: &[u8]) -> String {
    match bytes {
        [0xFE, 0xFF, rest @ ..] => decode_utf16(rest, u16::from_be_bytes),
        [0xFF, 0xFE, rest @ ..] => decode_utf16(rest, u16::from_le_bytes),
        [0xEF, 0xBB, 0xBF, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        // Not allowed, but common; Latin-1 text is hardly ever valid UTF-8 by chance.
        _ => match std::str::from_utf8(bytes) {
            Ok(text) if !text.contains(|c: char| c.is_control() && !c.is_whitespace()) => {
                text.to_owned()
            }
            _ => bytes.iter().map(|byte| character(*byte)).collect(),
        },
    }
}

fn decode_utf16(bytes: &[u8], join: impl Fn([u8; 2]) -> u16) -> String {
    let units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|pair| join(*pair)).collect();
    without_language(&String::from_utf16_lossy(&units))
}

/// Returns the day of a date, as `2024-05-01`, or as much of it as is stated; empty for anything else.
pub(super) fn day(date: &str) -> String {
    let date = date.trim();
    let date = date.strip_prefix("D:").unwrap_or(date);
    let digits = date.find(|c: char| !c.is_ascii_digit()).map_or(date, |end| &date[..end]);
    let parts = [digits.get(..4), digits.get(4..6), digits.get(6..8)];
    parts.into_iter().map_while(|part| part).collect::<Vec<_>>().join("-")
}

fn character(byte: u8) -> char {
    match byte {
        0x18..=0x1F => LOW[usize::from(byte - 0x18)],
        0x80..=0xA0 => HIGH[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// Removes the text between two escapes, which is a language code.
fn without_language(text: &str) -> String {
    let parts = text.split('\u{1B}').enumerate();
    parts.filter(|(at, _)| at % 2 == 0).map(|(_, part)| part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: &str) {
        assert_eq!(decode(bytes), expected);
    }

    #[test]
    fn every_encoding_is_recognised() {
        check(b"\xFE\xFF\0T\0i\x20\x14", "Ti\u{2014}");
        check(b"\xFF\xFET\0i\0", "Ti");
        check(b"\xEF\xBB\xBFT\xC3\xA9", "T\u{E9}");
        check(b"Caf\xE9 \x84 \x93fi\x1F", "Caf\u{E9} \u{2014} \u{FB01}fi\u{2DC}");
        check("Gezeiten für".as_bytes(), "Gezeiten f\u{FC}r");
        check(b"", "");
    }

    #[test]
    fn a_date_has_a_day() {
        let days = ["D:20240305101500+01'00'", "20240305", "D:2024", "yesterday", ""].map(day);
        assert_eq!(days, ["2024-03-05", "2024-03-05", "2024", "", ""]);
    }

    #[test]
    fn a_language_code_is_not_text() {
        check(b"\xFE\xFF\0\x1B\0d\0e\0\x1B\0T", "T");
    }
}
