//! Lists the files that kb has seen, and closes the cases of those that cannot be read.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::{Session, typed};
use crate::document::FileOutcome;
use crate::error::{Error, Result};
use crate::store::{CONTAINER, DocumentId};
use crate::text::{fields, paths};

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// Its content is indexed.
    Indexed,
    /// It is not indexed.
    NotIndexed(FileOutcome),
}

impl FileState {
    /// All states, in the order in which they are counted.
    pub const ALL: [Self; 4] = [
        Self::Indexed,
        Self::NotIndexed(FileOutcome::Ignored),
        Self::NotIndexed(FileOutcome::Failed),
        Self::NotIndexed(FileOutcome::Waived),
    ];

    /// Returns the word used in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Indexed => "indexed",
            Self::NotIndexed(outcome) => outcome.as_str(),
        }
    }
}

fields::words!(FileState);

/// Which files are listed.
#[derive(Debug, Clone, Default)]
pub struct FilesRequest {
    /// Only those in this state.
    pub state: Option<FileState>,
    /// Only those at or below this path, as typed.
    pub path: Option<PathBuf>,
}

/// A file, or a folder that is not entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "File")]
pub struct ListedFile {
    /// Absolute path.
    pub path: String,
    /// `indexed`, `ignored`, `failed` or `waived`.
    #[serde(rename = "outcome")]
    pub state: FileState,
    /// Ignored: `type`, `empty`, `size`, `hidden`, `gitignore`, `kbignore`, `link` or `special`; failed and
    /// waived: code of the error; indexed: null.
    pub reason: Option<String>,
    /// What failed, for people; null unless it failed.
    #[serde(rename = "error")]
    pub message: Option<String>,
    /// Version of kb and settings that failed; null unless it failed.
    pub reader: Option<String>,
    /// Size in bytes; null for a folder.
    pub size_bytes: Option<u64>,
    /// Since when this is known, RFC 3339, UTC; null for an indexed file.
    pub seen_at: Option<String>,
    /// Document with its content, or with the earlier content of a file that failed later; else null.
    pub document_id: Option<DocumentId>,
}

/// A list of files.
#[derive(Debug, Clone)]
pub struct Files {
    /// How many there are in each of [`FileState::ALL`], listed or not.
    pub counts: [usize; 4],
    /// The files, ordered by path.
    pub files: Vec<ListedFile>,
}

/// Lists the files that kb has seen.
pub fn list(session: &Session, request: &FilesRequest) -> Result<Files> {
    let path = request.path.as_deref().map(typed::typed).transpose()?;
    let mut by_path: BTreeMap<String, ListedFile> = BTreeMap::new();
    session.steadily(|| {
        by_path.clear();
        let Some(store) = session.open_existing()? else { return Ok(()) };
        for file in store.known_files()? {
            let is_below = |path: &PathBuf| paths::path_of(&file.stamp.path).starts_with(path);
            if path.as_ref().is_some_and(|path| !is_below(path)) {
                continue;
            }
            let listed = ListedFile {
                path: file.stamp.path.clone(),
                state: FileState::Indexed,
                reason: None,
                message: None,
                reader: None,
                size_bytes: Some(file.stamp.size_bytes),
                seen_at: None,
                document_id: Some(file.document_id),
            };
            by_path.insert(file.stamp.path, listed);
        }
        let below = path.as_deref().map_or_else(|| "/".into(), paths::path_text);
        let rows = store.ledger_at(&below)?.into_iter();
        // The files in a container are listed instead of it.
        for row in rows.filter(|row| row.reason != CONTAINER) {
            let document_id = by_path.get(&row.path).and_then(|file| file.document_id);
            let listed = ListedFile {
                path: row.path.clone(),
                state: FileState::NotIndexed(row.outcome),
                reason: Some(row.reason),
                message: row.message,
                reader: row.reader,
                size_bytes: row.stamp.map(|(size_bytes, _)| size_bytes),
                seen_at: Some(row.seen_at),
                document_id,
            };
            by_path.insert(row.path, listed);
        }
        store.close()
    })?;
    let count = |state| by_path.values().filter(|file| file.state == state).count();
    let counts = FileState::ALL.map(count);
    let is_wanted = |file: &ListedFile| request.state.is_none_or(|state| file.state == state);
    Ok(Files { counts, files: by_path.into_values().filter(is_wanted).collect() })
}

/// Closes the cases of the failed files at and below the paths: they are not counted and not tried
/// again until `kb add` names them. Returns their paths.
pub fn waive(session: &Session, typed: &[PathBuf]) -> Result<Vec<String>> {
    let paths = typed.iter().map(|path| typed::path_prefix(path)).collect::<Result<Vec<_>>>()?;
    session.require_writable()?;
    let mut store = session.open_existing()?;
    for (path, typed) in paths.iter().zip(typed) {
        let rows = store.as_ref().map_or_else(|| Ok(Vec::new()), |store| store.ledger_at(path))?;
        if !rows.iter().any(|row| row.outcome != FileOutcome::Ignored) {
            return Err(Error::Usage {
                message: format!(
                    "no file that could not be read is at or below {}",
                    typed.display()
                ),
                hint: Some("`kb files --failed` lists those files".into()),
            });
        }
    }
    let Some(mut store) = store.take() else { return Ok(Vec::new()) };
    let mut waived = Vec::new();
    for path in &paths {
        waived.extend(store.waive(path)?);
    }
    store.close()?;
    Ok(waived)
}
