//! The JSON contract: its own structs, so that renaming a field inside cannot break a script
//! outside. Every documented key is always there; what does not apply is null.
//!
//! Over 400 lines because the whole contract stands in one place.

use std::collections::BTreeMap;
use std::io;
use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::document::Quality;
use crate::error::Error;
use crate::ingest::IngestReport;
use crate::ingest::survey::Survey;
use crate::present::{OcrSetup, Setting, Setup, update};
use crate::read::{Evidence, Passage};
use crate::search::similar::Seed;
use crate::search::{Confidence, Hit, SearchResults, TermMatch};
use crate::store::{Stats, StoredChunk, StoredDocument, TagCount};
use crate::transfer::Imported;

/// Grows only when a documented key is removed, renamed or changes its type.
pub(super) const CONTRACT_VERSION: u32 = 1;

/// Characters of a chunk that `kb info` shows.
pub(super) const PREVIEW_CHARS: usize = 100;

/// Writes one value and a line end.
pub(super) fn write(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

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
pub(super) struct TermJson<'a> {
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

/// Writes a value on a line of its own.
fn write_line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    out.write_all(b"\n")
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

#[derive(Serialize)]
struct DocumentJson<'a> {
    id: i64,
    title: &'a str,
    #[serde(rename = "type")]
    doc_type: &'a str,
    tags: &'a [String],
    chunk_count: u32,
    created_at: &'a str,
    path: Option<&'a str>,
    language: Option<&'a str>,
    updated_at: &'a str,
}

impl<'a> From<&'a StoredDocument> for DocumentJson<'a> {
    fn from(document: &'a StoredDocument) -> Self {
        Self {
            id: document.id,
            title: &document.title,
            doc_type: document.doc_type.as_str(),
            tags: &document.tags,
            chunk_count: document.chunk_count,
            created_at: &document.created_at,
            path: document.path.as_deref(),
            language: document.language.as_deref(),
            updated_at: &document.updated_at,
        }
    }
}

#[derive(Serialize)]
struct ListedJson<'a> {
    #[serde(flatten)]
    document: DocumentJson<'a>,
    quality: Option<QualityJson>,
}

#[derive(Serialize)]
struct QualityJson {
    pages_read: u32,
    pages_ocr: u32,
    pages_empty: u32,
    pages_unread: u32,
    share_not_text: f64,
}

impl From<Quality> for QualityJson {
    fn from(quality: Quality) -> Self {
        Self {
            pages_read: quality.pages_read,
            pages_ocr: quality.pages_ocr,
            pages_empty: quality.pages_empty,
            pages_unread: quality.pages_unread,
            share_not_text: quality.share_not_text(),
        }
    }
}

/// Writes a list of documents.
///
/// # Errors
///
/// What writing gives.
pub fn list(documents: &[StoredDocument], out: &mut dyn Write) -> io::Result<()> {
    let listed = documents.iter().map(|it| ListedJson {
        document: it.into(),
        quality: it.metadata.quality.map(QualityJson::from),
    });
    write(&listed.collect::<Vec<_>>(), out)
}

#[derive(Serialize)]
struct InfoJson<'a> {
    contract_version: u32,
    #[serde(flatten)]
    document: DocumentJson<'a>,
    content_hash: &'a str,
    metadata: MetadataJson<'a>,
    chunks: Vec<ChunkJson<'a>>,
}

#[derive(Serialize)]
struct MetadataJson<'a> {
    format: &'a str,
    author: Option<&'a str>,
    page_count: Option<u32>,
    created: Option<&'a str>,
    language: Option<&'a str>,
    quality: Option<QualityJson>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct ChunkJson<'a> {
    chunk_id: i64,
    chunk_index: u32,
    token_count: u32,
    page: Option<u32>,
    last_page: Option<u32>,
    page_label: Option<&'a str>,
    section: Option<&'a str>,
    symbol: Option<&'a str>,
    start_line: Option<u32>,
    end_line: Option<u32>,
    preview: String,
}

/// Writes one document with its chunks.
///
/// # Errors
///
/// What writing gives.
pub fn info(
    document: &StoredDocument,
    chunks: &[StoredChunk],
    out: &mut dyn Write,
) -> io::Result<()> {
    let metadata = &document.metadata;
    write(
        &InfoJson {
            contract_version: CONTRACT_VERSION,
            document: document.into(),
            content_hash: &document.content_hash,
            metadata: MetadataJson {
                format: &document.format,
                author: metadata.author.as_deref(),
                page_count: metadata.page_count,
                created: metadata.created.as_deref(),
                language: metadata.language.as_deref(),
                quality: metadata.quality.map(QualityJson::from),
                warnings: &metadata.warnings,
            },
            chunks: chunks
                .iter()
                .map(|stored| ChunkJson {
                    chunk_id: stored.id,
                    chunk_index: stored.chunk_index,
                    token_count: stored.chunk.token_count,
                    page: stored.chunk.page,
                    last_page: stored.chunk.last_page,
                    page_label: stored.chunk.page_label.as_deref(),
                    section: stored.chunk.section.as_deref(),
                    symbol: stored.chunk.symbol.as_deref(),
                    start_line: stored.chunk.start_line,
                    end_line: stored.chunk.end_line,
                    preview: stored.chunk.text.chars().take(PREVIEW_CHARS).collect(),
                })
                .collect(),
        },
        out,
    )
}

