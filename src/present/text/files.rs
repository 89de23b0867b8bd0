//! Writes the files that kb has seen, and what adding would do, as text.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::app::query::files::{FileState, FilesRequest, ListedFile, SeenFileList};
use crate::app::session::message::{AppMessage, MessageLevel};
use crate::document::{FileOutcome, WordAccount};
use crate::ingest::foresee::{DryRunOutcome, ForeseenFile};
use crate::present::json::{PlanCounts, groups};
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::CleanWriter;
use crate::present::terminal::table::{numbers, paths, texts, words};
use crate::present::text::human::HumanLayout;
use crate::text::decode::TextEncoding;
use crate::text::number::{counted, thousands};
use crate::text::printable::clean;
use crate::wording::{kb, wording};

impl HumanLayout {
    /// Writes a list of files.
    pub fn files(
        &self,
        files: &SeenFileList,
        request: &FilesRequest,
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        if files.files.is_empty() {
            let place = match &request.path {
                Some(path) => format!(" at or below {}", clean(&path.display().to_string())),
                None => String::new(),
            };
            let kind = match request.state.map(FileState::as_str) {
                _ if request.is_lossy => {
                    "files with a loss of words or an uncertain encoding".into()
                }
                Some(state) => format!("{state} files"),
                None => "files".into(),
            };
            let none = wording!(
                "No {}{}. `{}` and `{}` record the files they see.",
                kind,
                place,
                kb("add"),
                kb("update")
            );
            return self.labelled(none, out);
        }
        let rows = files.files.iter().map(|file| {
            let seen_at = file.seen_at.as_deref().unwrap_or_default();
            let separator = if file.size_bytes.is_none() { "/" } else { "" };
            vec![
                file.state.as_str().to_owned(),
                file.size_bytes.map(thousands).unwrap_or_default(),
                seen_at.get(..10).unwrap_or(seen_at).to_owned(),
                self.path(&file.path) + separator,
                reason(file),
            ]
        });
        let columns = [
            words("OUTCOME"),
            numbers("BYTES").optional().left_out(2),
            words("SINCE").optional().left_out(3).painted(Meaning::Faint),
            paths("FILE").painted(Meaning::Path),
            texts("REASON").optional(),
        ];
        self.table(&columns, rows, out)
    }

    /// Writes which files are waived now.
    pub fn waived(&self, paths: &[String], out: &mut CleanWriter<'_>) -> io::Result<()> {
        writeln!(out, "Waived {}.", counted(paths.len(), "file"))
    }

    /// Writes what adding would do.
    pub fn plan(&self, plan: &[ForeseenFile], out: &mut CleanWriter<'_>) -> io::Result<()> {
        for foreseen in plan {
            let path = foreseen.path.display().to_string();
            let message = match &foreseen.outcome {
                DryRunOutcome::Fails(error) => error.to_string(),
                DryRunOutcome::HasFailed(_, message) => message.clone(),
                _ => continue,
            };
            let message =
                if message.contains(&path) { message } else { format!("{path}: {message}") };
            let failure = AppMessage::new(MessageLevel::Failure, &clean(&message).into()).line();
            self.labelled(failure, out)?;
        }
        let counts = PlanCounts::of(plan);
        let counts = format!(
            "Would be: {} new, {} changed, {} unchanged, {} ignored, {} failed, {} waived.",
            thousands(counts.new),
            thousands(counts.changed),
            thousands(counts.unchanged),
            thousands(counts.ignored),
            thousands(counts.failed),
            thousands(counts.waived),
        );
        let counts = match plan.iter().map(|foreseen| foreseen.ocr_pages).sum() {
            0 => counts,
            1 => format!("{counts} 1 page needs OCR."),
            pages => format!("{counts} {} need OCR.", counted(pages, "page")),
        };
        self.labelled(counts, out)?;
        if plan.is_empty() {
            return Ok(());
        }
        let rows = groups(plan).into_iter().map(|((_, outcome, kind, reason), num)| {
            let reason = reason.unwrap_or_default();
            vec![outcome.to_owned(), clean(&kind), clean(reason), thousands(num)]
        });
        let columns =
            [words("OUTCOME"), texts("KIND"), words("REASON").optional(), numbers("FILES")];
        self.table(&columns, rows, out)?;
        let folders = largest_folders(plan);
        if folders.len() < 2 {
            return Ok(());
        }
        writeln!(out)?;
        let rows = folders.into_iter().take(MAX_FOLDERS).map(|(folder, num)| {
            vec![self.path(&folder.display().to_string()) + "/", thousands(num)]
        });
        let columns = [paths("LARGEST FOLDERS").painted(Meaning::Path), numbers("TO READ")];
        self.table(&columns, rows, out)
    }
}

