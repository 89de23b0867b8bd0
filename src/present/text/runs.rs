//! Writes the reports of add, update and reindex as text.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;

use crate::app::indexing::reindex::{ReindexEstimate, ReindexReport};
use crate::app::indexing::update::UpdateReport;
use crate::ingest::{IngestReport, NO_EXTENSION};
use crate::present::terminal::sheet::CleanWriter;
use crate::present::text::human::HumanLayout;
use crate::present::text::manage::megabytes;
use crate::text::number::{counted, duration, thousands};
use crate::text::printable::clean;
use crate::wording::{Wording, kb, wording};

impl HumanLayout {
    /// Returns the summary line of `kb add`.
    pub fn summary(report: &IngestReport) -> Wording {
        let mut text = Wording::from(format!(
            "Added {}. {} failed. {} skipped (already indexed).",
            counted(report.added, "document"),
            thousands(report.failed.len()),
            thousands(report.skipped.saturating_sub(report.copies))
        ));
        match report.copies {
            0 => {}
            1 => text = text.then(" 1 copy of another document."),
            many => text = text.then(format!(" {} copies of other documents.", thousands(many))),
        }
        if report.updated > 0 {
            text = text.then(format!(" {} updated.", thousands(report.updated)));
        }
        if report.ignored > 0 {
            text = text.then(wording!(
                " {} ignored: {}; `{}` lists {}.",
                thousands(report.ignored),
                most_frequent(&report.ignored_kinds),
                kb("files").flag("--ignored"),
                pronoun(report.ignored)
            ));
            if report.num_generated > 0 {
                text = text.then(" `--include-ignored` reads generated files.");
            }
        }
        if report.ocr.num_done > 0 {
            let pages = counted(report.ocr.num_done, "page");
            let time = duration(report.ocr.elapsed.as_secs().max(1));
            text = text.then(format!(" {pages} read by OCR in {time}."));
        }
        if report.known_failed > 0 {
            text = text.then(" ").then(known_to_fail(report.known_failed));
        }
        if report.lossy > 0 {
            text = text.then(" ").then(lossy(report.lossy));
        }
        if report.uncertain_encodings > 0 {
            text = text.then(" ").then(uncertain_encodings(report.uncertain_encodings));
        }
        if report.retitled > 0 {
            let documents = counted(report.retitled, "indexed document");
            text = text.then(format!(" Set the title of {documents}."));
        }
        if report.tagged > 0 {
            let documents = counted(report.tagged, "indexed document");
            text = text.then(format!(" Added tags to {documents}."));
        }
        text
    }

    /// Writes what `kb reindex` would take.
    pub fn reindex_estimate(
        &self,
        estimate: &ReindexEstimate,
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        let chunks = counted(estimate.num_chunks, "chunk");
        let model = clean(&estimate.model_name);
        let time = match estimate.seconds {
            Some(seconds) => format!(" in about {} on this machine", duration(seconds)),
            None => format!("; the time is unknown until {model} is installed"),
        };
        let download = match (estimate.is_installed, estimate.download_mb) {
            (true, _) => String::new(),
            (false, None) => format!(" {model} would be fetched first."),
            (false, Some(size)) => format!(" {model} would be fetched first ({size} MB)."),
        };
        let then = estimate.vector_bytes_then.map_or("an unknown size".into(), megabytes);
        let now = megabytes(estimate.vector_bytes);
        self.labelled(
            format!(
                "Would embed {chunks} with {model}{time}.{download} Vectors: {now} now, {then} afterwards; the \
                 database has both until the last new one is computed."
            ),
            out,
        )
    }

    /// Writes the report of `kb reindex`.
    pub fn reindexed(
        &self,
        reindexed: &ReindexReport,
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        let ReindexReport { num_chunks, model_name, dim, made_differently: others, .. } = reindexed;
        let chunks = counted(*num_chunks, "chunk");
        let model = clean(model_name);
        self.labelled(format!("Embedded {chunks} with {model} ({dim} dim)."), out)?;
        match others {
            0 => Ok(()),
            _ => self.labelled(made_differently(*others).then("."), out),
        }
    }

    /// Writes the first of the files of a kind, one per line, and the number of the others.
    fn first(
        &self,
        kind: &str,
        mut files: impl ExactSizeIterator<Item = String>,
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        for file in files.by_ref().take(MAX_LISTED) {
            self.labelled(format!("{kind}: {file}"), out)?;
        }
        match files.len() {
            0 => Ok(()),
            more => self.labelled(
                format!("{kind}: {} more (`--format json` lists all)", thousands(more)),
                out,
            ),
        }
    }

