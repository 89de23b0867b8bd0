//! Packs the atoms of a document into runs, each of which becomes a chunk.
//!
//! By structure: small sections are merged, large ones split at the best seams and as evenly as
//! possible. Fixed: windows that overlap.

use crate::document::{BlockKind, Document};

use super::context::Contexts;
use super::cut::{self, Atom};
use super::options::ChunkOptions;
use super::seams::Seam;
use super::wide::{self, TablePart};

/// Cost of one more chunk compared with uneven ones; the unit of the other costs.
const CHUNK_COST: f64 = 1.0;

/// Cost of a chunk below the minimum size: more than `CHUNK_COST` and a seam inside a paragraph.
const SMALL_COST: f64 = 2.0;

impl Seam {
    /// Returns the cost of beginning a chunk here. The seams up to a line cost less than another chunk, so none is
    /// made for a better one; a heading without its text is worse than any other cut.
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

/// A chunk that has at least this part of its room, as a denominator, ends with its page if the next page begins with a
/// heading.
const PAGE_SHARE: usize = 3;

/// The share of pages, as a fraction, that begin with a heading in a document of slides, and the least number of pages. Each
/// slide is a chunk, as people cite it by its number.
const SLIDES: (usize, usize) = (9, 10);
const MIN_SLIDES: usize = 3;

/// A section, or several merged ones.
struct Section<'a> {
    /// Entire blocks, with weights.
    atoms: Vec<Atom>,
    weight: usize,
    budget: usize,
    /// Header chain of the first block.
    headings: &'a [String],
    /// Whether its first block is a heading, and on another page than the block before it.
    begins_page: bool,
    /// Whether the pages of the document are slides.
    is_slide: bool,
}

impl<'a> Section<'a> {
    /// Returns the enclosing headings, without the section's own.
    fn parent(&self) -> &'a [String] {
        self.headings.split_last().map_or(&[], |(_, above)| above)
    }

    fn fits_with(&self, other: &Self) -> bool {
        self.weight + other.weight <= self.budget.min(other.budget)
    }

    /// Whether the next section begins a page with a heading, and this one has enough of its room: it would be cited by
    /// another page than most of its text.
    fn is_apart(&self, next: &Self) -> bool {
        next.begins_page && (next.is_slide || self.weight * PAGE_SHARE >= self.budget)
    }

    /// Appends the next section; the merged one keeps this one's headings.
    fn absorb(&mut self, next: Self) {
        self.atoms.extend(next.atoms);
        self.weight += next.weight;
        self.budget = self.budget.min(next.budget);
    }
}

/// The content of a chunk.
pub(super) enum PackedRun {
    Atoms(Vec<Atom>),
    /// A part of a wide table, with the headings above it.
    Part(Vec<Atom>, TablePart),
}

/// Packs a document along its structure.
pub(super) fn sections(
    document: &Document,
    contexts: &mut Contexts<'_>,
    options: &ChunkOptions,
) -> Vec<PackedRun> {
    let sections = merge_small(find_sections(document, contexts, options), options.min_tokens);
    let mut runs = Vec::new();
    for section in sections {
        if section.weight <= section.budget {
            runs.push(PackedRun::Atoms(section.atoms));
            continue;
        }
        let mut before: Vec<Atom> = Vec::new();
        for atom in section.atoms {
            let block = &document.blocks[atom.block_idx];
            if block.kind == BlockKind::Table {
                let headings = num_headings(document, &before);
                let last = before[before.len() - headings..].iter();
                let lead: usize = last.map(|atom| atom.weight).sum();
                let whole = budget(contexts.of_block(block, true).cost, options);
                // Headings that take much of a chunk become a separate chunk.
                let is_lead = lead * MAX_LEAD_SHARE <= whole;
                let room = if is_lead { whole - lead } else { whole };
                if let Some(parts) = wide::parts(document, atom.block_idx, room, contexts) {
                    let mut lead =
                        before.split_off(before.len() - if is_lead { headings } else { 0 });
                    pack_atoms(document, &before, contexts, options, &mut runs);
                    before.clear();
                    for part in parts {
                        runs.push(PackedRun::Part(std::mem::take(&mut lead), part));
                    }
                    continue;
                }
            }
            before.push(atom);
        }
        pack_atoms(document, &before, contexts, options, &mut runs);
    }
    runs
}

