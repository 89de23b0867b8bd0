//! Splits blocks into atoms, the pieces of chunks, and counts the tokens of each once.
//!
//! A block that fits is one atom. A larger one is split where its kind allows: prose at sentences
//! and line ends, tables between rows, code between lines. Pieces that are still too large are
//! split at words, then within words. The atoms of a block cover it without a gap.

use std::ops::Range;

use crate::document::{Block, BlockKind, Document};

use super::seams::{self, Seam, middle, words};

/// A piece of one block that packing never splits.
#[derive(Debug, Clone)]
pub(super) struct Atom {
    /// Its range in the document's text.
    pub(super) bytes: Range<usize>,
    /// The block it belongs to.
    pub(super) block_idx: usize,
    /// Whether it begins inside its block.
    pub(super) is_continued: bool,
    /// Its size in the budget; at least 1.
    pub(super) weight: usize,
    /// The seam before it, at which a chunk may begin.
    pub(super) seam: Seam,
}

/// Maximum bytes per token for weighing: a tokenizer may treat any long word as one unknown token,
/// but a chunk of a million bytes is useless.
const MAX_BYTES_PER_TOKEN: usize = 32;

/// Returns a text's size in tokens, corrected for words that no tokenizer knows; at least 1.
pub(super) fn weight_of(text: &str, num_tokens: &dyn Fn(&str) -> usize, enough: usize) -> usize {
    let by_bytes = text.len() / MAX_BYTES_PER_TOKEN;
    // A text that is far too large is split without counting its tokens.
    if by_bytes > enough { by_bytes } else { num_tokens(text).max(by_bytes).max(1) }
}

/// Returns each block that is not blank as one atom without a weight.
pub(super) fn block_atoms(document: &Document) -> Vec<Atom> {
    let mut atoms: Vec<Atom> = Vec::with_capacity(document.blocks.len());
    let mut previous: Option<&Block> = None;
    for (block_idx, block) in document.blocks.iter().enumerate() {
        // An invalid range from an extractor costs a block, not the program.
        let is_in_order = previous.is_none_or(|previous| previous.bytes.end <= block.bytes.start);
        let text = document.text.get(block.bytes.clone()).filter(|_| is_in_order);
        debug_assert!(text.is_some(), "block {block_idx} is out of order or splits a character");
        if text.is_none_or(|text| text.trim().is_empty()) {
            continue;
        }
        let seam = match previous {
            Some(previous) if previous.kind == BlockKind::Heading => Seam::Glued,
            Some(previous) if block.symbol != previous.symbol => Seam::Heading,
            _ if block.starts_section || block.kind == BlockKind::Heading => Seam::Heading,
            _ => Seam::Block,
        };
        let bytes = block.bytes.clone();
        atoms.push(Atom { bytes, block_idx, is_continued: false, weight: 1, seam });
        previous = Some(block);
    }
    atoms
}

/// Splits the atom of a block into smaller ones, none heavier than `limit` unless it is a single
/// character.
pub(super) fn cut(
    document: &Document,
    atom: &Atom,
    limit: usize,
    num_tokens: &dyn Fn(&str) -> usize,
) -> Vec<Atom> {
    let text = &document.text[atom.bytes.clone()];
    let mut atoms: Vec<Atom> = Vec::new();
    for (unit, seam) in seams::units(text, document.blocks[atom.block_idx].kind, limit) {
        let weight = weight_of(&text[unit.clone()], num_tokens, limit);
        if weight <= limit {
            push_piece(&mut atoms, atom, unit, weight, seam);
            continue;
        }
        let mut seam = seam;
        // Words, and below them halves, with the first half on top.
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
            let weight = weight_of(&text[piece.clone()], num_tokens, limit);
            match middle(&text[piece.clone()]).filter(|_| weight > limit) {
                Some((len, next_seam)) => {
                    stack.push((piece.start + len..piece.end, next_seam));
                    stack.push((piece.start..piece.start + len, seam));
                }
                None => push_piece(&mut atoms, atom, piece, weight, seam),
            }
        }
    }
    atoms
}

