//! Writes answers to queries as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::query::search::SimilarPassages;
use crate::document::{LineRange, PageRange, StaleReason};
use crate::present::json::{SourceJson, VersionedAnswer, answer};
use crate::present::text::stale;
use crate::search::similar::Seed;
use crate::search::{Confidence, Contribution, Hit, Reranking, SearchAnswer, TermMatch};
use crate::store::{ChunkId, DocumentId};
use crate::text::json::Json;

/// Writes a vector as an array on one line.
pub fn vector(vector: &[f32], out: &mut Json<'_>) -> io::Result<()> {
    out.line(&vector)
}

/// Writes the answer to a query.
pub fn found(found: &SearchAnswer, out: &mut Json<'_>) -> io::Result<()> {
    answer(&SearchJson::from(found), out)
}

/// Writes the answer to one of several queries on one line.
pub fn search_line(answer: &SearchAnswer, out: &mut Json<'_>) -> io::Result<()> {
    out.line(&VersionedAnswer::of(&SearchJson::from(answer)))
}

/// Writes one hit per line.
pub fn hit_lines(hits: &[Hit], out: &mut Json<'_>) -> io::Result<()> {
    hits.iter().try_for_each(|hit| out.line(&ResultJson::from(hit)))
}

/// The answer to a query. With `--batch`, each line is one such answer or an error.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SearchJson<'a> {
    /// The query, unchanged; the first one of several phrasings.
    query: &'a str,
    /// With several phrasings: all of them, unchanged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    queries: Vec<&'a str>,
    /// Best first; ties by chunk id. With `--budget` or `--context`: passages.
    results: Vec<ResultJson<'a>>,
    /// Distinct chunks found by either leg, after filters and threshold. A leg returns at most 300 chunks, or
    /// three per requested result if that is more.
    total_matches: usize,
    /// Number of `results`.
    returned: usize,
    /// How likely the results contain the answer: `high`, `low` (undecided: they may or may not) or `none`; null if no
    /// leg can tell, or if no document passes the filter.
    confidence: Option<&'static str>,
    /// The calibrated probability that the first three results have the answer, if the searched documents answered every
    /// second question: 0 to 1, with two decimals; null where `confidence` is.
    answer_probability: Option<f64>,
    /// One clause: why `confidence` is what it is, or why it is null.
    confidence_reason: String,
    /// The phrases in double quotes that no searched passage has, if therefore the results are those of the query without
    /// quotes, or none (of a query that is one phrase); absent otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unmet_phrases: Vec<&'a str>,
    /// Further notes, as on stderr: which part of a filter no document meets, which phrase in double quotes no
    /// passage has, how many files are stale; absent if there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// With `search.rerank_command`: whether the first results are in the order of `rerank_score` instead of
    /// `score`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reranked: Option<bool>,
    /// With `search.rerank_command`: why they are not; absent if they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    rerank_error: Option<&'a str>,
    /// With `--budget`: the budget in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<usize>,
    /// With `--budget` or `--context`: total tokens of all passages, at most the budget; estimated as o200k counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<usize>,
}

/// A result: a chunk, or a passage of several chunks. With `--format jsonl`, each line is one result.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ResultJson<'a> {
    /// Id of the chunk, or of the best one of a passage.
    chunk_id: ChunkId,
    /// The sum of the two terms in `score_breakdown`: above 0, at most 2/61 unless `search.rrf_k` is set.
    /// Larger is better.
    score: f64,
    /// With `search.rerank_command`: the score that its program gave; absent from results after the first 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    rerank_score: Option<f64>,
    /// The contribution of each leg to the score.
    score_breakdown: BreakdownJson,
    /// The chunk's own text, without its context, or the text of the passage.
    text: &'a str,
    /// The source of the text, for citations.
    source: PlaceJson<'a>,
    /// The ranks and scores of the chunk in each leg.
    evidence: EvidenceJson,
    /// With `--explain`: the terms of the query in it.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    terms: &'a [TermMatch],
    /// With several phrasings: what each contributes, in the order of `queries`.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    by_query: &'a [Contribution],
    /// Number of near copies of this chunk that were left out; absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    copies: Option<u32>,
    /// With `--budget` or `--context`: the chunks of the passage, in order; of a long table, not all rows are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk_ids: Option<&'a [ChunkId]>,
    /// With `--budget` or `--context`: tokens of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<usize>,
}