/// Headings above a wide table take at most this part of a chunk, as a denominator: its first part would have no room
/// for rows.
const MAX_LEAD_SHARE: usize = 4;

/// Returns how many of the last atoms are headings.
fn num_headings(document: &Document, atoms: &[Atom]) -> usize {
    let headings = atoms
        .iter()
        .rev()
        .take_while(|atom| document.blocks[atom.block_idx].kind == BlockKind::Heading);
    headings.count()
}

/// Packs blocks that are too large for one chunk.
fn pack_atoms(
    document: &Document,
    atoms: &[Atom],
    contexts: &mut Contexts<'_>,
    options: &ChunkOptions,
    runs: &mut Vec<PackedRun>,
) {
    // The later parts of a definition have its name in their context, and those of a table have its head before them,
    // which leaves less room.
    let blocks = atoms.iter().map(|atom| {
        let later = contexts.cost_of_later(document, atom.block_idx);
        contexts.of_block(&document.blocks[atom.block_idx], true).cost + later
    });
    let Some(cost) = blocks.max() else { return };
    let budget = budget(cost, options);
    let atoms = cut_large(document, atoms, budget, contexts);
    let split = split_evenly(&atoms, budget, options.min_tokens.min(budget / 2));
    runs.extend(split.into_iter().map(PackedRun::Atoms));
}

