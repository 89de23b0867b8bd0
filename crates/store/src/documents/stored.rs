//! Names what is read about documents and chunks.

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::{Chunk, DocType, Metadata, OutdatedNotice, Quality, WordAccount};
use crate::ids::{ChunkId, DocumentId};
use crate::text::decode::TextEncoding;
use crate::text::fields;
use crate::text::language::NaturalLanguage;

/// A stored document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StoredDocument {
    /// Id, as `kb info` takes it.
    pub id: DocumentId,
    /// Title.
    pub title: String,
    /// `pdf`, `markdown`, `code` or `note`.
    #[serde(rename = "type")]
    pub doc_type: DocType,
    /// Tags, in alphabetical order.
    pub tags: Vec<String>,
    /// Number of its chunks.
    pub chunk_count: u32,
    /// When it was first added: RFC 3339, UTC, whole seconds.
    pub created_at: String,
    /// Absolute path of its file; `None` for a note given as text.
    #[serde(flatten, serialize_with = "fields::place")]
    #[schemars(with = "fields::FileLocation<'_>")]
    pub path: Option<String>,
    /// Programming language of source code, else null.
    pub language: Option<String>,
    /// When its content was last read: RFC 3339, UTC, whole seconds.
    pub updated_at: String,
    /// Whether the user gave the title, so that replacing keeps it.
    #[serde(skip)]
    pub is_title_given: bool,
    /// SHA-256 of the file's bytes, lower-case hex.
    #[serde(skip)]
    pub content_hash: String,
    /// The format of its file, as `--type` takes it: `docx`, `html`, `eml`, `python`.
    pub format: String,
    /// Its own metadata.
    #[serde(skip)]
    pub metadata: Metadata,
    /// The day that the user gave it, as in `2026-05-17`.
    #[serde(skip)]
    pub date_given: Option<String>,
}

/// A document in a list. A list of thousands reads nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedDocument {
    /// Id, as `kb info` takes it.
    pub id: DocumentId,
    /// Title.
    pub title: String,
    /// `pdf`, `markdown`, `code` or `note`.
    #[serde(rename = "type")]
    pub doc_type: DocType,
    /// Tags, in alphabetical order.
    pub tags: Vec<String>,
    /// Number of its chunks.
    pub chunk_count: u32,
    /// When it was first added: RFC 3339, UTC, whole seconds.
    pub created_at: String,
    /// Absolute path of its file; `None` for a note given as text.
    #[serde(flatten, serialize_with = "fields::place")]
    #[schemars(with = "fields::FileLocation<'_>")]
    pub path: Option<String>,
    /// Programming language of source code, else null.
    pub language: Option<String>,
    /// The format of its file, as `--type` takes it: `docx`, `html`, `eml`, `python`.
    pub format: String,
    /// When its content was last read: RFC 3339, UTC, whole seconds.
    pub updated_at: String,
    /// The document's date: YYYY-MM-DD.
    pub date: Option<String>,
    /// The origin of the date: `user`, `document`, `file` or `added`.
    pub date_origin: Option<String>,
    /// How well its pages could be read; `None` if it has no pages.
    #[serde(skip)]
    pub quality: Option<Quality>,
    /// Its counts of words, which few readers of a list parse.
    #[serde(skip)]
    pub words_json: Option<String>,
    /// How many parts of its file could not be read.
    #[serde(skip)]
    pub num_unread_parts: u32,
    /// The encoding of its text; `None` for sound UTF-8.
    #[serde(skip)]
    pub encoding: Option<TextEncoding>,
}

impl ListedDocument {
    /// Returns where its words went; `None` for a document that an older kb read.
    pub fn words(&self) -> Option<WordAccount> {
        serde_json::from_str(self.words_json.as_deref()?).ok()
    }
}

/// The names by which a document can be addressed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "RemovedDocument")]
pub struct DocumentName {
    /// Its id.
    pub id: DocumentId,
    /// Its title.
    pub title: String,
    /// Absolute path of its file; null for a note given as text.
    pub path: Option<String>,
}

/// A stored chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChunk {
    /// Its key.
    pub id: ChunkId,
    /// Its position in the document, from 0.
    pub chunk_index: u32,
    /// Its text and its location.
    pub chunk: Chunk,
}

/// The document that a chunk is part of, and the symbol that it defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkOrigin {
    /// Its document.
    pub document_id: DocumentId,
    /// Whether that is source code.
    pub is_code: bool,
    /// The qualified name of what it defines, in source code.
    pub symbol: Option<String>,
    /// Whether its document says that it is out of date.
    pub is_superseded: bool,
    /// Whether its file has the name of a conflict copy.
    pub may_be_conflict_copy: bool,
}

/// A chunk with the properties of its document that are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredHit {
    /// The chunk itself.
    pub chunk: StoredChunk,
    /// The document it belongs to.
    pub document_id: DocumentId,
    /// The document's title.
    pub title: String,
    /// The document's file; `None` for a note given as text.
    pub path: Option<String>,
    /// The document's type.
    pub doc_type: DocType,
    /// How its content was read, as [`crate::document::Format`] names it.
    pub format: String,
    /// The programming language, as [`crate::document::Language`] names it; `None` outside code.
    pub language: Option<String>,
    /// The document's tags in alphabetical order.
    pub tags: Vec<String>,
    /// The document's number of chunks.
    pub total_chunks: u32,
    /// The document's date, as a day.
    pub date: Option<String>,
    /// The source of the date: `document`, `file`, or `added` if neither has a date.
    pub date_origin: Option<String>,
    /// That the document says it is out of date; `None` if it is in force.
    pub superseded: Option<OutdatedNotice>,
    /// Other names of the document.
    pub aliases: Vec<String>,
    /// The natural language of the document, if it is known.
    pub natural_language: Option<NaturalLanguage>,
}
