//! Decodes bytes as text with `\n` line ends, and says in which encoding.
//!
//! Knows encodings and line ends, no file formats. A byte order mark decides first; then valid UTF-8, then an encoding
//! that the text declares and that fits, then UTF-16 recognised by its characters, then damaged UTF-8, and last which
//! letters are usual together in an encoding. Nothing but the bytes and what they declare decides.

mod charset;
mod usual;
mod utf16;
mod western;

use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, WINDOWS_1252};
use memchr::memmem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::charset::{CP437, Charset, is_control};
use super::fields;

/// Bytes at the beginning of a file that distinguish text from binary; git uses as many.
pub const HEAD_BYTES: usize = 8000;

/// Control characters accepted in text, in percent: terminal captures have some.
const MAX_CONTROL_PERCENT: usize = 10;

/// One zero byte in this many is accepted after the head; more mean a program with a text header.
const BYTES_PER_STRAY_NUL: usize = 1000;

/// Valid UTF-8 sequences per broken one from which a file counts as damaged UTF-8 and not as
/// another encoding, where such sequences are rare.
const VALID_PER_BROKEN: usize = 4;

/// How far from the start of an XML file its encoding is declared: the declaration must come first, and is short.
const DECLARED_WITHIN_BYTES: usize = 200;

/// A text and its encoding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decoded {
    /// The text, with `\n` line ends and without byte order mark.
    pub text: String,
    /// Its encoding; `None` for sound UTF-8.
    pub encoding: Option<TextEncoding>,
}

/// The encoding of a text that is not sound UTF-8, and how it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextEncoding {
    /// Its name: `windows-1251`, `Shift_JIS`.
    pub name: String,
    /// How it was found: `stated`, `guessed` or `damaged`.
    pub origin: EncodingCertainty,
}

/// How an encoding was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EncodingCertainty {
    /// The file states it, or its bytes are text in no other encoding.
    Stated,
    /// Its letters are usual together. Another encoding is possible.
    Guessed,
    /// It is UTF-8 with broken sequences.
    Damaged,
}

fields::like!(String: EncodingCertainty);

impl TextEncoding {
    /// Whether letters of the text may be wrong.
    pub fn is_uncertain(&self) -> bool {
        self.origin != EncodingCertainty::Stated
    }

    /// Returns the encoding for people: `windows-1251, guessed`.
    pub fn describe(&self) -> String {
        let Self { name, origin } = self;
        match origin {
            EncodingCertainty::Stated => name.clone(),
            EncodingCertainty::Guessed => format!("{name}, guessed"),
            EncodingCertainty::Damaged => format!("{name}, damaged"),
        }
    }
}

