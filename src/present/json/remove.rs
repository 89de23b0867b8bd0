//! Writes the report of a removal as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::copies::OwnCopy;
use crate::app::remove::Removed;
use crate::document::DocumentId;
use crate::present::json::CONTRACT_VERSION;
use crate::text::json::Json;

/// The result of `kb remove`.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct RemovedJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Ids of the removed documents, in the order of the arguments.
    removed: &'a [DocumentId],
    /// Whether nothing was removed; the other keys then say what would be.
    dry_run: bool,
    /// The removed documents.
    documents: Vec<RemovedDocumentJson<'a>>,
    /// What of the chosen documents is in no file, so that adding files does not bring it back.
    lost: LostJson,
    /// Rules that --ignore added to ignore files.
    rules_added: usize,
    /// Copies of the database that kb made itself and that may have what was removed.
    backups: Vec<CopyJson>,
    /// Such copies that `--backups` deleted.
    backups_deleted: Vec<CopyJson>,
}

/// A copy of the database that kb made itself.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct CopyJson {
    /// The file.
    file: String,
    /// Its size in bytes.
    size_bytes: u64,
    /// What it was made before: `migration`, `reindex` or `restore`.
    before: &'static str,
}

impl From<&OwnCopy> for CopyJson {
    fn from(copy: &OwnCopy) -> Self {
        let file = copy.path.display().to_string();
        Self { file, size_bytes: copy.size_bytes, before: copy.reason.as_str() }
    }
}

/// A removed document.
#[derive(Serialize, JsonSchema)]
struct RemovedDocumentJson<'a> {
    /// Its id.
    id: DocumentId,
    /// Its title.
    title: &'a str,
    /// Absolute path of its file; null for a note given as text.
    path: Option<&'a str>,
}

/// What is in no file.
#[derive(Serialize, JsonSchema)]
struct LostJson {
    /// Notes and other documents that never had a file.
    notes: usize,
    /// Documents whose files are missing.
    without_file: usize,
    /// Titles that were edited.
    titles: usize,
    /// Dates that were edited.
    dates: usize,
    /// Documents with tags that were edited.
    tagged: usize,
}

/// Writes the ids of removed documents.
///
/// # Errors
///
/// Errors of writing.
pub fn removed(removed: &Removed, out: &mut Json<'_>) -> io::Result<()> {
    let documents = removed.documents.iter().map(|document| RemovedDocumentJson {
        id: document.id,
        title: &document.title,
        path: document.path.as_deref(),
    });
    let losses = &removed.losses;
    out.value(&RemovedJson {
        contract_version: CONTRACT_VERSION,
        removed: &removed.ids,
        dry_run: removed.is_dry_run,
        documents: documents.collect(),
        lost: LostJson {
            notes: losses.num_notes,
            without_file: losses.num_without_file,
            titles: losses.num_titles,
            dates: losses.num_dates,
            tagged: losses.num_tagged,
        },
        rules_added: removed.num_rules,
        backups: removed.copies.iter().map(CopyJson::from).collect(),
        backups_deleted: removed.deleted_copies.iter().map(CopyJson::from).collect(),
    })
}
