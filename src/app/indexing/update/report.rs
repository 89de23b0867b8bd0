//! Defines the request and the report of an update.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::indexing::reread::RereadSelection;
use crate::app::session::export_file::ExportFile;
use crate::error::Error;
use crate::ingest::FailedFile;
use crate::ingest::survey::MissingFile;
use crate::store::DocumentId;
use crate::text::fields;

/// A request to update.
#[derive(Debug, Clone, Default)]
pub struct UpdateRequest {
    /// Absolute paths of folders and files to check; if empty, everything that was added.
    pub named: Vec<PathBuf>,
    /// Whether the documents of missing files are removed.
    pub prunes: bool,
    /// Whether they are removed even if that is more than 30 % of a folder's documents.
    pub is_forced: bool,
    /// The file to which documents are written before they are removed.
    pub export: Option<ExportFile>,
    /// Whether nothing is written, and the report only lists what would be done.
    pub is_dry_run: bool,
    /// Password of encrypted documents.
    pub password: Option<String>,
    /// Which documents are made again if today's settings would make them differently. A selection
    /// of some leaves all other files alone.
    pub rereads: Option<RereadSelection>,
    /// Whether `kb watch` asks for it.
    pub is_watched: bool,
}

/// A folder from which nothing was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Refused")]
pub struct RefusedFolder {
    /// The folder; null for files that were added by name.
    #[serde(serialize_with = "fields::path_or_null")]
    pub root: Option<PathBuf>,
    /// Documents of missing files.
    #[serde(rename = "missing")]
    pub num_lost: usize,
    /// All documents of the folder.
    #[serde(rename = "documents")]
    pub num_documents: usize,
}

/// A file that has moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Move {
    /// Its old path.
    pub from: String,
    /// Its new path.
    pub to: String,
    /// Its document.
    pub document_id: DocumentId,
}

/// The report of `kb update`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct UpdateReport {
    /// Whether nothing was written; the other fields then show what would be done.
    #[serde(rename = "dry_run")]
    pub is_dry_run: bool,
    /// Whether there is nothing that could be updated.
    #[serde(skip)]
    pub is_nothing_added: bool,
    /// New documents.
    pub added: usize,
    /// Documents with new content.
    pub updated: usize,
    /// Documents with a new path.
    pub moved: usize,
    /// Unchanged files.
    pub unchanged: usize,
    /// Files that could not be read.
    #[serde(serialize_with = "fields::each_as::<_, FailedFile, _>")]
    #[schemars(with = "Vec<FailedFile>")]
    pub failed: Vec<(PathBuf, Error)>,
    /// Files that failed in an earlier run and have not changed since; they were not read again.
    pub known_failed: usize,
    /// Added and updated files of whose words more than a tenth was left out.
    pub lossy: usize,
    /// Added and updated files whose encoding was guessed, or whose text is damaged.
    pub uncertain_encodings: usize,
    /// Missing files whose documents were kept.
    pub missing: Vec<MissingFile>,
    /// The files that have moved.
    pub moves: Vec<Move>,
    /// With `--prune`: ids of the removed documents.
    pub removed: Vec<DocumentId>,
    /// Paths of the removed documents.
    #[serde(skip)]
    pub removed_paths: Vec<String>,
    /// Missing and empty folders.
    #[serde(serialize_with = "fields::paths")]
    pub away: Vec<PathBuf>,
    /// Folders from which nothing was removed, because too many documents are missing.
    pub refused: Vec<RefusedFolder>,
    /// With `--reread`: documents that were re-indexed.
    pub reread: usize,
    /// Documents indexed with other settings, another model or an older kb; `kb update --reread` re-indexes them.
    pub made_differently: usize,
    /// Folders, and files outside of them, that the database names and that were not read, because the user has
    /// not allowed it; one sentence each.
    pub notes: Vec<String>,
}

impl UpdateReport {
    /// Whether a requested removal was refused, or a named folder could not be read.
    pub fn is_refused(&self, request: &UpdateRequest) -> bool {
        !self.refused.is_empty() || self.away.iter().any(|folder| request.named.contains(folder))
    }
}
