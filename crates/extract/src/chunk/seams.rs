//! Finds where text may be split.
//!
//! Knows sentences of most scripts, lines, rows and words; knows nothing of budgets and documents.

use std::ops::Range;

use crate::document::BlockKind;

/// Size of the pieces in which text without sentences is counted: some words, so that a megabyte needs few calls of
/// the tokenizer and pieces fit closely.
const WORDS_BYTES: usize = 64;

/// Quotes, brackets and marks of Markdown that belong to the sentence before them.
const CLOSERS: &str = "\"')]*_`”’»」』）】〉》";

/// The seam between two atoms, from the best place to split to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seam {
    /// A section or a deeper heading begins.
    Heading,
    /// Another block begins.
    Block,
    /// A sentence, a table row or a paragraph of code begins.
    Sentence,
    /// A line begins.
    Line,
    /// A word begins.
    Word,
    /// No word begins: a word is split.
    Inside,
    /// The text before must not be separated: a heading, or a table's head.
    Glued,
}

/// Pieces of a text, each with the seam before it.
type Units = Vec<(Range<usize>, Seam)>;

/// Splits a block where its kind allows; in order, without gaps.
///
/// Units that are tiny compared with `limit`, a number of tokens, are joined to larger ones.
pub(super) fn units(text: &str, kind: BlockKind, limit: usize) -> Units {
    let units = match kind {
        BlockKind::Heading | BlockKind::Paragraph | BlockKind::ListItem => sentences(text),
        BlockKind::Table => rows(text),
        BlockKind::Code => lines(text),
    };
    coalesce(units, limit)
}

/// Joins the smallest units, so that a million short lines do not need a million calls of the
/// tokenizer. Joined units stay far below `limit` tokens, as no token is less than a byte.
fn coalesce(units: Units, limit: usize) -> Units {
    let mut joined: Units = Vec::with_capacity(units.len());
    for (unit, seam) in units {
        // Lines may be joined further than sentences, as splitting between them is worse.
        let enough = if seam == Seam::Line { limit / 4 } else { limit / 16 };
        match joined.last_mut() {
            Some((last, _)) if last.len() < enough && unit.len() < limit / 2 => last.end = unit.end,
            _ => joined.push((unit, seam)),
        }
    }
    joined
}

/// Splits code at line ends; a line after a blank one begins a paragraph.
fn lines(text: &str) -> Units {
    let mut units: Units = Vec::new();
    let mut start = 0;
    let mut seam = Seam::Line;
    for line in text.split_inclusive('\n') {
        let is_blank = line.trim().is_empty();
        match units.last_mut() {
            // Blank lines belong to the text before them.
            Some((unit, _)) if is_blank => unit.end += line.len(),
            _ => units.push((start..start + line.len(), seam)),
        }
        start += line.len();
        seam = if is_blank { Seam::Sentence } else { Seam::Line };
    }
    units
}

/// Splits a table at line ends; its head and the rule below it stay with the first row.
fn rows(text: &str) -> Units {
    let mut units = lines(text);
    for (idx, (_, seam)) in units.iter_mut().enumerate() {
        *seam = if matches!(idx, 1 | 2) { Seam::Glued } else { Seam::Sentence };
    }
    units
}

/// Splits prose at sentence ends and line ends.
fn sentences(text: &str) -> Units {
    let mut units: Units = Vec::new();
    let mut start = 0;
    let mut seam = Seam::Line;
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let end = at + letter.len_utf8();
        let found = if letter == '\n' {
            let is_paragraph_end = text[end..].starts_with('\n');
            Some((end, if is_paragraph_end { Seam::Sentence } else { Seam::Line }))
        } else {
            sentence_end(text, end, letter).map(|end| (end, Seam::Sentence))
        };
        let Some((end, next_seam)) = found else { continue };
        // Blank lines belong to the text before them.
        let blank = text[end..].len() - text[end..].trim_start_matches(['\n', ' ', '\t']).len();
        let has_newline = text[end..end + blank].contains('\n');
        let end = if has_newline || next_seam == Seam::Sentence { end + blank } else { end };
        while letters.next_if(|(at, _)| *at < end).is_some() {}
        units.push((start..end, seam));
        start = end;
        seam = next_seam;
    }
    if start < text.len() {
        units.push((start..text.len(), seam));
    }
    units
}

