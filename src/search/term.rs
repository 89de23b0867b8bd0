//! Scores a term in a chunk, from its occurrences and the sizes of chunks. Pure.
//!
//! The formula of the keyword leg; `keyword.rs` ranks by it.

use std::ops::Range;

use crate::document::DocumentId;
use crate::store::{ChunkSizes, Occurrence};

/// How fast further occurrences of a term stop counting; the value in general use.
pub(super) const SATURATION: f64 = 1.2;

/// How far a long chunk's occurrences count less. Between 0.4 and 0.75, the value in general use,
/// the collections show no difference but one: 0.6 is best for chunks of even length.
const LENGTH_NORMALISATION: f64 = 0.6;

/// Weight of an occurrence in the context against one in the text. 1 to 3 are equal on average.
const CONTEXT_WEIGHT: f64 = 2.0;

/// Weight of an occurrence anywhere in the document, in proportion to the document's length. 0.1 to
/// 0.3 are equal on average.
const DOCUMENT_WEIGHT: f64 = 0.2;

/// Weight of a term that most chunks have, and which the formula would give none or less.
const MIN_TERM_WEIGHT: f64 = 0.01;

/// What is true of all chunks together.
pub(super) struct Totals {
    num_chunks: u64,
    chunk_mean: f64,
    document_mean: f64,
}

impl Totals {
    pub(super) fn of(sizes: &ChunkSizes) -> Self {
        let (mut num_chunks, mut num_documents, mut num_tokens) = (0, 0, 0);
        let mut last_id = None;
        for place in 0..sizes.num_places() {
            let document_id = sizes.document_id(place);
            if document_id.is_some() {
                num_chunks += 1;
                num_documents += u64::from(document_id != last_id);
                num_tokens += u64::from(sizes.num_tokens(place));
                last_id = document_id;
            }
        }
        let mean_of = |count: u64| as_f64(num_tokens) / as_f64(count.max(1));
        let (chunk_mean, document_mean) = (mean_of(num_chunks), mean_of(num_documents));
        Self { num_chunks, chunk_mean, document_mean }
    }
}

/// A chunk in which some term occurs.
pub(super) struct Candidate {
    pub(super) place: usize,
    document_id: Option<DocumentId>,
    /// What an occurrence in the chunk counts; smaller in a long one.
    in_chunk: f64,
    /// What an occurrence in the document counts; smaller in a long one.
    in_document: f64,
    pub(super) score: f64,
}

/// What is known of a place: nothing, a term that is too common to decide, or one that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    None,
    Common,
    Deciding,
}

/// Returns the chunks with any term, of documents with a deciding one, in the order of their places.
pub(super) fn candidates(
    terms: &[&Term],
    num_deciding: usize,
    sizes: &ChunkSizes,
    totals: &Totals,
) -> Vec<Candidate> {
    let mut marks = vec![Mark::None; sizes.num_places()];
    let (deciding, common) = terms.split_at(num_deciding);
    for entry in common.iter().flat_map(|it| &it.entries) {
        marks[entry.place] = Mark::Common;
    }
    for entry in deciding.iter().flat_map(|it| &it.entries) {
        marks[entry.place] = Mark::Deciding;
    }
    let mut found = Vec::new();
    let mut start = 0;
    while start < marks.len() {
        let Some(next) = marks[start..].iter().position(|it| *it == Mark::Deciding) else { break };
        let within = start + next;
        let document = Span::around(within, start, sizes);
        for place in document.places.clone().filter(|it| marks[*it] != Mark::None) {
            found.push(document.candidate(place, sizes, totals));
        }
        start = document.places.end;
    }
    found
}

/// The chunks of a document.
pub(super) struct Span {
    pub(super) places: Range<usize>,
    num_tokens: f64,
}

