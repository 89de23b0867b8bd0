//! Records which files of a run were not indexed and why, and knows which failed before.
//!
//! The earlier records are read when the run begins and compared while it continues, so that
//! unchanged rows are not written again. Changes are written in batches and at the end; a run that
//! is killed leaves some rows out of date, which the next run corrects.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use crate::document::FileOutcome;
use crate::error::{Error, FailureKind, Result};
use crate::extract::detect::TypeOverride;
use crate::files::stamp::Stamp;
use crate::store::{CONTAINER, LedgerRow, Store};
use crate::survey::{is_away, is_missing};
use crate::text::paths;
use crate::walk::{FoundFile, LeftOut, Start};
use crate::{IngestOptions, member_rows, walk};

/// How many changed rows are collected before they are written, so that not each needs a transaction.
const BATCH: usize = 1000;

/// The records about the files of a run from before it began.
pub(super) struct LedgerBefore {
    rows: BTreeMap<String, LedgerRow>,
    /// Folders that are walked.
    folders: Vec<PathBuf>,
    /// Files where the walk starts.
    files: HashSet<PathBuf>,
    /// The version and the settings that read the files of this run.
    reader: String,
    /// The same for the files at and below starts with other settings.
    other_readers: Vec<(PathBuf, String)>,
    has_password: bool,
}

/// A file that could not be ingested.
pub(super) struct LedgerFailure {
    /// Which file or folder.
    pub(super) path: PathBuf,
    pub(super) error: Error,
    /// The file as it was found; `None` if the walk could not even look at it.
    pub(super) stamp: Option<Stamp>,
}

/// Whether a failure is to be reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureNews {
    Yes,
    /// It was reported by an earlier run.
    No,
    /// The user closed the case.
    Waived,
}

impl LedgerBefore {
    /// Reads what is recorded at and below the starts.
    pub(super) fn load(store: &Store, starts: &[Start], options: &IngestOptions) -> Result<Self> {
        let mut rows = BTreeMap::new();
        let (mut folders, mut files) = (Vec::new(), HashSet::new());
        let mut other_readers = Vec::new();
        for start in starts {
            let path = start.path();
            let found = store.ledger_at(&paths::path_text(path))?;
            rows.extend(found.into_iter().map(|row| (row.path.clone(), row)));
            if path.is_dir() {
                folders.push(path.to_owned());
            } else {
                files.insert(path.to_owned());
            }
            let wanted = start.wanted(options.wanted);
            if wanted != options.wanted {
                other_readers.push((path.to_owned(), reader(options, wanted)));
            }
        }
        let reader = reader(options, options.wanted);
        let has_password = options.pdf.password.is_some();
        Ok(Self { rows, folders, files, reader, other_readers, has_password })
    }

    /// Returns the row of a file that would only fail again, or whose failure is waived; `None` for a
    /// file that is to be read, as one that the user named always is.
    pub(super) fn passed_over(&self, found: &FoundFile) -> Option<&LedgerRow> {
        let row = self.rows.get(&paths::path_text(&found.path)).filter(|_| !found.is_named)?;
        let is_same = row.stamp == Some(found.stamp) && self.is_same_reader(row, found);
        match row.outcome {
            FileOutcome::Waived => Some(row),
            FileOutcome::Failed if is_same && !self.may_succeed(row) => Some(row),
            FileOutcome::Failed | FileOutcome::Ignored => None,
        }
    }

    /// Whether a container was read to its end, as it is now and as it would be read now.
    pub(super) fn is_read(&self, found: &FoundFile) -> bool {
        self.rows.get(&paths::path_text(&found.path)).is_some_and(|row| {
            row.reason == CONTAINER
                && row.stamp == Some(found.stamp)
                && self.is_same_reader(row, found)
        })
    }

    /// Whether a container was read at this path, in any state.
    pub(super) fn was_container(&self, found: &FoundFile) -> bool {
        let row = self.rows.get(&paths::path_text(&found.path));
        row.is_some_and(|row| row.reason == CONTAINER)
    }