#[derive(Serialize)]
struct TagJson<'a> {
    name: &'a str,
    count: u32,
}

/// Writes all tags.
///
/// # Errors
///
/// What writing gives.
pub fn tags(tags: &[TagCount], out: &mut dyn Write) -> io::Result<()> {
    let tags: Vec<TagJson<'_>> =
        tags.iter().map(|it| TagJson { name: &it.name, count: it.count }).collect();
    write(&tags, out)
}

#[derive(Serialize)]
struct TaggedJson<'a> {
    contract_version: u32,
    id: i64,
    tags: &'a [String],
}

/// Writes the tags of a document after a change.
///
/// # Errors
///
/// What writing gives.
pub fn tagged(document: &StoredDocument, out: &mut dyn Write) -> io::Result<()> {
    write(
        &TaggedJson { contract_version: CONTRACT_VERSION, id: document.id, tags: &document.tags },
        out,
    )
}

#[derive(Serialize)]
struct StatusJson<'a> {
    contract_version: u32,
    documents: BTreeMap<&'static str, u32>,
    total_chunks: u32,
    db_size_bytes: u64,
    model_name: Option<&'a str>,
    embedding_dim: Option<u32>,
    schema_version: i64,
    model_max_tokens: Option<u32>,
    precision: Option<&'a str>,
    data_dir: String,
    pages: PagesJson,
    ocr: OcrJson<'a>,
    agent_skills: Vec<AgentSkillJson<'a>>,
    out_of_date: Option<OutOfDateJson>,
}

#[derive(Serialize)]
struct AgentSkillJson<'a> {
    path: String,
    version: Option<&'a str>,
    current: bool,
}

/// Files that are not as they were when they were added.
#[derive(Serialize)]
struct OutOfDateJson {
    changed: usize,
    new: usize,
    missing: usize,
    folders_away: usize,
}

#[derive(Serialize)]
struct PagesJson {
    read: u64,
    ocr: u64,
    empty: u64,
    unread: u64,
    documents_with_unread: u32,
}

#[derive(Serialize)]
struct OcrJson<'a> {
    mode: &'a str,
    tesseract: Option<String>,
    languages: &'a str,
}

impl<'a> From<&'a OcrSetup> for OcrJson<'a> {
    fn from(ocr: &'a OcrSetup) -> Self {
        Self {
            mode: &ocr.mode,
            tesseract: ocr.tesseract.as_ref().map(|it| it.display().to_string()),
            languages: &ocr.languages,
        }
    }
}

/// Writes what the database holds.
///
/// # Errors
///
/// What writing gives.
pub fn status(
    setup: &Setup,
    stats: &Stats,
    surveys: Option<&[Survey]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let binding = setup.binding.as_ref();
    write(
        &StatusJson {
            contract_version: CONTRACT_VERSION,
            documents: stats.documents.iter().map(|(it, count)| (it.as_str(), *count)).collect(),
            total_chunks: stats.total_chunks,
            db_size_bytes: stats.db_size_bytes,
            model_name: binding.map(|it| it.model_name.as_str()),
            embedding_dim: binding.map(|it| it.dim),
            schema_version: stats.schema_version,
            model_max_tokens: binding.map(|it| it.max_tokens),
            precision: binding.map(|it| it.precision.as_str()),
            data_dir: setup.data_dir.display().to_string(),
            pages: PagesJson {
                read: stats.pages.read,
                ocr: stats.pages.ocr,
                empty: stats.pages.empty,
                unread: stats.pages.unread,
                documents_with_unread: stats.pages.documents_with_unread,
            },
            ocr: (&setup.ocr).into(),
            agent_skills: setup
                .agent_skills
                .iter()
                .map(|it| AgentSkillJson {
                    path: it.path.display().to_string(),
                    version: it.version.as_deref(),
                    current: it.is_current,
                })
                .collect(),
            out_of_date: surveys.map(|it| {
                let [changed, new, missing, folders_away] = update::counts(it);
                OutOfDateJson { changed, new, missing, folders_away }
            }),
        },
        out,
    )
}

#[derive(Serialize)]
struct SetupJson<'a> {
    contract_version: u32,
    data_dir: String,
    database: String,
    database_exists: bool,
    model_configured: &'a str,
    model_present: bool,
    model_dir: Option<String>,
    runtime: Option<String>,
    model_name: Option<&'a str>,
    embedding_dim: Option<u32>,
    ocr: OcrJson<'a>,
}