impl Span {
    /// Finds the chunks, from the place `first` on, of the document of the chunk at `place`.
    pub(super) fn around(place: usize, first: usize, sizes: &ChunkSizes) -> Self {
        let document_id = sizes.document_id(place);
        let is_same = |it: &usize| sizes.document_id(*it) == document_id;
        let start = (first..place).rev().take_while(is_same).last().unwrap_or(place);
        let places = start..place + (place..sizes.num_places()).take_while(is_same).count();
        let num_tokens = places.clone().map(|it| f64::from(sizes.num_tokens(it))).sum();
        Self { places, num_tokens }
    }

    pub(super) fn candidate(&self, place: usize, sizes: &ChunkSizes, totals: &Totals) -> Candidate {
        let length = f64::from(sizes.num_tokens(place)) / totals.chunk_mean;
        Candidate {
            place,
            document_id: sizes.document_id(place),
            in_chunk: 1.0 / (1.0 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * length),
            in_document: DOCUMENT_WEIGHT * totals.document_mean / self.num_tokens.max(1.0),
            score: 0.0,
        }
    }
}

/// A term and where it occurs.
pub(super) struct Term {
    pub(super) weight: f64,
    /// In the order of places.
    pub(super) entries: Vec<Entry>,
}

/// The occurrences of a term in one chunk.
pub(super) struct Entry {
    pub(super) place: usize,
    pub(super) in_context: u32,
    pub(super) in_text: u32,
}

impl Term {
    pub(super) fn new(occurrences: &[Occurrence], sizes: &ChunkSizes, totals: &Totals) -> Self {
        let places = sizes.places(occurrences.iter().map(|it| it.chunk_id));
        // A chunk that another process has removed meanwhile has no place.
        let entries: Vec<Entry> = places
            .zip(occurrences)
            .filter_map(|(place, it)| {
                Some(Entry { place: place?, in_context: it.in_context, in_text: it.in_text })
            })
            .collect();
        let with = as_f64(entries.len() as u64);
        let without = (as_f64(totals.num_chunks) - with).max(0.0);
        // Robertson and Sparck Jones, 1976.
        let weight = ((without + 0.5) / (with + 0.5)).ln().max(MIN_TERM_WEIGHT);
        Self { weight, entries }
    }

    /// Adds what the term is worth to the candidates of the documents in which it occurs.
    pub(super) fn add_to(&self, candidates: &mut [Candidate]) {
        let mut entries = self.entries.as_slice();
        for document in candidates.chunk_by_mut(|a, b| a.document_id == b.document_id) {
            let (Some(first), Some(last)) = (document.first(), document.last()) else { continue };
            let last = last.place;
            entries = from_place(entries, first.place);
            let num_own = entries.iter().take_while(|it| it.place <= last).count();
            let (own, rest) = entries.split_at(num_own);
            entries = rest;
            if own.is_empty() {
                continue;
            }
            let in_document = own.iter().map(|it| it.in_text).sum();
            let mut own = own.iter().peekable();
            for candidate in document {
                let here = own.next_if(|it| it.place == candidate.place);
                candidate.score += self.worth(candidate, here, in_document);
            }
        }
    }

    /// Returns what the term is worth to a chunk, by its occurrences there and in the document.
    pub(super) fn worth(
        &self,
        candidate: &Candidate,
        here: Option<&Entry>,
        in_document: u32,
    ) -> f64 {
        let in_chunk = here
            .map_or(0.0, |it| CONTEXT_WEIGHT * f64::from(it.in_context) + f64::from(it.in_text));
        let count = in_chunk * candidate.in_chunk + f64::from(in_document) * candidate.in_document;
        self.weight * count * (SATURATION + 1.0) / (count + SATURATION)
    }
}

/// Returns the entries from a place on; in steps that double, for it is mostly near.
pub(super) fn from_place(entries: &[Entry], place: usize) -> &[Entry] {
    let mut len = 1;
    while entries.get(len - 1).is_some_and(|it| it.place < place) {
        len *= 2;
    }
    let near = &entries[..len.min(entries.len())];
    &entries[near.partition_point(|it| it.place < place)..]
}

#[expect(clippy::cast_precision_loss, reason = "a count of chunks or tokens is far below 2^52")]
fn as_f64(count: u64) -> f64 {
    count as f64
}
