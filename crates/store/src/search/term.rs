//! Scores a term in a chunk, from its occurrences and the sizes of chunks. Pure.
//!
//! This is the formula of the keyword leg; `keyword.rs` ranks by it.

use std::ops::Range;

use crate::ids::{ChunkId, DocumentId};
use crate::numeric::logarithm;
use crate::{ChunkSizes, NamedChunks, Occurrence};

use crate::search::TermStatistics;

/// How fast further occurrences of a term stop counting; the commonly used value.
pub(super) const SATURATION: f64 = 1.2;

/// How much less an occurrence counts in a long chunk. Between 0.4 and 0.75, the commonly used
/// value, the collections show only one difference: 0.6 is best for chunks of even length.
const LENGTH_NORMALISATION: f64 = 0.6;

/// Weight of an occurrence in the context relative to one in the text. On average, 1 to 3 are
/// equal.
const CONTEXT_WEIGHT: f64 = 2.0;

/// Weight of the density of a term in the document: of its occurrences for each chunk's length of text. Counted
/// absolutely, every chunk of a long document has nearly the full score of each word that the document has anywhere.
const DOCUMENT_WEIGHT: f64 = 0.3;

/// Weight of an occurrence in another form than the one typed, so that of two equal chunks the one with this form comes first.
const OTHER_FORM: f64 = 0.8;

/// Weight of a term that most chunks have; the formula would give zero or less.
const MIN_TERM_WEIGHT: f64 = 0.01;

/// Statistics of all chunks.
pub(super) struct Totals {
    pub(super) num_chunks: u64,
    chunk_mean: f64,
}

impl Totals {
    /// `elsewhere` is what other knowledge bases have.
    pub(super) fn of(sizes: &ChunkSizes, elsewhere: &TermStatistics) -> Self {
        let (num_chunks, num_tokens) = sizes.totals();
        let chunk_mean = as_f64(num_tokens) / as_f64(num_chunks.max(1));
        Self { num_chunks: num_chunks + elsewhere.num_chunks(), chunk_mean }
    }

    /// Returns the weight by rarity of a term that this many chunks have (Robertson and Sparck Jones, 1976).
    pub(super) fn rarity(&self, num_with: usize) -> f64 {
        let with = as_f64(num_with as u64);
        let without = (as_f64(self.num_chunks) - with).max(0.0);
        logarithm((without + 0.5) / (with + 0.5)).max(MIN_TERM_WEIGHT)
    }
}

/// A chunk in which at least one term occurs.
pub(super) struct KeywordCandidate {
    pub(super) place: usize,
    document_id: Option<DocumentId>,
    /// Weight of an occurrence in the chunk; smaller in a long one.
    in_chunk: f64,
    /// Weight of an occurrence in the document; smaller in a long one.
    in_document: f64,
    pub(super) score: f64,
}

/// The kind of terms found at a place: none, a term too common to decide, or a deciding one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum TermMark {
    None,
    Common,
    Deciding,
}

/// Returns the chunks that have any term, in documents with a deciding term, ordered by place.
pub(super) fn candidates(
    terms: &[&WeightedTerm],
    num_deciding: usize,
    sizes: &ChunkSizes,
    totals: &Totals,
) -> Vec<KeywordCandidate> {
    let mut marks = vec![TermMark::None; sizes.num_places()];
    let (deciding, common) = terms.split_at(num_deciding);
    for entry in common.iter().flat_map(|term| &term.entries) {
        marks[entry.place] = TermMark::Common;
    }
    for entry in deciding.iter().flat_map(|term| &term.entries) {
        marks[entry.place] = TermMark::Deciding;
    }
    let mut found = Vec::new();
    let mut start = 0;
    while start < marks.len() {
        let Some(next) = marks[start..].iter().position(|mark| *mark == TermMark::Deciding) else {
            break;
        };
        let within = start + next;
        let document = DocumentPlaces::around(within, start, sizes);
        for place in document.places.clone().filter(|place| marks[*place] != TermMark::None) {
            found.push(document.candidate(place, sizes, totals));
        }
        start = document.places.end;
    }
    found
}

