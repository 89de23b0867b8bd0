//! Names the answer to a query.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use crate::StoredHit;
use crate::document::StaleReason;
use crate::ids::{ChunkId, DocumentId};
use crate::search::cited::CitedPlace;
use crate::search::confidence::{Confidence, ConfidenceGrounds, NoBasis};
use crate::search::fuse::LegScore;
use crate::search::keyword::{CompletedWord, TermMatch};
use crate::search::matches::{Match, QueryTerms};
use crate::search::parse::Query;
use crate::search::reason;

/// The answer to a query: chunks, or passages made of them.
#[derive(Debug, Clone, Default)]
pub struct SearchAnswer {
    /// The user's string, unchanged; the first one of several phrasings.
    pub typed: String,
    /// The other phrasings, unchanged.
    pub also: Vec<String>,
    /// Best first, at most the limit.
    pub hits: Vec<Hit>,
    /// Distinct chunks among the candidates after filter and threshold.
    pub total_matches: usize,
    /// How likely it is that the answer is among the hits; `None` if no leg can judge.
    pub confidence: Option<Confidence>,
    /// Why `confidence` is `None`.
    pub no_basis: Option<NoBasis>,
    /// The grounds of the confidence.
    pub grounds: ConfidenceGrounds,
    /// The phrasings that no chunk meets, because of their phrases in quotes.
    pub unmet: Vec<UnmetPhrasing>,
    /// Words that no passage has, and what was searched instead.
    pub completed: Vec<CompletedWord>,
    /// Whether these are all phrasings, so that the hits are those of the query without quotes, if there are any.
    pub is_unmet: bool,
    /// The terms of all phrasings; those that fewer of the first hits have count more.
    pub wanted: QueryTerms,
    /// The words found in the first hits, by chunk.
    pub found: HashMap<ChunkId, Vec<Match>>,
    /// Remarks on the search. The caller adds them; a search makes none.
    pub notes: Vec<String>,
    /// The result of the user's program that orders the hits; `None` if there is none. A search never sets it.
    pub reranking: Option<Reranking>,
    /// Set if the hits are passages.
    pub gathered: Option<EvidenceSummary>,
}

/// A phrasing that no chunk meets, because of its phrases in quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnmetPhrasing {
    /// The phrasing, unchanged.
    pub typed: String,
    /// Its phrases, as typed between the quotes.
    pub phrases: Vec<String>,
    /// Those of them that occur nowhere. If there are none, no chunk that passes filter and exclusions has all phrases.
    pub nowhere: Vec<String>,
}

impl UnmetPhrasing {
    /// Returns the phrases that are missing: those that occur nowhere, or else all.
    pub fn missing(&self) -> &[String] {
        if self.nowhere.is_empty() { &self.phrases } else { &self.nowhere }
    }

    /// Returns the phrasing without the quotes of these phrases.
    pub fn without_quotes(&self, phrases: &[String]) -> String {
        phrases.iter().fold(self.typed.clone(), |typed, phrase| {
            typed.replace(&format!("\"{phrase}\""), phrase)
        })
    }
}

/// How passages were collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvidenceSummary {
    /// The requested budget in tokens.
    pub budget: Option<usize>,
    /// Tokens of all passages together; never more than the budget.
    pub num_tokens: usize,
}

/// The result of a user's program that orders the hits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reranking {
    /// The first hits are in the order of its scores.
    Done,
    /// It failed for this reason, so they are in the order of their own scores.
    Failed(String),
}

impl SearchAnswer {
    /// Returns the answer of a database without anything to search.
    pub fn empty(phrasings: &[Query]) -> Self {
        let mut typed = phrasings.iter().map(|query| query.typed.clone());
        Self {
            typed: typed.next().unwrap_or_default(),
            also: typed.collect(),
            confidence: Some(Confidence::None),
            ..Self::default()
        }
    }

    /// Returns the probability that the first three hits have the answer, with two decimals; `None` if no
    /// leg can judge.
    pub fn probability(&self) -> Option<f64> {
        self.confidence.map(|_| self.grounds.probability())
    }

    /// Returns in one clause why the confidence is what it is, or why there is none.
    pub fn confidence_reason(&self) -> String {
        self.no_basis.map_or_else(|| reason::of(&self.grounds), |basis| basis.as_str().to_owned())
    }

    /// Lowers the confidence, because the best hit is stale.
    pub fn distrust(&mut self) {
        self.grounds.is_stale = true;
        self.confidence = self.confidence.map(|_| self.grounds.level());
    }

