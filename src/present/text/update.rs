//! Writes the report of `kb update` as text.

use std::io;

use crate::app::update::UpdateReport;
use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::text::number::counted;
use crate::text::printable::clean;

/// Returns a sentence about documents that today's settings would make differently.
pub(in crate::present) fn made_differently(count: usize) -> String {
    format!(
        "Today's settings, model and version would make {} differently: `kb update --reread`",
        counted(count, "document")
    )
}

impl Human {
    /// Writes the report of `kb update`.
    ///
    /// # Errors
    ///
    /// Errors of writing.
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
            writeln!(out, "missing or empty, so nothing was removed: {folder}")?;
        }
        for refused in &report.refused {
            let root = match &refused.root {
                Some(root) => clean(&root.display().to_string()),
                None => "the files that were added by name".to_owned(),
            };
            let (lost, all) = (refused.num_lost, refused.num_documents);
            writeln!(
                out,
                "not removed: {lost} of the {all} documents of {root}; `--force` removes them"
            )?;
        }
        if report.reread > 0 {
            let documents = counted(report.reread, "document");
            writeln!(out, "Made again with today's settings: {documents}.")?;
        }
        if report.made_differently > 0 {
            writeln!(out, "{}.", made_differently(report.made_differently))?;
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
}