/// Returns the end of a sentence whose last mark, `mark`, ends at `at`, including closing quotes
/// and brackets.
fn sentence_end(text: &str, at: usize, mark: char) -> Option<usize> {
    let needs_blank = match mark {
        '.' | '!' | '?' | '…' | '؟' | '۔' | '।' | '։' | '။' => true,
        '。' | '！' | '？' | '｡' | '．' => false,
        _ => return None,
    };
    let rest = text[at..].trim_start_matches(|c| CLOSERS.contains(c));
    let end = text.len() - rest.len();
    let follows = rest.trim_start();
    let is_blank_next = rest.len() > follows.len();
    // `e.g. this` and `v1.2` do not end a sentence.
    let is_lower_next = mark == '.' && follows.starts_with(char::is_lowercase);
    if needs_blank && (!is_blank_next || is_lower_next) {
        return None;
    }
    (!follows.is_empty()).then_some(end)
}

/// Returns the length of text to count at once, and the seam after it.
pub(super) fn words(text: &str) -> (usize, Seam) {
    let mut end = text.len().min(WORDS_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if end == text.len() {
        return (end, Seam::Word);
    }
    let head = &text[..end];
    if let Some(len) = last_cut(head, char::is_whitespace) {
        return (len, Seam::Word);
    }
    match last_cut(head, |c| !c.is_alphanumeric()) {
        Some(len) => (len, Seam::Word),
        None => (end, Seam::Inside),
    }
}

/// Returns the end of the last of these characters.
fn last_cut(text: &str, is_cut: impl Fn(char) -> bool) -> Option<usize> {
    text.char_indices().rev().find(|(_, c)| is_cut(*c)).map(|(at, c)| at + c.len_utf8())
}

/// Returns the best place to split a text in half: the blank nearest to its middle, otherwise its
/// middle; `None` for a single character.
pub(super) fn middle(text: &str) -> Option<(usize, Seam)> {
    let half = text.len() / 2;
    let inner = text.trim();
    let (start, end) = (text.len() - text.trim_start().len() + 1, text.trim_end().len());
    let before = text
        .char_indices()
        .filter(|(at, c)| c.is_whitespace() && (start..end).contains(at) && !inner.is_empty());
    let blank = before.min_by_key(|(at, _)| at.abs_diff(half));
    if let Some((at, letter)) = blank {
        return Some((at + letter.len_utf8(), Seam::Word));
    }
    let inside = text.char_indices().map(|(at, _)| at).filter(|at| *at > 0);
    inside.min_by_key(|at| at.abs_diff(half)).map(|at| (at, Seam::Inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, kind: BlockKind, expected: &[&str]) {
        let units = units(text, kind, 0);
        assert_eq!(units.into_iter().map(|(unit, _)| &text[unit]).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn sentences_end_after_their_marks_and_closing_quotes() {
        let text = "He said: \"Go!\" Then v1.2 came, e.g. this. (End.) No mark";
        check(
            text,
            BlockKind::Paragraph,
            &["He said: \"Go!\" ", "Then v1.2 came, e.g. this. ", "(End.) ", "No mark"],
        );
        check("你好。「走吧！」好", BlockKind::Paragraph, &["你好。", "「走吧！」", "好"]);
        check("क्या? हाँ। ठीक", BlockKind::Paragraph, &["क्या? ", "हाँ। ", "ठीक"]);
    }

    #[test]
    fn lines_of_prose_end_at_newlines_and_include_blank_lines() {
        check("a b\nc.\n\n  d", BlockKind::ListItem, &["a b\n", "c.\n\n  ", "d"]);
    }

    #[test]
    fn code_and_tables_are_split_into_lines() {
        check("a\n\n  b\nc. D", BlockKind::Code, &["a\n\n", "  b\n", "c. D"]);
        check("|a|\n|-|\n|1|", BlockKind::Table, &["|a|\n", "|-|\n", "|1|"]);
    }

    #[test]
    fn words_end_at_blanks_or_at_punctuation() {
        assert_eq!(words("short"), (5, Seam::Word));
        assert_eq!(words(&"word ".repeat(20)), (60, Seam::Word));
        assert_eq!(words(&"abc/defghi,".repeat(9)), (59, Seam::Word));
        assert_eq!(words(&"é".repeat(99)), (64, Seam::Inside));
        assert_eq!(words(&"日".repeat(99)), (63, Seam::Inside));
    }

    #[test]
    fn the_middle_is_at_a_blank_if_there_is_one() {
        assert_eq!(middle("a bcdefgh"), Some((2, Seam::Word)));
        assert_eq!(middle("abcd"), Some((2, Seam::Inside)));
        assert_eq!(middle("日本"), Some((3, Seam::Inside)));
        assert_eq!(middle("日"), None);
        assert_eq!(middle(""), None);
    }
}
