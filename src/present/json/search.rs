//! Answers to queries in, JSON out.

use std::io;
use std::io::Write;

use serde::Serialize;

use crate::present::json::{CONTRACT_VERSION, write, write_line};
use crate::read::{Evidence, Passage};
use crate::search::similar::Seed;
use crate::search::{Confidence, Hit, SearchResults, TermMatch};

/// Writes a vector as an array on a line of its own.
///
/// # Errors
///
/// Whatever writing to `out` gives.
pub fn vector(vector: &[f32], out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, vector)?;
    out.write_all(b"\n")
}

#[derive(Serialize)]
struct SearchJson<'a> {
    contract_version: u32,
    query: &'a str,
    results: Vec<ResultJson<'a>>,
    total_matches: usize,
    returned: usize,
    confidence: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<usize>,
}

#[derive(Serialize)]
struct ResultJson<'a> {
    chunk_id: i64,
    score: f64,
    score_breakdown: BreakdownJson,
    text: &'a str,
    source: SourceJson<'a>,
    evidence: EvidenceJson,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    terms: Vec<TermJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk_ids: Option<&'a [i64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<usize>,
}

/// What a term of the query did for a chunk.
#[derive(Serialize)]
pub(in crate::present) struct TermJson<'a> {
    term: &'a str,
    chunks: u32,
    weight: f64,
    in_context: u32,
    in_text: u32,
    in_document: u32,
    bm25: f64,
}

impl<'a> From<&'a TermMatch> for TermJson<'a> {
    fn from(found: &'a TermMatch) -> Self {
        Self {
            term: &found.term,
            chunks: found.num_chunks,
            weight: found.weight,
            in_context: found.in_context,
            in_text: found.in_text,
            in_document: found.in_document,
            bm25: found.score,
        }
    }
}

#[derive(Serialize)]
struct BreakdownJson {
    fts: Option<f64>,
    vector: Option<f64>,
}

#[derive(Serialize)]
struct SourceJson<'a> {
    document_id: i64,
    title: &'a str,
    path: Option<&'a str>,
    #[serde(rename = "type")]
    doc_type: &'a str,
    page: Option<u32>,
    chunk_index: u32,
    total_chunks: u32,
    tags: &'a [String],
    section: Option<&'a str>,
    language: Option<&'a str>,
    symbol: Option<&'a str>,
    start_line: Option<u32>,
    end_line: Option<u32>,
    last_page: Option<u32>,
    page_label: Option<&'a str>,
    date: Option<&'a str>,
    date_origin: Option<&'a str>,
}

#[derive(Serialize)]
struct EvidenceJson {
    fts_rank: Option<u32>,
    bm25: Option<f64>,
    vector_rank: Option<u32>,
    cosine: Option<f64>,
    fts_weight: Option<f64>,
    vector_weight: Option<f64>,
}

impl<'a> From<&'a Hit> for ResultJson<'a> {
    fn from(hit: &'a Hit) -> Self {
        let (document, stored) = (&hit.stored, &hit.stored.chunk);
        let chunk = &stored.chunk;
        Self {
            chunk_id: stored.id,
            score: hit.score,
            score_breakdown: BreakdownJson {
                fts: hit.keyword.map(|it| it.term),
                vector: hit.vector.map(|it| it.term),
            },
            text: &chunk.text,
            source: SourceJson {
                document_id: document.document_id,
                title: &document.title,
                path: document.path.as_deref(),
                doc_type: document.doc_type.as_str(),
                page: chunk.page,
                chunk_index: stored.chunk_index,
                total_chunks: document.total_chunks,
                tags: &document.tags,
                section: chunk.section.as_deref(),
                language: document.language.as_deref(),
                symbol: chunk.symbol.as_deref(),
                start_line: chunk.start_line,
                end_line: chunk.end_line,
                last_page: chunk.last_page,
                page_label: chunk.page_label.as_deref(),
                date: document.date.as_deref(),
                date_origin: document.date_origin.as_deref(),
            },
            evidence: EvidenceJson {
                fts_rank: hit.keyword.map(|it| it.rank),
                bm25: hit.keyword.map(|it| it.raw),
                vector_rank: hit.vector.map(|it| it.rank),
                cosine: hit.vector.map(|it| it.raw),
                fts_weight: hit.keyword.map(|it| it.weight),
                vector_weight: hit.vector.map(|it| it.weight),
            },
            terms: hit.terms.iter().map(TermJson::from).collect(),
            chunk_ids: None,
            tokens: None,
        }
    }
}

