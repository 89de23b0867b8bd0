//! Lists the files that kb has seen, and closes the cases of those that cannot be read.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Session;
use crate::app::session::typed;
use crate::document::{FileOutcome, Filter, WordAccount};
use crate::error::{Error, Result};
use crate::store::{CONTAINER, DocumentId, ListedDocument};
use crate::text::decode::TextEncoding;
use crate::text::{fields, paths};
use crate::wording::{kb, wording};

/// The outcome of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// Its content is indexed.
    Indexed,
    /// It is not indexed.
    NotIndexed(FileOutcome),
}

impl FileState {
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
    /// Only those of whose words more than a tenth was left out, of which a part could not be read, or whose encoding is
    /// uncertain.
    pub is_lossy: bool,
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
    /// Ignored: `type`, `empty`, `size`, `generated`, `hidden`, `gitignore`, `kbignore`, `link` or `special`; failed and
    /// waived: code of the error; indexed: null.
    pub reason: Option<String>,
    /// The failure, for people; null unless it failed.
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
    /// Where the words of that document went: how many of them for each reason; null without a document, or
    /// if an older kb read it.
    pub words: Option<WordAccount>,
    /// How many parts of the file of that document could not be read; null without a document.
    pub unread_parts: Option<u32>,
    /// The encoding of its text and how it was found; null for sound UTF-8, for files that are not text, and without a
    /// document.
    pub encoding: Option<TextEncoding>,
}

impl ListedFile {
    /// Whether more than a tenth of its words were left out, a part of it could not be read, or its letters may be wrong.
    fn is_lossy(&self) -> bool {
        self.words.as_ref().is_some_and(WordAccount::is_lossy)
            || self.unread_parts > Some(0)
            || self.encoding.as_ref().is_some_and(TextEncoding::is_uncertain)
    }
}

/// The files that kb has seen.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SeenFileList {
    /// How many files there are at and below the path, listed or not.
    pub counts: FileCounts,
    /// The files, ordered by path.
    pub files: Vec<ListedFile>,
}

/// How many files there are in each state.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct FileCounts {
    /// Files whose content is indexed.
    pub indexed: usize,
    /// Files and folders that a rule leaves out.
    pub ignored: usize,
    /// Files that could not be read.
    pub failed: usize,
    /// Files that could not be read and are not reported any more.
    pub waived: usize,
}

