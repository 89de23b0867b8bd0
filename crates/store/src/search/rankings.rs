//! Runs the keyword leg and the vector leg in parallel, and weights and fuses their rankings.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use crate::ChunkOrigin;
use crate::embedder::{Embedder, QueryEmbedding};
use crate::error::{Error, Result};
use crate::ids::{ChunkId, RankedChunk};
use crate::search::confidence::NoBasis;
use crate::search::fuse::{
    FusedChunk, KEYWORD_POWER, PerLeg, VECTOR_POWER, WeightedRanking, above_floor, fuse_with_shares,
};
use crate::search::keyword::{CompletedWord, Keywords, MAX_LOOK_UP, TermMatch};
use crate::search::look_up::look_up;
use crate::search::mean::mean;
use crate::search::options::RankOptions;
use crate::search::weights::{self, TextTokens};
use crate::search::{
    Contribution, LegSelection, LoadEmbedder, Query, SearchOptions, Searchable, conflict_copies,
    editions, late, rarity, recency,
    weigh::{self, HitFeatures},
};
use crate::trace::stage;

mod signals;

pub(super) struct Rankings {
    keywords: Option<Keywords>,
    /// The terms of each phrasing, by their places in `keywords`.
    terms: Vec<Vec<usize>>,
    /// The words of the query, in small letters.
    words: HashSet<String>,
    /// Number of words as they were typed; `None` of several phrasings.
    num_typed: Option<usize>,
    /// The first word that is wanted.
    first_wanted: Option<String>,
    /// Whether words of the query were looked for.
    has_words: bool,
    /// Whether the query has neither letters nor digits.
    is_blank: bool,
    /// Empty if the query has no keywords.
    pub(super) keyword: Vec<RankedChunk>,
    /// The keyword leg's weight next to a vector leg.
    keyword_weight: f64,
    /// `None` if the leg was not run.
    pub(super) vector: Option<VectorLeg>,
}

/// The result of the vector leg.
pub(super) struct VectorLeg {
    /// Best first, by cosine.
    pub(super) ranking: Vec<RankedChunk>,
    /// The leg's weight for the query.
    weight: f64,
    /// The embedding of each phrasing.
    phrasings: Vec<QueryEmbedding>,
    /// The cosine of unrelated passages.
    floor: f64,
}

