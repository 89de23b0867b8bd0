//! Counts the result of each document, and defines the events of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::WordAccount;
use crate::error::Error;
use crate::extract::detect;
use crate::extract::sandbox::OcrWork;
use crate::prepare::PreparedDocument;
use crate::store::{DocumentId, StoredChange};
use crate::text::decode::TextEncoding;
use crate::text::fields;
use crate::walk::{LeftOut, LeftOutReason};

/// An event of a run, such as the result for one file, sent as it happens.
#[derive(Debug)]
pub enum IngestEvent<'a> {
    /// The walk has found this many files so far, including unchanged and ignored ones.
    Found(usize),
    /// A file was looked at; its result follows in the order of commits.
    Read {
        /// Its position in this order, from 0.
        position: usize,
        /// Its chunks that now wait to be embedded; `None` if there is nothing to store.
        num_chunks: Option<usize>,
    },
    /// Pages were read by OCR: those of all documents so far.
    Recognised(OcrWork),
    /// This many chunks were embedded.
    Embedded(usize),
    /// A document was committed.
    Stored {
        /// Its file; `None` for a note given as text.
        path: Option<&'a Path>,
        /// Its chunks.
        num_chunks: usize,
        /// The warnings of the reader for the user.
        warnings: &'a [String],
    },
    /// A document is already stored.
    Skipped {
        /// Its file; `None` for a note given as text.
        path: Option<&'a Path>,
        /// The document that holds its bytes.
        document_id: DocumentId,
    },
    /// A file is empty, or of a kind that is not ingested from folders.
    Ignored,
    /// A file was not read again: it failed before and is unchanged, or its failure is waived.
    PassedOver,
    /// A file that is not a document was not used, such as an ignore file: which file and why.
    Warned(&'a Error),
    /// A file could not be ingested.
    Failed {
        /// Which file.
        path: &'a Path,
        /// Why.
        error: &'a Error,
    },
}

/// Receives events; called from one thread at a time.
pub type OnEvent<'a> = dyn FnMut(IngestEvent<'_>) + 'a;

/// A file that could not be read.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Failed")]
pub struct FailedFile {
    /// The file.
    #[serde(serialize_with = "fields::path")]
    pub path: PathBuf,
    /// Stable code, as in an error.
    pub code: String,
    /// The error message, for people.
    pub error: String,
}

impl FailedFile {
    /// Returns a file with the error of reading it.
    pub fn new(path: &Path, error: &Error) -> Self {
        Self { path: path.to_owned(), code: error.code().to_owned(), error: error.to_string() }
    }
}

impl From<&(PathBuf, Error)> for FailedFile {
    fn from((path, error): &(PathBuf, Error)) -> Self {
        Self::new(path, error)
    }
}

/// The result of a run.
#[derive(Debug, Default)]
pub struct IngestReport {
    /// New documents.
    pub added: usize,
    /// Documents whose content was replaced.
    pub updated: usize,
    /// Files whose bytes are already stored.
    pub skipped: usize,
    /// How many of the skipped files are new, and copies of a document that is shown under another
    /// path.
    pub copies: usize,
    /// How many of the updated documents have the same content and a new title.
    pub retitled: usize,
    /// Documents that were stored before and have a new tag.
    pub tagged: usize,
    /// Empty files, and files of kinds that are not ingested from folders.
    pub ignored: usize,
    /// How many of the ignored files there are of each kind: `.csv`, `no extension`, `empty`.
    pub ignored_kinds: BTreeMap<String, usize>,
    /// How many of them programs generated; a folder counts as one.
    pub num_generated: usize,
    /// Files that failed in an earlier run, and would fail again.
    pub known_failed: usize,
    /// The pages that were read by OCR, and the time.
    pub ocr: OcrWork,
    /// Documents added or updated of whose words more than a tenth was left out.
    pub lossy: usize,
    /// Documents added or updated whose encoding was guessed, or whose text is damaged.
    pub uncertain_encodings: usize,
    /// Chunks written.
    pub num_chunks: usize,
    /// How many of them are in documents of each recognised natural language (ISO 639-1).
    pub languages: BTreeMap<String, usize>,
    /// Ids of the documents added or updated, in order.
    pub document_ids: Vec<DocumentId>,
    /// Files that could not be ingested, in the order they were read.
    pub failed: Vec<(PathBuf, Error)>,
    /// Ignore files that were not used, in the order they were found.
    pub warnings: Vec<(PathBuf, Error)>,
    /// Other remarks that the user has seen, such as languages that the model cannot read.
    pub notes: Vec<String>,
}

impl IngestReport {
    /// Whether at least one of the documents is in the database now.
    pub fn is_success(&self) -> bool {
        self.added + self.updated + self.skipped > 0
    }

    /// Whether there was nothing to look at, apart from hidden and excluded files.
    pub fn found_nothing(&self) -> bool {
        !self.is_success() && self.failed.is_empty() && self.ignored + self.known_failed == 0
    }

    pub(super) fn count_ignored(&mut self, left_out: &LeftOut) {
        self.ignored += 1;
        let kind = match left_out.rule {
            LeftOutReason::Empty => "empty".to_owned(),
            LeftOutReason::Small => "too small".to_owned(),
            LeftOutReason::Generated => {
                self.num_generated += 1;
                let name = left_out.path.file_name().unwrap_or_default();
                match left_out.stamp {
                    Some(_) => detect::kind(&left_out.path),
                    None => name.to_string_lossy().into_owned(),
                }
            }
            _ => detect::kind(&left_out.path),
        };
        *self.ignored_kinds.entry(kind).or_default() += 1;
    }

    /// Counts the result of a document and sends the event.
    pub(super) fn count(
        &mut self,
        change: StoredChange,
        prepared: &PreparedDocument,
        on_event: &mut OnEvent<'_>,
    ) {
        let path = prepared.document.stamp.as_ref().map(|stamp| Path::new(&stamp.path));
        let document_id = change.document_id();
        match change {
            StoredChange::Unchanged(_) => {
                self.skipped += 1;
                on_event(IngestEvent::Skipped { path, document_id });
                return;
            }
            // A renamed file counts as one whose bytes are stored already.
            StoredChange::Renamed(_) => {
                self.skipped += 1;
                let num_chunks = prepared.chunks.len();
                self.num_chunks += num_chunks;
                on_event(IngestEvent::Stored { path, num_chunks, warnings: &prepared.warnings });
                return;
            }
            StoredChange::Added(_) => self.added += 1,
            StoredChange::Updated(_) => self.updated += 1,
        }
        let num_chunks = prepared.chunks.len();
        self.num_chunks += num_chunks;
        let words = prepared.document.metadata.words.as_ref();
        self.lossy += usize::from(words.is_some_and(WordAccount::is_lossy));
        let encoding = prepared.document.metadata.encoding.as_ref();
        self.uncertain_encodings += usize::from(encoding.is_some_and(TextEncoding::is_uncertain));
        if let Some(language) = &prepared.document.metadata.natural_language {
            *self.languages.entry(language.clone()).or_default() += num_chunks;
        }
        self.document_ids.push(document_id);
        on_event(IngestEvent::Stored { path, num_chunks, warnings: &prepared.warnings });
    }
}
