//! Collects passages from hits, with their neighbours, each text once, within a token budget.
//!
//! Hits are used in order. A hit that does not fit is skipped and the next is tried, so a long
//! passage in the middle does not end the list; a hit worth little compared with the best does. A
//! hit that nearly repeats an earlier passage is left out. Consecutive chunks become one passage,
//! and text that two of them share is counted once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::StoredChunk;
use crate::document::join;
use crate::error::Result;
use crate::ids::{ChunkId, DocumentId};
use crate::search::near_copies::{self, NearCopies};
use crate::search::{Answer, Gathered, Hit, Passage, Searchable};

/// Share of the best score below which a hit is not worth a budget's tokens; otherwise such scraps
/// would fill the end of the budget. Chosen on 20 to 50 questions each of three collections, where
/// it lost no relevant document (`tests/quality/budget`); not measured elsewhere.
const LEAST_SHARE: f64 = 0.3;

/// A text is far over a budget if its embedded tokens exceed the budget this many times, plus the
/// base. Embedded tokens include titles, headings and overlaps, which the joined text has once or
/// not at all.
const FAR_OVER: usize = 8;
const FAR_OVER_BASE: usize = 10_000;

/// Counts the tokens of a text.
pub type NumTokens<'a> = dyn Fn(&str) -> usize + 'a;

/// Options of collecting evidence.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EvidenceOptions {
    /// Chunks to add before and after each hit.
    pub context: u32,
    /// Maximum tokens of all passages together; unlimited if `None`.
    pub budget: Option<usize>,
    /// Maximum number of hits to use; all if `None`.
    pub limit: Option<usize>,
}

/// Collects passages from the hits of an answer, in the order of their best hits.
///
/// Without a token counter, a chunk counts as its number of embedded tokens, which is never less
/// than the tokens of its text.
///
/// # Errors
///
/// Errors of the database.
pub fn gather(
    store: &impl Searchable,
    answer: Answer,
    options: EvidenceOptions,
    num_tokens: Option<&NumTokens<'_>>,
) -> Result<Answer> {
    let mut gatherer =
        Gatherer { store, num_tokens, weights: RefCell::default(), documents: HashMap::new() };
    let mut used: Vec<Hit> = Vec::new();
    let mut copies = NearCopies::by(near_copies::NOTHING_NEW);
    let mut chosen: Chosen = HashMap::new();
    let mut total = 0;
    // As far as the passages themselves count, or further ones of a document would be scraps.
    let score = |hit: &Hit| hit.score / hit.document_weight;
    let least = answer.hits.first().map_or(0.0, |hit| LEAST_SHARE * score(hit));
    for hit in answer.hits {
        // A hit that a program put here is worth its place, whatever its score.
        let is_scrap =
            options.budget.is_some() && hit.rerank_score.is_none() && score(&hit) < least;
        if is_scrap || options.limit.is_some_and(|limit| used.len() >= limit) {
            break;
        }
        let (id, at) = (hit.stored.document_id, hit.stored.chunk.chunk_index);
        let shingles = copies.shingles_of(&hit.stored.chunk.chunk.text);
        let own = chosen.entry(id).or_default();
        if !own.contains(&at) && copies.find(&shingles).is_some() {
            continue;
        }
        gatherer.load(&hit, options.context)?;
        let Some(budget) = options.budget else {
            own.extend(gatherer.around(id, at, options.context));
            used.push(hit);
            copies.push(shingles);
            continue;
        };
        let others = total - gatherer.cost(id, own);
        for context in [options.context, 0] {
            let mut wider = own.clone();
            wider.extend(gatherer.around(id, at, context));
            if gatherer.is_far_over(id, &wider, budget) {
                continue;
            }
            let now = others + gatherer.cost(id, &wider);
            if now <= budget {
                (*own, total) = (wider, now);
                used.push(hit);
                copies.push(shingles);
                break;
            }
        }
    }
    let hits = gatherer.passages(used, &chosen);
    let num_tokens = num_tokens_of(&hits);
    let gathered = Some(Gathered { budget: options.budget, num_tokens });
    Ok(Answer { hits, gathered, ..answer })
}

/// Returns the tokens of all passages together.
pub fn num_tokens_of(passages: &[Hit]) -> usize {
    passages.iter().filter_map(|hit| hit.passage.as_ref()).map(|passage| passage.num_tokens).sum()
}

