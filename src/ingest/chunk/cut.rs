//! A block in, atoms out: the pieces chunks are made of, each counted once.
//!
//! A block that fits is one atom. A larger one is cut where its kind allows: prose at sentences
//! and line ends, tables between rows, code between lines. What is still too large is cut at
//! words, then within them. The atoms of a block cover it without a gap.

use std::ops::Range;

use crate::document::{Block, BlockKind, Document};

/// A piece of one block that is kept whole.
#[derive(Debug, Clone)]
pub(super) struct Atom {
    /// Where it lies in the document's text.
    pub(super) bytes: Range<usize>,
    /// The block it is from.
    pub(super) block_idx: usize,
    /// Whether it begins inside its block.
    pub(super) is_continued: bool,
    /// Its size against the budget; at least 1.
    pub(super) weight: usize,
    /// What a chunk that begins here severs.
    pub(super) seam: Seam,
}

/// What lies between two atoms, from the best place to cut to the worst.
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
    /// Nothing begins: a word is cut.
    Inside,
    /// What precedes must not stand alone: a heading, a table's head.
    Glued,
}

/// Bytes of the pieces in which text without sentences is counted.
const WORDS_BYTES: usize = 64;

/// Bytes of one token at most, for weighing: a tokenizer may call any long word one unknown
/// token, but a chunk of a million bytes helps nobody.
const MAX_BYTES_PER_TOKEN: usize = 32;

/// Returns a text's size in tokens, corrected for words no tokenizer knows; at least 1.
pub(super) fn weigh(text: &str, num_tokens: &dyn Fn(&str) -> usize, enough: usize) -> usize {
    let by_bytes = text.len() / MAX_BYTES_PER_TOKEN;
    // What is far too large need not be counted to be cut.
    if by_bytes > enough { by_bytes } else { num_tokens(text).max(by_bytes).max(1) }
}

/// Returns every block that is not blank as one atom, not weighed yet.
pub(super) fn whole_blocks(document: &Document) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = Vec::with_capacity(document.blocks.len());
    let mut previous: Option<&Block> = None;
    for (block_idx, block) in document.blocks.iter().enumerate() {
        // An extractor that breaks its promise costs a block, not the program.
        let is_in_order = previous.is_none_or(|it| it.bytes.end <= block.bytes.start);
        let text = document.text.get(block.bytes.clone()).filter(|_| is_in_order);
        debug_assert!(text.is_some(), "block {block_idx} is out of order or splits a character");
        if text.is_none_or(|it| it.trim().is_empty()) {
            continue;
        }
        let seam = match previous {
            Some(it) if it.kind == BlockKind::Heading => Seam::Glued,
            Some(it) if block.symbol != it.symbol => Seam::Heading,
            _ if block.starts_section || block.kind == BlockKind::Heading => Seam::Heading,
            _ => Seam::Block,
        };
        let bytes = block.bytes.clone();
        atoms.push(Atom { bytes, block_idx, is_continued: false, weight: 1, seam });
        previous = Some(block);
    }
    atoms
}

/// Cuts an atom that is a whole block into smaller ones, none heavier than `limit` unless it is a
/// single character.
pub(super) fn cut(
    document: &Document,
    atom: &Atom,
    limit: usize,
    num_tokens: &dyn Fn(&str) -> usize,
) -> Vec<Atom> {
    let text = &document.text[atom.bytes.clone()];
    let mut atoms: Vec<Atom> = Vec::new();
    let mut push = |start: usize, end: usize, weight: usize, seam: Seam| {
        let is_first = atoms.is_empty();
        atoms.push(Atom {
            bytes: atom.bytes.start + start..atom.bytes.start + end,
            block_idx: atom.block_idx,
            is_continued: atom.is_continued || !is_first,
            weight,
            seam: if is_first { atom.seam } else { seam },
        });
    };
    let units = match document.blocks[atom.block_idx].kind {
        BlockKind::Heading | BlockKind::Paragraph | BlockKind::ListItem => sentences(text),
        BlockKind::Table => rows(text),
        BlockKind::Code => lines(text),
    };
    for (unit, seam) in units {
        let weight = weigh(&text[unit.clone()], num_tokens, limit);
        if weight <= limit {
            push(unit.start, unit.end, weight, seam);
            continue;
        }
        let mut seam = seam;
        // Words, and below them halves, the first half on top.
        let mut stack = Vec::new();
        let mut start = unit.start;
        while start < unit.end {
            let (len, next_seam) = words(&text[start..unit.end]);
            stack.push((start..start + len, seam));
            seam = next_seam;
            start += len;
        }
        stack.reverse();
        while let Some((piece, seam)) = stack.pop() {
            let weight = weigh(&text[piece.clone()], num_tokens, limit);
            match middle(&text[piece.clone()]).filter(|_| weight > limit) {
                Some((len, next_seam)) => {
                    stack.push((piece.start + len..piece.end, next_seam));
                    stack.push((piece.start..piece.start + len, seam));
                }
                None => push(piece.start, piece.end, weight, seam),
            }
        }
    }
    atoms
}

