//! Replaces the escapes in the strings of data with their characters.
//!
//! The scanner of each format finds the escapes in its strings. Their characters are only text: the beginnings of
//! blocks are found in the file, and moved to the text here. A line end that is written as an escape makes a line of
//! the text that comes from the same line of the file.

use std::ops::Range;

use crate::characters::character;
use crate::document::Block;

/// An escape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Escape {
    /// Where it is.
    pub(super) bytes: Range<usize>,
    /// Its character; `None` for an escape that joins the text around it.
    pub(super) stands_for: Option<char>,
}

/// Takes the escapes of a text in their order.
pub(super) type OnEscape<'a> = dyn FnMut(Escape) + 'a;

/// A text without escapes.
#[derive(Debug, Default)]
pub(super) struct UnescapedText {
    pub(super) text: String,
    /// The line of the file of each line; empty if they are the same.
    pub(super) line_numbers: Vec<u32>,
}

/// Returns a text without its escapes, and moves the blocks to where they are in it; `None` if it has none.
pub(super) fn decode(
    text: &str,
    blocks: &mut [Block],
    escapes: impl FnOnce(&str, &mut OnEscape<'_>),
) -> Option<UnescapedText> {
    let mut writer =
        UnescapedWriter { text, blocks: MovedBlocks::new(blocks), ..UnescapedWriter::default() };
    escapes(text, &mut |escape| writer.replace(&escape));
    writer.finish()
}

/// Writes a text without its escapes.
#[derive(Default)]
struct UnescapedWriter<'a> {
    text: &'a str,
    blocks: MovedBlocks<'a>,
    decoded: UnescapedText,
    /// How much of the text is written.
    done: usize,
    has_escapes: bool,
}

impl UnescapedWriter<'_> {
    /// Writes the text before an escape, and the character of the escape. A carriage return before a line end adds
    /// nothing.
    fn replace(&mut self, escape: &Escape) {
        let Range { start, end } = escape.bytes.clone();
        if start < self.done || self.text.get(start..end).is_none() {
            return;
        }
        self.has_escapes = true;
        self.copy(start);
        self.done = end;
        self.blocks.move_to(end, self.decoded.text.len());
        match escape.stands_for {
            Some('\n') => self.end_line(),
            Some(letter) => self.decoded.text.push(letter),
            None => {}
        }
    }

    fn copy(&mut self, end: usize) {
        let piece = &self.text[self.done..end];
        self.blocks.shift(self.done, end, self.decoded.text.len());
        self.decoded.text.push_str(piece);
        if !self.decoded.line_numbers.is_empty() {
            let num_lines = piece.matches('\n').count();
            self.number_lines(num_lines);
        }
        self.done = end;
    }

    /// Adds the numbers of lines of the file that follow the last one.
    fn number_lines(&mut self, num_lines: usize) {
        let last = self.decoded.line_numbers.last().copied().unwrap_or(1);
        let numbers = (1..=num_lines).filter_map(|number| u32::try_from(number).ok());
        self.decoded.line_numbers.extend(numbers.map(|number| last.saturating_add(number)));
    }

    /// Ends a line of the text, but not of the file. Only now lines need numbers.
    fn end_line(&mut self) {
        if self.decoded.line_numbers.is_empty() {
            self.decoded.line_numbers.push(1);
            self.number_lines(self.decoded.text.matches('\n').count());
        }
        let last = self.decoded.line_numbers.last().copied().unwrap_or(1);
        self.decoded.text.push('\n');
        self.decoded.line_numbers.push(last);
    }

    fn finish(mut self) -> Option<UnescapedText> {
        if !self.has_escapes {
            return None;
        }
        self.copy(self.text.len());
        // There is no line after the last line end.
        if let [.., before, last] = &mut self.decoded.line_numbers[..]
            && self.text.ends_with('\n')
        {
            *last = *before;
        }
        Some(self.decoded)
    }
}

/// Moves the beginnings and ends of blocks, in order.
#[derive(Default)]
struct MovedBlocks<'a> {
    blocks: &'a mut [Block],
    /// The next block whose beginning, or else whose end, is moved.
    next: usize,
    is_in_block: bool,
}

impl<'a> MovedBlocks<'a> {
    fn new(blocks: &'a mut [Block]) -> Self {
        Self { blocks, next: 0, is_in_block: false }
    }

    /// Moves what is from `start` to `end`, a piece that stays as it is and is now at `to`.
    fn shift(&mut self, start: usize, end: usize, to: usize) {
        self.each_until(end, |at| at.saturating_sub(start) + to);
    }

    /// Moves what is before `end` to `to`: it was in an escape.
    fn move_to(&mut self, end: usize, to: usize) {
        self.each_until(end.saturating_sub(1), |_| to);
    }

    /// Moves each position up to `end`, inclusive.
    fn each_until(&mut self, end: usize, moved: impl Fn(usize) -> usize) {
        while let Some(block) = self.blocks.get_mut(self.next) {
            let at = if self.is_in_block { &mut block.bytes.end } else { &mut block.bytes.start };
            if *at > end {
                return;
            }
            *at = moved(*at);
            self.next += usize::from(self.is_in_block);
            self.is_in_block = !self.is_in_block;
        }
    }
}

