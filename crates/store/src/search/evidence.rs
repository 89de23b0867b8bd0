//! Collects passages from hits, with their neighbours, each text once, within a token budget.
//!
//! Without a budget, hits are used in order. With one, the hit that is worth most comes next (`choice`), whole if it fits, else
//! its best sentences; a hit in a table brings the whole table with its caption, or of a long one the rows that match. A hit
//! that nearly repeats an earlier passage is left out. Consecutive chunks become one passage, and text that two of them
//! share is counted once.

use std::collections::HashMap;

use crate::error::Result;
use crate::search::matches::QueryTerms;
use crate::search::near_copies::{self, NearCopies, Shingles};
use crate::search::{CitedPlace, Confidence, EvidenceSummary, Hit, SearchAnswer, Searchable};

mod choice;
mod gatherer;
mod part;
mod table;

use choice::PassageChoice;
use gatherer::{DocumentEvidence, EvidenceByDocument, Gatherer, RemainingBudget};

/// Most tokens of an answer that is probably not there, as the specification orders.
const TOKENS_OF_NONE: usize = 150;

/// Passages of an answer that is probably there, before only those with a further rare word are added: the probability is
/// about the first three.
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
    /// Tokens that the answer's form adds to those of the passages, if the budget includes them.
    pub form: Option<FormCost>,
}

/// Tokens that a form of answers adds to the texts of passages.
#[derive(Debug, Clone, Copy)]
pub struct FormCost {
    /// Before the passages of an answer and after them.
    pub frame: fn(&SearchAnswer) -> usize,
    /// With the passage of a hit, given the hits of the passages that are written, too.
    pub of_hit: fn(&Hit, &[&Hit]) -> usize,
}

/// Collects passages from the hits of an answer, in the order of their best hits. Tokens are estimated.
pub fn gather(
    store: &impl Searchable,
    mut answer: SearchAnswer,
    options: EvidenceOptions,
) -> Result<SearchAnswer> {
    let mut gatherer = Gatherer::new(store, answer.wanted.clone());
    let mut chosen: EvidenceByDocument = HashMap::new();
    let used = match options.budget {
        None => all(&mut gatherer, &mut answer, options, &mut chosen)?,
        Some(budget) => within(&mut gatherer, &mut answer, options, budget, &mut chosen)?,
    };
    let mut hits: Vec<(usize, Hit)> =
        std::mem::take(&mut answer.hits).into_iter().enumerate().collect();
    hits.retain(|(at, _)| used.contains(at));
    answer.hits = gatherer.passages(hits.into_iter().map(|(_, hit)| hit).collect(), &chosen);
    let num_tokens = num_tokens_of(&answer.hits);
    answer.gathered = Some(EvidenceSummary { budget: options.budget, num_tokens });
    if let Some(budget) = options.budget {
        keep_within(budget, options.form, &mut answer);
    }
    Ok(answer)
}

/// Chooses all hits with their context; returns their positions.
fn all<S: Searchable>(
    gatherer: &mut Gatherer<'_, S>,
    answer: &mut SearchAnswer,
    options: EvidenceOptions,
    chosen: &mut EvidenceByDocument,
) -> Result<Vec<usize>> {
    let mut used = Vec::new();
    let mut copies = NearCopies::by(near_copies::NOTHING_NEW);
    for (number, hit) in answer.hits.iter_mut().enumerate() {
        if options.limit.is_some_and(|limit| used.len() >= limit) {
            break;
        }
        let (id, at) = (hit.stored.document_id, hit.stored.chunk.chunk_index);
        let own = chosen.entry(id).or_default();
        let Some(shingles) = shingles_if_new(&copies, own, hit) else { continue };
        gatherer.load(hit, options.context)?;
        own.chunks.extend(gatherer.around(id, at, options.context));
        let found = gatherer.wanted().found_or_find(&answer.found, &hit.stored);
        hit.at = CitedPlace::of(&found, &hit.stored, gatherer.wanted());
        used.push(number);
        copies.push(shingles);
    }
    Ok(used)
}