/// The chunks of a document.
pub(super) struct DocumentPlaces {
    pub(super) places: Range<usize>,
    num_tokens: f64,
}

impl DocumentPlaces {
    /// Finds the chunks of the document of the chunk at `place`, starting at place `first`.
    pub(super) fn around(place: usize, first: usize, sizes: &ChunkSizes) -> Self {
        let document_id = sizes.document_id(place);
        let is_same = |place: &usize| sizes.document_id(*place) == document_id;
        let start = (first..place).rev().take_while(is_same).last().unwrap_or(place);
        let places = start..place + (place..sizes.num_places()).take_while(is_same).count();
        let num_tokens = places.clone().map(|place| f64::from(sizes.num_tokens(place))).sum();
        Self { places, num_tokens }
    }

    pub(super) fn candidate(
        &self,
        place: usize,
        sizes: &ChunkSizes,
        totals: &Totals,
    ) -> KeywordCandidate {
        let length = f64::from(sizes.num_tokens(place)) / totals.chunk_mean;
        KeywordCandidate {
            place,
            document_id: sizes.document_id(place),
            in_chunk: 1.0 / (1.0 - LENGTH_NORMALISATION + LENGTH_NORMALISATION * length),
            in_document: DOCUMENT_WEIGHT * totals.chunk_mean / self.num_tokens.max(1.0),
            score: 0.0,
        }
    }
}

/// Where a term of the query was found, ordered by chunk id.
#[derive(Default)]
pub(super) struct TermMatches {
    /// In passages.
    pub(super) occurrences: Vec<Occurrence>,
    /// The chunks of documents that have it in their names or tags.
    pub(super) named: NamedChunks,
    /// Whether it is an exact term, and one that the query asks for.
    pub(super) is_meant: bool,
    /// The places of its parts among the terms, if it is a whole.
    pub(super) parts: Vec<usize>,
    /// How a passage has it to the letter, if other forms of it are the same term.
    pub(super) typed: Option<String>,
    /// Whether it is made of neighbouring words, its parts, which the query has apart.
    pub(super) is_joined: bool,
    /// Whether it is a file or a day, and all that the query asks for.
    pub(super) is_place: bool,
    /// How many passages of other knowledge bases have it.
    pub(super) num_elsewhere: usize,
    /// The word of the query that it replaces, if no passage has that word.
    pub(super) completes: Option<String>,
}

impl TermMatches {
    /// Whether no knowledge base that is asked has it.
    pub(super) fn is_nowhere(&self) -> bool {
        self.named.is_empty() && self.num_with() == 0
    }

    /// Returns how many passages of all knowledge bases have it.
    pub(super) fn num_with(&self) -> usize {
        self.occurrences.len() + self.num_elsewhere
    }
}

/// The share of the chunks with a term that are of documents named so, from which on it is a name. With 0.8, the
/// pages of a manual rise that only have a common word in their names.
const NAMED_SHARE: f64 = 0.9;

pub(super) struct WeightedTerm {
    /// Its weight by rarity times its share.
    pub(super) weight: f64,
    /// The share of its weight that counts.
    pub(super) share: f64,
    /// Ordered by place.
    pub(super) entries: Vec<ChunkOccurrences>,
    /// How many chunks of all knowledge bases have it, by which its rarity is judged.
    pub(super) num_with: usize,
    /// Whether nearly all chunks with it are of documents that have it in their names.
    pub(super) is_name: bool,
    /// Whether it is an exact term, and one that the query asks for.
    pub(super) is_meant: bool,
    /// Whether it is a file or a day, and all that the query asks for.
    pub(super) is_place: bool,
    /// How it counts in the share of the query that a chunk covers.
    pub(super) counts: TermRole,
    /// How a passage has it to the letter, if other forms of it are the same term.
    pub(super) typed: Option<String>,
}

