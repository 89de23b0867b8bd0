//! Answers a query: parse → keyword ∥ vector → fuse → threshold → page → hits.
//!
//! Knows the database through `store` and the model through `Embedder`; knows nothing of
//! files, settings or how a hit is shown.

use std::collections::HashMap;
use std::panic;
use std::sync::Arc;
use std::thread;

use crate::document::{ChunkId, DocType, DocumentId, Filter, Ranked};
use crate::embed::Embedder;
use crate::error::Result;
use crate::search::confidence::{KeywordSignals, Signals, VectorSignals};
use crate::search::fuse::{Fused, Leg, Legs, WeightedRanking};
use crate::search::keyword::Keywords;
use crate::search::weigh::Tokens;
use crate::store::{Occurrence, Store, StoredHit};
use crate::trace::stage;

mod confidence;
pub mod evidence;
pub mod fuse;
mod keyword;
pub mod matches;
mod near_copies;
mod page;
pub mod parse;
pub mod similar;
mod term;
mod weigh;
mod why;

pub use confidence::Confidence;
pub use keyword::TermMatch;
pub use parse::Query;
pub use why::{Fate, Journey, Standing, why};

/// Candidates each leg is asked for at least, so that the order of the first results is the same
/// for every limit up to a third of it.
const MIN_DEPTH: u32 = 300;

/// Candidates per requested hit, where that is more than [`MIN_DEPTH`].
const DEPTH_PER_HIT: u32 = 3;

/// Power of a keyword score in proportion to the best. BM25 with fields falls faster than what it says
/// does: on eleven collections this raised nDCG@10 of the fusion by 0.001 on average, by 0.005 on
/// questions to FAQs and 0.014 on claims; it cost 0.011 in German, 0.003 to 0.004 on three others.
const KEYWORD_POWER: f64 = 0.75;

/// Which rankings take part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegSelection {
    /// Keyword and vector.
    Both,
    /// BM25 only: no model is loaded.
    Keyword,
    /// Cosine only.
    Vector,
}

/// What to look for and how hard.
#[derive(Debug, Clone)]
pub struct SearchOptions {
    /// Hits to return.
    pub limit: u32,
    /// Documents to look in; narrows both rankings before they are cut.
    pub filter: Filter,
    /// Which rankings take part.
    pub legs: LegSelection,
    /// The fusion constant.
    pub rrf_k: f64,
    /// Fused results below it are dropped.
    pub threshold: Option<f64>,
    /// Most hits of one document.
    pub per_document: Option<u32>,
    /// Whether near copies of better hits are shown, too.
    pub keeps_copies: bool,
    /// Whether hits say what each term did for them.
    pub is_explained: bool,
}

impl Default for SearchOptions {
    /// What the configuration has as its defaults.
    fn default() -> Self {
        Self {
            limit: 10,
            filter: Filter::default(),
            legs: LegSelection::Both,
            rrf_k: 60.0,
            threshold: None,
            per_document: None,
            keeps_copies: false,
            is_explained: false,
        }
    }
}

impl SearchOptions {
    /// Returns how many candidates each leg is asked for.
    pub fn depth(&self) -> u32 {
        MIN_DEPTH.max(self.limit.saturating_mul(DEPTH_PER_HIT))
    }

    /// Returns what the legs do, among the chunks that pass.
    fn ranking<'a>(&self, passing: Option<&'a [ChunkId]>) -> RankOptions<'a> {
        RankOptions { legs: self.legs, passing, depth: self.depth() }
    }
}

/// The answer to a query.
#[derive(Debug, Clone)]
pub struct SearchResults {
    /// The user's string, unchanged.
    pub typed: String,
    /// Best first, at most the limit.
    pub hits: Vec<Hit>,
    /// Distinct chunks among the candidates after filter and threshold.
    pub total_matches: usize,
    /// How sure it is that the answer is among the hits; `None` where nothing can be said of it.
    pub confidence: Option<Confidence>,
}

impl SearchResults {
    /// Returns the answer of a database that holds nothing to look in.
    pub fn empty(query: &Query) -> Self {
        Self {
            typed: query.typed.clone(),
            hits: Vec::new(),
            total_matches: 0,
            confidence: Some(Confidence::None),
        }
    }
}

