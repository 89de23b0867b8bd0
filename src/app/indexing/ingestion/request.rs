//! Describes a request to ingest: the sources and the options.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::app::session::running::LongCommand;
use crate::document::{DocType, Language};
use crate::store::DocumentId;

/// The source of documents.
#[derive(Debug, Clone)]
pub enum DocumentSource {
    /// Files and folders, as typed.
    Paths(Vec<PathBuf>),
    /// The bytes of a document from a stream.
    Bytes(Vec<u8>),
    /// The text of a note, and the note that it replaces.
    Note(String, Option<DocumentId>),
    /// Notes that are stored and are split again.
    StoredNotes(Vec<DocumentId>),
}

impl DocumentSource {
    /// Returns the files and folders as typed; none if it has another source.
    pub fn paths(&self) -> &[PathBuf] {
        match self {
            Self::Paths(paths) => paths,
            Self::Bytes(_) | Self::Note(..) | Self::StoredNotes(_) => &[],
        }
    }
}

/// A request to add documents.
#[derive(Debug, Clone)]
pub struct AddRequest {
    /// Where the documents come from.
    pub source: DocumentSource,
    /// The command that other processes report.
    pub command: LongCommand,
    /// Title that overrides the document's own; for a single document only.
    pub title: Option<String>,
    /// Tags for every document.
    pub tags: Vec<String>,
    /// Type of the files; overrides the one their names suggest.
    pub doc_type: Option<DocType>,
    /// Programming language of the files.
    pub language: Option<Language>,
    /// Whether links in folders are followed, whatever the settings.
    pub follows_links: bool,
    /// Whether what programs generated is also read, whatever the settings say.
    pub includes_ignored: bool,
    /// Whether everything is read that a document shows, whatever the settings.
    pub keeps_all: bool,
    /// Password of encrypted documents; by default that of the variable `KB_PASSWORD`.
    pub password: Option<String>,
    /// Time for a run that the user did not ask for: longer documents fail, failures are not logged, the model
    /// is not fetched, and a database in use is not waited for.
    pub time_limit: Option<Duration>,
    /// Documents whose files are read even if they are unchanged.
    pub rereads: Arc<HashSet<DocumentId>>,
}

impl AddRequest {
    /// Returns a request for a source without options.
    pub fn of(source: DocumentSource) -> Self {
        Self {
            source,
            command: LongCommand::default(),
            title: None,
            tags: Vec::new(),
            doc_type: None,
            language: None,
            follows_links: false,
            includes_ignored: false,
            keeps_all: false,
            password: None,
            time_limit: None,
            rereads: Arc::default(),
        }
    }
}
