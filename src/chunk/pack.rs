//! Packs the atoms of a document into runs, each of which becomes a chunk.
//!
//! By structure: sections, the small ones merged, the large ones parted where it hurts least and
//! as evenly as possible. Fixed: windows that overlap.

use crate::document::{Block, BlockKind, Document};

use super::ChunkOptions;
use super::context::Contexts;
use super::cut::{self, Atom};
use super::seams::Seam;

/// Cost of one more chunk against uneven ones; the unit the others are measured in.
const CHUNK_COST: f64 = 1.0;

/// Cost of a chunk below the least size: more than another cut inside a paragraph.
const SMALL_COST: f64 = 2.0;

impl Seam {
    /// What it costs to begin a chunk here.
    fn cost(self) -> f64 {
        match self {
            Self::Heading => 0.0,
            Self::Block => 0.1,
            Self::Sentence => 0.3,
            Self::Line => 0.5,
            Self::Word => 1.0,
            Self::Inside => 2.0,
            Self::Glued => 20.0,
        }
    }
}

/// A section, or several merged ones.
struct Section<'a> {
    /// Whole blocks, weighed.
    atoms: Vec<Atom>,
    weight: usize,
    budget: usize,
    /// Header chain of the first block.
    headings: &'a [String],
}

impl<'a> Section<'a> {
    /// The headings it stands under, its own not among them.
    fn parent(&self) -> &'a [String] {
        self.headings.split_last().map_or(&[], |(_, above)| above)
    }

    fn fits_with(&self, other: &Self) -> bool {
        self.weight + other.weight <= self.budget.min(other.budget)
    }

    /// Takes in the section that follows; the merged one stands where the first stood.
    fn absorb(&mut self, next: Self) {
        self.atoms.extend(next.atoms);
        self.weight += next.weight;
        self.budget = self.budget.min(next.budget);
    }
}

/// Packs a document along its structure.
pub(super) fn sections(
    document: &Document,
    contexts: &mut Contexts<'_>,
    options: &ChunkOptions,
) -> Vec<Vec<Atom>> {
    let sections = merge_small(find_sections(document, contexts, options), options.min_tokens);
    let mut runs = Vec::new();
    for section in sections {
        if section.weight <= section.budget {
            runs.push(section.atoms);
            continue;
        }
        // The rest of a definition has its name in its context, which leaves less room.
        // The rest of a table has its head before it.
        let blocks = section.atoms.iter().map(|it| {
            let head = contexts.table_head(document, it.block_idx).map_or(0, |(_, cost)| cost);
            contexts.of_block(&document.blocks[it.block_idx], true).cost + head
        });
        let budget = budget(blocks.max().unwrap_or(0), options);
        let atoms = cut_large(document, &section.atoms, budget, contexts);
        runs.extend(part_evenly(&atoms, budget, options.min_tokens.min(budget / 2)));
    }
    runs
}

/// Parts a document into windows of at most `max_tokens` that share about `overlap_tokens`.
pub(super) fn windows(
    document: &Document,
    contexts: &mut Contexts<'_>,
    options: &ChunkOptions,
) -> Vec<Vec<Atom>> {
    let blocks = document.blocks.iter();
    let cost = blocks.map(|it| contexts.of_block(it, true).cost).max().unwrap_or(0);
    let budget = budget(cost, options);
    // More than half would make more windows than text.
    let overlap = options.overlap_tokens.min(budget / 2);
    let num_tokens = |text: &str| contexts.count(text);
    // Without overlap a whole atom of any size will do; with it, atoms have to be small.
    let limit = if overlap == 0 { budget } else { overlap.max(budget / 8).max(1) };
    let whole = cut::whole_blocks(document);
    let atoms: Vec<Atom> =
        whole.iter().flat_map(|it| cut::cut(document, it, limit, &num_tokens)).collect();
    let mut runs: Vec<Vec<Atom>> = Vec::new();
    let (mut start, mut end) = (0, 0);
    while end < atoms.len() {
        let new_from = end;
        let mut weight: usize = atoms[start..end].iter().map(|it| it.weight).sum();
        while end < atoms.len() && (weight + atoms[end].weight <= budget || end == new_from) {
            weight += atoms[end].weight;
            end += 1;
            // What is shared gives way to what is new.
            while weight > budget && start < new_from {
                weight -= atoms[start].weight;
                start += 1;
            }
        }
        end = best_end(&atoms, new_from, end, budget);
        runs.push(atoms[start..end].to_vec());
        let least = start + 1;
        start = end;
        let mut shared = 0;
        while start > least && shared + atoms[start - 1].weight <= overlap {
            start -= 1;
            shared += atoms[start].weight;
        }
    }
    runs
}

/// Takes a window's end back to the best seam in its last quarter.
fn best_end(atoms: &[Atom], new_from: usize, end: usize, budget: usize) -> usize {
    let (mut best, mut given_up) = (end, 0);
    let cost = |end: usize| atoms.get(end).map_or(0.0, |it| it.seam.cost());
    for candidate in (new_from + 1..end).rev() {
        given_up += atoms[candidate].weight;
        if given_up * 4 > budget {
            break;
        }
        if cost(candidate) < cost(best) {
            best = candidate;
        }
    }
    best
}