/// Runs the legs in parallel. The phrasings of a query are averaged within each leg.
pub(super) fn rank<S: Searchable>(
    store: &S,
    load_embedder: &LoadEmbedder<'_>,
    phrasings: &[Query],
    options: RankOptions<'_>,
) -> Result<Rankings> {
    let RankOptions { legs, passing, depth, elsewhere } = options;
    let has_vectors = legs != LegSelection::Keyword && store.binding()?.is_some();
    let reader: Mutex<Option<S>> = Mutex::new(None);
    let is_embedded = AtomicBool::new(false);
    let rankings = thread::scope(|scope| -> Result<Rankings> {
        let (is_open, opened) = mpsc::channel::<()>();
        let vector = has_vectors.then(|| {
            let (reader, is_embedded) = (&reader, &is_embedded);
            scope.spawn(move || -> Result<VectorLeg> {
                let embedder = stage("load model", load_embedder)?;
                let weight = stage("tokenise", || vector_weight(&*embedder, phrasings));
                let (vector, phrasings) =
                    stage("embed", || embed_phrasings(&*embedder, phrasings))?;
                is_embedded.store(true, Ordering::Relaxed);
                stage("vector", || {
                    // If there is no reader, the other thread reports why.
                    opened.recv().map_err(|_| Error::Cancelled)?;
                    let reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
                    let reader = reader.as_ref().ok_or(Error::Cancelled)?;
                    let ranking = reader.rank_by_cosine(&vector, passing, depth)?;
                    Ok(VectorLeg { ranking, weight, phrasings, floor: reader.cosine_floor()? })
                })
            })
        });
        if has_vectors {
            // This thread opens the connection while the other one loads the model.
            *reader.lock().unwrap_or_else(PoisonError::into_inner) = Some(store.take_reader()?);
            // Sending fails if the thread has ended with an error, which joining it reports.
            let _ = is_open.send(());
        }
        let has_words = legs != LegSelection::Vector && phrasings.iter().any(Query::has_terms);
        let (keywords, terms, keyword, keyword_weight) = if has_words {
            stage("keyword", || -> Result<_> {
                let (keywords, terms) = look_up(store, phrasings, elsewhere, passing)?;
                let keyword = keywords.as_ref().map(|known| known.rank(passing, depth as usize));
                let keyword = keyword.unwrap_or_default();
                // Reading the types costs no time here, while the vector leg still runs.
                let weight = match vector {
                    Some(_) if !keywords.as_ref().is_some_and(Keywords::has_meant) => {
                        keyword_weight(store, phrasings, &keyword)?
                    }
                    _ => 1.0,
                };
                Ok((keywords, terms, keyword, weight))
            })?
        } else {
            (None, Vec::new(), Vec::new(), 1.0)
        };
        // Vectors are read ahead while the model embeds. A filter leaves too few for that to pay.
        if passing.is_none()
            && let Ok(reader) = reader.try_lock()
            && let Some(reader) = reader.as_ref()
        {
            // An error is ignored here: the ranking meets the same one, and reports it.
            let _ =
                stage("read ahead", || reader.read_ahead(&|| is_embedded.load(Ordering::Relaxed)));
        }
        let vector = vector
            .map(|leg| leg.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
            .transpose()?;
        let is_blank =
            phrasings.iter().all(|query| !query.passage.chars().any(char::is_alphanumeric));
        let words = phrasings.iter().flat_map(|query| weigh::words(&query.passage)).collect();
        let num_typed = match phrasings {
            [only] => Some(only.typed.split_whitespace().count()),
            _ => None,
        };
        let first_wanted = phrasings.iter().flat_map(|query| &query.wanted).next().cloned();
        Ok(Rankings {
            keywords,
            terms,
            words,
            num_typed,
            first_wanted,
            has_words,
            is_blank,
            keyword,
            keyword_weight,
            vector,
        })
    })?;
    if let Some(reader) = reader.into_inner().unwrap_or_else(PoisonError::into_inner) {
        store.return_reader(reader);
    }
    Ok(rankings)
}

/// Returns the weight of the vector leg: the mean of the phrasings'.
fn vector_weight(embedder: &dyn Embedder, phrasings: &[Query]) -> f64 {
    average(phrasings.iter().map(|query| {
        weights::vector_weight(&query.passage, |text| TextTokens {
            num_tokens: embedder.num_tokens(text),
            num_unknown: embedder.num_unknown(text),
        })
    }))
}

/// Embeds each phrasing; also returns their mean, whose cosines order passages by their average cosine.
fn embed_phrasings(
    embedder: &dyn Embedder,
    phrasings: &[Query],
) -> Result<(Vec<f32>, Vec<QueryEmbedding>)> {
    let embedded = phrasings.iter().map(|query| embedder.embed_query(&query.passage));
    let embedded: Vec<QueryEmbedding> = embedded.collect::<Result<_>>()?;
    let vector = match &embedded[..] {
        [only] => only.vector.clone(),
        several => {
            let vectors: Vec<Vec<f32>> =
                several.iter().map(|phrasing| phrasing.vector.clone()).collect();
            // Phrasings that cancel out have no mean; then the first one counts.
            mean(&vectors).unwrap_or_else(|| vectors.into_iter().next().unwrap_or_default())
        }
    };
    Ok((vector, embedded))
}

/// Returns the mean; 0 without numbers.
fn average(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0), |(sum, count), number| (sum + number, count + 1));
    sum / f64::from(count.max(1))
}

