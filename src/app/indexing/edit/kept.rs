//! Names the pages of `kb edit` that are kept in the data directory, and erases those of removed documents.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::{folder, write};
use crate::store::{DocumentId, Store};

/// The beginning and the end of the name of a page; between them is the id of the document.
const PREFIX: &str = "edit-";
const END: &str = ".md";

/// Returns the file that has the page of a document while it is edited, and after an error.
pub fn page_of(data_dir: &Path, id: DocumentId) -> PathBuf {
    data_dir.join(format!("{PREFIX}{id}{END}"))
}

/// Deletes the pages of removed documents: they have the title, and a note's text.
pub(crate) fn erase(data_dir: &Path, removed: &[DocumentId]) -> Result<()> {
    removed.iter().try_for_each(|id| delete(&page_of(data_dir, *id)))
}

/// Returns the pages whose document is not in the database.
pub(crate) fn orphans(data_dir: &Path, store: &Store) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for path in folder::entries(data_dir) {
        if let Some(id) = id_of(&path)
            && store.document(id)?.is_none()
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

pub(crate) fn delete(page: &Path) -> Result<()> {
    write::remove(page).map_err(|source| Error::of_file(page, source))
}

/// Returns the document of a page; `None` for any other file.
fn id_of(path: &Path) -> Option<DocumentId> {
    let number = path.file_name()?.to_str()?.strip_prefix(PREFIX)?.strip_suffix(END)?;
    // Only the name that kb itself would write is accepted: `edit-01.md` is the user's.
    let id: i64 = number.parse().ok().filter(|id: &i64| id.to_string() == number)?;
    path.symlink_metadata().ok().filter(|found| found.is_file())?;
    Some(DocumentId(id))
}