/// Tokens left for text beside a context of so many.
fn budget(context_cost: usize, options: &ChunkOptions) -> usize {
    options.window().saturating_sub(context_cost).min(options.max_tokens).max(1)
}

/// Weighs every block and parts them where a section or another definition begins.
///
/// Headings without text of their own stand at the beginning of the next section, not at the end
/// of the one before.
fn find_sections<'a>(
    document: &'a Document,
    contexts: &mut Contexts<'_>,
    options: &ChunkOptions,
) -> Vec<Section<'a>> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    // Headings whose text has not come yet.
    let mut pending: Option<Section<'a>> = None;
    let mut previous: Option<&Block> = None;
    let mut starts = true;
    for mut atom in cut::whole_blocks(document) {
        let block = &document.blocks[atom.block_idx];
        let budget = budget(contexts.of_block(block, false).cost, options);
        let text = &document.text[atom.bytes.clone()];
        atom.weight = cut::weigh(text, &|it| contexts.count(it), budget);
        starts |= block.starts_section || previous.is_some_and(|it| it.symbol != block.symbol);
        previous = Some(block);
        let weight = atom.weight;
        let piece = Section { atoms: vec![atom], weight, budget, headings: &block.headings };
        let section = match pending.take() {
            Some(mut headings) => {
                headings.absorb(piece);
                headings
            }
            None => piece,
        };
        if block.kind == BlockKind::Heading {
            pending = Some(section);
            continue;
        }
        match sections.last_mut() {
            Some(last) if !starts => last.absorb(section),
            _ => sections.push(section),
        }
        starts = false;
    }
    match (pending, sections.last_mut()) {
        (Some(headings), Some(last)) => last.absorb(headings),
        (Some(headings), None) => sections.push(headings),
        (None, _) => {}
    }
    sections
}

/// Merges sections below the least size with a neighbour: the next one under the same heading,
/// else the previous, else whichever there is; better one too large, which is parted again, than
/// a small one alone.
fn merge_small(sections: Vec<Section<'_>>, min_tokens: usize) -> Vec<Section<'_>> {
    let mut merged: Vec<Section<'_>> = Vec::new();
    let mut sections = sections.into_iter().peekable();
    while let Some(mut section) = sections.next() {
        while section.weight < min_tokens
            && let Some(next) = sections.next_if(|next| {
                let is_related = next.headings.starts_with(section.parent());
                match merged.last() {
                    Some(previous) if !previous.fits_with(&section) => is_related,
                    Some(_) => is_related && section.fits_with(next),
                    None => true,
                }
            })
        {
            section.absorb(next);
        }
        match merged.last_mut() {
            Some(last) if section.weight < min_tokens => last.absorb(section),
            _ => merged.push(section),
        }
    }
    merged
}

/// Cuts the blocks that fill a chunk together with the headings they must stay with.
fn cut_large(
    document: &Document,
    blocks: &[Atom],
    budget: usize,
    contexts: &Contexts<'_>,
) -> Vec<Atom> {
    let num_tokens = |text: &str| contexts.count(text);
    let mut atoms = Vec::with_capacity(blocks.len());
    let mut glued = 0;
    for block in blocks {
        // However long the headings, half a chunk is for text.
        let limit = budget.saturating_sub(glued).max(budget / 2).max(1);
        if block.weight > limit {
            atoms.extend(cut::cut(document, block, limit, &num_tokens));
        } else {
            atoms.push(block.clone());
        }
        let is_heading = document.blocks[block.block_idx].kind == BlockKind::Heading;
        glued = if is_heading { glued + block.weight } else { 0 };
    }
    atoms
}

/// Parts atoms into runs within the budget so that the sum over all runs of one for the run, the
/// square of the share left empty, and the cost of the seam it begins at is least.
///
/// Squares make runs of about equal size; the search is exact and takes time in proportion to
/// atoms times atoms per run.
fn part_evenly(atoms: &[Atom], budget: usize, min_tokens: usize) -> Vec<Vec<Atom>> {
    let mut costs = vec![f64::INFINITY; atoms.len() + 1];
    let mut starts = vec![0; atoms.len() + 1];
    costs[0] = 0.0;
    for end in 1..=atoms.len() {
        let mut weight = 0;
        for start in (0..end).rev() {
            weight += atoms[start].weight;
            if weight > budget && start + 1 < end {
                break;
            }
            let empty = budget.saturating_sub(weight) as f64 / budget as f64;
            let seam = if start == 0 { 0.0 } else { atoms[start].seam.cost() };
            let small = if weight < min_tokens { SMALL_COST } else { 0.0 };
            let cost = costs[start] + CHUNK_COST + empty * empty + seam + small;
            if cost < costs[end] {
                costs[end] = cost;
                starts[end] = start;
            }
        }
    }
    let mut runs = Vec::new();
    let mut end = atoms.len();
    while end > 0 {
        runs.push(atoms[starts[end]..end].to_vec());
        end = starts[end];
    }
    runs.reverse();
    runs
}
