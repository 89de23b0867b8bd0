//! Turns files into stored chunks: walk → detect → extract → chunk → embed → store.
//!
//! ```text
//! planner ──► rayon workers ──────► embedding threads ──► writer (the calling thread)
//! walk        unchanged? read,      one passage after     commits documents in the
//!             hash, detect,         another               order of `order`
//!             extract, chunk
//! ```
//!
//! The number of documents in progress is bounded: each takes a permit when it is found and gives
//! it back when it is committed. [`order`] decides by the files alone who comes first, so the same
//! files get the same ids. A file that cannot be read becomes a line in the report and never stops the run. A
//! failure of the database or of the model stops the run and keeps everything committed before.

#![expect(
    clippy::missing_errors_doc,
    reason = "an error is described where it is made, not again by each function that passes it on"
)]

use kb_base::{document, embedder, error, files, hash, text, trace, wording};
use kb_extract::{self as extract, chunk};
use kb_store as store;

mod decision;
mod edit;
pub mod foresee;
pub mod freshness;
mod ledger;
pub mod making;
mod member_rows;
pub mod mounts;
mod notes;
mod options;
pub mod order;
pub mod pace;
mod passages;
mod pipeline;
mod prepare;
mod report;
pub mod roots;
mod run;
pub mod survey;
pub mod walk;

use std::path::{Path, PathBuf};

use crate::document::Format;
use crate::embedder::Embedder;
use crate::error::Result;
use crate::extract::containers;
use crate::files::reach::Reach;
use crate::files::stamp::Stamp;
use crate::prepare::ReadFile;
use crate::store::DocumentId;
use crate::walk::{FoundFile, Start};

pub use crate::extract::clock::CpuBudget;
pub use crate::extract::detect::NO_EXTENSION;
/// Returns the value of `documents.content_hash` for bytes.
pub use crate::hash::sha256 as content_hash;
pub use edit::EditedText;
pub use notes::check_note;
pub use options::{ChunkingOptions, IngestOptions};
pub use passages::embed;
pub use prepare::{PreparedDocument, guarded};
pub use report::{FailedFile, IngestEvent, IngestReport, OnEvent};
pub use run::IngestRun;

/// The title of a document that has neither a file nor a title.
pub const UNNAMED: &str = "standard input";

impl IngestRun<'_> {
    /// Ingests files and folders.
    pub fn ingest(&mut self, starts: &[Start]) -> Result<()> {
        pipeline::run(self, starts)
    }

    /// Ingests the bytes of a document that has no file. The content decides the format unless the
    /// options do; text is read as Markdown.
    pub fn ingest_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let format = containers::detect_nameless(
            Path::new(UNNAMED),
            bytes,
            self.options.wanted,
            &self.options.pdf,
        )?;
        let (prepared, budget) = make(None, bytes, format, self.options, self.embedder)?;
        self.keep(&prepared, &budget, None)
    }

    /// Embeds and stores a document that has no file, in place of the note `replaced` if there is one.
    fn keep(
        &mut self,
        prepared: &PreparedDocument,
        budget: &CpuBudget,
        replaced: Option<DocumentId>,
    ) -> Result<()> {
        let embeddings = embed(self.embedder, Some(self.store), &prepared.chunks, budget)?;
        let (document, chunks) = (&prepared.document, &prepared.chunks);
        let change = match replaced {
            Some(id) => self.store.replace_note(id, document, chunks, &embeddings)?,
            None => self.store.replace(document, chunks, &embeddings, &|_| false)?,
        };
        self.report.count(change, prepared, self.on_event);
        Ok(())
    }
}

/// Makes a document of bytes, which have no file if they are from a stream. Returns it with the rest of the
/// time budget.
pub fn make(
    file: Option<&FoundFile>,
    bytes: &[u8],
    format: Format,
    options: &IngestOptions,
    embedder: Option<&dyn Embedder>,
) -> Result<(PreparedDocument, CpuBudget)> {
    let stream = FoundFile {
        path: PathBuf::from(UNNAMED),
        stamp: Stamp { size_bytes: bytes.len() as u64, mtime_ns: 0 },
        is_named: true,
        is_included: false,
        // There is no file to open.
        reach: Reach::Anywhere,
        read_as: None,
    };
    let content_hash = content_hash(bytes);
    let found = file.unwrap_or(&stream);
    let read = ReadFile { found, bytes, format, content_hash, given_title: None };
    let budget = CpuBudget::new(options.max_cpu);
    let mut prepared = prepare::prepare_file(read, options, embedder, &budget)?;
    if file.is_none() {
        prepared.document.stamp = None;
    }
    Ok((prepared, budget))
}

#[cfg(test)]
mod tests;