/// A chunk ready to be shown, with the reasons for its place.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Sum of the legs' terms.
    pub score: f64,
    /// What the keyword leg said; `None` if it was not run or did not rank the chunk.
    pub keyword: Option<Leg>,
    /// What the vector leg said; `None` if it was not run or did not rank the chunk.
    pub vector: Option<Leg>,
    /// The chunk and its document.
    pub stored: StoredHit,
    /// What each term did for it; empty unless asked for.
    pub terms: Vec<TermMatch>,
    /// Near copies of it that were passed over.
    pub num_copies: u32,
}

impl Hit {
    /// Returns the line in the file of a line of the chunk's text, counted from 0; that of the text's
    /// beginning where the text is not the file's line by line, `None` where there are no lines.
    pub fn line(&self, number: usize) -> Option<u32> {
        let chunk = &self.stored.chunk.chunk;
        let (first, last) = (chunk.start_line?, chunk.end_line?);
        let num_lines = u32::try_from(chunk.text.lines().count()).ok()?;
        let is_verbatim = last.checked_sub(first).is_some_and(|it| it + 1 == num_lines);
        Some(first + u32::try_from(number).ok().filter(|_| is_verbatim).unwrap_or(0))
    }
}

/// Gives the embedder when the vector leg needs it; loading runs beside the keyword leg.
pub type LoadEmbedder<'a> = dyn Fn() -> Result<Arc<dyn Embedder>> + Sync + 'a;

/// Searches the chunks of `store`.
///
/// Both legs run side by side, each on its own connection. A database without chunks is answered
/// without a model. Same database, same query, same answer.
///
/// # Errors
///
/// Whatever loading the model or reading the database gives.
pub fn search(
    store: &Store,
    load_embedder: &LoadEmbedder<'_>,
    query: &Query,
    options: &SearchOptions,
) -> Result<SearchResults> {
    let passing = passing(store, query, &options.filter)?;
    if passing.as_ref().is_some_and(Vec::is_empty) {
        return Ok(SearchResults::empty(query));
    }
    let rankings = rank(store, load_embedder, query, options.ranking(passing.as_deref()))?;
    let fused = stage("fuse", || rankings.fuse(store, query, options))?;
    let confidence = confidence::of(&rankings.signals(&fused));
    let total_matches = fused.len();
    let hits = stage("read hits", || page::page(store, &fused, options))?
        .into_iter()
        .map(|it| Hit {
            score: it.fused.score,
            keyword: it.fused.legs.keyword,
            vector: it.fused.legs.vector,
            terms: if options.is_explained { rankings.terms(it.fused.chunk_id) } else { vec![] },
            stored: it.stored,
            num_copies: it.num_copies,
        })
        .collect();
    Ok(SearchResults { typed: query.typed.clone(), hits, total_matches, confidence })
}

/// The documents that each leg and their fusion rank, each once, best first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trial {
    /// The keyword leg's.
    pub keyword: Vec<DocumentId>,
    /// The vector leg's.
    pub vector: Vec<DocumentId>,
    /// The answer's.
    pub fused: Vec<DocumentId>,
}

/// Searches as [`search`] does, and returns what each leg found by itself, too; for measuring.
///
/// # Errors
///
/// As [`search`].
pub fn trial(
    store: &Store,
    load_embedder: &LoadEmbedder<'_>,
    query: &Query,
    options: &SearchOptions,
) -> Result<Trial> {
    let passing = passing(store, query, &options.filter)?;
    let rankings = rank(store, load_embedder, query, options.ranking(passing.as_deref()))?;
    let fused = rankings.fuse(store, query, options)?;
    let ids = |ranking: &[Ranked]| ranking.iter().map(|it| it.chunk_id).collect::<Vec<_>>();
    let documents = |chunk_ids: &[ChunkId]| -> Result<Vec<DocumentId>> {
        let documents = store.documents_of(chunk_ids)?;
        let mut found: Vec<DocumentId> = Vec::new();
        for document_id in chunk_ids.iter().filter_map(|it| documents.get(it)) {
            if !found.contains(document_id) {
                found.push(*document_id);
            }
        }
        Ok(found)
    };
    Ok(Trial {
        keyword: documents(&ids(&rankings.keyword))?,
        vector: documents(&rankings.vector.as_ref().map_or(vec![], |it| ids(&it.0)))?,
        fused: documents(&fused.iter().map(|it| it.chunk_id).collect::<Vec<_>>())?,
    })
}

