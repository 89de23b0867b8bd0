//! Writes a knowledge base as lines of JSON, and imports such lines into another one.
//!
//! ```text
//! export: store ─► lines ─► out    import: in ─► lines ─► check ─► embed, where vectors are missing ─► store
//! ```
//!
//! The first line has the settings of the database, and every other line is one document with all
//! its data. An export that is imported with its paths into an empty database is exported again as
//! the same bytes. No data of a file is trusted before `check` has validated it.

mod check;
mod lines;

use std::io::BufRead;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::Embedding;
use crate::error::{Error, Result};
use crate::limits::lines::{LineOutcome, read_line};
use crate::text::json::JsonLine;
use crate::wording::{kb, wording};
use crate::{
    AddedFolder, Conflict, DocumentId, ImportOutcome, MergedDocument, RecordedChunk, Store, limits,
};

pub use lines::ExportHead;
pub use lines::{DocumentLine, HeadLine, document_line, head_line};

/// The contents of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExportSummary {
    /// Documents written.
    pub num_documents: u64,
    /// Chunks written with them.
    pub num_chunks: u64,
    /// Whether the database has vectors, which were written or left out.
    pub has_vectors: bool,
}

/// The report of `kb import`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportReport {
    /// Imported documents.
    #[serde(rename = "imported")]
    pub num_documents: usize,
    /// Their chunks.
    #[serde(rename = "chunks")]
    pub num_chunks: usize,
    /// Documents that are here and got a tag, an edit or a path.
    #[serde(rename = "merged")]
    pub num_merged: usize,
    /// Documents that are here and stay unchanged.
    #[serde(rename = "skipped")]
    pub num_skipped: usize,
    /// Lines that could not be imported.
    #[serde(rename = "failed")]
    pub num_failed: usize,
    /// Imported documents whose paths were left out, because `--trust-paths` was not given.
    #[serde(rename = "without_file")]
    pub num_without_file: usize,
    /// Folders left out for the same reason.
    #[serde(rename = "folders_left_out")]
    pub num_folders_left_out: usize,
    /// The fields that both sides had edited, in the order of the lines; the newer edit was kept.
    pub conflicts: Vec<Conflict>,
    /// The first 100 failed lines, with the reason.
    #[serde(rename = "errors")]
    pub failed: Vec<BadLine>,
}

impl ImportReport {
    /// Whether lines failed and no line was imported or known.
    pub fn is_lost(&self) -> bool {
        self.num_failed > 0 && self.num_documents + self.num_merged + self.num_skipped == 0
    }
}

/// A line that could not be imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "BadLineJson")]
pub struct BadLine {
    /// Its number, from 1.
    #[serde(rename = "line")]
    pub number: u64,
    /// The reason, for people.
    #[serde(rename = "error")]
    pub reason: String,
}

/// How many bad lines the report keeps; the count includes all of them.
const MAX_KEPT_FAILURES: usize = 100;

/// How lines are imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportOptions<'a> {
    /// Whether the paths in the lines are imported. A path makes `kb open` read a file, so the user
    /// has to decide this; without it documents are imported as text.
    pub trusts_paths: bool,
    /// Whether the vectors are compatible with this database.
    pub are_vectors_good: bool,
    /// The time now, written like `2026-11-21T09:30:00.123Z`.
    pub now: &'a str,
}

/// Writes the lines of these documents, or of all, and of folders.
///
/// # Errors
///
/// Errors of the database and of `emit`.
pub fn export(
    store: &Store,
    ids: Option<&[DocumentId]>,
    folders: &[AddedFolder],
    with_vectors: bool,
    mut emit: impl FnMut(&JsonLine) -> Result<()>,
) -> Result<ExportSummary> {
    let binding = store.binding()?;
    emit(&lines::head_line(binding.as_ref(), folders)?)?;
    let has_vectors = binding.is_some() && !store.lacks_vectors()?;
    let mut exported = ExportSummary { has_vectors, ..ExportSummary::default() };
    store.export(ids, with_vectors, |record| {
        exported.num_documents += 1;
        exported.num_chunks += record.chunks.len() as u64;
        emit(&lines::document_line(&record)?)
    })?;
    Ok(exported)
}

/// Computes the vectors of chunks.
pub type Embed<'a> = dyn FnMut(&[RecordedChunk]) -> Result<Vec<Embedding>> + 'a;

/// Reads the first line.
///
/// # Errors
///
/// [`Error::Usage`] if it does not begin an export; [`Error::Io`].
pub fn head(input: &mut impl BufRead, name: &Path) -> Result<ExportHead> {
    let mut line = Vec::new();
    let outcome = read_line(input, &mut line, limits::EXPORT_HEAD_BYTES);
    if outcome.map_err(|source| io_error(name, source))? == LineOutcome::TooLong {
        let limit_mb = limits::EXPORT_HEAD_BYTES >> 20;
        return Err(not_an_export(format!("the first line is longer than {limit_mb} MB")));
    }
    let decoded = lines::decode_head(&line).map_err(|reason| {
        let reason = check::printable(&reason);
        not_an_export(format!("the first line is not that of an export of kb: {reason}"))
    })?;
    check::head(decoded).map_err(|reason| not_an_export(check::printable(&reason)))
}

