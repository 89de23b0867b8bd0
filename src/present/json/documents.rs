//! Writes documents as JSON: a list, one document with its chunks, what was edited, and tags.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::maintenance::tag::TaggedDocuments;
use crate::app::query::read::DocumentInfo;
use crate::document::{Chunk, DocType, FileParts, Quality, StaleReason, WordAccount};
use crate::present::json::{VersionedAnswer, answer};
use crate::read::DocumentLinks;
use crate::store::{
    ChunkId, DocumentId, ListedDocument, PassingDocument, StoredDocument, StoredHit,
};
use crate::text::decode::TextEncoding;
use crate::text::json::Json;
use crate::text::{fields, paths};

/// Characters of a chunk that `kb info` shows.
pub(crate) const PREVIEW_CHARS: usize = 100;

/// A document of the list.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ListedJson<'a> {
    /// The document.
    #[serde(flatten)]
    document: &'a ListedDocument,
    /// Where its words went: how many of them for each reason; null for a document that an older kb read.
    words: Option<WordAccount>,
    /// How well its pages could be read; null for a document without pages.
    quality: Option<QualityJson>,
}

/// How well pages could be read.
#[derive(Serialize, JsonSchema)]
struct QualityJson {
    /// Pages with text.
    pages_read: u32,
    /// How many of these were read by OCR.
    pages_ocr: u32,
    /// Pages without content.
    pages_empty: u32,
    /// Pages whose text could not be read.
    pages_unread: u32,
    /// Share of visible characters that are not text, 0 to 1.
    share_not_text: f64,
    /// Share of words that were found without spaces between their parts, 0 to 1. Most of them are
    /// separated.
    share_glued: f64,
    /// Share of the words read by OCR that it is not sure of, 0 to 1.
    share_unsure: f64,
}

impl From<Quality> for QualityJson {
    fn from(quality: Quality) -> Self {
        Self {
            pages_read: quality.pages_read,
            pages_ocr: quality.pages_ocr,
            pages_empty: quality.pages_empty,
            pages_unread: quality.pages_unread,
            share_not_text: quality.share_not_text(),
            share_glued: quality.share_glued(),
            share_unsure: quality.share_unsure(),
        }
    }
}

/// Writes a list of documents.
pub fn list(documents: &[ListedDocument], out: &mut Json<'_>) -> io::Result<()> {
    let listed = documents.iter().map(|document| ListedJson {
        document,
        words: document.words(),
        quality: document.quality.map(QualityJson::from),
    });
    out.value(&listed.collect::<Vec<_>>())
}

/// One document with its chunks.
#[derive(Serialize, JsonSchema)]
pub(crate) struct InfoJson<'a> {
    /// The document.
    #[serde(flatten)]
    document: &'a StoredDocument,
    /// `changed` if the file has other bytes than when it was indexed, `missing` if it is not there any
    /// more; null if it is unchanged, or if there is no file.
    stale: Option<&'static str>,
    /// SHA-256 of its bytes, in hexadecimal.
    content_hash: &'a str,
    /// Metadata that it states.
    metadata: MetadataJson<'a>,
    /// Its chunks in order.
    chunks: Vec<ChunkJson<'a>>,
    #[serde(flatten)]
    links: &'a DocumentLinks,
}

/// Metadata stated by a document.
#[derive(Serialize, JsonSchema)]
struct MetadataJson<'a> {
    /// The exact format of the file: `docx`, `html`, `png`.
    format: &'a str,
    /// Author, if stated.
    author: Option<&'a str>,
    /// Number of pages; null for a document without pages.
    page_count: Option<u32>,
    /// Stated date of creation: RFC 3339 if it could be parsed as a date.
    created: Option<&'a str>,
    /// The day that the user gave it, which takes precedence; null without.
    date: Option<&'a str>,
    /// Stated natural language: `en`, `de-CH`.
    language: Option<&'a str>,
    /// Whether it says that it is out of date.
    superseded: bool,
    /// The path or title of what replaces it, as written; null if it does not say.
    superseded_by: Option<&'a str>,
    /// Recognised natural language: `en`, `de`; null for source code, and if it is not clear.
    natural_language: Option<&'a str>,
    /// How well its pages could be read; null for a document without pages.
    quality: Option<QualityJson>,
    /// Where its words went: how many of them for each reason; null for a document that an older kb read.
    words: Option<&'a WordAccount>,
    /// The outcome of each part of its file; null for a file without parts, and if an older kb read it.
    parts: Option<&'a FileParts>,
    /// The encoding of its text and how it was found; null for sound UTF-8, and for a file that is not text.
    encoding: Option<&'a TextEncoding>,
    /// Warnings about what could not be read, one sentence each.
    warnings: &'a [String],
    /// Its name in the file that contains it, such as an archive or a mailbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<&'a str>,
}

/// A chunk.
#[derive(Serialize, JsonSchema)]
struct ChunkJson<'a> {
    /// Id, as `kb show --chunk` takes it.
    chunk_id: ChunkId,
    /// Position in the document, from 0.
    chunk_index: u32,
    /// Where it is.
    #[serde(flatten)]
    chunk: &'a Chunk,
    /// Its first 100 characters.
    preview: String,
}

