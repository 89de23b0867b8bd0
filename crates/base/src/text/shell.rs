//! Quotes names for a shell, as GNU `ls --quoting-style=shell-escape` does.
//!
//! A shell parses the quoted word to the same name, byte for byte. The word contains no control character.

use std::fmt::Write;
use std::path::Path;

use crate::text::printable::is_harmful;

/// Characters that are special to a shell in any position.
const SPECIAL: &str = " !\"$&()*;<=>[^`|?\\'";

/// Special characters that lose their meaning between double quotes in every shell.
const PLAIN_IN_DOUBLE_QUOTES: &str = " '";

/// Returns a path as a word that a shell parses as this path: unchanged if possible, else quoted, with
/// `$'\n'` for characters that cannot be shown.
pub fn word(path: &Path) -> String {
    #[cfg(unix)]
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str());
    #[cfg(windows)]
    let text = super::paths::path_text(path);
    #[cfg(windows)]
    let bytes = text.as_bytes();
    quoted(bytes)
}

/// A character or byte of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NamePiece {
    /// A character to show.
    Shown(char),
    /// A byte to escape.
    Hidden(u8),
}

fn quoted(name: &[u8]) -> String {
    let pieces = pieces(name);
    let has_hidden = pieces.iter().any(|piece| matches!(piece, NamePiece::Hidden(_)));
    let is_special_first = matches!(pieces.first(), None | Some(NamePiece::Shown('#' | '~')));
    let is_brace = matches!(name, b"{" | b"}");
    let mut specials = shown(&pieces).filter(|c| SPECIAL.contains(*c));
    if !has_hidden && !is_special_first && !is_brace && specials.next().is_none() {
        return shown(&pieces).collect();
    }
    let mut others = shown(&pieces)
        .skip(usize::from(is_special_first))
        .filter(|c| SPECIAL.contains(*c) || "#~{}".contains(*c))
        .filter(|c| !PLAIN_IN_DOUBLE_QUOTES.contains(*c));
    if !has_hidden && shown(&pieces).any(|c| c == '\'') && others.next().is_none() {
        return format!("\"{}\"", shown(&pieces).collect::<String>());
    }
    single_quoted(&pieces)
}

/// Returns the characters of a name that need no escape.
fn shown(pieces: &[NamePiece]) -> impl Iterator<Item = char> {
    pieces.iter().filter_map(|piece| match piece {
        NamePiece::Shown(c) => Some(*c),
        NamePiece::Hidden(_) => None,
    })
}

/// Returns a name in single quotes, with escaped bytes between `$'` and `'`.
fn single_quoted(pieces: &[NamePiece]) -> String {
    let mut word = "'".to_owned();
    let mut is_escaping = false;
    for piece in pieces {
        match piece {
            NamePiece::Hidden(byte) => {
                if !is_escaping {
                    word.push_str("'$'");
                }
                escape(*byte, &mut word);
            }
            NamePiece::Shown('\'') => word.push_str("'\\''"),
            NamePiece::Shown(c) => {
                if is_escaping {
                    word.push_str("''");
                }
                word.push(*c);
            }
        }
        is_escaping = matches!(piece, NamePiece::Hidden(_));
    }
    word.push('\'');
    word
}

fn escape(byte: u8, word: &mut String) {
    let letter = match byte {
        0x07 => 'a',
        0x08 => 'b',
        b'\t' => 't',
        b'\n' => 'n',
        0x0b => 'v',
        0x0c => 'f',
        b'\r' => 'r',
        byte => {
            // Writing to a String cannot fail.
            let _ = write!(word, "\\{byte:03o}");
            return;
        }
    };
    word.extend(['\\', letter]);
}

/// Splits a name into pieces. Bytes that are not UTF-8 and control characters are escaped.
fn pieces(name: &[u8]) -> Vec<NamePiece> {
    let mut pieces = Vec::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            if is_harmful(c) {
                let bytes =
                    c.encode_utf8(&mut [0; 4]).bytes().map(NamePiece::Hidden).collect::<Vec<_>>();
                pieces.extend(bytes);
            } else {
                pieces.push(NamePiece::Shown(c));
            }
        }
        pieces.extend(chunk.invalid().iter().map(|byte| NamePiece::Hidden(*byte)));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_quoted_as_ls_does() {
        for (name, expected) in [
            (&b"/a/b-c_d,e+f@g%h:1.md"[..], "/a/b-c_d,e+f@g%h:1.md"),
            ("/Größe\u{a0}1\u{202f}東京".as_bytes(), "/Größe\u{a0}1\u{202f}東京"),
            (b"a  b", "'a  b'"),
            (b"don't", "\"don't\""),
            (b"don't \"x\"", "'don'\\''t \"x\"'"),
            (b"don't#", "'don'\\''t#'"),
            (b"#don't", "\"#don't\""),
            (b"a'b'$c", "'a'\\''b'\\''$c'"),
            (b"a\tb", "'a'$'\\t''b'"),
            (b"\na", "''$'\\n''a'"),
            (b"a\n", "'a'$'\\n'"),
            (b"a\n'b", "'a'$'\\n'\\''b'"),
            (b"a'\nb", "'a'\\'''$'\\n''b'"),
            (b"x\x1b[31m", "'x'$'\\033''[31m'"),
            (b"c\xe9", "'c'$'\\351'"),
            ("\u{202e}a".as_bytes(), "''$'\\342\\200\\256''a'"),
            (b"a\\b", "'a\\b'"),
            (b"a{b}#~]", "a{b}#~]"),
            (b"~", "'~'"),
            (b"{", "'{'"),
            (b"-n", "-n"),
            (b"", "''"),
        ] {
            assert_eq!(quoted(name), expected, "{name:?}");
        }
    }
}
