//! Presents documents and tags as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{ChunkId, DocumentId, Quality};
use crate::present::json::CONTRACT_VERSION;
use crate::store::{ListedDocument, StoredChunk, StoredDocument, TagCount};
use crate::text::json::Json;

/// Characters of a chunk that `kb info` shows.
pub(in crate::present) const PREVIEW_CHARS: usize = 100;

/// A document.
#[derive(Serialize, JsonSchema)]
struct DocumentJson<'a> {
    /// Id, as `kb info` takes it.
    id: DocumentId,
    /// Title.
    title: &'a str,
    /// `pdf`, `markdown`, `code` or `note`.
    #[serde(rename = "type")]
    doc_type: &'a str,
    /// Tags, in the order of the alphabet.
    tags: &'a [String],
    /// Chunks it has.
    chunk_count: u32,
    /// When it was added first: RFC 3339, UTC, whole seconds.
    created_at: &'a str,
    /// Absolute path of its file; null for a note given as text.
    path: Option<&'a str>,
    /// Programming language of source code, else null.
    language: Option<&'a str>,
    /// When its content was read last: RFC 3339, UTC, whole seconds.
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

impl<'a> From<&'a ListedDocument> for DocumentJson<'a> {
    fn from(document: &'a ListedDocument) -> Self {
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

/// A document of the list.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ListedJson<'a> {
    /// The document.
    #[serde(flatten)]
    document: DocumentJson<'a>,
    /// How well its pages could be read; null where it has none.
    quality: Option<QualityJson>,
}

/// How well pages could be read.
#[derive(Serialize, JsonSchema)]
struct QualityJson {
    /// Pages with text.
    pages_read: u32,
    /// Pages of those whose text was read by OCR.
    pages_ocr: u32,
    /// Pages with nothing to read.
    pages_empty: u32,
    /// Pages whose text could not be read.
    pages_unread: u32,
    /// Share of visible characters that are no text, 0 to 1.
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
pub fn list(documents: &[ListedDocument], out: &mut Json<'_>) -> io::Result<()> {
    let listed = documents.iter().map(|document| ListedJson {
        document: document.into(),
        quality: document.quality.map(QualityJson::from),
    });
    out.value(&listed.collect::<Vec<_>>())
}

/// One document with its chunks.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct InfoJson<'a> {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// The document.
    #[serde(flatten)]
    document: DocumentJson<'a>,
    /// SHA-256 of its bytes, in hexadecimal.
    content_hash: &'a str,
    /// What it says of itself.
    metadata: MetadataJson<'a>,
    /// In their order.
    chunks: Vec<ChunkJson<'a>>,
}

/// What a document says of itself.
#[derive(Serialize, JsonSchema)]
struct MetadataJson<'a> {
    /// What the file is, more exactly than its type: `docx`, `html`, `png`.
    format: &'a str,
    /// Author, where it names one.
    author: Option<&'a str>,
    /// Pages; null where it has none.
    page_count: Option<u32>,
    /// When it was written, as it says: RFC 3339 where that could be read as a date.
    created: Option<&'a str>,
    /// Natural language it states: `en`, `de-CH`.
    language: Option<&'a str>,
    /// How well its pages could be read; null where it has none.
    quality: Option<QualityJson>,
    /// What could not be read, a sentence each.
    warnings: &'a [String],
}

/// A chunk.
#[derive(Serialize, JsonSchema)]
struct ChunkJson<'a> {
    /// Id, as `kb show --chunk` takes it.
    chunk_id: ChunkId,
    /// Position in the document, from 0.
    chunk_index: u32,
    /// Tokens the model reads of it, context and special tokens included.
    token_count: u32,
    /// First page, from 1; null where there are none.
    page: Option<u32>,
    /// Last page, included.
    last_page: Option<u32>,
    /// What the first page calls itself where that is not its number.
    page_label: Option<&'a str>,
    /// Headings above it below the title, joined by ` > `; null at the top.
    section: Option<&'a str>,
    /// Qualified name of the function, class or type; null outside of code.
    symbol: Option<&'a str>,
    /// First line in the file, from 1, where lines are known.
    start_line: Option<u32>,
    /// Last line in the file, included.
    end_line: Option<u32>,
    /// Its first 100 characters.
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
    out: &mut Json<'_>,
) -> io::Result<()> {
    let metadata = &document.metadata;
    out.value(&InfoJson {
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
    })
}

/// A tag.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct TagJson<'a> {
    /// The tag.
    name: &'a str,
    /// Number of documents that have it.
    count: u32,
}

/// Writes all tags.
///
/// # Errors
///
/// What writing gives.
pub fn tags(tags: &[TagCount], out: &mut Json<'_>) -> io::Result<()> {
    let tags: Vec<TagJson<'_>> =
        tags.iter().map(|tag| TagJson { name: &tag.name, count: tag.count }).collect();
    out.value(&tags)
}

/// The tags of a document after a change.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct TaggedJson<'a> {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// The document.
    id: DocumentId,
    /// All its tags, in the order of the alphabet.
    tags: &'a [String],
}

/// Writes the tags of a document after a change.
///
/// # Errors
///
/// What writing gives.
pub fn tagged(document: &StoredDocument, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&TaggedJson {
        contract_version: CONTRACT_VERSION,
        id: document.id,
        tags: &document.tags,
    })
}

/// What was removed.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct RemovedJson<'a> {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Ids of the documents, as they were named.
    removed: &'a [DocumentId],
}

/// Writes the ids of removed documents.
///
/// # Errors
///
/// What writing gives.
pub fn removed(ids: &[DocumentId], out: &mut Json<'_>) -> io::Result<()> {
    out.value(&RemovedJson { contract_version: CONTRACT_VERSION, removed: ids })
}