/// Adds a piece of an atom, whose range is relative to it.
fn push_piece(atoms: &mut Vec<Atom>, atom: &Atom, piece: Range<usize>, weight: usize, seam: Seam) {
    let is_first = atoms.is_empty();
    atoms.push(Atom {
        bytes: atom.bytes.start + piece.start..atom.bytes.start + piece.end,
        block_idx: atom.block_idx,
        is_continued: atom.is_continued || !is_first,
        weight,
        seam: if is_first { atom.seam } else { seam },
    });
}

/// Splits a run of atoms in two of about equal weight; `None` for a single character.
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
    let total: usize = atoms.iter().map(|atom| atom.weight).sum();
    let mut sum = 0;
    let past_middle = atoms.iter().position(|atom| {
        sum += atom.weight;
        sum * 2 > total
    });
    let idx = past_middle.unwrap_or(0);
    let idx = idx.clamp(1, atoms.len().max(2) - 1);
    // A heading moves to the text after it, unless nothing would be left.
    let idx = (1..=idx).rev().find(|idx| atoms[*idx].seam != Seam::Glued).unwrap_or(idx);
    (atoms.len() > 1).then(|| (atoms[..idx].to_vec(), atoms[idx..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_half_of_a_single_atom_continues_its_block() {
        let source = "before first second";
        let atom = |bytes, weight, seam, is_continued| Atom {
            bytes,
            block_idx: 3,
            is_continued,
            weight,
            seam,
        };
        let whole = atom(7..19, 9, Seam::Heading, false);
        let (left, right) = halve(source, &[whole]).unwrap();
        let [left, right] = [&left[..], &right[..]].map(|half| {
            assert_eq!(half.len(), 1);
            &half[0]
        });
        assert_eq!((left.bytes.start, right.bytes.end), (7, 19));
        assert_eq!(left.bytes.end, right.bytes.start);
        assert_eq!((left.block_idx, right.block_idx), (3, 3));
        assert_eq!((left.is_continued, right.is_continued), (false, true));
        assert_eq!((left.weight, right.weight), (4, 4));
        assert_eq!(left.seam, Seam::Heading);
        assert_ne!(right.seam, Seam::Heading);
    }

    #[test]
    fn halves_weigh_about_the_same_and_a_heading_stays_with_its_text() {
        let of = |weights: &[usize], glued: &[usize]| -> usize {
            let atoms: Vec<Atom> = weights
                .iter()
                .enumerate()
                .map(|(idx, weight)| {
                    let seam = if glued.contains(&idx) { Seam::Glued } else { Seam::Block };
                    Atom {
                        bytes: idx..idx + 1,
                        block_idx: 0,
                        is_continued: false,
                        weight: *weight,
                        seam,
                    }
                })
                .collect();
            let (left, right) = halve("abcdefgh", &atoms).unwrap();
            assert_eq!(left.len() + right.len(), atoms.len());
            left.len()
        };
        for (weights, glued, expected) in [
            (&[1, 1][..], &[][..], 1),
            (&[1, 1, 1, 1], &[], 2),
            (&[1, 1, 1, 5], &[], 3),
            (&[5, 1, 1, 1], &[], 1),
            (&[1, 5, 1, 1], &[], 1),
            (&[1, 1, 1, 1], &[2], 1),
            (&[1, 1, 1, 5], &[3], 2),
            (&[1, 1], &[1], 1),
        ] {
            assert_eq!(of(weights, glued), expected, "{weights:?} {glued:?}");
        }
    }

    #[test]
    fn a_single_character_is_not_halved_and_a_half_weighs_at_least_one() {
        let atom =
            |bytes| Atom { bytes, block_idx: 0, is_continued: false, weight: 1, seam: Seam::Block };
        assert!(halve("ab", &[atom(0..1)]).is_none());
        let (left, right) = halve("ab", &[atom(0..2)]).unwrap();
        assert_eq!((left[0].weight, right[0].weight), (1, 1));
    }
}