/// The contribution of each leg to a score.
#[derive(Serialize, JsonSchema)]
struct BreakdownJson {
    /// Term of the keyword leg, `fts_weight / (60 + fts_rank)` (60 is `search.rrf_k`); null if the leg did
    /// not run or did not find the chunk.
    fts: Option<f64>,
    /// Term of the vector leg, `vector_weight / (60 + vector_rank)`; null if the leg did not run, did not
    /// find the chunk or was left out.
    vector: Option<f64>,
}

/// The source of a text.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Source")]
struct PlaceJson<'a> {
    /// If several knowledge bases were searched: the name of the one it is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<&'a str>,
    #[serde(flatten)]
    source: SourceJson<'a>,
    /// First page, from 1; null for a document without pages.
    page: Option<u32>,
    /// Position of the chunk in its document, from 0.
    chunk_index: u32,
    /// Number of chunks of the document.
    total_chunks: u32,
    /// Tags of the document, in alphabetical order.
    tags: &'a [String],
    /// Headings above the text, without the title, joined by ` > `; null if there are none.
    section: Option<&'a str>,
    /// Programming language of source code, else null.
    language: Option<&'a str>,
    /// Qualified name of the function, class or type; null except for code.
    symbol: Option<&'a str>,
    /// First line in the file, from 1; null if lines are unknown, as in a PDF.
    start_line: Option<u32>,
    /// Last line in the file, inclusive.
    end_line: Option<u32>,
    /// Last page, inclusive.
    last_page: Option<u32>,
    /// The place of the passage's best line, as people cite it; null if only the range above is known, because an older kb
    /// stored the chunk.
    at: Option<AtJson<'a>>,
    /// The label of the first page, such as `iv`; null if it is the page number.
    page_label: Option<&'a str>,
    /// The document's date: YYYY-MM-DD.
    date: Option<&'a str>,
    /// The origin of the date: `user`, `document`, `file` or `added`.
    date_origin: Option<&'a str>,
    /// Whether the document says that it is out of date.
    superseded: bool,
    /// The path or title of what replaces it, as written; null if it does not say.
    superseded_by: Option<&'a str>,
    /// If its file is a conflict copy, which a program that synchronises folders has made: the path of the original. Absent
    /// otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    conflict_of: Option<&'a str>,
    /// `changed` if the file has other bytes than when it was indexed, `missing` if it is not there any
    /// more; null if it is unchanged, or if there is no file.
    stale: Option<&'static str>,
}

/// The place of a line.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "At")]
struct AtJson<'a> {
    /// Its page, from 1; null for a document without pages.
    page: Option<u32>,
    /// Headings above it, without the title, joined by ` > `; null if there are none.
    section: Option<&'a str>,
    /// The line in the file, from 1; null if lines are unknown.
    line: Option<u32>,
    /// Qualified name of the function, class or type that it is in; null except for code.
    symbol: Option<&'a str>,
}

/// The ranks and scores of a chunk in each leg; null if the leg did not run or did not find it.
#[derive(Serialize, JsonSchema)]
struct EvidenceJson {
    /// Rank by keywords, from 1.
    fts_rank: Option<u32>,
    /// BM25 over context, text and document. Larger is better; comparable only within one answer.
    bm25: Option<f64>,
    /// Rank by meaning, from 1.
    vector_rank: Option<u32>,
    /// Cosine of the vectors of query and chunk, -1 to 1.
    cosine: Option<f64>,
    /// How well the words of the query have a match in the chunk: the mean over the query's tokens of the
    /// best cosine with a few neighbouring tokens, -1 to 1. It is part of `vector_rank` and
    /// `vector_weight`. Null after the first 50 candidates, and for a chunk without stored token vectors.
    token_match: Option<f64>,
    /// Weight of the term of the keyword leg, above 0, at most 1.
    fts_weight: Option<f64>,
    /// Weight of the term of the vector leg, above 0, at most 1.
    vector_weight: Option<f64>,
    /// The part of both weights that follows from the document, above 0, at most 1: its name, its other results,
    /// what the passage defines, its age.
    document_weight: f64,
    /// The part of `document_weight` that follows from the document's age, 0.95 to 1, and less for an older edition;
    /// null unless newer documents are preferred.
    recency: Option<f64>,
}

