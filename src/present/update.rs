//! Presents what an update found and did, for programs and for people.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::update::UpdateReport;
use crate::document::DocumentId;
use crate::ingest::survey::Survey;
use crate::present::json::{self, FailedJson};
use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::text::json::Json;
use crate::text::number::counted;
use crate::text::printable::clean;

/// What an update found and did.
#[derive(Serialize, JsonSchema)]
pub(super) struct UpdateJson<'a> {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Whether nothing was written; the counts then say what would be done.
    dry_run: bool,
    /// Documents that are new.
    added: usize,
    /// Documents whose content was replaced.
    updated: usize,
    /// Documents that are under another path now.
    moved: usize,
    /// Files that are as they were.
    unchanged: usize,
    /// Files that could not be read.
    failed: Vec<FailedJson>,
    /// Files that are gone and whose documents are still there.
    missing: Vec<MissingJson<'a>>,
    /// With `--prune`: ids of the documents that were removed.
    removed: &'a [DocumentId],
    /// Folders that are gone or empty.
    away: Vec<String>,
    /// Folders of which nothing was removed, because too much would have gone.
    refused: Vec<RefusedJson>,
}

/// A file that is gone.
#[derive(Serialize, JsonSchema)]
struct MissingJson<'a> {
    /// Where it was.
    path: &'a str,
    /// Its document.
    document_id: DocumentId,
}

/// A folder of which nothing was removed.
#[derive(Serialize, JsonSchema)]
struct RefusedJson {
    /// The folder; null for the files that were named themselves.
    root: Option<String>,
    /// Documents that would have gone.
    missing: usize,
    /// Documents it has.
    documents: usize,
}

/// Writes what was done as one object.
///
/// # Errors
///
/// What writing gives.
pub fn json(report: &UpdateReport, out: &mut Json<'_>) -> io::Result<()> {
    let missing =
        report.missing.iter().map(|it| MissingJson { path: &it.path, document_id: it.document_id });
    let refused = report.refused.iter().map(|it| RefusedJson {
        root: it.root.as_ref().map(|it| it.display().to_string()),
        missing: it.num_lost,
        documents: it.num_documents,
    });
    let json = UpdateJson {
        contract_version: json::CONTRACT_VERSION,
        dry_run: report.is_dry_run,
        added: report.added,
        updated: report.updated,
        moved: report.moved,
        unchanged: report.unchanged,
        failed: report.failed.iter().map(FailedJson::from).collect(),
        missing: missing.collect(),
        removed: &report.removed,
        away: report.away.iter().map(|it| it.display().to_string()).collect(),
        refused: refused.collect(),
    };
    out.value(&json)
}

impl Human {
    /// Writes what an update found and did.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn update(&self, report: &UpdateReport, out: &mut Sheet<'_>) -> io::Result<()> {
        for missing in &report.missing {
            writeln!(out, "missing: {} (document {})", clean(&missing.path), missing.document_id)?;
        }
        for path in &report.removed_paths {
            writeln!(
                out,
                "{}: {}",
                if report.is_dry_run { "gone" } else { "removed" },
                clean(path)
            )?;
        }
        for folder in &report.away {
            let folder = clean(&folder.display().to_string());
            writeln!(out, "gone or empty, so left as it is: {folder}")?;
        }
        for refused in &report.refused {
            let root = match &refused.root {
                Some(root) => clean(&root.display().to_string()),
                None => "the files that were named themselves".to_owned(),
            };
            let (lost, all) = (refused.num_lost, refused.num_documents);
            writeln!(
                out,
                "not removed: {lost} of the {all} documents of {root}; `--force` removes them"
            )?;
        }
        let would = if report.is_dry_run { "Would be: " } else { "" };
        writeln!(
            out,
            "{would}{} added, {} updated, {} moved, {} unchanged, {} failed, {} missing, {} removed.",
            report.added,
            report.updated,
            report.moved,
            report.unchanged,
            report.failed.len(),
            report.missing.len(),
            report.removed.len(),
        )
    }

    /// Writes in a line whether files have changed since they were added.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn out_of_date(&self, surveys: &[Survey], out: &mut Sheet<'_>) -> io::Result<()> {
        let [changed, new, missing, away, refused] = counts(surveys);
        if changed + new + missing + away + refused == 0 {
            return writeln!(out, "All files are as they were.");
        }
        let away = match away {
            0 => String::new(),
            away => format!(", {} gone or empty", counted(away, "folder")),
        };
        let refused = match refused {
            0 => String::new(),
            refused => format!(", {refused} replaced by a link that is not followed"),
        };
        writeln!(
            out,
            "Out of date: {changed} changed, {new} new, {missing} missing{away}{refused}. \
             `kb update` follows."
        )
    }
}

/// Returns how many files are changed, new and missing, how many folders are away, and how many files
/// are not looked at because of a link.
pub(super) fn counts(surveys: &[Survey]) -> [usize; 5] {
    let sum = |count: fn(&Survey) -> usize| surveys.iter().map(count).sum();
    [
        sum(|it| it.changed.len()),
        sum(|it| it.new.len()),
        sum(|it| it.missing.len()),
        sum(|it| usize::from(it.is_away) + it.empty_folders.len()),
        sum(|it| it.refused.len()),
    ]
}