/// How a term counts in the share of a query that a chunk covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TermRole {
    /// It counts by itself.
    Itself,
    /// It counts by itself; a chunk that has only some of its parts, by their places, has as much of it as the rarest
    /// of these.
    Whole(Vec<usize>),
    /// It counts only as part of a whole that occurs.
    Part,
    /// It counts as the terms at these places, of which it is made.
    Joined(Vec<usize>),
    /// It does not count: it replaces a word that no passage has.
    Completion(String),
}

/// The occurrences of a term in one chunk.
pub(super) struct ChunkOccurrences {
    pub(super) place: usize,
    pub(super) in_context: u32,
    pub(super) in_text: u32,
    /// Whether it is in the name of the chunk's document.
    pub(super) in_name: bool,
    /// Whether it is in a tag of the chunk's document.
    pub(super) in_tag: bool,
    /// Whether the chunk has it in another form only.
    pub(super) is_other_form: bool,
}

impl ChunkOccurrences {
    fn occurs(&self) -> bool {
        self.in_context + self.in_text > 0
    }
}

impl WeightedTerm {
    /// The chunks of documents that have the term in their names do not make it less rare, unless it is in names only; nor
    /// do those with it in their tags, unless it is in tags only.
    pub(super) fn new(
        found: &TermMatches,
        share: f64,
        sizes: &ChunkSizes,
        totals: &Totals,
    ) -> Self {
        let TermMatches { occurrences, named, num_elsewhere, .. } = found;
        let places = sizes.places(occurrences.iter().map(|occurrence| occurrence.chunk_id));
        // A chunk that another process has removed meanwhile has no place.
        let mut entries: Vec<ChunkOccurrences> = places
            .zip(occurrences)
            .filter_map(|(place, occurrence)| {
                Some(ChunkOccurrences {
                    place: place?,
                    in_context: occurrence.in_context,
                    in_text: occurrence.in_text,
                    in_name: false,
                    in_tag: false,
                    is_other_form: occurrence.is_other_form,
                })
            })
            .collect();
        let NamedChunks { by_name, by_tag } = named;
        let sources = [entries.len(), by_name.len(), by_tag.len()];
        let num_here = sources.into_iter().find(|len| *len > 0).unwrap_or_default();
        add_named(&mut entries, places_of(by_name, sizes), |entry| entry.in_name = true);
        add_named(&mut entries, places_of(by_tag, sizes), |entry| entry.in_tag = true);
        let num_named = entries.iter().filter(|entry| entry.in_name && entry.occurs()).count();
        let with = as_f64(num_here as u64);
        let is_name = !by_name.is_empty()
            && (occurrences.is_empty() || as_f64(num_named as u64) >= NAMED_SHARE * with);
        let num_with = num_here + num_elsewhere;
        let weight = totals.rarity(num_with) * share;
        let (is_meant, is_place, counts) = (false, false, TermRole::Itself);
        Self { weight, share, entries, num_with, is_name, is_meant, is_place, counts, typed: None }
    }

    /// Whether the chunk at a place is of a document that has the term in its name.
    pub(super) fn is_in_name(&self, place: usize) -> bool {
        let found = self.entries.binary_search_by_key(&place, |entry| entry.place);
        found.is_ok_and(|at| self.entries[at].in_name)
    }

    /// Whether the chunk at a place is of a document that has the term in its name or a tag.
    pub(super) fn is_in_name_or_tag(&self, place: usize) -> bool {
        let found = self.entries.binary_search_by_key(&place, |entry| entry.place);
        found.is_ok_and(|at| self.entries[at].in_name || self.entries[at].in_tag)
    }

    /// Whether the query asks for it, and not only for a part or another form of it.
    pub(super) fn is_asked(&self) -> bool {
        matches!(self.counts, TermRole::Itself | TermRole::Whole(_))
    }

    /// Whether it was typed, and does not stand for another word.
    pub(super) fn is_typed(&self) -> bool {
        !matches!(self.counts, TermRole::Completion(_))
    }

    /// Whether it occurs in the chunk at a place, or in the name of its document.
    pub(super) fn is_at(&self, place: usize) -> bool {
        self.entries.binary_search_by_key(&place, |entry| entry.place).is_ok()
    }