impl Rankings {
    /// Weights and fuses the first entries of each leg, compares the first hits by their tokens, and
    /// drops results below the threshold.
    pub(super) fn fuse(
        &self,
        store: &impl Searchable,
        options: &SearchOptions,
    ) -> Result<Vec<FusedChunk>> {
        let depth = options.depth() as usize;
        let keyword = &self.keyword[..self.keyword.len().min(depth)];
        // A vector leg that cannot read the query is left out, unless it is the only leg.
        let vector = self.vector.as_ref().filter(|leg| keyword.is_empty() || leg.weight > 0.0);
        let by_cosine = vector.map_or(&[][..], |leg| &leg.ranking[..leg.ranking.len().min(depth)]);
        let scores = above_floor(by_cosine, vector.map_or(0.0, |leg| leg.floor));
        let weight = vector.map_or(1.0, |leg| if keyword.is_empty() { 1.0 } else { leg.weight });
        let shares = self.keywords.as_ref();
        let shares = shares.map(|keywords| rarity::shares(keywords, keyword, by_cosine));
        let shares = shares.unwrap_or_default();
        let rrf_k = options.rrf_k;
        let keyword =
            WeightedRanking { weight: self.keyword_weight, power: KEYWORD_POWER, ranking: keyword };
        let vector_leg = WeightedRanking { weight, power: VECTOR_POWER, ranking: &scores };
        let mut fused = fuse_with_shares(PerLeg { keyword, vector: vector_leg }, rrf_k, &shares);
        let mut matches = HashMap::new();
        if let Some(leg) = vector.filter(|_| options.compares_tokens) {
            let first: Vec<ChunkId> =
                fused.iter().take(late::DEPTH).map(|hit| hit.chunk_id).collect();
            matches = stage("compare tokens", || leg.matches(store, &first))?;
            if !matches.is_empty() {
                let usual = late::usual_match(leg.floor);
                let scores = late::rerank(&scores, &first, &matches, weight, usual);
                let vector = WeightedRanking { ranking: &scores, ..vector_leg };
                fused = fuse_with_shares(PerLeg { keyword, vector }, rrf_k, &shares);
            }
        }
        show_raw(&mut fused, by_cosine, &matches);
        let first: Vec<ChunkId> = fused.iter().take(weigh::DEPTH).map(|hit| hit.chunk_id).collect();
        let origins = store.origins(&first)?;
        if let Some(keywords) = self.keywords.as_ref().filter(|_| !by_cosine.is_empty()) {
            if origins.len() < first.len() {
                // Another process has removed some meanwhile.
                fused.retain(|hit| {
                    !first.contains(&hit.chunk_id) || origins.contains_key(&hit.chunk_id)
                });
            }
            let first = store.passages(&first)?.into_iter().collect();
            self.weigh(keywords, &mut fused, &first, &origins);
        }
        if let Some(recency) = &options.recency {
            stage("compare dates", || recency::weigh(&mut fused, store, recency, &options.filter))?;
        }
        editions::current_first(&mut fused, store, &origins)?;
        conflict_copies::originals_first(&mut fused, store, &origins)?;
        // The threshold comes last, because it applies to the scores that are shown.
        if let Some(threshold) = options.threshold {
            fused.retain(|hit| hit.score >= threshold);
        }
        Ok(fused)
    }

    /// Weighs the first hits by their passages and documents.
    fn weigh(
        &self,
        keywords: &Keywords,
        fused: &mut [FusedChunk],
        passages: &BTreeMap<ChunkId, String>,
        origins: &HashMap<ChunkId, ChunkOrigin>,
    ) {
        let shares = rarity::shares_of_forms(keywords, passages);
        for hit in fused.iter_mut().take(origins.len()) {
            hit.lower(shares.get(&hit.chunk_id).copied().unwrap_or(1.0));
        }
        let about = fused.iter().take(origins.len()).filter_map(|hit| {
            let ChunkOrigin { document_id, is_code, symbol, .. } = origins.get(&hit.chunk_id)?;
            Some(HitFeatures {
                document_id: *document_id,
                is_code: *is_code,
                num_names: keywords.num_names(hit.chunk_id, *is_code),
                num_meant: keywords.num_meant(hit.chunk_id),
                is_definition: symbol.as_ref().is_some_and(|it| weigh::defines(it, &self.words)),
            })
        });
        let about: Vec<HitFeatures> = about.collect();
        weigh::weigh(fused, &about);
    }

    /// Returns the words of the query that no passage has, and what was searched instead.
    pub(super) fn completed(&self) -> Vec<CompletedWord> {
        self.keywords.as_ref().map(Keywords::completed).unwrap_or_default()
    }

    /// Returns a word that no passage has: one that was completed, or one of a look-up.
    pub(super) fn missing_word(&self) -> Option<String> {
        let is_look_up = self.has_words && self.num_typed.is_some_and(|num| num <= MAX_LOOK_UP);
        let Some(keywords) = &self.keywords else {
            // No word of the query occurs anywhere.
            return self.first_wanted.clone().filter(|_| is_look_up);
        };
        keywords.missing(is_look_up).map(str::to_owned)
    }

