//! Writes the reports of backup, restore and import as text.

use std::io;

use crate::app::maintenance::backup::{RestoreReport, VerifiedBackup};
use crate::present::terminal::sheet::CleanWriter;
use crate::present::text::human::HumanLayout;
use crate::store::{Conflict, EditableField};
use crate::text::number::{bytes_to_mb, counted, thousands};
use crate::text::printable::clean;
use crate::transfer::ImportReport;

impl HumanLayout {
    /// Writes the contents of a backup.
    pub fn backup(
        &self,
        backup: &VerifiedBackup,
        is_verified: bool,
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        self.labelled(
            format!(
                "{} {}: {}, {}, {:.1} MB.",
                if is_verified { "Verified" } else { "Copied to" },
                clean(&backup.file.display().to_string()),
                counted(backup.total_documents, "document"),
                counted(backup.total_chunks, "chunk"),
                bytes_to_mb(backup.db_size_bytes),
            ),
            out,
        )?;
        match &backup.log {
            Some(log) => self.labelled(format!("A part of it is in the log {}, which SQLite applies when it opens the file, so keep both files.",
                clean(&log.display().to_string())
            ), out),
            None => Ok(()),
        }
    }

    /// Writes the report of `kb restore`.
    pub fn restored(&self, restored: &RestoreReport, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let documents = counted(restored.total_documents, "document");
        let file = clean(&restored.file.display().to_string());
        self.labelled(format!("Restored {documents} from {file}."), out)?;
        match &restored.replaced {
            Some(path) => {
                let path = clean(&path.display().to_string());
                self.labelled(format!("The previous database was saved as {path}."), out)
            }
            None => Ok(()),
        }
    }

    /// Writes the report of `kb import`.
    pub fn imported(&self, imported: &ImportReport, out: &mut CleanWriter<'_>) -> io::Result<()> {
        for conflict in &imported.conflicts {
            self.labelled(conflict_line(conflict), out)?;
        }
        self.labelled(
            format!(
                "Imported {} ({}), skipped {}, failed {}.",
                counted(imported.num_documents, "document"),
                counted(imported.num_chunks, "chunk"),
                thousands(imported.num_skipped),
                thousands(imported.num_failed),
            ),
            out,
        )?;
        match imported.num_merged {
            0 => Ok(()),
            merged => self.labelled(format!("Merged into {}.", counted(merged, "document")), out),
        }
    }
}

fn quoted(text: Option<&str>) -> String {
    text.map_or_else(|| "none".to_owned(), |text| format!("\"{}\"", clean(text)))
}

/// Returns a line about a field that both sides had edited.
fn conflict_line(conflict: &Conflict) -> String {
    let Conflict { document_id, field, is_import_kept, copy_id, .. } = conflict;
    let (kept, other) = (quoted(conflict.kept.as_deref()), quoted(conflict.other.as_deref()));
    let side = if *is_import_kept { "from the import" } else { "from this database" };
    match (field, copy_id) {
        (EditableField::File, _) => format!(
            "conflict: document {document_id} has other content at the same path, and was kept: {kept}"
        ),
        (EditableField::Text, Some(copy)) => format!(
            "conflict: the text of note {document_id} was edited on both sides; the newer edit, {side}, was \
             kept ({kept}), and the other one is note {copy} ({other})"
        ),
        _ => format!(
            "conflict: the {} of document {document_id} was edited on both sides; the newer edit, {side}, was \
             kept: {kept}, not {other}",
            field.as_str()
        ),
    }
}