/// Returns the chunks that pass filter and exclusions in order; `None` where all do.
fn passing(store: &Store, query: &Query, filter: &Filter) -> Result<Option<Vec<ChunkId>>> {
    let filter = Filter { excluded: query.excluded.clone(), ..filter.clone() };
    if filter.is_empty() { Ok(None) } else { store.passing_chunks(&filter).map(Some) }
}

/// What the legs found.
struct Rankings {
    keywords: Option<Keywords>,
    /// Empty where there are no keywords.
    keyword: Vec<Ranked>,
    /// With the leg's weight; `None` if it was not run.
    vector: Option<(Vec<Ranked>, f64)>,
}

/// What the legs do.
#[derive(Clone, Copy)]
struct RankOptions<'a> {
    /// Which of them run.
    legs: LegSelection,
    /// The chunks that are ranked, in order; `None` for all.
    passing: Option<&'a [ChunkId]>,
    /// Candidates taken from each.
    depth: u32,
}

/// Runs the legs side by side.
fn rank(
    store: &Store,
    load_embedder: &LoadEmbedder<'_>,
    query: &Query,
    options: RankOptions<'_>,
) -> Result<Rankings> {
    let RankOptions { legs, passing, depth } = options;
    thread::scope(|scope| {
        let vector = match legs {
            LegSelection::Keyword => None,
            LegSelection::Both | LegSelection::Vector if store.binding()?.is_none() => None,
            LegSelection::Both | LegSelection::Vector => {
                let reader = store.lend_reader()?;
                Some(scope.spawn(move || -> Result<(Vec<Ranked>, f64, Store)> {
                    let embedder = stage("load model", load_embedder)?;
                    let passage = &query.passage;
                    let count = |it: &str| Tokens {
                        num_tokens: embedder.num_tokens(it),
                        num_unknown: embedder.num_unknown(it),
                    };
                    let weight = stage("tokenise", || weigh::vector_weight(passage, count));
                    let vector = stage("embed", || embedder.embed_query(passage))?;
                    let ranking =
                        stage("vector", || reader.rank_by_cosine(&vector, passing, depth))?;
                    Ok((ranking, weight, reader))
                }))
            }
        };
        let (keywords, keyword) = match legs {
            LegSelection::Both | LegSelection::Keyword if query.has_terms() => {
                stage("keyword", || -> Result<_> {
                    let keywords = read_keywords(store, query)?;
                    let rank = |it: &Keywords| it.rank(passing, depth as usize);
                    let keyword = keywords.as_ref().map(rank).unwrap_or_default();
                    Ok((keywords, keyword))
                })?
            }
            _ => (None, Vec::new()),
        };
        let vector = match vector {
            Some(leg) => {
                let outcome = leg.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
                let (ranking, weight, reader) = outcome?;
                store.give_back(reader);
                Some((ranking, weight))
            }
            None => None,
        };
        Ok(Rankings { keywords, keyword, vector })
    })
}

/// Reads what the index knows of the wanted terms; `None` if none of them occurs.
fn read_keywords(store: &Store, query: &Query) -> Result<Option<Keywords>> {
    let words = query.wanted.iter().map(|it| store.occurrences(it));
    let prefixes = query.prefixes.iter().map(|it| store.occurrences_of_prefix(it));
    let mut terms: Vec<Vec<Occurrence>> = words.chain(prefixes).collect::<Result<_>>()?;
    let mut names = query.term_names();
    for word in &query.joined {
        let found = store.occurrences(word)?;
        if !found.is_empty() && !names.iter().any(|it| it.eq_ignore_ascii_case(word)) {
            terms.push(found);
            names.push(word.clone());
        }
    }
    if terms.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    Ok(Some(Keywords::new(names, &terms, store.chunk_sizes()?)))
}