/// Which escapes a string may have besides those of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// None; an invalid one is left unchanged.
    Json,
    /// `\e`, `\xHH` and `\UHHHHHHHH`.
    Toml,
    /// Those of TOML, and `\0 \a \v \N \_ \L \P`, a blank, and a tab.
    Yaml,
}

/// Reads the escape at the beginning of a text, which begins with a backslash. Returns its length and its character;
/// `None` if the format has no such escape.
pub(super) fn backslash(text: &str, escapes: Escapes) -> Option<(usize, Option<char>)> {
    let letter = *text.as_bytes().get(1)?;
    let (is_json, is_yaml) = (escapes == Escapes::Json, escapes == Escapes::Yaml);
    let stands_for = match letter {
        b'"' => '"',
        b'\\' => '\\',
        b'/' if escapes != Escapes::Toml => '/',
        b'n' => '\n',
        b't' => '\t',
        b'r' if text[2..].starts_with("\\n") => return Some((4, Some('\n'))),
        b'r' => '\n',
        b'b' | b'f' => char::REPLACEMENT_CHARACTER,
        b'e' if !is_json => char::REPLACEMENT_CHARACTER,
        b'0' | b'a' | b'v' if is_yaml => char::REPLACEMENT_CHARACTER,
        b'N' | b'L' | b'P' if is_yaml => '\n',
        b'_' if is_yaml => '\u{a0}',
        b' ' | b'\t' if is_yaml => char::from(letter),
        // Text on two lines is kept on two, so that each is on its line of the file.
        b'\n' if !is_json => return Some((1, None)),
        b'x' if !is_json => return numbered(text, 2),
        b'u' => return utf16(text),
        b'U' if !is_json => return numbered(text, 8),
        _ => return None,
    };
    Some((2, Some(stands_for)))
}

/// Reads `\xHH` or the like: with this many digits.
fn numbered(text: &str, num_digits: usize) -> Option<(usize, Option<char>)> {
    Some((2 + num_digits, Some(character(hexadecimal(text, num_digits)?))))
}

/// Reads `\uHHHH`, or two of them that stand for one character.
fn utf16(text: &str) -> Option<(usize, Option<char>)> {
    const LEN: usize = 6;
    let first = hexadecimal(text, 4)?;
    if !(0xd800..0xdc00).contains(&first) {
        return Some((LEN, Some(character(first))));
    }
    let rest = text.get(LEN..).filter(|rest| rest.starts_with("\\u"));
    let second = rest.and_then(|rest| hexadecimal(rest, 4));
    match second.filter(|second| (0xdc00..0xe000).contains(second)) {
        Some(second) => {
            let number = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            Some((2 * LEN, Some(character(number))))
        }
        None => Some((LEN, Some(char::REPLACEMENT_CHARACTER))),
    }
}

/// Reads the digits after the first two characters.
fn hexadecimal(text: &str, num_digits: usize) -> Option<u32> {
    let digits = text.get(2..2 + num_digits)?;
    let are_digits = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    are_digits.then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_is_the_character_it_stands_for() {
        use Escapes::{Json, Toml, Yaml};
        for (text, escapes, expected) in [
            ("\\n", Json, Some((2, Some('\n')))),
            ("\\r\\n", Json, Some((4, Some('\n')))),
            ("\\u00f6x", Json, Some((6, Some('ö')))),
            ("\\ud83d\\udc1fx", Json, Some((12, Some('🐟')))),
            ("\\x41", Json, None),
            ("\\'", Json, None),
            ("\\u12", Json, None),
            ("\\u+123", Json, None),
            ("\\", Json, None),
            ("\\xF6", Yaml, Some((4, Some('ö')))),
            ("\\U0001F41F", Toml, Some((10, Some('🐟')))),
            ("\\Uffffffff", Yaml, Some((10, Some('\u{fffd}')))),
            ("\\_", Yaml, Some((2, Some('\u{a0}')))),
            ("\\_", Toml, None),
            ("\\ a", Yaml, Some((2, Some(' ')))),
            ("\\\n  a", Yaml, Some((1, None))),
        ] {
            assert_eq!(backslash(text, escapes), expected, "{text}");
        }
    }

    #[test]
    fn escapes_bring_in_nothing_that_cannot_be_seen() {
        for text in [
            "\\u0000", "\\u001b", "\\b", "\\f", "\\ud83d", "\\ud83dx", "\\udc1f", "\\u202e",
            "\\u2066", "\\u009b", "\\u007f",
        ] {
            let found = backslash(text, Escapes::Json).and_then(|(_, stands_for)| stands_for);
            assert_eq!(found, Some('\u{fffd}'), "{text}");
        }
        assert_eq!(backslash("\\ud83d\\u0041", Escapes::Json), Some((6, Some('\u{fffd}'))));
        assert_eq!(backslash("\\u200f", Escapes::Json), Some((6, Some('\u{200f}'))));
    }
}
