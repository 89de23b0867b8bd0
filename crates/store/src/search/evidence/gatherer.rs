//! Loads the chunks around hits, finds the tables that they are in, and makes passages of what is chosen.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use super::{part, table};
use crate::StoredChunk;
use crate::document::{ChunkLineMap, join};
use crate::error::Result;
use crate::ids::{ChunkId, DocumentId};
use crate::search::matches::QueryTerms;
use crate::search::{Hit, Passage, Searchable};
use crate::text::tokens;

/// A text is far over a budget if its embedded tokens exceed the budget this many times, plus the
/// base. Embedded tokens include titles, headings and overlaps, which the joined text has once or
/// not at all.
const FAR_OVER: usize = 8;
const FAR_OVER_BASE: usize = 10_000;

/// Part of a budget that a whole table may take, as a denominator; of a longer one, rows are chosen. Parts from none to
/// 60 % read the same evidence of 84 questions.
const TABLE_SHARE: usize = 2;

/// Least part of a budget for a part of a text, as a denominator: fewer words say nothing, and with the citation of the part
/// nine tenths of a budget are still used.
const LEAST_ROOM: usize = 40;

/// Most chunks of a table that are looked at before and after a hit. It bounds the work where a table fills a whole
/// file.
const MAX_REACH: u32 = 12;

/// Chunks that are loaded at once around a table, so that few statements run and few chunks are loaded in vain.
const BLOCK: u32 = 8;

/// The parts of the answer, by document.
pub(super) type EvidenceByDocument = HashMap<DocumentId, DocumentEvidence>;

/// The parts of one document that belong to the answer.
#[derive(Debug, Clone, Default)]
pub(super) struct DocumentEvidence {
    /// Positions of whole chunks.
    pub(super) chunks: BTreeSet<u32>,
    /// The texts chosen from long tables and from hits that do not fit.
    pub(super) parts: Vec<EvidencePart>,
}

/// A long table, or a hit, of which only the matching parts are chosen.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct EvidencePart {
    /// Positions of its chunks; not all of a very long table.
    span: RangeInclusive<u32>,
    /// Positions of hits in it.
    hits: BTreeSet<u32>,
    /// Tokens for the chosen parts: as many as the hits have, if there is room.
    room: usize,
    /// Whether rows of a table are chosen, else sentences.
    is_table: bool,
}

impl DocumentEvidence {
    pub(super) fn has(&self, at: u32) -> bool {
        self.chunks.contains(&at) || self.parts.iter().any(|part| part.hits.contains(&at))
    }

    fn with(&self, positions: impl IntoIterator<Item = u32>) -> Self {
        let mut wider = self.clone();
        wider.chunks.extend(positions);
        wider
    }

    /// Adds a part, or its hit to those of the same table.
    fn with_part(&self, part: EvidencePart) -> Self {
        let mut wider = self.clone();
        match wider.parts.iter_mut().find(|known| known.span == part.span) {
            Some(known) => {
                known.hits.extend(part.hits);
                known.room += part.room;
            }
            None => wider.parts.push(part),
        }
        wider
    }
}

/// The rest of a budget, for a hit.
#[derive(Debug, Clone, Copy)]
pub(super) struct RemainingBudget {
    /// All tokens of the answer.
    pub(super) budget: usize,
    /// Tokens that no passage has taken.
    pub(super) tokens: usize,
}

impl RemainingBudget {
    /// Whether it is too little for a part of a hit.
    pub(super) fn is_spent(self) -> bool {
        self.tokens < self.budget / LEAST_ROOM
    }
}

pub(super) struct Gatherer<'a, S> {
    store: &'a S,
    wanted: QueryTerms,
    /// Tokens of runs of chunks, which every hit of their document asks for again.
    weights: RefCell<HashMap<Vec<ChunkId>, usize>>,
    /// The text chosen from each part, for the same reason.
    parts: RefCell<HashMap<(DocumentId, EvidencePart), String>>,
    /// Chunks by position, of the documents seen so far.
    pub(super) documents: HashMap<DocumentId, BTreeMap<u32, StoredChunk>>,
}

