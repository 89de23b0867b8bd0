//! How a run goes: what is looked at, how it is read, how it is cut. Nothing in.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::chunk::{ChunkOptions, Strategy};
use crate::document::DocType;
use crate::extract::sandbox::ReadOptions;
use crate::ingest::detect::Wanted;
use crate::ingest::walk::WalkOptions;

/// How files are ingested.
#[derive(Debug, Clone)]
pub struct IngestOptions {
    /// Which files of a folder are looked at.
    pub walk: WalkOptions,
    /// What the files are, where the user says so.
    pub wanted: Wanted,
    /// Title instead of the document's own; for a single document.
    pub title: Option<String>,
    /// Tags every document of the run gets.
    pub tags: Vec<String>,
    /// How documents are cut.
    pub chunking: ChunkingOptions,
    /// How files are read that are read in a child process.
    pub pdf: ReadOptions,
    /// Threads that read, extract and chunk.
    pub num_workers: usize,
    /// Documents that may be under way at once; each is committed for itself.
    pub batch_size: usize,
    /// Threads that embed.
    pub num_embedders: usize,
    /// Processor time that one document may take here, over all threads. What a child process takes to
    /// read it is bounded by [`ReadOptions`].
    pub max_cpu: Duration,
    /// Becomes true when the run is to end; what is committed stays.
    pub is_cancelled: Arc<AtomicBool>,
    /// Documents that are known get no tags: what the user took from them stays away.
    pub keeps_tags: bool,
}

impl IngestOptions {
    /// Returns what the configuration has as its defaults. `reader` is the program `kb`, which is
    /// started to read PDFs and the like; the numbers of tokens are those of [`ChunkOptions`].
    pub fn new(reader: PathBuf, model_tokens: usize, reserved_tokens: usize) -> Self {
        Self {
            walk: WalkOptions { max_file_mb: 100, follow_links: false },
            wanted: Wanted::default(),
            title: None,
            tags: Vec::new(),
            chunking: ChunkingOptions::new(model_tokens, reserved_tokens),
            pdf: ReadOptions::new(reader),
            num_workers: 4,
            batch_size: 50,
            num_embedders: 1,
            max_cpu: Duration::from_secs(600),
            is_cancelled: Arc::default(),
            keeps_tags: false,
        }
    }
}

/// How documents are cut, by type.
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
    /// Returns what the configuration has as its defaults; the model's limit holds everywhere.
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