    /// Whether there are rows of files in a container or a document.
    pub(super) fn has_members(&self, container: &Path) -> bool {
        self.members(container).next().is_some()
    }

    /// Returns the rows of the files in a container or a document.
    fn members(&self, container: &Path) -> impl Iterator<Item = &LedgerRow> {
        member_rows::of(&self.rows, container)
    }

    /// Returns what reads a file.
    fn reader(&self, path: &Path) -> &str {
        let above = self.other_readers.iter().filter(|(start, _)| path.starts_with(start));
        let innermost = above.max_by_key(|(start, _)| start.components().count());
        innermost.map_or(&self.reader, |(_, reader)| reader)
    }

    fn is_same_reader(&self, row: &LedgerRow, found: &FoundFile) -> bool {
        row.reader.as_deref() == Some(self.reader(&found.path))
    }

    /// Whether something that shows neither in the file's size nor in its time may have changed.
    fn may_succeed(&self, row: &LedgerRow) -> bool {
        match row.reason.as_str() {
            // Permissions and the size limit can change while the stamp stays. Only the walk compares them.
            "io" | "too_large" => true,
            code => code == FailureKind::PasswordNeeded.as_str() && self.has_password,
        }
    }
}

/// Describes what reads the files of a run: another version, or other limits, may read a file that
/// failed.
fn reader(options: &IngestOptions, wanted: TypeOverride) -> String {
    let mut reader = format!(
        "kb {}, {} s, {} MB",
        env!("CARGO_PKG_VERSION"),
        options.max_cpu.as_secs(),
        options.pdf.max_memory_bytes / walk::BYTES_PER_MB
    );
    if options.pdf.ocr.is_available() {
        reader += ", OCR";
    }
    if let Some(doc_type) = wanted.doc_type {
        reader += &format!(", as {doc_type}");
    }
    if let Some(language) = wanted.language {
        reader += &format!(", as {language}");
    }
    reader
}

/// Collects the outcomes of the files of a run.
pub(super) struct Recorder<'b> {
    before: &'b LedgerBefore,
    seen: HashSet<&'b str>,
    rows: Vec<LedgerRow>,
    gone: Vec<String>,
    /// Folders that could not be entered: what was recorded below them stays.
    unread: Vec<PathBuf>,
}

impl<'b> Recorder<'b> {
    pub(super) fn new(before: &'b LedgerBefore) -> Self {
        let (rows, gone, unread) = (Vec::new(), Vec::new(), Vec::new());
        Self { before, seen: HashSet::new(), rows, gone, unread }
    }

    pub(super) fn left_out(&mut self, left_out: &LeftOut, store: &mut Store) -> Result<()> {
        self.put(ignored(&left_out.path, left_out.rule.as_str(), left_out.stamp), store)
    }

    /// Records a failure; returns whether it is to be reported.
    pub(super) fn failed(
        &mut self,
        failed: &LedgerFailure,
        store: &mut Store,
    ) -> Result<FailureNews> {
        let LedgerFailure { path, error, stamp } = failed;
        let is_named = self.before.files.contains(path);
        // A file that has gone since has no stamp to remember.
        if matches!(error, Error::PathNotFound { .. }) {
            return Ok(FailureNews::Yes);
        }
        let mut stamp = *stamp;
        if stamp.is_none() {
            let found = path.symlink_metadata().ok().filter(|found| !found.is_dir());
            stamp = found.as_ref().map(Stamp::of);
            self.unread.push(path.clone());
        }
        let row = LedgerRow {
            outcome: FileOutcome::Failed,
            message: Some(error.to_string()),
            reader: Some(self.before.reader(path).to_owned()),
            ..ignored(path, error.code(), stamp)
        };
        let before = self.before;
        let news = match before.rows.get_key_value(&row.path) {
            Some((path, known)) if !is_named && known.outcome == FileOutcome::Waived => {
                self.seen.insert(path);
                return Ok(FailureNews::Waived);
            }
            Some((_, known)) if !is_named && is_same(known, &row) => FailureNews::No,
            _ => FailureNews::Yes,
        };
        self.put(row, store)?;
        Ok(news)
    }