impl<'a, S: Searchable> Gatherer<'a, S> {
    pub(super) fn new(store: &'a S, wanted: QueryTerms) -> Self {
        let documents = HashMap::new();
        Self { store, wanted, weights: RefCell::default(), parts: RefCell::default(), documents }
    }

    /// The terms of the query.
    pub(super) fn wanted(&self) -> &QueryTerms {
        &self.wanted
    }

    /// Loads a hit's chunk and `context` neighbours on each side.
    pub(super) fn load(&mut self, hit: &Hit, context: u32) -> Result<()> {
        let (id, at) = (hit.stored.document_id, hit.stored.chunk.chunk_index);
        if context > 0 {
            self.load_between(id, at.saturating_sub(context), at.saturating_add(context))?;
        }
        self.documents.entry(id).or_default().insert(at, hit.stored.chunk.clone());
        Ok(())
    }

    fn load_between(&mut self, id: DocumentId, first: u32, last: u32) -> Result<()> {
        let chunks = self.store.chunks_between(id, first, last)?;
        let chunks = chunks.into_iter().map(|chunk| (chunk.chunk_index, chunk));
        self.documents.entry(id).or_default().extend(chunks);
        Ok(())
    }

    /// Returns what is chosen with a hit, from the largest to the smallest: with its whole table or the rows of a long
    /// one within what is left of the budget, else with and without `context` neighbours; then what matches best in it.
    pub(super) fn widened(
        &mut self,
        own: &DocumentEvidence,
        hit: &Hit,
        context: u32,
        remaining: RemainingBudget,
    ) -> Result<Vec<DocumentEvidence>> {
        let (id, at) = (hit.stored.document_id, hit.stored.chunk.chunk_index);
        let room = tokens::estimate(&hit.stored.chunk.chunk.text).min(remaining.tokens);
        let part =
            EvidencePart { span: at..=at, hits: BTreeSet::from([at]), room, is_table: false };
        let sentences = (room >= part::LEAST).then(|| own.with_part(part));
        let Some(table) = self.table(id, at, room)? else {
            let wholes = [own.with(self.around(id, at, context)), own.with([at])];
            return Ok(wholes.into_iter().chain(sentences).collect());
        };
        let with_whole = own.with(table.span.clone().chain(self.around(id, at, context)));
        let is_short = self.is_short(id, &table, remaining.budget);
        let rows = own.with_part(table);
        Ok(is_short.then_some(with_whole).into_iter().chain([rows]).chain(sentences).collect())
    }

    /// Whether a whole table is worth its tokens.
    fn is_short(&self, id: DocumentId, table: &EvidencePart, budget: usize) -> bool {
        let whole = DocumentEvidence::default().with(table.span.clone());
        let chunks = self.documents[&id].range(table.span.clone());
        // The stored counts are known, and seldom more than twice the tokens of the text. Counting those takes longer.
        let embedded: usize = chunks.map(|(_, stored)| stored.chunk.token_count as usize).sum();
        embedded <= budget && self.cost(id, &whole) <= budget / TABLE_SHARE
    }

    /// Returns the table in which a loaded chunk begins or ends; `None` if neither.
    fn table(&mut self, id: DocumentId, at: u32, room: usize) -> Result<Option<EvidencePart>> {
        let text = &self.documents[&id][&at].chunk.text;
        if !table::begins_with_row(text) && !table::ends_with_row(text) {
            return Ok(None);
        }
        let (mut start, mut end) = (at, at);
        while start > 0 && at - start < MAX_REACH && self.continues(id, start, at)? {
            start -= 1;
        }
        while end - at < MAX_REACH && self.continues(id, end + 1, at)? {
            end += 1;
        }
        Ok(Some(EvidencePart {
            span: start..=end,
            hits: BTreeSet::from([at]),
            room,
            is_table: true,
        }))
    }