    /// Writes the report of `kb update`.
    pub fn update(&self, report: &UpdateReport, out: &mut CleanWriter<'_>) -> io::Result<()> {
        if report.is_nothing_added {
            return self.nothing_added(out);
        }
        let moves = report.moves.iter();
        let moves = moves.map(|moved| format!("{} to {}", clean(&moved.from), clean(&moved.to)));
        self.first("moved", moves, out)?;
        let missing = report
            .missing
            .iter()
            .map(|missing| format!("{} (document {})", clean(&missing.path), missing.document_id));
        self.first("missing", missing, out)?;
        let removed = report.removed_paths.iter().map(|path| clean(path));
        self.first(if report.is_dry_run { "would remove" } else { "removed" }, removed, out)?;
        for folder in &report.away {
            let folder = clean(&folder.display().to_string());
            self.labelled(format!("missing or empty, so nothing was removed: {folder}"), out)?;
        }
        if !report.away.is_empty() {
            let text = wording!(
                "`{}` updates the path of a folder that moved; `{}` removes the documents of one.",
                kb("relocate").arg("OLD").arg("NEW"),
                kb("remove").arg("DIR")
            );
            self.labelled(text, out)?;
        }
        for refused in &report.refused {
            let root = match &refused.root {
                Some(root) => clean(&root.display().to_string()),
                None => "the files that were added by name".to_owned(),
            };
            let lost = thousands(refused.num_lost);
            let all = counted(refused.num_documents, "document");
            let text =
                format!("not removed: {lost} of the {all} of {root}; `--force` removes them");
            self.labelled(text, out)?;
        }
        if report.reread > 0 {
            let documents = counted(report.reread, "document");
            self.labelled(format!("Re-indexed with the current settings: {documents}."), out)?;
        }
        if report.made_differently > 0 {
            self.labelled(made_differently(report.made_differently).then("."), out)?;
        }
        let would = if report.is_dry_run { "Would be: " } else { "" };
        self.labelled(format!("{would}{} added, {} updated, {} moved, {} unchanged, {} failed, {} missing, {} removed.",
            thousands(report.added),
            thousands(report.updated),
            thousands(report.moved),
            thousands(report.unchanged),
            thousands(report.failed.len()),
            thousands(report.missing.len()),
            thousands(report.removed.len()),
        ), out)?;
        if report.lossy > 0 {
            self.labelled(lossy(report.lossy), out)?;
        }
        if report.uncertain_encodings > 0 {
            self.labelled(uncertain_encodings(report.uncertain_encodings), out)?;
        }
        match report.known_failed {
            0 => Ok(()),
            known => self.labelled(known_to_fail(known), out),
        }
    }
}

/// How many files of a kind are listed; `kb update --format json` has all.
const MAX_LISTED: usize = 10;

/// Reports files that failed in an earlier run.
fn known_to_fail(num: usize) -> Wording {
    let failed = kb("files").flag("--failed");
    wording!(
        "{} failed in an earlier run; `{}` lists {}.",
        counted(num, "file"),
        failed,
        pronoun(num)
    )
}

/// Reports files of whose words many were left out.
fn lossy(num: usize) -> Wording {
    wording!(
        "{}: more than a tenth of the words were left out; `{}` lists {}.",
        counted(num, "file"),
        kb("files").flag("--quality"),
        pronoun(num)
    )
}

/// Reports files whose letters may be wrong.
fn uncertain_encodings(num: usize) -> Wording {
    wording!(
        "{}: {} encoding is uncertain; `{}` lists {}.",
        counted(num, "file"),
        if num == 1 { "its" } else { "their" },
        kb("files").flag("--quality"),
        pronoun(num)
    )
}

/// Returns a sentence about documents that were made with other settings.
pub(crate) fn made_differently(count: usize) -> Wording {
    wording!(
        "{} {} indexed with other settings, another model or an older kb; `{}` re-indexes {}",
        counted(count, "document"),
        if count == 1 { "was" } else { "were" },
        kb("update").flag("--reread"),
        pronoun(count)
    )
}

pub(super) fn pronoun(num: usize) -> &'static str {
    if num == 1 { "it" } else { "them" }
}

/// How many kinds of ignored files a summary names.
const MAX_KINDS: usize = 3;

/// Returns the most frequent kinds and the number of others: `12 .csv, 9 .json, 9 others`.
fn most_frequent(kinds: &BTreeMap<String, usize>) -> String {
    let mut kinds: Vec<(&String, usize)> = kinds.iter().map(|(kind, num)| (kind, *num)).collect();
    kinds.sort_by_key(|(_, num)| Reverse(*num));
    let num_named = if kinds.len() > MAX_KINDS { MAX_KINDS - 1 } else { kinds.len() };
    let (named, others) = kinds.split_at(num_named);
    let mut parts: Vec<String> = named
        .iter()
        .map(|(kind, num)| match kind.as_str() {
            NO_EXTENSION => format!("{} without extension", thousands(*num)),
            kind => format!("{} {}", thousands(*num), clean(kind)),
        })
        .collect();
    let num_others: usize = others.iter().map(|(_, num)| num).sum();
    match num_others {
        0 => {}
        1 => parts.push("1 other".into()),
        others => parts.push(format!("{} others", thousands(others))),
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_counts_everything() {
        let report = IngestReport { added: 1847, skipped: 141, ..IngestReport::default() };
        assert_eq!(
            HumanLayout::summary(&report).to_string(),
            "Added 1,847 documents. 0 failed. 141 skipped (already indexed)."
        );
        let report = IngestReport { copies: 17, ..report };
        assert_eq!(
            HumanLayout::summary(&report).to_string(),
            "Added 1,847 documents. 0 failed. 124 skipped (already indexed). \
             17 copies of other documents."
        );
    }

    #[track_caller]
    fn check_kinds(kinds: &[(&str, usize)], expected: &str) {
        let kinds = kinds.iter().map(|(kind, num)| ((*kind).to_owned(), *num)).collect();
        assert_eq!(most_frequent(&kinds), expected);
    }

    #[test]
    fn the_most_frequent_ignored_kinds_are_named() {
        check_kinds(
            &[(".csv", 12), (".ini", 4), (".json", 9), (".x", 5)],
            "12 .csv, 9 .json, 9 others",
        );
        check_kinds(&[("empty", 1)], "1 empty");
        check_kinds(
            &[(".a", 1), (NO_EXTENSION, 2000), ("empty", 1)],
            "2,000 without extension, 1 .a, 1 empty",
        );
        check_kinds(&[(".a", 2), (".b", 2), (".c", 0), (".d", 1)], "2 .a, 2 .b, 1 other");
    }
}
