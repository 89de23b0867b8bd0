//! Names the encodings that can be decoded, and decodes two of MS-DOS that the library lacks. Knows which control characters
//! do not occur in text in any of them.

use std::borrow::Cow;

use encoding_rs::{
    Encoding, ISO_2022_JP, ISO_8859_2, ISO_8859_4, ISO_8859_10, ISO_8859_13, MACINTOSH, UTF_16BE,
    UTF_16LE, WINDOWS_1250, WINDOWS_1252, WINDOWS_1254, WINDOWS_1257, WINDOWS_1258,
};

/// An encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Charset {
    /// One that the library decodes.
    Known(&'static Encoding),
    /// A code page of MS-DOS: ASCII, and the characters of the bytes from 128 on.
    CodePage { name: &'static str, labels: [&'static str; 3], upper: &'static str },
}

/// Encodings of Latin letters.
const LATIN: [&Encoding; 10] = [
    MACINTOSH, WINDOWS_1250, WINDOWS_1252, WINDOWS_1254, WINDOWS_1257, WINDOWS_1258, ISO_8859_2,
    ISO_8859_4, ISO_8859_10, ISO_8859_13,
];

/// Names of ASCII.
const ASCII_LABELS: [&str; 3] = ["us-ascii", "ascii", "ansi_x3.4-1968"];

/// The code page of Western Europe.
pub(super) const CP850: Charset = Charset::CodePage {
    name: "IBM850",
    labels: ["ibm850", "cp850", "850"],
    upper: "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{AD}\
        ±‗¾¶§÷¸°¨·¹³²■\u{A0}",
};

/// The code page of the first machines, in which names of archives are written.
pub(super) const CP437: Charset = Charset::CodePage {
    name: "IBM437",
    labels: ["ibm437", "cp437", "437"],
    upper: "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡\
        ±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}",
};

impl Charset {
    /// Returns the encoding with this label; `None` for an unknown one.
    pub(super) fn of_label(label: &[u8]) -> Option<Self> {
        let name = str::from_utf8(label).ok()?.trim().to_ascii_lowercase();
        // Text in ASCII needs no name; other text with this name is in any encoding.
        if ASCII_LABELS.contains(&&*name) {
            return None;
        }
        let known = Encoding::for_label(label).map(Self::Known);
        known.or_else(|| {
            [CP850, CP437].into_iter().find(
                |page| matches!(page, Self::CodePage { labels, .. } if labels.contains(&&*name)),
            )
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Known(encoding) => encoding.name(),
            Self::CodePage { name, .. } => name,
        }
    }

    /// Whether its letters are Latin alone.
    pub(super) fn is_latin(self) -> bool {
        matches!(self, Self::Known(encoding) if LATIN.contains(&encoding)) || self == CP850
    }

    /// Whether it has two bytes for each character.
    pub(super) fn has_pairs(self) -> bool {
        matches!(self, Self::Known(encoding) if [UTF_16LE, UTF_16BE].contains(&encoding))
    }

    /// Whether ASCII is read as ASCII, if perhaps not everywhere.
    pub(super) fn has_ascii(self) -> bool {
        match self {
            Self::Known(encoding) => encoding.is_ascii_compatible() || encoding == ISO_2022_JP,
            Self::CodePage { .. } => true,
        }
    }

    /// Returns the text of some bytes, and whether some of them are broken, which become U+FFFD.
    pub(super) fn text(self, bytes: &[u8]) -> (Cow<'_, str>, bool) {
        let upper: Vec<char> = match self {
            Self::Known(encoding) => return encoding.decode_without_bom_handling(bytes),
            Self::CodePage { upper, .. } => upper.chars().collect(),
        };
        let text = bytes.iter().map(|byte| match byte.checked_sub(128) {
            Some(place) => upper.get(usize::from(place)).copied().unwrap_or('\u{FFFD}'),
            None => char::from(*byte),
        });
        (Cow::Owned(text.collect()), false)
    }
}

/// Whether a character is not expected in text: C0 controls except tab, line ends, form feed,
/// backspace and escape, and delete.
pub(super) fn is_control(code: u32) -> bool {
    matches!(code, 1..=7 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_pages_have_a_character_for_each_byte() {
        for page in [CP850, CP437] {
            let bytes: Vec<u8> = (0..=255).collect();
            let (text, _) = page.text(&bytes);
            assert_eq!(text.chars().count(), 256, "{}", page.name());
            assert!(text.ends_with("■\u{A0}") && !text.contains('\u{FFFD}'));
        }
    }

    #[test]
    fn labels_of_code_pages_are_known() {
        let name = |label: &[u8]| Charset::of_label(label).map(Charset::name);
        assert_eq!(name(b"CP850"), Some("IBM850"));
        assert_eq!(name(b"ibm437"), Some("IBM437"));
        assert_eq!(name(b"latin1"), Some("windows-1252"));
        assert_eq!(name(b"no such name"), None);
        assert_eq!(name(b"US-ASCII"), None);
    }
}