impl<'a> From<&'a Passage> for ResultJson<'a> {
    fn from(passage: &'a Passage) -> Self {
        Self {
            chunk_ids: Some(&passage.chunk_ids),
            tokens: Some(passage.num_tokens),
            ..Self::from(&passage.hit)
        }
    }
}

impl<'a> From<&'a SearchResults> for SearchJson<'a> {
    fn from(results: &'a SearchResults) -> Self {
        Self {
            contract_version: CONTRACT_VERSION,
            query: &results.typed,
            results: results.hits.iter().map(ResultJson::from).collect(),
            total_matches: results.total_matches,
            returned: results.hits.len(),
            confidence: results.confidence.map(Confidence::as_str),
            budget: None,
            tokens: None,
        }
    }
}

impl<'a> From<&'a Evidence> for SearchJson<'a> {
    fn from(evidence: &'a Evidence) -> Self {
        Self {
            contract_version: CONTRACT_VERSION,
            query: &evidence.typed,
            results: evidence.passages.iter().map(ResultJson::from).collect(),
            total_matches: evidence.total_matches,
            returned: evidence.passages.len(),
            confidence: evidence.confidence.map(Confidence::as_str),
            budget: evidence.budget,
            tokens: Some(evidence.num_tokens),
        }
    }
}

/// Writes the answer to a query.
///
/// # Errors
///
/// What writing gives.
pub fn search(results: &SearchResults, out: &mut dyn Write) -> io::Result<()> {
    write(&SearchJson::from(results), out)
}

/// Writes the answer to a query as passages with their tokens.
///
/// # Errors
///
/// What writing gives.
pub fn evidence(evidence: &Evidence, out: &mut dyn Write) -> io::Result<()> {
    write(&SearchJson::from(evidence), out)
}

/// Writes the answer to one of several queries on a line of its own.
///
/// # Errors
///
/// What writing gives.
pub fn search_line(results: &SearchResults, out: &mut dyn Write) -> io::Result<()> {
    write_line(&SearchJson::from(results), out)
}

/// Writes the answer to one of several queries, as passages, on a line of its own.
///
/// # Errors
///
/// What writing gives.
pub fn evidence_line(evidence: &Evidence, out: &mut dyn Write) -> io::Result<()> {
    write_line(&SearchJson::from(evidence), out)
}

/// Writes one hit a line.
///
/// # Errors
///
/// What writing gives.
pub fn hit_lines(hits: &[Hit], out: &mut dyn Write) -> io::Result<()> {
    hits.iter().try_for_each(|it| write_line(&ResultJson::from(it), out))
}

/// Writes one passage a line.
///
/// # Errors
///
/// What writing gives.
pub fn passage_lines(passages: &[Passage], out: &mut dyn Write) -> io::Result<()> {
    passages.iter().try_for_each(|it| write_line(&ResultJson::from(it), out))
}

#[derive(Serialize)]
struct SimilarJson<'a> {
    contract_version: u32,
    document_id: Option<i64>,
    chunk_id: Option<i64>,
    results: Vec<ResultJson<'a>>,
    returned: usize,
}

/// Writes what is like a document or a chunk.
///
/// # Errors
///
/// What writing gives.
pub fn similar(seed: Seed, hits: &[Hit], out: &mut dyn Write) -> io::Result<()> {
    let (document_id, chunk_id) = match seed {
        Seed::Document(id) => (Some(id), None),
        Seed::Chunk(id) => (None, Some(id)),
    };
    write(
        &SimilarJson {
            contract_version: CONTRACT_VERSION,
            document_id,
            chunk_id,
            results: hits.iter().map(ResultJson::from).collect(),
            returned: hits.len(),
        },
        out,
    )
}
