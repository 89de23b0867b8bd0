//! Defines the options of a run: which files are found, how they are read and how they are split.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::chunk::{ChunkOptions, Strategy};
use crate::document::DocType;
use crate::extract::detect::TypeOverride;
use crate::extract::sandbox::ReadOptions;
use crate::store::DocumentId;
use crate::walk::WalkOptions;

/// How files are ingested.
#[derive(Debug, Clone)]
pub struct IngestOptions {
    /// Which files of a folder are found.
    pub walk: WalkOptions,
    /// The type and language of the files, where the user specifies them.
    pub wanted: TypeOverride,
    /// A title that overrides the document's title; for a single document.
    pub title: Option<String>,
    /// Tags that every document of the run gets.
    pub tags: Vec<String>,
    /// How documents are split.
    pub chunking: ChunkingOptions,
    /// How the child process reads documents.
    pub pdf: ReadOptions,
    /// Threads that read, extract and chunk.
    pub num_workers: usize,
    /// Documents that may be in progress at once; each is committed separately.
    pub batch_size: usize,
    /// Threads that embed.
    pub num_embedders: usize,
    /// Processor time that one document may use in this process, over all threads. [`ReadOptions`]
    /// limits the time of the child process that reads it.
    pub max_cpu: Duration,
    /// Becomes true when the run is cancelled; committed documents stay.
    pub is_cancelled: Arc<AtomicBool>,
    /// Known documents get no tags, so tags that the user removed do not come back.
    pub keeps_tags: bool,
    /// Whether tags in the text of Markdown and notes are tags of the document.
    pub inline_tags: bool,
    /// Documents whose files are read even if they are unchanged.
    pub rereads: Arc<HashSet<DocumentId>>,
}

/// How documents are split, by type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkingOptions {
    /// PDF.
    pub pdf: ChunkOptions,
    /// Markdown and plain text.
    pub markdown: ChunkOptions,
    /// Source code.
    pub code: ChunkOptions,
    /// Notes.
    pub note: ChunkOptions,
}

impl ChunkingOptions {
    /// Returns the defaults of the configuration; the model's limit applies to all types.
    pub fn new(model_tokens: usize, reserved_tokens: usize) -> Self {
        let common = ChunkOptions {
            strategy: Strategy::Structure,
            max_tokens: 1024,
            min_tokens: 50,
            overlap_tokens: 50,
            model_tokens,
            reserved_tokens,
            include_context: true,
        };
        Self {
            pdf: common.clone(),
            markdown: common.clone(),
            code: ChunkOptions { min_tokens: 0, ..common.clone() },
            note: ChunkOptions { strategy: Strategy::Whole, max_tokens: 512, ..common },
        }
    }

    pub(super) fn of(&self, doc_type: DocType) -> &ChunkOptions {
        match doc_type {
            DocType::Pdf => &self.pdf,
            DocType::Markdown => &self.markdown,
            DocType::Code => &self.code,
            DocType::Note => &self.note,
        }
    }
}