    /// Returns for each of some places, in order, whether it occurs there.
    pub(super) fn are_at(&self, places: &[usize]) -> Vec<bool> {
        let mut entries = self.entries.as_slice();
        let is_there = places.iter().map(|place| {
            entries = from_place(entries, *place);
            entries.first().is_some_and(|entry| entry.place == *place)
        });
        is_there.collect()
    }

    /// Adds the term's score to the candidates in whose documents it occurs.
    pub(super) fn add_to(&self, candidates: &mut [KeywordCandidate]) {
        let mut entries = self.entries.as_slice();
        for document in candidates.chunk_by_mut(|a, b| a.document_id == b.document_id) {
            let (Some(first), Some(last)) = (document.first(), document.last()) else { continue };
            let last = last.place;
            entries = from_place(entries, first.place);
            let num_own = entries.iter().take_while(|entry| entry.place <= last).count();
            let (own, rest) = entries.split_at(num_own);
            entries = rest;
            if own.is_empty() {
                continue;
            }
            let in_document = own.iter().map(|entry| entry.in_text).sum();
            let mut own = own.iter().peekable();
            for candidate in document {
                let here = own.next_if(|entry| entry.place == candidate.place);
                candidate.score += self.score(candidate, here, in_document);
            }
        }
    }

    /// Returns the greatest score that it may add to a chunk.
    pub(super) fn greatest(&self) -> f64 {
        self.weight * (SATURATION + 1.0)
    }

    /// Returns the term's score for a chunk, from its occurrences there and in the document.
    pub(super) fn score(
        &self,
        candidate: &KeywordCandidate,
        here: Option<&ChunkOccurrences>,
        in_document: u32,
    ) -> f64 {
        let in_chunk = here.map_or(0.0, |entry| {
            let in_context = entry.in_context.max(u32::from(entry.in_name || entry.in_tag));
            let form = if entry.is_other_form { OTHER_FORM } else { 1.0 };
            form * (CONTEXT_WEIGHT * f64::from(in_context) + f64::from(entry.in_text))
        });
        let count = in_chunk * candidate.in_chunk + f64::from(in_document) * candidate.in_document;
        self.weight * count * (SATURATION + 1.0) / (count + SATURATION)
    }
}

/// Returns the places of chunks that are there.
fn places_of(chunk_ids: &[ChunkId], sizes: &ChunkSizes) -> Vec<usize> {
    sizes.places(chunk_ids.iter().copied()).flatten().collect()
}

/// Marks the chunks at some places, in order, of documents whose names or tags have the term, and adds those that lack it. Such
/// a word counts as one in the context, of which the name is usually a part.
fn add_named(
    entries: &mut Vec<ChunkOccurrences>,
    named: Vec<usize>,
    mark: impl Fn(&mut ChunkOccurrences),
) {
    let num_before = entries.len();
    for place in named {
        match entries[..num_before].binary_search_by_key(&place, |entry| entry.place) {
            Ok(at) => mark(&mut entries[at]),
            Err(_) => {
                let (in_context, in_text, is_other_form) = (0, 0, false);
                let (in_name, in_tag) = (false, false);
                let mut entry =
                    ChunkOccurrences { place, in_context, in_text, in_name, in_tag, is_other_form };
                mark(&mut entry);
                entries.push(entry);
            }
        }
    }
    entries.sort_by_key(|entry| entry.place);
}

/// Returns the entries from a place on. Searches in doubling steps, because the place is usually
/// near.
pub(super) fn from_place(entries: &[ChunkOccurrences], place: usize) -> &[ChunkOccurrences] {
    let mut len = 1;
    while entries.get(len - 1).is_some_and(|entry| entry.place < place) {
        len *= 2;
    }
    let near = &entries[..len.min(entries.len())];
    &entries[near.partition_point(|entry| entry.place < place)..]
}

#[expect(clippy::cast_precision_loss, reason = "a count of chunks or tokens is far below 2^52")]
fn as_f64(count: u64) -> f64 {
    count as f64
}