    /// Chooses the place to cite of each hit.
    pub fn cite(&mut self) {
        for hit in &mut self.hits {
            let found = self.wanted.found_or_find(&self.found, &hit.stored);
            hit.at = CitedPlace::of(&found, &hit.stored, &self.wanted);
        }
    }

    /// Notes which hits are of documents whose title another document among the hits has.
    pub fn compare_titles(&mut self) {
        let mut titled: BTreeMap<String, BTreeSet<(Option<String>, DocumentId)>> = BTreeMap::new();
        for hit in &self.hits {
            let document = (hit.base.clone(), hit.stored.document_id);
            titled.entry(hit.stored.title.clone()).or_default().insert(document);
        }
        for hit in &mut self.hits {
            hit.shares_title = titled[&hit.stored.title].len() > 1;
        }
    }

    /// Says of each hit from which knowledge base it is.
    pub fn name_base(&mut self, name: &str) {
        self.hits.iter_mut().for_each(|hit| hit.base = Some(name.to_owned()));
    }

    /// Returns all phrasings in their order.
    pub fn phrasings(&self) -> impl Iterator<Item = &str> {
        [self.typed.as_str()].into_iter().chain(self.also.iter().map(String::as_str))
    }

    /// Returns all phrasings as one text, from which the words to mark are taken, with the words searched instead.
    pub fn joined(&self) -> String {
        if self.is_unmet {
            let plain = self.unmet.iter().map(|unmet| unmet.without_quotes(&unmet.phrases));
            return plain.collect::<Vec<_>>().join(" ");
        }
        let completed = self.completed.iter().flat_map(|completed| &completed.words);
        self.phrasings().chain(completed.map(String::as_str)).collect::<Vec<_>>().join(" ")
    }

    /// Whether the hits are those of the query without its quotes.
    pub fn is_without_quotes(&self) -> bool {
        self.is_unmet && self.no_basis != Some(NoBasis::Unmet)
    }

    /// Returns the phrases that no searched chunk has, if no phrasing is met.
    pub fn unmet_phrases(&self) -> Vec<&str> {
        let unmet = self.unmet.iter().filter(|_| self.is_unmet);
        unmet.flat_map(UnmetPhrasing::missing).map(String::as_str).collect()
    }
}

/// The contribution of one of several phrasings to a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Contribution {
    /// BM25 for this phrasing; the leg ranks by the average. Null if none of its words occurs.
    pub bm25: Option<f64>,
    /// Cosine to this phrasing; the leg ranks by the average.
    pub cosine: Option<f64>,
}

/// The chunks of a passage, and its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Its chunks, in order.
    pub chunk_ids: Vec<ChunkId>,
    /// Tokens of its text.
    pub num_tokens: usize,
}

/// A chunk ready to be shown, with the reasons for its place; or the best chunk of a passage, with the
/// text, lines and pages of the whole passage.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Sum of the legs' terms.
    pub score: f64,
    /// The score of a program of the user's, if one ordered the hits.
    pub rerank_score: Option<f64>,
    /// The keyword leg's contribution; `None` if it was not run or did not rank the chunk.
    pub keyword: Option<LegScore>,
    /// The vector leg's contribution; `None` if it was not run or did not rank the chunk.
    pub vector: Option<LegScore>,
    /// How well the query's tokens match the chunk's; `None` if they were not compared.
    pub token_match: Option<f64>,
    /// The part of the legs' weights that follows from its document, in (0, 1].
    pub document_weight: f64,
    /// The part of `document_weight` that follows from the document's age; `None` if ages do not count.
    pub recency: Option<f64>,
    /// The chunk and its document.
    pub stored: StoredHit,
    /// The contribution of each term; empty unless requested.
    pub terms: Vec<TermMatch>,
    /// The contribution of each of several phrasings of the query, in their order; empty if there is one.
    pub contributions: Vec<Contribution>,
    /// Number of near copies of this hit that were skipped.
    pub num_copies: u32,
    /// How the document's file differs from what was indexed. A search does not look at files, so it
    /// leaves this at `None`.
    pub stale: Option<StaleReason>,
    /// The knowledge base it is from, if several were searched.
    pub base: Option<String>,
    /// Whether another document among the hits has the same title, so that the title does not name this one.
    pub shares_title: bool,
    /// The path of its original, if it is a conflict copy.
    pub conflict_of: Option<String>,
    /// The place to cite, also of a passage.
    pub at: CitedPlace,
    /// `None` if it is a single chunk, not a passage.
    pub passage: Option<Passage>,
}
