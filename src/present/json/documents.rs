//! Documents and their tags in, JSON out.

use std::io;
use std::io::Write;

use serde::Serialize;

use crate::document::Quality;
use crate::present::json::{CONTRACT_VERSION, write};
use crate::store::{StoredChunk, StoredDocument, TagCount};

/// Characters of a chunk that `kb info` shows.
pub(in crate::present) const PREVIEW_CHARS: usize = 100;

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