/// Parts a run of atoms in two of about equal weight; `None` for a single character.
pub(super) fn halve(source: &str, atoms: &[Atom]) -> Option<(Vec<Atom>, Vec<Atom>)> {
    if let [atom] = atoms {
        let (len, seam) = middle(&source[atom.bytes.clone()])?;
        let (mut left, mut right) = (atom.clone(), atom.clone());
        left.bytes.end = atom.bytes.start + len;
        left.weight = (atom.weight / 2).max(1);
        right.bytes.start = left.bytes.end;
        right.weight = left.weight;
        right.seam = seam;
        right.is_continued = true;
        return Some((vec![left], vec![right]));
    }
    let total: usize = atoms.iter().map(|it| it.weight).sum();
    let mut sum = 0;
    let is_past_middle = |it: &Atom| {
        sum += it.weight;
        sum * 2 > total
    };
    let idx = atoms.iter().position(is_past_middle).unwrap_or(0);
    let idx = idx.clamp(1, atoms.len().max(2) - 1);
    // A heading moves over to what follows it, if anything is left.
    let idx = (1..=idx).rev().find(|it| atoms[*it].seam != Seam::Glued).unwrap_or(idx);
    (atoms.len() > 1).then(|| (atoms[..idx].to_vec(), atoms[idx..].to_vec()))
}

type Units = Vec<(Range<usize>, Seam)>;

/// Parts code at line ends; a line after a blank one begins a paragraph.
fn lines(text: &str) -> Units {
    let mut units: Units = Vec::new();
    let mut start = 0;
    let mut seam = Seam::Line;
    for line in text.split_inclusive('\n') {
        let is_blank = line.trim().is_empty();
        match units.last_mut() {
            // Blank lines belong to what precedes them.
            Some((unit, _)) if is_blank => unit.end += line.len(),
            _ => units.push((start..start + line.len(), seam)),
        }
        start += line.len();
        seam = if is_blank { Seam::Sentence } else { Seam::Line };
    }
    units
}

/// Parts a table at line ends; its head and the rule below it stay with the first row.
fn rows(text: &str) -> Units {
    let mut units = lines(text);
    for (idx, (_, seam)) in units.iter_mut().enumerate() {
        *seam = if matches!(idx, 1 | 2) { Seam::Glued } else { Seam::Sentence };
    }
    units
}

/// Parts prose at sentence ends and line ends.
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
            sentence_end(text, end, letter).map(|it| (it, Seam::Sentence))
        };
        let Some((end, next_seam)) = found else { continue };
        // Blank lines belong to what precedes them.
        let blank = text[end..].len() - text[end..].trim_start_matches(['\n', ' ', '\t']).len();
        let has_newline = text[end..end + blank].contains('\n');
        let end = if has_newline || next_seam == Seam::Sentence { end + blank } else { end };
        while letters.next_if(|(it, _)| *it < end).is_some() {}
        units.push((start..end, seam));
        start = end;
        seam = next_seam;
    }
    if start < text.len() {
        units.push((start..text.len(), seam));
    }
    units
}

/// Returns where a sentence ends whose last mark, `mark`, ends at `at`: behind what closes it.
fn sentence_end(text: &str, at: usize, mark: char) -> Option<usize> {
    let needs_blank = match mark {
        '.' | '!' | '?' | '…' | '؟' | '۔' | '।' | '։' | '။' => true,
        '。' | '！' | '？' | '｡' | '．' => false,
        _ => return None,
    };
    let is_closer = |it: char| {
        matches!(
            it,
            '"' | '\''
                | ')'
                | ']'
                | '*'
                | '_'
                | '`'
                | '”'
                | '’'
                | '»'
                | '」'
                | '』'
                | '）'
                | '】'
                | '〉'
                | '》'
        )
    };
    let rest = text[at..].trim_start_matches(is_closer);
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

/// Returns how much of a text to count at once, and what the rest then begins with.
fn words(text: &str) -> (usize, Seam) {
    let mut end = text.len().min(WORDS_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    if end == text.len() {
        return (end, Seam::Word);
    }
    let head = &text[..end];
    let last = |is_cut: fn(char) -> bool| {
        head.char_indices().rev().find(|(_, it)| is_cut(*it)).map(|(at, it)| at + it.len_utf8())
    };
    if let Some(len) = last(char::is_whitespace) {
        return (len, Seam::Word);
    }
    match last(|it| !it.is_alphanumeric()) {
        Some(len) => (len, Seam::Word),
        None => (end, Seam::Inside),
    }
}

/// Returns the best place to halve a text: the blank nearest to its middle, else its middle;
/// `None` for a single character.
fn middle(text: &str) -> Option<(usize, Seam)> {
    let half = text.len() / 2;
    let inner = text.trim();
    let (start, end) = (text.len() - text.trim_start().len() + 1, text.trim_end().len());
    let before = text
        .char_indices()
        .filter(|(at, it)| it.is_whitespace() && (start..end).contains(at) && !inner.is_empty());
    let blank = before.min_by_key(|(at, _)| at.abs_diff(half));
    if let Some((at, letter)) = blank {
        return Some((at + letter.len_utf8(), Seam::Word));
    }
    let inside = text.char_indices().map(|(at, _)| at).filter(|at| *at > 0);
    inside.min_by_key(|at| at.abs_diff(half)).map(|at| (at, Seam::Inside))
}