/// Writes one document with its chunks.
pub fn info(info: &DocumentInfo, out: &mut Json<'_>) -> io::Result<()> {
    let DocumentInfo { document, chunks, stale, links } = info;
    let metadata = &document.metadata;
    out.value(&VersionedAnswer::of(&InfoJson {
        document,
        stale: stale.map(StaleReason::as_str),
        content_hash: &document.content_hash,
        metadata: MetadataJson {
            format: &document.format,
            author: metadata.author.as_deref(),
            page_count: metadata.page_count,
            created: metadata.created.as_deref(),
            date: document.date_given.as_deref(),
            language: metadata.language.as_deref(),
            superseded: metadata.superseded.is_some(),
            superseded_by: metadata.superseded.as_ref().and_then(|mark| mark.by.as_deref()),
            natural_language: metadata.natural_language.as_deref(),
            quality: metadata.quality.map(QualityJson::from),
            words: metadata.words.as_ref(),
            parts: metadata.parts.as_ref(),
            encoding: metadata.encoding.as_ref(),
            warnings: &metadata.warnings,
            member: document.path.as_deref().and_then(|path| paths::split_member(path).1),
        },
        chunks: chunks
            .iter()
            .map(|stored| ChunkJson {
                chunk_id: stored.id,
                chunk_index: stored.chunk_index,
                chunk: &stored.chunk,
                preview: stored.chunk.text.chars().take(PREVIEW_CHARS).collect(),
            })
            .collect(),
        links,
    }))
}

/// A document after `kb edit`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EditedJson<'a> {
    /// The document.
    id: DocumentId,
    /// Its title.
    title: &'a str,
    /// All its tags, in alphabetical order.
    tags: &'a [String],
    /// The day that the user gave it; null without.
    date: Option<&'a str>,
    /// The kind of change: `title`, `tags`, `date`, `text`.
    changed: &'a [&'static str],
}

/// Writes a document after it was edited, and what changed.
pub fn edited(
    document: &StoredDocument,
    changed: &[&'static str],
    out: &mut Json<'_>,
) -> io::Result<()> {
    out.value(&VersionedAnswer::of(&EditedJson {
        id: document.id,
        title: &document.title,
        tags: &document.tags,
        date: document.date_given.as_deref(),
        changed,
    }))
}

/// The tags of a document after a change.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TaggedJson<'a> {
    /// The document.
    id: DocumentId,
    /// All its tags, in alphabetical order.
    tags: &'a [String],
}

/// Writes the tags of a document after a change.
pub fn tagged(document: &StoredDocument, out: &mut Json<'_>) -> io::Result<()> {
    answer(&TaggedJson { id: document.id, tags: &document.tags }, out)
}

/// The tags of several documents after a change.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TaggedAllJson<'a> {
    /// Number of selected documents.
    selected: usize,
    /// Ids of those whose tags changed.
    changed: &'a [DocumentId],
    /// All selected documents.
    documents: Vec<TagsOfJson<'a>>,
}

/// The tags of a document.
#[derive(Serialize, JsonSchema)]
struct TagsOfJson<'a> {
    /// The document.
    id: DocumentId,
    /// Its title.
    title: &'a str,
    /// All its tags, in alphabetical order.
    tags: &'a [String],
}

/// Writes the tags of several documents after a change.
pub fn tagged_all(tagged: &TaggedDocuments, out: &mut Json<'_>) -> io::Result<()> {
    let documents = tagged.documents.iter().map(|document| TagsOfJson {
        id: document.id,
        title: &document.title,
        tags: &document.tags,
    });
    out.value(&VersionedAnswer::of(&TaggedAllJson {
        selected: tagged.documents.len(),
        changed: &tagged.changed,
        documents: documents.collect(),
    }))
}

/// Where a text is from.
#[derive(Serialize, JsonSchema)]
pub(super) struct SourceJson<'a> {
    /// Id of the document, as `kb info` takes it.
    document_id: DocumentId,
    /// Title of the document.
    title: &'a str,
    #[serde(flatten, serialize_with = "fields::place")]
    #[schemars(with = "fields::FileLocation<'_>")]
    path: &'a Option<String>,
    /// `pdf`, `markdown`, `code` or `note`.
    #[serde(rename = "type")]
    doc_type: DocType,
    /// The format of its file, as `--type` takes it: `docx`, `html`, `eml`, `python`.
    format: &'a str,
}

impl<'a> From<&'a StoredDocument> for SourceJson<'a> {
    fn from(document: &'a StoredDocument) -> Self {
        let StoredDocument { id, title, path, doc_type, format, .. } = document;
        Self { document_id: *id, title, path, doc_type: *doc_type, format }
    }
}

impl<'a> From<&'a StoredHit> for SourceJson<'a> {
    fn from(hit: &'a StoredHit) -> Self {
        let StoredHit { document_id, title, path, doc_type, format, .. } = hit;
        Self { document_id: *document_id, title, path, doc_type: *doc_type, format }
    }
}

impl<'a> From<&'a PassingDocument> for SourceJson<'a> {
    fn from(document: &'a PassingDocument) -> Self {
        let PassingDocument { id, title, path, doc_type, format } = document;
        Self { document_id: *id, title, path, doc_type: *doc_type, format }
    }
}
