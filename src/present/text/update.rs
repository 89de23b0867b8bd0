//! Writes the report of `kb update` as text.

use std::io;

use crate::app::update::UpdateReport;
use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::present::text::remarks::{known_to_fail, lossy, made_differently};
use crate::text::number::{counted, thousands};
use crate::text::printable::clean;

/// How many moved files are listed.
const MAX_MOVES: usize = 10;

impl Human {
    /// Writes the report of `kb update`.
    pub fn update(&self, report: &UpdateReport, out: &mut Sheet<'_>) -> io::Result<()> {
        for moved in report.moves.iter().take(MAX_MOVES) {
            writeln!(out, "moved: {} to {}", clean(&moved.from), clean(&moved.to))?;
        }
        if let Some(more @ 1..) = report.moves.len().checked_sub(MAX_MOVES) {
            writeln!(out, "moved: {} more", thousands(more))?;
        }
        for missing in &report.missing {
            self.labelled(
                &format!("missing: {} (document {})", clean(&missing.path), missing.document_id),
                out,
            )?;
        }
        for path in &report.removed_paths {
            self.labelled(
                &format!("{}: {}", if report.is_dry_run { "gone" } else { "removed" }, clean(path)),
                out,
            )?;
        }
        for folder in &report.away {
            let folder = clean(&folder.display().to_string());
            self.labelled(&format!("missing or empty, so nothing was removed: {folder}"), out)?;
        }
        if !report.away.is_empty() {
            self.labelled(
                "`kb relocate OLD NEW` says where a folder is now; `kb remove DIR` removes what was in it.",
                out,
            )?;
        }
        for refused in &report.refused {
            let root = match &refused.root {
                Some(root) => clean(&root.display().to_string()),
                None => "the files that were added by name".to_owned(),
            };
            let lost = thousands(refused.num_lost);
            let all = counted(refused.num_documents, "document");
            self.labelled(
                &format!("not removed: {lost} of the {all} of {root}; `--force` removes them"),
                out,
            )?;
        }
        if report.reread > 0 {
            let documents = counted(report.reread, "document");
            self.labelled(&format!("Made again with today's settings: {documents}."), out)?;
        }
        if report.made_differently > 0 {
            self.labelled(&format!("{}.", made_differently(report.made_differently)), out)?;
        }
        let number = |count: usize| thousands(count);
        let would = if report.is_dry_run { "Would be: " } else { "" };
        self.labelled(&format!("{would}{} added, {} updated, {} moved, {} unchanged, {} failed, {} missing, {} removed.",
            number(report.added),
            number(report.updated),
            number(report.moved),
            number(report.unchanged),
            number(report.failed.len()),
            number(report.missing.len()),
            number(report.removed.len()),
        ), out)?;
        if report.lossy > 0 {
            self.labelled(&lossy(report.lossy), out)?;
        }
        match report.known_failed {
            0 => Ok(()),
            known => self.labelled(&known_to_fail(known), out),
        }
    }
}
