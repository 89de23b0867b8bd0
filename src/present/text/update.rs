//! Presents what an update found and did as text.

use std::io;

use crate::app::update::UpdateReport;
use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::text::printable::clean;

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
}