    /// Whether the chunk at `next` continues the table of the chunk before it, and a table of the chunk at `hit` reaches as
    /// far. A table begins or ends in a chunk with other text than rows.
    fn continues(&mut self, id: DocumentId, next: u32, hit: u32) -> Result<bool> {
        for at in [next - 1, next] {
            if !self.documents[&id].contains_key(&at) {
                let first = at - at % BLOCK;
                self.load_between(id, first, first + BLOCK - 1)?;
            }
        }
        let chunks = &self.documents[&id];
        let (Some(before), Some(own)) = (chunks.get(&(next - 1)), chunks.get(&next)) else {
            return Ok(false);
        };
        let (before, own) = (&before.chunk.text, &own.chunk.text);
        let inner = if next > hit { before } else { own };
        let is_inner = next == hit || next == hit + 1 || table::is_rows(inner);
        Ok(is_inner && table::continues(before, own))
    }

    /// Returns the positions from `context` before to `context` after `at` that have chunks.
    pub(super) fn around(
        &self,
        id: DocumentId,
        at: u32,
        context: u32,
    ) -> impl Iterator<Item = u32> {
        let (first, last) = (at.saturating_sub(context), at.saturating_add(context));
        self.documents[&id].range(first..=last).map(|(at, _)| *at)
    }

    /// Returns the runs of consecutive chosen chunks of a document.
    fn runs(&self, id: DocumentId, chosen: &BTreeSet<u32>) -> Vec<Vec<&StoredChunk>> {
        let mut runs: Vec<Vec<&StoredChunk>> = Vec::new();
        for at in chosen {
            let chunk = &self.documents[&id][at];
            match runs.last_mut() {
                Some(run) if run.last().is_some_and(|last| last.chunk_index + 1 == *at) => {
                    run.push(chunk);
                }
                _ => runs.push(vec![chunk]),
            }
        }
        runs
    }

    /// Returns how many passages all that is chosen of a document makes.
    pub(super) fn num_passages(&self, id: DocumentId, own: &DocumentEvidence) -> usize {
        self.runs(id, &own.chunks).len() + own.parts.len()
    }

    /// Returns the number of tokens of all that is chosen of a document.
    pub(super) fn cost(&self, id: DocumentId, own: &DocumentEvidence) -> usize {
        let runs = self.runs(id, &own.chunks);
        let parts = own.parts.iter().map(|part| tokens::estimate(&self.part(id, part)));
        runs.iter().map(|run| self.num_tokens_of(id, run)).chain(parts).sum()
    }

    /// Whether the chosen chunks of a document exceed a budget by so much that counting their
    /// tokens would be a waste: for a large document that takes seconds per hit.
    pub(super) fn is_far_over(
        &self,
        id: DocumentId,
        chosen: &BTreeSet<u32>,
        budget: usize,
    ) -> bool {
        let chunks = &self.documents[&id];
        let embedded = chosen.iter().map(|at| chunks[at].chunk.token_count as usize);
        embedded.sum::<usize>() > budget.saturating_mul(FAR_OVER).saturating_add(FAR_OVER_BASE)
    }

    fn num_tokens_of(&self, id: DocumentId, run: &[&StoredChunk]) -> usize {
        let ids: Vec<ChunkId> = run.iter().map(|stored| stored.id).collect();
        let mut weights = self.weights.borrow_mut();
        *weights.entry(ids).or_insert_with(|| tokens::estimate(&self.text(id, run)))
    }

    /// Returns the text of a run, with the caption of a table that begins it.
    fn text(&self, id: DocumentId, run: &[&StoredChunk]) -> String {
        let text = join::join(run.iter().map(|stored| &stored.chunk)).text;
        let before = run.first().and_then(|first| first.chunk_index.checked_sub(1));
        let before = before.and_then(|at| self.documents[&id].get(&at));
        match before.and_then(|before| table::caption(&before.chunk.text, &text)) {
            Some(caption) => format!("{caption}\n\n{text}"),
            None => text,
        }
    }