/// Whether the first bytes of a file are not text.
///
/// An empty file is text.
pub fn is_binary(head: &[u8]) -> bool {
    let head = &head[..head.len().min(HEAD_BYTES)];
    // UTF-32 is not supported; its mark begins like that of UTF-16.
    if head.starts_with(&[0xFF, 0xFE, 0, 0]) {
        return true;
    }
    if Encoding::for_bom(head).is_some() || utf16::sniff(head).is_some() {
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
    read(bytes, &[]).map(|decoded| decoded.text)
}

/// As [`decode`], for text whose encoding is named outside of it.
pub fn decode_as(bytes: &[u8], label: Option<&[u8]>) -> Option<String> {
    read(bytes, label.as_slice()).map(|decoded| decoded.text)
}

/// As [`decode`], with the encoding. `labels` are names of encodings that are declared for the text, the best first. A name
/// is used if the bytes are not clearly in another encoding and all of them are letters of the named one; an unknown name is
/// ignored.
pub fn read(bytes: &[u8], labels: &[&[u8]]) -> Option<Decoded> {
    if is_binary(bytes) {
        return None;
    }
    let (charset, origin, bytes) = match Encoding::for_bom(bytes) {
        Some((encoding, len)) => {
            (Charset::Known(encoding), EncodingCertainty::Stated, &bytes[len..])
        }
        None => {
            let (charset, origin) = choose(bytes, labels);
            (charset, origin, bytes)
        }
    };
    if !charset.has_pairs() {
        let num_nuls = bytes.iter().filter(|byte| **byte == 0).count();
        if num_nuls > bytes.len() / BYTES_PER_STRAY_NUL {
            return None;
        }
    }
    let (text, is_broken) = charset.text(bytes);
    let is_sound = charset == Charset::Known(UTF_8) && !is_broken;
    let origin = match charset {
        Charset::Known(encoding) if encoding == UTF_8 => EncodingCertainty::Damaged,
        _ => origin,
    };
    let encoding = TextEncoding { name: charset.name().to_owned(), origin };
    // SQLite's text functions end at a zero byte.
    let text = if text.contains('\0') { text.replace('\0', "\u{FFFD}").into() } else { text };
    Some(Decoded { text: normalize_line_ends(&text), encoding: (!is_sound).then_some(encoding) })
}

/// Returns text in the encoding with this label, for formats that always name it; Windows-1252 if
/// the label is unknown.
pub fn decode_with(bytes: &[u8], label: &str) -> String {
    let charset = Charset::of_label(label.as_bytes());
    let (text, _) = charset.unwrap_or(Charset::Known(WINDOWS_1252)).text(bytes);
    text.replace('\0', "\u{FFFD}")
}

/// Whether text can be decoded in the encoding with this label.
pub fn is_known(label: &str) -> bool {
    Charset::of_label(label.as_bytes()).is_some()
}

/// Returns the names of files in an archive. Those that are not UTF-8 have one encoding: that of MS-DOS, which is the norm,
/// or else the one in which their letters are usual together.
pub fn file_names(names: &[Vec<u8>]) -> Vec<String> {
    let others: Vec<&[u8]> =
        names.iter().map(Vec::as_slice).filter(|name| str::from_utf8(name).is_err()).collect();
    let others = others.join(&b'\n');
    let guess = usual::guess(&others);
    let is_of_dos = western::are_dos_names(&others, guess.is_latin());
    let charset = if is_of_dos { CP437 } else { guess };
    let texts = names.iter().map(|name| match str::from_utf8(name) {
        Ok(name) => name.to_owned(),
        Err(_) => charset.text(name).0.into_owned(),
    });
    texts.collect()
}

/// Whether a line end in these bytes is `\n`, `\r` or `\r\n` as single bytes, which UTF-16 does not
/// have.
pub fn has_line_bytes(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    let encoding = Encoding::for_bom(head).map(|(encoding, _)| encoding);
    !encoding.or_else(|| utf16::sniff(head)).is_some_and(|encoding| encoding != UTF_8)
}

fn normalize_line_ends(text: &str) -> String {
    if !text.contains('\r') {
        return text.to_owned();
    }
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Finds the encoding of text without a byte order mark.
fn choose(bytes: &[u8], labels: &[&[u8]]) -> (Charset, EncodingCertainty) {
    // Text of ASCII bytes alone may also be ISO-2022-JP, which is decided below.
    if !bytes.is_ascii() && str::from_utf8(bytes).is_ok() {
        return (Charset::Known(UTF_8), EncodingCertainty::Stated);
    }
    let declared = labels.iter().copied().chain(declared(bytes)).filter_map(Charset::of_label);
    // A page in UTF-16 could not name its encoding in ASCII, so such a name is wrong.
    for charset in declared.filter(|charset| charset.has_ascii()) {
        let (text, is_broken) = charset.text(bytes);
        // Such control characters are letters in the Windows encoding of a similar name, which is then the right one.
        if !is_broken && !text.contains(|c| matches!(c, '\u{80}'..='\u{9F}')) {
            return (charset, EncodingCertainty::Stated);
        }
    }
    if let Some(encoding) = utf16::sniff(&bytes[..bytes.len().min(HEAD_BYTES)]) {
        return (Charset::Known(encoding), EncodingCertainty::Stated);
    }
    if is_escaped_japanese(bytes) {
        return (Charset::Known(ISO_2022_JP), EncodingCertainty::Stated);
    }
    let mut num_valid = 0;
    let mut num_broken = 0;
    for piece in bytes.utf8_chunks() {
        num_valid += piece.valid().chars().filter(|c| !c.is_ascii()).count();
        num_broken += usize::from(!piece.invalid().is_empty());
    }
    // A few broken sequences among many valid ones are damage. Text in another encoding has few valid ones.
    if num_valid >= num_broken * VALID_PER_BROKEN {
        return (Charset::Known(UTF_8), EncodingCertainty::Damaged);
    }
    (usual::guess(bytes), EncodingCertainty::Guessed)
}

/// Returns the encoding that the declaration of an XML file names.
fn declared(bytes: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b"encoding=";
    let head = &bytes[..bytes.len().min(DECLARED_WITHIN_BYTES)];
    let declaration = head.trim_ascii_start().strip_prefix(b"<?xml")?;
    let declaration = &declaration[..memmem::find(declaration, b"?>")?];
    let value = declaration.get(memmem::find(declaration, NAME)? + NAME.len() + 1..)?;
    Some(&value[..value.iter().position(|byte| matches!(byte, b'"' | b'\''))?])
}

/// Whether a text is ISO-2022-JP: ASCII, with escapes that begin and end Japanese letters. The escapes of terminals are
/// others.
fn is_escaped_japanese(bytes: &[u8]) -> bool {
    let has_escape =
        [b"\x1B$B", b"\x1B$@"].into_iter().any(|escape| memmem::find(bytes, escape).is_some());
    has_escape && bytes.is_ascii() && !ISO_2022_JP.decode_without_bom_handling(bytes).1
}

#[cfg(test)]
mod tests;