/// How many folders a plan lists.
const MAX_FOLDERS: usize = 5;

/// How deep they are below the folder that contains all files.
const DEPTH: usize = 2;

/// Returns the folders with the files that would be read, most first, and how many are in and below each.
fn largest_folders(plan: &[ForeseenFile]) -> Vec<(PathBuf, usize)> {
    let folders: Vec<&Path> = plan
        .iter()
        .filter(|foreseen| matches!(foreseen.outcome, DryRunOutcome::New | DryRunOutcome::Changed))
        .filter_map(|foreseen| foreseen.path.parent())
        .collect();
    let all = folders.iter().copied().reduce(|all, folder| {
        all.ancestors().find(|above| folder.starts_with(above)).unwrap_or(all)
    });
    let mut counts: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for (folder, all) in folders.iter().zip(all.into_iter().cycle()) {
        let mut shown = all.to_owned();
        shown.extend(folder.strip_prefix(all).unwrap_or(folder).components().take(DEPTH));
        *counts.entry(shown).or_default() += 1;
    }
    let mut counts: Vec<(PathBuf, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, num)| Reverse(*num));
    counts
}

/// Returns why a file is not indexed, without its path, which the row shows; or what of it was left out.
fn reason(file: &ListedFile) -> String {
    let reason = file.reason.clone().unwrap_or_default();
    match (&file.message, file.state) {
        (Some(message), FileState::NotIndexed(FileOutcome::Failed | FileOutcome::Waived)) => {
            clean(&message.replace(&file.path, "it"))
        }
        _ => {
            let lossy =
                file.words.as_ref().filter(|words| words.is_lossy()).map(WordAccount::describe);
            let parts = file.unread_parts.filter(|count| *count > 0);
            let parts = parts.map(|count| format!("{} not read", counted(count as usize, "part")));
            let uncertain = file.encoding.as_ref().filter(|encoding| encoding.is_uncertain());
            let encoding = uncertain.map(TextEncoding::describe);
            let all: Vec<String> = lossy.into_iter().chain(parts).chain(encoding).collect();
            if all.is_empty() { reason } else { all.join("; ") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_folders_of_a_plan_are_those_with_the_most_files_to_read() {
        let foreseen = |(path, outcome): (&str, DryRunOutcome)| ForeseenFile {
            path: path.into(),
            is_folder: false,
            outcome,
            ocr_pages: 0,
        };
        let plan: Vec<ForeseenFile> = [
            ("/n/a.md", DryRunOutcome::New),
            ("/n/web/site/x/1.md", DryRunOutcome::New),
            ("/n/web/site/2.md", DryRunOutcome::Changed),
            ("/n/web/3.md", DryRunOutcome::New),
            ("/n/old/4.md", DryRunOutcome::Unchanged),
        ]
        .map(foreseen)
        .into();
        let expected = [("/n/web/site", 2), ("/n", 1), ("/n/web", 1)];
        assert_eq!(largest_folders(&plan), expected.map(|(path, num)| (PathBuf::from(path), num)));
        assert_eq!(largest_folders(&[]), []);
    }
}