    /// Returns what matches of a part, in as much room as its hits need.
    fn part(&self, id: DocumentId, part: &EvidencePart) -> String {
        if let Some(known) = self.parts.borrow().get(&(id, part.clone())) {
            return known.clone();
        }
        let chunks = self.documents[&id].range(part.span.clone());
        let joined = join::join(chunks.clone().map(|(_, stored)| &stored.chunk));
        let spans = chunks.map(|(at, _)| at).zip(&joined.spans);
        let hits = spans.filter(|(at, _)| part.hits.contains(at)).map(|(_, span)| span.clone());
        let (text, wanted, room) = (&joined.text, &self.wanted, part.room);
        let chosen = if part.is_table {
            table::rows(text, &hits.collect::<Vec<_>>(), wanted, room)
        } else {
            part::best(text, wanted, room)
        };
        self.parts.borrow_mut().insert((id, part.clone()), chosen.clone());
        chosen
    }

    /// Makes one passage from each run and each part, in the order of their best hits.
    pub(super) fn passages(&self, used: Vec<Hit>, chosen: &EvidenceByDocument) -> Vec<Hit> {
        let mut shown: HashSet<ChunkId> = HashSet::new();
        let mut passages = Vec::new();
        for mut hit in used {
            if shown.contains(&hit.stored.chunk.id) {
                continue;
            }
            let (id, at) = (hit.stored.document_id, hit.stored.chunk.chunk_index);
            let Some(own) = chosen.get(&id) else { continue };
            let own_id = hit.stored.chunk.id;
            let mut runs = self.runs(id, &own.chunks).into_iter();
            let own_run = runs.find(|run| run.iter().any(|stored| stored.id == own_id));
            let (run, text) = match own_run {
                Some(run) => {
                    let text = self.text(id, &run);
                    (run, text)
                }
                None => {
                    let Some(part) = own.parts.iter().find(|part| part.hits.contains(&at)) else {
                        continue;
                    };
                    let chunks = self.documents[&id].range(part.span.clone());
                    (chunks.map(|(_, stored)| stored).collect(), self.part(id, part))
                }
            };
            let chunk_ids: Vec<ChunkId> = run.iter().map(|stored| stored.id).collect();
            shown.extend(&chunk_ids);
            let chunk = &mut hit.stored.chunk.chunk;
            let num_tokens = tokens::estimate(&text);
            chunk.text = text;
            chunk.line_map = line_map(&run, &chunk.text);
            if let (Some(first), Some(last)) = (run.first(), run.last()) {
                let (lines, pages) = (first.chunk.lines, first.chunk.pages);
                chunk.lines =
                    lines.zip(last.chunk.lines).map(|(first, last)| first.to_end_of(last));
                chunk.pages =
                    pages.zip(last.chunk.pages).map(|(first, last)| first.to_end_of(last));
                chunk.page_label.clone_from(&first.chunk.page_label);
            }
            hit.passage = Some(Passage { chunk_ids, num_tokens });
            passages.push(hit);
        }
        passages
    }
}

/// Returns where the lines of a passage are. A text that is not all of its chunks is where the first of them begins.
fn line_map(run: &[&StoredChunk], text: &str) -> Option<ChunkLineMap> {
    run.iter().find(|stored| stored.chunk.line_map.is_some())?;
    let joined = join::join(run.iter().map(|stored| &stored.chunk));
    let mut map = joined.line_map()?;
    match text.strip_suffix(&joined.text) {
        // Lines before the joined text are the caption of a table, which counts as its first line.
        Some(before) => drop(map.offsets.splice(0..0, before.matches('\n').map(|_| 0))),
        None => map.offsets = vec![0],
    }
    Some(map)
}