impl Rankings {
    /// Weighs and fuses the first of what the legs found, and drops what is below the threshold.
    fn fuse(&self, store: &Store, query: &Query, options: &SearchOptions) -> Result<Vec<Fused>> {
        let depth = options.depth() as usize;
        let keyword = &self.keyword[..self.keyword.len().min(depth)];
        let keyword_weight =
            if self.vector.is_some() { keyword_weight(store, query, keyword)? } else { 1.0 };
        // A vector leg that cannot read the query is left out, unless it is all there is.
        let vector = match &self.vector {
            Some((ranking, _)) if keyword.is_empty() => (ranking.as_slice(), 1.0),
            Some((ranking, weight)) if *weight > 0.0 => (ranking.as_slice(), *weight),
            _ => (&[] as &[Ranked], 1.0),
        };
        let legs = Legs {
            keyword: WeightedRanking {
                weight: keyword_weight,
                power: KEYWORD_POWER,
                ranking: keyword,
            },
            vector: WeightedRanking {
                weight: vector.1,
                power: 1.0,
                ranking: &vector.0[..vector.0.len().min(depth)],
            },
        };
        let mut fused = fuse::fuse(legs, options.rrf_k);
        if let Some(threshold) = options.threshold {
            fused.retain(|it| it.score >= threshold);
        }
        Ok(fused)
    }

    /// Returns what tells how sure the answer is.
    fn signals(&self, fused: &[Fused]) -> Signals {
        let coverage = |chunk_id: Option<ChunkId>| match (&self.keywords, chunk_id) {
            (Some(keywords), Some(chunk_id)) => keywords.coverage(chunk_id),
            _ => 0.0,
        };
        let vector = self.vector.as_ref().filter(|(_, weight)| *weight > 0.0);
        let vector = vector.and_then(|(ranking, _)| {
            let (first, gap) = first_and_gap(ranking)?;
            let coverage = coverage(Some(first.chunk_id));
            Some(VectorSignals { cosine: first.score, gap, coverage })
        });
        let keyword = self.keywords.as_ref().map(|_| {
            let gap = first_and_gap(&self.keyword).map_or(0.0, |(first, gap)| gap / first.score);
            KeywordSignals { gap, coverage: coverage(fused.first().map(|it| it.chunk_id)) }
        });
        Signals { vector, keyword }
    }

    /// Returns the terms of the query that occur in a chunk or its document.
    fn terms(&self, chunk_id: ChunkId) -> Vec<TermMatch> {
        self.keywords.as_ref().map(|it| it.matches(chunk_id)).unwrap_or_default()
    }
}

/// Entries of a ranking that the first is compared with.
const NUM_NEXT: usize = 10;

/// Returns the first entry and how far it stands above the mean of the next ones.
fn first_and_gap(ranking: &[Ranked]) -> Option<(Ranked, f64)> {
    let (first, next) = ranking.split_first()?;
    let next = &next[..next.len().min(NUM_NEXT)];
    let sum: f64 = next.iter().map(|it| first.score - it.score).sum();
    let count = u32::try_from(next.len()).map_or(0.0, f64::from);
    Some((*first, sum / count.max(1.0)))
}

/// First hits of the keyword leg whose type is looked at.
const NUM_JUDGED: usize = 10;

/// Looks at what the keyword leg found to tell how much it counts.
fn keyword_weight(store: &Store, query: &Query, ranking: &[Ranked]) -> Result<f64> {
    let scores: HashMap<ChunkId, f64> =
        ranking.iter().take(NUM_JUDGED).map(|it| (it.chunk_id, it.score)).collect();
    let ids: Vec<ChunkId> = ranking.iter().take(NUM_JUDGED).map(|it| it.chunk_id).collect();
    let code: f64 = store
        .hits(&ids)?
        .iter()
        .filter(|it| it.doc_type == DocType::Code)
        .map(|it| scores[&it.chunk.id])
        .sum();
    let all: f64 = ids.iter().map(|it| scores[it]).sum();
    let code_share = if all > 0.0 { code / all } else { 0.0 };
    Ok(weigh::keyword_weight(&query.passage, code_share))
}