fn not_an_export(message: String) -> Error {
    Error::usage(message).with_hint(wording!(
        "`{}` writes what `{}` reads",
        kb("export"),
        kb("import")
    ))
}

fn io_error(name: &Path, source: std::io::Error) -> Error {
    Error::of_file(name, source)
}

/// An export that is being read.
pub struct ExportReader<'a, R> {
    /// Its lines after the first.
    pub input: &'a mut R,
    /// Its name in messages.
    pub name: &'a Path,
    /// The result of [`head`].
    pub head: &'a ExportHead,
}

/// Imports the documents of the lines after the first, each in one transaction. If
/// `are_vectors_good`, the vectors of the lines are used and `embed` computes missing ones;
/// otherwise `embed` computes all. A line that cannot be imported is passed to `on_failure` with
/// its number, and the others are still imported.
///
/// # Errors
///
/// [`Error::Usage`] for a line that is too long, [`Error::Io`], and errors of the database and of `embed`.
pub fn import(
    store: &mut Store,
    export: ExportReader<'_, impl BufRead>,
    options: ImportOptions<'_>,
    embed: &mut Embed<'_>,
    on_failure: &mut dyn FnMut(&BadLine),
) -> Result<ImportReport> {
    let ExportReader { input, name, head } = export;
    let mut import = ImportRun { store, head, options, embed, imported: ImportReport::default() };
    let mut line = Vec::new();
    // The first line is the head, which has been read.
    for number in 2.. {
        let outcome = read_line(input, &mut line, limits::EXPORT_LINE_BYTES);
        match outcome.map_err(|source| io_error(name, source))? {
            LineOutcome::End => break,
            LineOutcome::TooLong => return Err(too_long(number)),
            LineOutcome::Line if line.iter().all(u8::is_ascii_whitespace) => continue,
            LineOutcome::Line => {}
        }
        let reason = match import.line(&line) {
            Ok(()) => continue,
            Err(Error::Usage { message, .. }) => message.to_string(),
            Err(error @ Error::TooSlow { .. }) => error.to_string(),
            // The database or the model has failed, so the next line would fail too.
            Err(error) => return Err(error),
        };
        let failed = BadLine { number, reason };
        on_failure(&failed);
        import.imported.num_failed += 1;
        if import.imported.failed.len() < MAX_KEPT_FAILURES {
            import.imported.failed.push(failed);
        }
    }
    Ok(import.imported)
}

fn too_long(number: u64) -> Error {
    let limit_mb = limits::EXPORT_LINE_BYTES >> 20;
    Error::usage(format!("line {number} is longer than {limit_mb} MB")).with_hint(wording!(
        "the lines before it were imported; `{}` does not write such lines",
        kb("export")
    ))
}

struct ImportRun<'a, 'e> {
    store: &'a mut Store,
    head: &'a ExportHead,
    options: ImportOptions<'a>,
    embed: &'a mut Embed<'e>,
    imported: ImportReport,
}

impl ImportRun<'_, '_> {
    /// Imports one document and counts the result.
    fn line(&mut self, line: &[u8]) -> Result<()> {
        let (options, imported) = (self.options, &mut self.imported);
        let decoded = lines::decode(line)
            .map_err(|reason| not_a_document(&lines::decode_failure(line).unwrap_or(reason)))?;
        let mut record =
            check::document(decoded, self.head).map_err(|reason| not_a_document(&reason))?;
        check::bound_times(&mut record, options.now);
        let has_file = record.path.is_some();
        if !options.trusts_paths {
            record.path = None;
            record.paths = Vec::new();
        }
        if !options.are_vectors_good {
            record.chunks.iter_mut().for_each(|chunk| chunk.vector = None);
        }
        // The document is compared before its vectors are computed: a repeated import has most documents already.
        let mut outcome = self.store.import(&record)?;
        if outcome == ImportOutcome::NeedsVectors {
            let embeddings = (self.embed)(&record.chunks)?;
            for (chunk, Embedding { vector, codes }) in record.chunks.iter_mut().zip(embeddings) {
                (chunk.vector, chunk.codes) = (Some(vector), codes);
            }
            outcome = self.store.import(&record)?;
        }
        match outcome {
            ImportOutcome::Added(_) => {
                imported.num_documents += 1;
                imported.num_chunks += record.chunks.len();
                imported.num_without_file += usize::from(has_file && !options.trusts_paths);
            }
            ImportOutcome::Merged(MergedDocument { is_changed, conflicts, .. }) => {
                imported.num_merged += usize::from(is_changed);
                imported.num_skipped += usize::from(!is_changed);
                imported.conflicts.extend(conflicts);
            }
            ImportOutcome::NeedsVectors => {
                return Err(Error::Store("a chunk was not embedded".into()));
            }
        }
        Ok(())
    }
}

fn not_a_document(reason: &str) -> Error {
    Error::usage(format!("this is not a document of an export: {}", check::printable(reason)))
}

#[cfg(test)]
mod tests;