    /// Returns why nothing can be judged, if so.
    pub(super) fn no_basis(&self) -> NoBasis {
        if self.vector.is_some() { NoBasis::Unreadable } else { NoBasis::NoWords }
    }

    /// Returns the terms of the query that occur in a chunk or its document.
    pub(super) fn terms(&self, chunk_id: ChunkId) -> Vec<TermMatch> {
        self.keywords.as_ref().map(|keywords| keywords.matches(chunk_id)).unwrap_or_default()
    }

    /// Returns what each of several phrasings contributes to a chunk; empty if there is only one.
    pub(super) fn contributions(
        &self,
        store: &impl Searchable,
        num_phrasings: usize,
        hit: &FusedChunk,
    ) -> Result<Vec<Contribution>> {
        if num_phrasings < 2 {
            return Ok(Vec::new());
        }
        let vector = match &self.vector {
            Some(_) => store.vectors(&[hit.chunk_id])?.pop(),
            None => None,
        };
        let numbers = 0..num_phrasings;
        Ok(numbers.map(|number| self.contribution(number, vector.as_deref(), hit)).collect())
    }

    /// Returns what one phrasing contributes to a chunk, whose vector is given.
    fn contribution(
        &self,
        number: usize,
        vector: Option<&[f32]>,
        hit: &FusedChunk,
    ) -> Contribution {
        // A chunk is not ranked for words that occur elsewhere in its document only.
        let ranked = self.keywords.as_ref().filter(|_| hit.legs.keyword.is_some());
        let keywords = ranked.zip(self.terms.get(number));
        let bm25 = keywords.and_then(|(keywords, terms)| keywords.score(hit.chunk_id, terms));
        let leg = self.vector.as_ref().zip(vector);
        let cosine = leg.and_then(|(leg, vector)| {
            let own = &leg.phrasings.get(number)?.vector;
            Some(own.iter().zip(vector).map(|(a, b)| f64::from(a * b)).sum())
        });
        Contribution { bm25, cosine }
    }
}

impl VectorLeg {
    /// Returns how well the query's tokens match those of chunks; chunks without any are left out.
    fn matches(&self, store: &impl Searchable, ids: &[ChunkId]) -> Result<HashMap<ChunkId, f64>> {
        let codes = store.token_codes(ids)?;
        let found = codes.iter().filter_map(|(id, codes)| Some((*id, self.mean_match(codes)?)));
        Ok(found.collect())
    }

    /// Returns how well the tokens of all phrasings match those of a chunk, on average.
    fn mean_match(&self, codes: &[u8]) -> Option<f64> {
        let phrasings = self.phrasings.iter();
        let found: Option<Vec<f64>> =
            phrasings.map(|phrasing| phrasing.tokens.match_with(codes)).collect();
        Some(average(found?.into_iter()))
    }
}

/// Adds to the hits the cosines and matches from which the scores of the leg were made.
fn show_raw(fused: &mut [FusedChunk], by_cosine: &[RankedChunk], matches: &HashMap<ChunkId, f64>) {
    let cosines: HashMap<ChunkId, f64> =
        by_cosine.iter().map(|entry| (entry.chunk_id, entry.score)).collect();
    for hit in fused {
        if let Some(leg) = &mut hit.legs.vector {
            leg.raw = cosines[&hit.chunk_id];
            hit.token_match = matches.get(&hit.chunk_id).copied();
        }
    }
}

/// Number of first keyword hits whose type is checked: those that a search shows by default.
const NUM_JUDGED: usize = 10;

/// Returns the keyword leg's weight, from the types of the documents it ranks first.
fn keyword_weight(
    store: &impl Searchable,
    phrasings: &[Query],
    ranking: &[RankedChunk],
) -> Result<f64> {
    let first = &ranking[..ranking.len().min(NUM_JUDGED)];
    let ids: Vec<ChunkId> = first.iter().map(|entry| entry.chunk_id).collect();
    let origins = store.origins(&ids)?;
    let code = first
        .iter()
        .filter(|entry| origins.get(&entry.chunk_id).is_some_and(|origin| origin.is_code));
    let code: f64 = code.map(|entry| entry.score).sum();
    let all: f64 = first.iter().map(|entry| entry.score).sum();
    let code_share = if all > 0.0 { code / all } else { 0.0 };
    Ok(average(phrasings.iter().map(|query| weights::keyword_weight(&query.passage, code_share))))
}

#[cfg(test)]
mod tests;
