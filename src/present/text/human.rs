//! Writes text for people. Colour and width are fields, so that the same answer gives the same bytes.
//!
//! Texts from outside are put on one line first (`clean`); what goes to a terminal passes a [`Sheet`],
//! which no escape sequence of theirs survives. Hits are drawn in `hits`, documents in `inventory`.

use std::io;

use crate::app::backup::Backup;
use crate::app::settings::Setting;
use crate::document::DocumentId;
use crate::error::Error;
use crate::ingest::IngestReport;
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::Sheet;
use crate::present::terminal::table::{texts, words};
use crate::store::StoredDocument;
use crate::text::number::{bytes_to_mb, counted, thousands};
use crate::text::printable::clean;
use crate::transfer::Imported;

/// How to draw.
#[derive(Debug, Clone, Copy)]
pub struct Human {
    /// Columns there are.
    pub width: usize,
    /// Whether it is drawn on a terminal, to whose width tables are cut.
    pub is_terminal: bool,
    /// Whether escape sequences for colour are written.
    pub is_coloured: bool,
    /// Whether files are linked to.
    pub has_links: bool,
}

impl Human {
    /// Draws without colour, and not for a terminal.
    pub fn plain(width: usize) -> Self {
        Self { width, is_terminal: false, is_coloured: false, has_links: false }
    }

    /// Writes the tags of a document after a change.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn tagged(&self, document: &StoredDocument, out: &mut Sheet<'_>) -> io::Result<()> {
        let tags = if document.tags.is_empty() { "none".into() } else { document.tags.join(", ") };
        writeln!(out, "Tags of '{}': {}", clean(&document.title), clean(&tags))
    }

    /// Writes the ids of removed documents.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn removed(&self, ids: &[DocumentId], out: &mut Sheet<'_>) -> io::Result<()> {
        writeln!(out, "Removed {}.", counted(ids.len(), "document"))
    }

    /// Writes what a copy of the database holds.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn backup(
        &self,
        backup: &Backup,
        is_verified: bool,
        out: &mut Sheet<'_>,
    ) -> io::Result<()> {
        let Backup { file, verified } = backup;
        let stats = &verified.stats;
        writeln!(
            out,
            "{} {}: {}, {}, {:.1} MB.",
            if is_verified { "Sound:" } else { "Copied to" },
            clean(&file.display().to_string()),
            counted(stats.total_documents() as usize, "document"),
            counted(stats.total_chunks as usize, "chunk"),
            bytes_to_mb(stats.db_size_bytes),
        )?;
        match &verified.log {
            Some(log) => writeln!(
                out,
                "A part of it is in {}: SQLite applies that log when the file is opened, so keep both.",
                clean(&log.display().to_string())
            ),
            None => Ok(()),
        }
    }

    /// Writes what a run of `kb import` did.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn imported(&self, imported: &Imported, out: &mut Sheet<'_>) -> io::Result<()> {
        writeln!(
            out,
            "Imported {} ({}), skipped {}, failed {}.",
            counted(imported.num_documents, "document"),
            counted(imported.num_chunks, "chunk"),
            imported.num_skipped,
            imported.num_failed,
        )
    }

    /// Writes what a run of `kb reindex` did.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn reindexed(
        &self,
        num_chunks: u64,
        model_name: &str,
        embedding_dim: u32,
        out: &mut Sheet<'_>,
    ) -> io::Result<()> {
        let chunks = counted(usize::try_from(num_chunks).unwrap_or(usize::MAX), "chunk");
        writeln!(out, "Embedded {chunks} with {} ({embedding_dim} dim).", clean(model_name))
    }

    /// Writes every setting.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn settings(&self, settings: &[Setting], out: &mut Sheet<'_>) -> io::Result<()> {
        let row = |it: &Setting| vec![clean(&it.key), clean(&it.value), clean(&it.origin)];
        let rows: Vec<Vec<String>> = settings.iter().map(row).collect();
        let columns = [
            words("KEY"),
            texts("VALUE").painted(Meaning::Title),
            texts("FROM").painted(Meaning::Faint),
        ];
        self.table(&columns, &rows, out)
    }

    /// Returns the line that ends a run of `kb add`.
    pub fn summary(report: &IngestReport) -> String {
        let mut text = format!(
            "Added {}. {} failed. {} skipped (already indexed).",
            counted(report.added, "document"),
            thousands(report.failed.len() as u64),
            thousands(report.skipped as u64)
        );
        if report.updated > 0 {
            text += &format!(" {} updated.", thousands(report.updated as u64));
        }
        if report.ignored > 0 {
            text += &format!(
                " {} ignored (empty or of another type).",
                thousands(report.ignored as u64)
            );
        }
        text
    }

    /// Writes a line, the word before its colon painted if it is one of those kb begins lines with.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn labelled(&self, line: &str, out: &mut Sheet<'_>) -> io::Result<()> {
        let (label, rest) = line.split_once(": ").unwrap_or(("", line));
        let meaning = match label {
            "error" | "failed" => Meaning::Bad,
            "warning" => Meaning::Warning,
            "hint" | "note" => Meaning::Place,
            _ => return writeln!(out, "{line}"),
        };
        self.paint(meaning, &format!("{label}:"), out)?;
        writeln!(out, " {rest}")
    }

    /// Writes an error: what failed, and what to do next.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn error(&self, error: &Error, out: &mut Sheet<'_>) -> io::Result<()> {
        self.labelled(&format!("error: {}", clean(&error.to_string())), out)?;
        match error.hint() {
            Some(hint) => self.labelled(&format!("hint: {}", clean(&hint)), out),
            None => Ok(()),
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
    }
}
