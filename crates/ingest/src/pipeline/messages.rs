//! Names what the threads of a run send to each other.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::document::{Embedding, FileOutcome};
use crate::error::Result;
use crate::extract::clock::CpuBudget;
use crate::ledger::LedgerFailure;
use crate::prepare::PreparedDocument;
use crate::store::DocumentId;
use crate::walk::{FoundFile, LeftOut};

/// Position of a document in the order of commits, from 0.
pub(super) type Turn = usize;

/// Something with a turn.
pub(super) enum QueuedFile {
    /// A file that is to be read; one in a container with its bytes, and with size and time of the container.
    Read(FoundFile, Option<Vec<u8>>),
    /// Something that is not to be read, such as a container after its files.
    Done(ReadOutcome),
}

/// The outcome of reading a file, before it is embedded.
pub(super) enum ReadOutcome {
    /// New content, and the rest of its time budget.
    Prepared(Box<PreparedDocument>, Arc<CpuBudget>),
    /// The bytes are already stored, at this path or another.
    Known { found: FoundFile, document_id: DocumentId, content_hash: String, is_new_path: bool },
    /// An empty file, or one that is not ingested from folders and containers.
    Ignored(LeftOut),
    /// The file is not read: it failed before and has not changed, or its failure is waived.
    PassedOver { path: PathBuf, outcome: FileOutcome },
    /// The file cannot be ingested, or the run must stop.
    Failed(LedgerFailure),
    /// Every file in a container was seen, or the container is unchanged.
    Container(FinishedContainer),
    /// The run has stopped, and nothing was looked at.
    Stopped,
}

/// A container or a document whose files were seen.
pub(super) struct FinishedContainer {
    pub(super) found: FoundFile,
    /// The paths of its files; `None` if it was not read, because it is unchanged.
    pub(super) members: Option<HashSet<String>>,
    /// Whether it is a document with files in it.
    pub(super) is_document: bool,
}

/// A message of the other threads to the writer.
pub(super) enum Message {
    Found(usize),
    /// Something that the walk left out; it has no turn.
    LeftOut(LeftOut),
    /// The outcomes of a file: first those of the files embedded in it, last its own.
    Outcomes(Turn, Vec<ReadOutcome>),
    Embedded(EmbeddingSlot, Result<Vec<Embedding>>),
    /// The walk is over; holds the number of turns.
    Walked(usize),
}

/// Where embeddings belong.
#[derive(Debug, Clone, Copy)]
pub(super) struct EmbeddingSlot {
    pub(super) turn: Turn,
    /// The number of the document among those of the turn, from 0.
    pub(super) document: usize,
    /// The number of the first passage in the document, from 0.
    pub(super) first: usize,
}

/// Passages of one document for an embedding thread.
pub(super) struct EmbeddingJob {
    pub(super) slot: EmbeddingSlot,
    pub(super) passages: Vec<String>,
    pub(super) budget: Arc<CpuBudget>,
}