/// Chooses hits while their passages fit into a budget; returns their positions.
fn within<S: Searchable>(
    gatherer: &mut Gatherer<'_, S>,
    answer: &mut SearchAnswer,
    options: EvidenceOptions,
    budget: usize,
    chosen: &mut EvidenceByDocument,
) -> Result<Vec<usize>> {
    let budget = most_of(answer, budget);
    let mut beside = options.form.map_or(0, |form| (form.frame)(answer));
    let mut choice = choice_of(answer, gatherer.wanted());
    let mut used: Vec<usize> = Vec::new();
    let mut copies = NearCopies::by(near_copies::NOTHING_NEW);
    let mut total = 0;
    while let Some(number) = choice.next() {
        if options.limit.is_some_and(|limit| used.len() >= limit) {
            break;
        }
        let is_enough =
            answer.confidence == Some(Confidence::High) && used.len() >= PASSAGES_OF_HIGH;
        if is_enough && !choice.adds_rare_word(number) {
            continue;
        }
        let left = RemainingBudget { budget, tokens: budget.saturating_sub(beside + total) };
        if left.is_spent() {
            break;
        }
        let (hit, wanted) = (&mut answer.hits[number], gatherer.wanted());
        let found = wanted.found_or_find(&answer.found, &hit.stored);
        hit.at = CitedPlace::of(&found, &hit.stored, wanted);
        let hit = &answer.hits[number];
        let of_hit = options.form.map_or(0, |form| {
            let written: Vec<&Hit> = used.iter().map(|number| &answer.hits[*number]).collect();
            (form.of_hit)(hit, &written)
        });
        let room = budget.saturating_sub(beside + of_hit);
        let remaining = RemainingBudget { budget, tokens: room.saturating_sub(total) };
        if remaining.is_spent() {
            continue;
        }
        let id = hit.stored.document_id;
        let own = chosen.entry(id).or_default();
        let Some(shingles) = shingles_if_new(&copies, own, hit) else { continue };
        gatherer.load(hit, options.context)?;
        // The passages of a document are counted together, because a new hit may join two of them.
        let others = total - gatherer.cost(id, own);
        for wider in gatherer.widened(own, hit, options.context, remaining)? {
            if gatherer.is_far_over(id, &wider.chunks, budget) {
                continue;
            }
            let now = others + gatherer.cost(id, &wider);
            if now <= room {
                // A hit that joins a chosen passage needs no citation, so its tokens are not added.
                let is_joined = gatherer.num_passages(id, &wider) <= gatherer.num_passages(id, own);
                beside += if is_joined { 0 } else { of_hit };
                (*own, total) = (wider, now);
                choice.take(number);
                used.push(number);
                copies.push(shingles);
                break;
            }
        }
    }
    Ok(used)
}

/// Returns the shingles of the passage of a hit; `None` if it nearly repeats another chosen one.
fn shingles_if_new(copies: &NearCopies, own: &DocumentEvidence, hit: &Hit) -> Option<Shingles> {
    let chunk = &hit.stored.chunk;
    let shingles = copies.shingles_of(&chunk.chunk.text);
    (own.has(chunk.chunk_index) || copies.find(&shingles).is_none()).then_some(shingles)
}

/// Returns the tokens that an answer may have.
fn most_of(answer: &SearchAnswer, budget: usize) -> usize {
    match answer.confidence {
        Some(Confidence::None) => budget.min(TOKENS_OF_NONE),
        _ => budget,
    }
}

/// Returns the choice among the hits of an answer. Hits that a program of the user has ordered keep their order.
fn choice_of(answer: &mut SearchAnswer, wanted: &QueryTerms) -> PassageChoice {
    let SearchAnswer { hits, found, .. } = answer;
    let is_ordered = hits.iter().any(|hit| hit.rerank_score.is_some());
    let compared = if is_ordered { &[] } else { &hits[..hits.len().min(choice::COMPARED)] };
    let terms = compared.iter().map(|hit| {
        let found =
            found.entry(hit.stored.chunk.id).or_insert_with(|| wanted.find_in_hit(&hit.stored));
        found.iter().map(|found| found.term).collect()
    });
    let terms = terms.collect();
    PassageChoice::among(hits.iter().map(|hit| hit.score).collect(), terms)
}

/// Returns the tokens of all passages together.
fn num_tokens_of(passages: &[Hit]) -> usize {
    passages.iter().filter_map(|hit| hit.passage.as_ref()).map(|passage| passage.num_tokens).sum()
}

/// Drops each passage of an answer that does not fit into a budget with what its form adds.
pub fn keep_within(budget: usize, form: Option<FormCost>, answer: &mut SearchAnswer) {
    let budget = most_of(answer, budget);
    let mut used = form.map_or(0, |form| (form.frame)(answer));
    let mut kept: Vec<Hit> = Vec::new();
    for hit in std::mem::take(&mut answer.hits) {
        let written: Vec<&Hit> = kept.iter().collect();
        let of_form = form.map_or(0, |form| (form.of_hit)(&hit, &written));
        let wanted = num_tokens_of(std::slice::from_ref(&hit)) + of_form;
        if used + wanted <= budget {
            used += wanted;
            kept.push(hit);
        }
    }
    answer.hits = kept;
    let num_tokens = num_tokens_of(&answer.hits);
    answer.gathered.iter_mut().for_each(|gathered| gathered.num_tokens = num_tokens);
}

#[cfg(test)]
mod tests;