/// Lists the files that kb has seen.
pub fn list(session: &Session, request: &FilesRequest) -> Result<SeenFileList> {
    let path = request.path.as_deref().map(typed::typed).transpose()?;
    let mut by_path: BTreeMap<String, ListedFile> = BTreeMap::new();
    session.read_with_retry(|| {
        by_path.clear();
        let Some(store) = session.open_existing()? else { return Ok(()) };
        let documents = store.documents(&Filter::default())?.into_iter();
        let read: HashMap<_, _> = documents.map(|row| (row.id, row)).collect();
        for file in store.known_files()? {
            let is_elsewhere = path
                .as_ref()
                .is_some_and(|path| !paths::path_of(&file.stamp.path).starts_with(path));
            if is_elsewhere {
                continue;
            }
            let document = read.get(&file.document_id);
            let listed = ListedFile {
                path: file.stamp.path.clone(),
                state: FileState::Indexed,
                reason: None,
                message: None,
                reader: None,
                size_bytes: Some(file.stamp.size_bytes),
                seen_at: None,
                document_id: Some(file.document_id),
                words: document.and_then(ListedDocument::words),
                unread_parts: document.map(|document| document.num_unread_parts),
                encoding: document.and_then(|document| document.encoding.clone()),
            };
            by_path.insert(file.stamp.path, listed);
        }
        let below = path.as_deref().map_or_else(|| "/".into(), paths::path_text);
        let rows = store.ledger_at(&below)?.into_iter();
        // A container is left out, because the files in it are listed.
        for row in rows.filter(|row| row.reason != CONTAINER) {
            let earlier = by_path.remove(&row.path);
            let listed = ListedFile {
                path: row.path.clone(),
                state: FileState::NotIndexed(row.outcome),
                reason: Some(row.reason),
                message: row.message,
                reader: row.reader,
                size_bytes: row.stamp.map(|stamp| stamp.size_bytes),
                seen_at: Some(row.seen_at),
                document_id: earlier.as_ref().and_then(|file| file.document_id),
                unread_parts: earlier.as_ref().and_then(|file| file.unread_parts),
                encoding: earlier.as_ref().and_then(|file| file.encoding.clone()),
                words: earlier.and_then(|file| file.words),
            };
            by_path.insert(row.path, listed);
        }
        store.close()
    })?;
    let count = |state| by_path.values().filter(|file| file.state == state).count();
    let counts = FileCounts {
        indexed: count(FileState::Indexed),
        ignored: count(FileState::NotIndexed(FileOutcome::Ignored)),
        failed: count(FileState::NotIndexed(FileOutcome::Failed)),
        waived: count(FileState::NotIndexed(FileOutcome::Waived)),
    };
    let files = by_path.into_values().filter(|file| {
        request.state.is_none_or(|state| file.state == state)
            && (!request.is_lossy || file.is_lossy())
    });
    Ok(SeenFileList { counts, files: files.collect() })
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
            return Err(Error::usage(format!(
                "no file that could not be read is at or below {}",
                typed.display()
            ))
            .with_hint(wording!("`{}` lists those files", kb("files").flag("--failed"))));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::World;
    use crate::files::stamp::Stamp;
    use crate::store::LedgerRow;

    fn row(world: &World, name: &str, outcome: FileOutcome, reason: &str) -> LedgerRow {
        let failed = outcome == FileOutcome::Failed;
        LedgerRow {
            path: world.path(name).to_str().unwrap().to_owned(),
            outcome,
            reason: reason.to_owned(),
            message: failed.then(|| "no text".to_owned()),
            reader: failed.then(|| "1".to_owned()),
            stamp: Some(Stamp { size_bytes: 7, mtime_ns: 0 }),
            seen_at: String::new(),
        }
    }

    /// Returns a world with an added folder that has files in every state.
    fn world() -> World {
        let world = World::new();
        world.add("docs/a.md", "ebb");
        world.add("docs/old.md", "flood");
        world.add_folder("docs");
        let rows = [
            row(&world, "docs/film.mp4", FileOutcome::Ignored, "type"),
            row(&world, "docs/old.md", FileOutcome::Failed, "unreadable"),
            row(&world, "docs/sub/b.pdf", FileOutcome::Failed, "unreadable"),
            row(&world, "docs/box.zip", FileOutcome::Ignored, CONTAINER),
        ];
        let mut store = world.store();
        store.update_ledger(&rows, &[]).unwrap();
        store.close().unwrap();
        world
    }

    fn listed(world: &World, state: Option<FileState>, path: Option<&str>) -> ([usize; 4], String) {
        let path = path.map(|path| world.path(path));
        let request = FilesRequest { state, is_lossy: false, path };
        let found = list(&world.session, &request).unwrap();
        let shown = |file: &ListedFile| {
            let id = file.document_id.map(|id| format!(" {id}")).unwrap_or_default();
            format!("{} {}{id}", world.short(&file.path), file.state.as_str())
        };
        let FileCounts { indexed, ignored, failed, waived } = found.counts;
        let counts = [indexed, ignored, failed, waived];
        (counts, found.files.iter().map(shown).collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn files_are_listed_with_what_became_of_them() {
        let world = world();
        let all = "docs/a.md indexed 1, docs/film.mp4 ignored, docs/old.md failed 2, docs/sub/b.pdf failed";
        assert_eq!(listed(&world, None, None), ([1, 1, 2, 0], all.into()));
        let failed = Some(FileState::NotIndexed(FileOutcome::Failed));
        let (counts, files) = listed(&world, failed, None);
        assert_eq!(
            (counts, files.as_str()),
            ([1, 1, 2, 0], "docs/old.md failed 2, docs/sub/b.pdf failed")
        );
        let below = listed(&world, None, Some("docs/sub"));
        assert_eq!(below, ([0, 0, 1, 0], "docs/sub/b.pdf failed".into()));
        assert_eq!(listed(&World::new(), None, None), ([0; 4], String::new()));
    }

    #[test]
    fn cases_are_closed_only_where_there_are_some() {
        let world = world();
        let close = |names: &[&str]| {
            let typed: Vec<PathBuf> = names.iter().map(|name| world.path(name)).collect();
            waive(&world.session, &typed)
        };
        for name in ["docs/a.md", "docs/film.mp4", "nowhere"] {
            let error = close(&["docs/sub", name]).unwrap_err().to_string();
            assert!(error.starts_with("no file that could not be read is at or below"), "{error}");
        }
        let closed = close(&["docs/sub"]).unwrap();
        assert_eq!(closed, [world.path("docs/sub/b.pdf").to_str().unwrap()]);
        assert_eq!(listed(&world, None, None).0, [1, 1, 1, 1]);
        let nothing = waive(&World::new().session, &[world.path("docs")]);
        assert!(nothing.is_err());
    }
}