/// Splits a document into windows of at most `max_tokens` that share about `overlap_tokens`.
pub(super) fn windows(
    document: &Document,
    contexts: &mut Contexts<'_>,
    options: &ChunkOptions,
) -> Vec<PackedRun> {
    let blocks = document.blocks.iter();
    let cost = blocks.map(|block| contexts.of_block(block, true).cost).max().unwrap_or(0);
    let budget = budget(cost, options);
    // More than half would create more windows than text.
    let overlap = options.overlap_tokens.min(budget / 2);
    // Without overlap an atom of any size will do; with overlap, atoms must be small.
    let limit = if overlap == 0 { budget } else { overlap.max(budget / 8).max(1) };
    let block_atoms = cut::block_atoms(document);
    let atoms: Vec<Atom> = block_atoms
        .iter()
        .flat_map(|block| cut::cut(document, block, limit, &|text| contexts.count(text)))
        .collect();
    let mut runs: Vec<PackedRun> = Vec::new();
    let (mut start, mut end) = (0, 0);
    while end < atoms.len() {
        let new_from = end;
        let mut weight: usize = atoms[start..end].iter().map(|atom| atom.weight).sum();
        while end < atoms.len() && (weight + atoms[end].weight <= budget || end == new_from) {
            weight += atoms[end].weight;
            end += 1;
            // New text replaces shared text.
            while weight > budget && start < new_from {
                weight -= atoms[start].weight;
                start += 1;
            }
        }
        end = best_end(&atoms, new_from, end, budget);
        runs.push(PackedRun::Atoms(atoms[start..end].to_vec()));
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

/// Moves a window's end back to the best seam in its last quarter.
fn best_end(atoms: &[Atom], new_from: usize, end: usize, budget: usize) -> usize {
    let (mut best, mut given_up) = (end, 0);
    for candidate in (new_from + 1..end).rev() {
        given_up += atoms[candidate].weight;
        // A better seam is not worth more than a quarter of a window.
        if given_up * 4 > budget {
            break;
        }
        if cost_of_end(atoms, candidate) < cost_of_end(atoms, best) {
            best = candidate;
        }
    }
    best
}

fn cost_of_end(atoms: &[Atom], end: usize) -> f64 {
    atoms.get(end).map_or(0.0, |atom| atom.seam.cost())
}

/// Returns the tokens left for text next to a context of `context_cost`.
fn budget(context_cost: usize, options: &ChunkOptions) -> usize {
    options.window().saturating_sub(context_cost).min(options.max_tokens).max(1)
}

/// Computes the weight of every block and starts a new section at each heading or other definition.
///
/// Headings without text are at the beginning of the next section, not at the end of the previous
/// one.
fn find_sections<'a>(
    document: &'a Document,
    contexts: &mut Contexts<'_>,
    options: &ChunkOptions,
) -> Vec<Section<'a>> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    // Headings whose text comes later.
    let mut pending: Option<Section<'a>> = None;
    let mut starts = true;
    let mut page = None;
    let is_slide = has_slides(document);
    for mut atom in cut::block_atoms(document) {
        let block = &document.blocks[atom.block_idx];
        let budget = budget(contexts.of_block(block, false).cost, options);
        let text = &document.text[atom.bytes.clone()];
        atom.weight = cut::weight_of(text, &|text| contexts.count(text), budget);
        starts |= block.starts_section;
        let weight = atom.weight;
        let begins_page = block.kind == BlockKind::Heading && block.page != page;
        page = block.page;
        let (atoms, headings) = (vec![atom], block.headings.as_slice());
        let piece = Section { atoms, weight, budget, headings, begins_page, is_slide };
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

/// Whether nearly every page begins with a heading.
fn has_slides(document: &Document) -> bool {
    let (mut num_pages, mut num_headed, mut page) = (0, 0, None);
    for block in document.blocks.iter().filter(|block| block.page.is_some()) {
        if block.page != page {
            page = block.page;
            num_pages += 1;
            num_headed += usize::from(block.kind == BlockKind::Heading);
        }
    }
    num_pages >= MIN_SLIDES && num_headed * SLIDES.1 >= num_pages * SLIDES.0
}

/// Merges sections below the minimum size with a neighbour: the next one under the same heading,
/// otherwise the previous one, otherwise any. A section that is too large, and is split again, is
/// better than a small one alone.
fn merge_small(sections: Vec<Section<'_>>, min_tokens: usize) -> Vec<Section<'_>> {
    let mut merged: Vec<Section<'_>> = Vec::new();
    let mut sections = sections.into_iter().peekable();
    while let Some(mut section) = sections.next() {
        while section.weight < min_tokens
            && let Some(next) = sections.next_if(|next| {
                if section.is_apart(next) {
                    return false;
                }
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
            Some(last) if section.weight < min_tokens && !last.is_apart(&section) => {
                last.absorb(section);
            }
            _ => merged.push(section),
        }
    }
    merged
}

/// Splits the blocks that fill a chunk together with the headings they must stay with.
fn cut_large(
    document: &Document,
    blocks: &[Atom],
    budget: usize,
    contexts: &Contexts<'_>,
) -> Vec<Atom> {
    let mut atoms = Vec::with_capacity(blocks.len());
    let mut glued = 0;
    for block in blocks {
        // However long the headings, half a chunk is for text.
        let limit = budget.saturating_sub(glued).max(budget / 2).max(1);
        if block.weight > limit {
            atoms.extend(cut::cut(document, block, limit, &|text| contexts.count(text)));
        } else {
            atoms.push(block.clone());
        }
        let is_heading = document.blocks[block.block_idx].kind == BlockKind::Heading;
        glued = if is_heading { glued + block.weight } else { 0 };
    }
    atoms
}

/// Splits atoms into runs within the budget so that the total cost is minimal. The cost of a run is
/// one, plus the square of its empty share, plus the cost of the seam where it begins.
///
/// Squares give runs of about equal size; the search is exact and takes time proportional to atoms
/// times atoms per run.
fn split_evenly(atoms: &[Atom], budget: usize, min_tokens: usize) -> Vec<Vec<Atom>> {
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