/// Positions of the chunks that are part of the answer, by document.
type Chosen = HashMap<DocumentId, BTreeSet<u32>>;

/// The state of collecting passages.
struct Gatherer<'a, S> {
    store: &'a S,
    num_tokens: Option<&'a NumTokens<'a>>,
    /// Tokens of runs of chunks, which every hit of their document asks for again.
    weights: RefCell<HashMap<Vec<ChunkId>, usize>>,
    /// Chunks by position, of the documents seen so far.
    documents: HashMap<DocumentId, BTreeMap<u32, StoredChunk>>,
}

impl<S: Searchable> Gatherer<'_, S> {
    /// Loads a hit's chunk, or its whole document if neighbours are wanted.
    fn load(&mut self, hit: &Hit, context: u32) -> Result<()> {
        let id = hit.stored.document_id;
        let is_new = !self.documents.contains_key(&id);
        let chunks = self.documents.entry(id).or_default();
        if context > 0 && is_new {
            chunks
                .extend(self.store.chunks(id)?.into_iter().map(|chunk| (chunk.chunk_index, chunk)));
        }
        chunks.insert(hit.stored.chunk.chunk_index, hit.stored.chunk.clone());
        Ok(())
    }

    /// Returns the positions from `context` before to `context` after `at` that have chunks.
    fn around(&self, id: DocumentId, at: u32, context: u32) -> impl Iterator<Item = u32> {
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

    /// Returns the number of tokens of all chosen chunks of a document.
    fn cost(&self, id: DocumentId, chosen: &BTreeSet<u32>) -> usize {
        self.runs(id, chosen).iter().map(|run| self.num_tokens_of(run)).sum()
    }

    /// Whether the chosen chunks of a document exceed a budget by so much that counting their
    /// tokens would be a waste: for a large document that takes seconds per hit.
    fn is_far_over(&self, id: DocumentId, chosen: &BTreeSet<u32>, budget: usize) -> bool {
        let chunks = &self.documents[&id];
        let embedded = chosen.iter().map(|at| chunks[at].chunk.token_count as usize);
        embedded.sum::<usize>() > budget.saturating_mul(FAR_OVER).saturating_add(FAR_OVER_BASE)
    }

    fn num_tokens_of(&self, run: &[&StoredChunk]) -> usize {
        let Some(num_tokens) = self.num_tokens else {
            return run.iter().map(|stored| stored.chunk.token_count as usize).sum();
        };
        let ids: Vec<ChunkId> = run.iter().map(|stored| stored.id).collect();
        let count = || num_tokens(&join::join(run.iter().map(|stored| &stored.chunk)).text);
        *self.weights.borrow_mut().entry(ids).or_insert_with(count)
    }

    /// Makes one passage from each run, in the order of their best hits.
    fn passages(&self, used: Vec<Hit>, chosen: &Chosen) -> Vec<Hit> {
        let mut shown: HashSet<ChunkId> = HashSet::new();
        let mut passages = Vec::new();
        for mut hit in used {
            if shown.contains(&hit.stored.chunk.id) {
                continue;
            }
            let Some(own) = chosen.get(&hit.stored.document_id) else { continue };
            let runs = self.runs(hit.stored.document_id, own);
            let is_in =
                |run: &Vec<&StoredChunk>| run.iter().any(|stored| stored.id == hit.stored.chunk.id);
            let Some(run) = runs.into_iter().find(is_in) else { continue };
            let chunk_ids: Vec<ChunkId> = run.iter().map(|stored| stored.id).collect();
            shown.extend(&chunk_ids);
            let num_tokens = self.num_tokens_of(&run);
            let chunk = &mut hit.stored.chunk.chunk;
            chunk.text = join::join(run.iter().map(|stored| &stored.chunk)).text;
            if let (Some(first), Some(last)) = (run.first(), run.last()) {
                (chunk.start_line, chunk.page) = (first.chunk.start_line, first.chunk.page);
                chunk.page_label.clone_from(&first.chunk.page_label);
                (chunk.end_line, chunk.last_page) = (last.chunk.end_line, last.chunk.last_page);
            }
            hit.passage = Some(Passage { chunk_ids, num_tokens });
            passages.push(hit);
        }
        passages
    }
}

#[cfg(test)]
mod tests;
