//! Collects passages from hits, with their neighbours, each text once, within a token budget.
//!
//! Hits are used in order. Of a hit that does not fit, the best sentences are used; where there is no room for them the
//! next hit is tried, which may be shorter. A hit worth little compared with the best ends the list. A hit that nearly repeats an earlier passage is left out. Consecutive chunks become one passage,
//! and text that two of them share is counted once. With a budget, a hit in a table brings the whole
//! table with its caption, or of a long one the rows that match.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::search::matches::QueryTerms;
use crate::search::near_copies::{self, NearCopies};
use crate::search::{Answer, Confidence, Gathered, Hit, Searchable};

mod gatherer;
mod part;
mod table;

use gatherer::{Chosen, Gatherer, RemainingBudget};

/// Share of the best score below which a hit is not worth a budget's tokens; otherwise such scraps
/// would fill the end of the budget. Chosen on 20 to 50 questions each of three collections, where
/// it lost no relevant document (`tests/quality/budget`); not measured elsewhere.
const LEAST_SHARE: f64 = 0.3;

/// Most passages within a budget if the answer is probably not there, and if it is probably among the first three.
const PASSAGES_OF_NONE: usize = 2;
const PASSAGES_OF_HIGH: usize = 3;

/// Options of collecting evidence.
#[derive(Debug, Clone, Copy, Default)]
pub struct EvidenceOptions {
    /// Chunks to add before and after each hit.
    pub context: u32,
    /// Maximum tokens of all passages together; unlimited if `None`.
    pub budget: Option<usize>,
    /// Maximum number of hits to use; all if `None`.
    pub limit: Option<usize>,
    /// Tokens of what the answer's form writes beside passages, if the budget includes it.
    pub form: Option<FormCost>,
}

/// Tokens of what a form of answers writes beside the texts of passages.
#[derive(Debug, Clone, Copy)]
pub struct FormCost {
    /// At its beginning and its end.
    pub frame: usize,
    /// With the passage of a hit; whether it is the first one of its document.
    pub of_hit: fn(&Hit, bool) -> usize,
}

/// Collects passages from the hits of an answer, in the order of their best hits. Tokens are estimated.
pub fn gather(store: &impl Searchable, answer: Answer, options: EvidenceOptions) -> Result<Answer> {
    let mut gatherer = Gatherer::new(store, QueryTerms::new(&answer.joined()));
    let mut used: Vec<Hit> = Vec::new();
    let mut copies = NearCopies::by(near_copies::NOTHING_NEW);
    let mut chosen: Chosen = HashMap::new();
    let mut beside = options.form.map_or(0, |form| form.frame);
    let mut total = 0;
    // As far as the passages themselves count, or further ones of a document would be scraps.
    let score = |hit: &Hit| hit.score / hit.document_weight;
    let least = answer.hits.first().map_or(0.0, |hit| LEAST_SHARE * score(hit));
    let enough = match answer.confidence.filter(|_| options.budget.is_some()) {
        Some(Confidence::None) => Some(PASSAGES_OF_NONE),
        Some(Confidence::High) => Some(PASSAGES_OF_HIGH),
        _ => None,
    };
    let limit = [enough, options.limit].into_iter().flatten().min();
    for hit in answer.hits {
        // A hit that a program put here is worth its place, whatever its score.
        let is_scrap =
            options.budget.is_some() && hit.rerank_score.is_none() && score(&hit) < least;
        if is_scrap || limit.is_some_and(|limit| used.len() >= limit) {
            break;
        }
        let (id, at) = (hit.stored.document_id, hit.stored.chunk.chunk_index);
        let shingles = copies.shingles_of(&hit.stored.chunk.chunk.text);
        let own = chosen.entry(id).or_default();
        let is_first = own.chunks.is_empty() && own.parts.is_empty();
        if !own.has(at) && copies.find(&shingles).is_some() {
            continue;
        }
        gatherer.load(&hit, options.context)?;
        let Some(budget) = options.budget else {
            own.chunks.extend(gatherer.around(id, at, options.context));
            used.push(hit);
            copies.push(shingles);
            continue;
        };
        let of_hit = options.form.map_or(0, |form| (form.of_hit)(&hit, is_first));
        let room = budget.saturating_sub(beside + of_hit);
        let others = total - gatherer.cost(id, own);
        let tokens = room.saturating_sub(total);
        let remaining = RemainingBudget { budget, tokens, is_first: used.is_empty() };
        let wider = gatherer.widened(own, &hit, options.context, remaining)?;
        for wider in wider {
            if gatherer.is_far_over(id, &wider.chunks, budget) {
                continue;
            }
            let now = others + gatherer.cost(id, &wider);
            if now <= room {
                let is_joined = gatherer.num_passages(id, &wider) <= gatherer.num_passages(id, own);
                beside += if is_joined { 0 } else { of_hit };
                (*own, total) = (wider, now);
                used.push(hit);
                copies.push(shingles);
                break;
            }
        }
    }
    let mut hits = gatherer.passages(used, &chosen);
    if let Some(budget) = options.budget {
        keep_within(budget, options.form, &mut hits);
    }
    let num_tokens = num_tokens_of(&hits);
    let gathered = Some(Gathered { budget: options.budget, num_tokens });
    Ok(Answer { hits, gathered, ..answer })
}

/// Returns the tokens of all passages together.
pub fn num_tokens_of(passages: &[Hit]) -> usize {
    passages.iter().filter_map(|hit| hit.passage.as_ref()).map(|passage| passage.num_tokens).sum()
}

/// Drops each passage that does not fit into a budget with what the answer's form adds.
pub fn keep_within(budget: usize, form: Option<FormCost>, passages: &mut Vec<Hit>) {
    let mut used = form.map_or(0, |form| form.frame);
    let mut seen = HashSet::new();
    passages.retain(|hit| {
        let document = (hit.base.clone(), hit.stored.document_id);
        let is_first = !seen.contains(&document);
        let of_form = form.map_or(0, |form| (form.of_hit)(hit, is_first));
        let wanted = num_tokens_of(std::slice::from_ref(hit)) + of_form;
        let has_room = used + wanted <= budget;
        if has_room {
            used += wanted;
            seen.insert(document);
        }
        has_room
    });
}

#[cfg(test)]
mod tests;