    /// Keeps the row of a file unchanged.
    pub(super) fn passed_over(&mut self, path: &Path) {
        let before = self.before;
        if let Some((path, _)) = before.rows.get_key_value(&paths::path_text(path)) {
            self.seen.insert(path);
        }
    }

    /// Keeps the rows of the files in a container unchanged; returns how many of the files failed.
    pub(super) fn members_passed_over(&mut self, container: &Path) -> usize {
        let before = self.before;
        self.seen.extend(before.members(container).map(|row| row.path.as_str()));
        before.members(container).filter(|row| row.outcome == FileOutcome::Failed).count()
    }

    /// Records that every file in a container was seen.
    pub(super) fn container(&mut self, found: &FoundFile, store: &mut Store) -> Result<()> {
        let reader = Some(self.before.reader(&found.path).to_owned());
        let stamp = Some(found.stamp);
        self.put(LedgerRow { reader, ..ignored(&found.path, CONTAINER, stamp) }, store)
    }

    /// Forgets the row of a file that is indexed now.
    pub(super) fn indexed(&mut self, path: &str) {
        let before = self.before;
        if let Some((path, _)) = before.rows.get_key_value(path)
            && self.seen.insert(path)
        {
            self.gone.push(path.clone());
        }
    }

    fn put(&mut self, row: LedgerRow, store: &mut Store) -> Result<()> {
        let before = self.before;
        if let Some((path, known)) = before.rows.get_key_value(&row.path) {
            self.seen.insert(path);
            if is_same(known, &row) {
                return Ok(());
            }
        }
        self.rows.push(row);
        if self.rows.len() >= BATCH {
            store.update_ledger(&self.rows, &[])?;
            self.rows.clear();
        }
        Ok(())
    }

    /// Writes what is left. With `is_complete`, every file was seen, so rows of files that were not
    /// are forgotten.
    pub(super) fn finish(mut self, store: &mut Store, is_complete: bool) -> Result<()> {
        if is_complete {
            let before = self.before;
            // An empty folder may be a disk that is not mounted.
            let walked: Vec<&PathBuf> =
                before.folders.iter().filter(|folder| !is_away(folder)).collect();
            let unseen = before.rows.keys().filter(|path| !self.seen.contains(path.as_str()));
            let gone: Vec<String> =
                unseen.filter(|path| self.is_gone(path, &walked)).cloned().collect();
            self.gone.extend(gone);
        }
        store.update_ledger(&self.rows, &self.gone)
    }

    /// Whether a file that was not seen is missing: it is in one of the folders `walked` and in none that could not
    /// be read, or it was named and does not exist.
    fn is_gone(&self, path: &str, walked: &[&PathBuf]) -> bool {
        let path = paths::path_of(path);
        let is_walked = walked.iter().any(|folder| is_below(&path, folder));
        let is_unread = self.unread.iter().any(|folder| is_below(&path, folder));
        (is_walked && !is_unread) || (self.before.files.contains(&path) && is_missing(&path))
    }
}

fn is_below(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder) && path != folder
}

/// Returns the row of a file that is not indexed; the store adds the time.
fn ignored(path: &Path, reason: &str, stamp: Option<Stamp>) -> LedgerRow {
    LedgerRow {
        path: paths::path_text(path),
        outcome: FileOutcome::Ignored,
        reason: reason.into(),
        message: None,
        reader: None,
        stamp,
        seen_at: String::new(),
    }
}

/// Whether a row says the same as another, apart from its time.
fn is_same(known: &LedgerRow, row: &LedgerRow) -> bool {
    (known.outcome, &known.reason, &known.message, &known.reader, known.stamp)
        == (row.outcome, &row.reason, &row.message, &row.reader, row.stamp)
}

#[cfg(test)]
mod tests;