impl<'a> From<&'a Hit> for ResultJson<'a> {
    fn from(hit: &'a Hit) -> Self {
        let (document, stored) = (&hit.stored, &hit.stored.chunk);
        let chunk = &stored.chunk;
        Self {
            chunk_id: stored.id,
            score: hit.score,
            rerank_score: hit.rerank_score,
            score_breakdown: BreakdownJson {
                fts: hit.keyword.map(|leg| leg.term),
                vector: hit.vector.map(|leg| leg.term),
            },
            text: &chunk.text,
            source: PlaceJson {
                base: hit.base.as_deref(),
                source: document.into(),
                page: chunk.pages.map(PageRange::first),
                chunk_index: stored.chunk_index,
                total_chunks: document.total_chunks,
                tags: &document.tags,
                section: chunk.section.as_deref(),
                language: document.language.as_deref(),
                symbol: chunk.symbol.as_deref(),
                start_line: chunk.lines.map(LineRange::first),
                end_line: chunk.lines.map(LineRange::last),
                last_page: chunk.pages.map(PageRange::last),
                at: hit.at.is_exact.then_some(AtJson {
                    page: hit.at.pages.map(PageRange::first),
                    section: hit.at.section.as_deref(),
                    line: hit.at.line,
                    symbol: hit.at.symbol.as_deref(),
                }),
                page_label: chunk.page_label.as_deref(),
                date: document.date.as_deref(),
                date_origin: document.date_origin.as_deref(),
                superseded: document.superseded.is_some(),
                superseded_by: document.superseded.as_ref().and_then(|mark| mark.by.as_deref()),
                conflict_of: hit.conflict_of.as_deref(),
                stale: hit.stale.map(StaleReason::as_str),
            },
            evidence: EvidenceJson {
                fts_rank: hit.keyword.map(|leg| leg.rank),
                bm25: hit.keyword.map(|leg| leg.raw),
                vector_rank: hit.vector.map(|leg| leg.rank),
                cosine: hit.vector.map(|leg| leg.raw),
                token_match: hit.token_match,
                fts_weight: hit.keyword.map(|leg| leg.weight),
                vector_weight: hit.vector.map(|leg| leg.weight),
                document_weight: hit.document_weight,
                recency: hit.recency,
            },
            terms: &hit.terms,
            by_query: &hit.contributions,
            copies: Some(hit.num_copies).filter(|count| *count > 0),
            chunk_ids: hit.passage.as_ref().map(|passage| passage.chunk_ids.as_slice()),
            tokens: hit.passage.as_ref().map(|passage| passage.num_tokens),
        }
    }
}

impl<'a> From<&'a SearchAnswer> for SearchJson<'a> {
    fn from(answer: &'a SearchAnswer) -> Self {
        let gathered = answer.gathered.as_ref();
        Self {
            query: &answer.typed,
            queries: if answer.also.is_empty() { vec![] } else { answer.phrasings().collect() },
            results: answer.hits.iter().map(ResultJson::from).collect(),
            total_matches: answer.total_matches,
            returned: answer.hits.len(),
            confidence: answer.confidence.map(Confidence::as_str),
            answer_probability: answer.probability(),
            confidence_reason: answer.confidence_reason(),
            unmet_phrases: answer.unmet_phrases(),
            notes: notes(&answer.notes, &answer.hits),
            reranked: answer.reranking.as_ref().map(|outcome| *outcome == Reranking::Done),
            rerank_error: answer.reranking.as_ref().and_then(failure),
            budget: gathered.and_then(|gathered| gathered.budget),
            tokens: gathered.map(|gathered| gathered.num_tokens),
        }
    }
}

/// Returns the notes of an answer, and advice about its stale hits.
fn notes(notes: &[String], hits: &[Hit]) -> Vec<String> {
    notes.iter().cloned().chain(stale::advice(hits).map(|advice| advice.to_string())).collect()
}

fn failure(reranking: &Reranking) -> Option<&str> {
    match reranking {
        Reranking::Done => None,
        Reranking::Failed(reason) => Some(reason),
    }
}

/// Passages similar to a document or a chunk.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SimilarJson<'a> {
    /// The given document; null if a chunk was given.
    document_id: Option<DocumentId>,
    /// The given chunk; null if a document was given.
    chunk_id: Option<ChunkId>,
    /// Most similar first.
    results: Vec<ResultJson<'a>>,
    /// Number of `results`.
    returned: usize,
    /// Further notes, as in the answer to a query; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// Writes passages similar to a document or a chunk.
pub fn similar(found: &SimilarPassages, out: &mut Json<'_>) -> io::Result<()> {
    let hits = &found.hits;
    let (document_id, chunk_id) = match found.seed {
        Seed::Document(id) => (Some(id), None),
        Seed::Chunk(id) => (None, Some(id)),
    };
    out.value(&VersionedAnswer::of(&SimilarJson {
        document_id,
        chunk_id,
        results: hits.iter().map(ResultJson::from).collect(),
        returned: hits.len(),
        notes: notes(&found.notes, hits),
    }))
}