/// Writes what is set up.
///
/// # Errors
///
/// What writing gives.
pub fn setup(setup: &Setup, out: &mut dyn Write) -> io::Result<()> {
    write(
        &SetupJson {
            contract_version: CONTRACT_VERSION,
            data_dir: setup.data_dir.display().to_string(),
            database: setup.database.display().to_string(),
            database_exists: setup.database.exists(),
            model_configured: &setup.model_configured,
            model_present: setup.model_dir.is_some(),
            model_dir: setup.model_dir.as_ref().map(|it| it.display().to_string()),
            runtime: setup.runtime.as_ref().map(|it| it.display().to_string()),
            model_name: setup.binding.as_ref().map(|it| it.model_name.as_str()),
            embedding_dim: setup.binding.as_ref().map(|it| it.dim),
            ocr: (&setup.ocr).into(),
        },
        out,
    )
}

#[derive(Serialize)]
struct ReportJson<'a> {
    contract_version: u32,
    added: usize,
    updated: usize,
    skipped: usize,
    ignored: usize,
    failed: usize,
    chunks: usize,
    document_ids: &'a [i64],
    errors: Vec<FailedJson>,
}

#[derive(Serialize)]
struct FailedJson {
    path: String,
    code: &'static str,
    error: String,
}

/// Writes what a run of `kb add` did.
///
/// # Errors
///
/// What writing gives.
pub fn report(report: &IngestReport, out: &mut dyn Write) -> io::Result<()> {
    write(
        &ReportJson {
            contract_version: CONTRACT_VERSION,
            added: report.added,
            updated: report.updated,
            skipped: report.skipped,
            ignored: report.ignored,
            failed: report.failed.len(),
            chunks: report.num_chunks,
            document_ids: &report.document_ids,
            errors: report
                .failed
                .iter()
                .map(|(path, error)| FailedJson {
                    path: path.display().to_string(),
                    code: error.code(),
                    error: error.to_string(),
                })
                .collect(),
        },
        out,
    )
}

#[derive(Serialize)]
struct RemovedJson<'a> {
    contract_version: u32,
    removed: &'a [i64],
}

/// Writes the ids of removed documents.
///
/// # Errors
///
/// What writing gives.
pub fn removed(ids: &[i64], out: &mut dyn Write) -> io::Result<()> {
    write(&RemovedJson { contract_version: CONTRACT_VERSION, removed: ids }, out)
}

#[derive(Serialize)]
struct BackupJson {
    contract_version: u32,
    file: String,
    db_size_bytes: u64,
    total_documents: u32,
    total_chunks: u32,
}

/// Writes what a copy of the database holds.
///
/// # Errors
///
/// What writing gives.
pub fn backup(file: &Path, stats: &Stats, out: &mut dyn Write) -> io::Result<()> {
    let json = BackupJson {
        contract_version: CONTRACT_VERSION,
        file: file.display().to_string(),
        db_size_bytes: stats.db_size_bytes,
        total_documents: stats.total_documents(),
        total_chunks: stats.total_chunks,
    };
    write(&json, out)
}

#[derive(Serialize)]
struct ImportedJson {
    contract_version: u32,
    imported: usize,
    chunks: usize,
    skipped: usize,
    failed: usize,
}

/// Writes what a run of `kb import` did.
///
/// # Errors
///
/// What writing gives.
pub fn imported(imported: &Imported, out: &mut dyn Write) -> io::Result<()> {
    let json = ImportedJson {
        contract_version: CONTRACT_VERSION,
        imported: imported.num_documents,
        chunks: imported.num_chunks,
        skipped: imported.num_skipped,
        failed: imported.num_failed,
    };
    write(&json, out)
}

#[derive(Serialize)]
struct ReindexedJson<'a> {
    contract_version: u32,
    chunks: u64,
    model_name: &'a str,
    embedding_dim: u32,
}

/// Writes what a run of `kb reindex` did.
///
/// # Errors
///
/// What writing gives.
pub fn reindexed(
    num_chunks: u64,
    model_name: &str,
    embedding_dim: u32,
    out: &mut dyn Write,
) -> io::Result<()> {
    let contract_version = CONTRACT_VERSION;
    write(&ReindexedJson { contract_version, chunks: num_chunks, model_name, embedding_dim }, out)
}

#[derive(Serialize)]
struct SettingJson<'a> {
    key: &'a str,
    value: &'a str,
    origin: &'a str,
}

/// Writes every setting.
///
/// # Errors
///
/// What writing gives.
pub fn settings(settings: &[Setting], out: &mut dyn Write) -> io::Result<()> {
    let settings: Vec<SettingJson<'_>> = settings
        .iter()
        .map(|it| SettingJson { key: &it.key, value: &it.value, origin: &it.origin })
        .collect();
    write(&settings, out)
}

#[derive(Serialize)]
struct ErrorJson {
    error: String,
    code: &'static str,
    fix: Option<String>,
}

/// Writes an error on a line of its own.
///
/// # Errors
///
/// What writing gives.
pub fn error_line(error: &Error, out: &mut dyn Write) -> io::Result<()> {
    write_line(&ErrorJson { error: error.to_string(), code: error.code(), fix: error.hint() }, out)
}

/// Writes an error.
///
/// # Errors
///
/// What writing gives.
pub fn error(error: &Error, out: &mut dyn Write) -> io::Result<()> {
    write(&ErrorJson { error: error.to_string(), code: error.code(), fix: error.hint() }, out)
}
