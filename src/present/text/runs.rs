//! Writes the reports of add, backup, import and reindex as text.

use std::io;

use crate::app::backup::Backup;
use crate::app::reindex::Reindexed;
use crate::ingest::IngestReport;
use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::present::text::update::made_differently;
use crate::text::number::{bytes_to_mb, counted, thousands};
use crate::text::printable::clean;
use crate::transfer::Imported;

impl Human {
    /// Returns the summary line of `kb add`.
    pub fn summary(report: &IngestReport) -> String {
        let mut text = format!(
            "Added {}. {} failed. {} skipped (already indexed).",
            counted(report.added, "document"),
            thousands(report.failed.len() as u64),
            thousands(report.skipped.saturating_sub(report.copies) as u64)
        );
        match report.copies {
            0 => {}
            1 => text += " 1 copy of another document.",
            copies => {
                text += &format!(" {} copies of other documents.", thousands(copies as u64));
            }
        }
        if report.updated > 0 {
            text += &format!(" {} updated.", thousands(report.updated as u64));
        }
        if report.ignored > 0 {
            text += &format!(
                " {} ignored (empty or of another type).",
                thousands(report.ignored as u64)
            );
        }
        if report.retitled > 0 {
            text += &format!(" Set the title of {}.", counted(report.retitled, "indexed document"));
        }
        if report.tagged > 0 {
            text += &format!(" Added tags to {}.", counted(report.tagged, "indexed document"));
        }
        text
    }

    /// Writes the contents of a backup.
    ///
    /// # Errors
    ///
    /// Errors of writing.
    pub fn backup(
        &self,
        backup: &Backup,
        is_verified: bool,
        out: &mut Sheet<'_>,
    ) -> io::Result<()> {
        let Backup { file, verified } = backup;
        let stats = &verified.stats;
        self.labelled(
            &format!(
                "{} {}: {}, {}, {:.1} MB.",
                if is_verified { "Sound:" } else { "Copied to" },
                clean(&file.display().to_string()),
                counted(stats.total_documents() as usize, "document"),
                counted(stats.total_chunks as usize, "chunk"),
                bytes_to_mb(stats.db_size_bytes),
            ),
            out,
        )?;
        match &verified.log {
            Some(log) => self.labelled(&format!("A part of it is in {}: SQLite applies that log when the file is opened, so keep both.",
                clean(&log.display().to_string())
            ), out),
            None => Ok(()),
        }
    }

    /// Writes the report of `kb import`.
    ///
    /// # Errors
    ///
    /// Errors of writing.
    pub fn imported(&self, imported: &Imported, out: &mut Sheet<'_>) -> io::Result<()> {
        self.labelled(
            &format!(
                "Imported {} ({}), skipped {}, failed {}.",
                counted(imported.num_documents, "document"),
                counted(imported.num_chunks, "chunk"),
                imported.num_skipped,
                imported.num_failed,
            ),
            out,
        )
    }

    /// Writes the report of `kb reindex`.
    ///
    /// # Errors
    ///
    /// Errors of writing.
    pub fn reindexed(&self, reindexed: &Reindexed, out: &mut Sheet<'_>) -> io::Result<()> {
        let Reindexed { num_chunks, binding, made_differently: others } = reindexed;
        let chunks = counted(usize::try_from(*num_chunks).unwrap_or(usize::MAX), "chunk");
        let (model, dim) = (clean(&binding.model_name), binding.dim);
        self.labelled(&format!("Embedded {chunks} with {model} ({dim} dim)."), out)?;
        match others {
            0 => Ok(()),
            _ => self.labelled(&format!("{}.", made_differently(*others)), out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_counts_everything() {
        let report = IngestReport { added: 1847, skipped: 141, ..IngestReport::default() };
        assert_eq!(
            Human::summary(&report),
            "Added 1,847 documents. 0 failed. 141 skipped (already indexed)."
        );
        let report = IngestReport { copies: 17, ..report };
        assert_eq!(
            Human::summary(&report),
            "Added 1,847 documents. 0 failed. 124 skipped (already indexed). \
             17 copies of other documents."
        );
    }
}
