//! Removes documents by id, or all at and below a path.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::app::{Observer, Session, erase, session};
use crate::document::{DocumentId, Filter};
use crate::error::{Error, Result};
use crate::ingest::survey::root_of;
use crate::store::{DocumentName, Forgotten, Store};
use crate::text::paths;

/// What the removal of one argument affects.
#[derive(Debug)]
pub struct Going {
    /// The argument.
    pub named: Named,
    /// Documents to remove.
    pub documents: Vec<DocumentName>,
    /// Paths to forget; their documents also exist elsewhere.
    copies: Vec<(String, DocumentId)>,
    /// Folders to forget.
    folders: Vec<String>,
}

/// An argument of the removal.
#[derive(Debug)]
pub enum Named {
    /// A document given by id: its title and number of chunks.
    Document(String, u32),
    /// A path.
    Path(PathBuf),
}

/// The result of a removal.
#[derive(Debug, Default)]
pub struct Removed {
    /// Removed documents.
    pub ids: Vec<DocumentId>,
    /// How many of them the next update adds again, because their files are in an added folder.
    pub num_back: usize,
}

/// Removes the documents that `typed` names. Calls `confirm` once for each argument before removing it.
///
/// # Errors
///
/// [`Error::UnknownDocument`], before anything is removed; errors of `confirm` and the store.
pub fn remove(
    session: &Session,
    typed: &[String],
    confirm: &dyn Fn(&Going) -> Result<bool>,
    observer: &dyn Observer,
) -> Result<Removed> {
    let unknown = || Error::UnknownDocument { id: typed.first().cloned().unwrap_or_default() };
    let mut store = session.open_existing()?.ok_or_else(unknown)?;
    // All are looked up before the first document is removed.
    let all = typed.iter().map(|typed| going(&store, typed)).collect::<Result<Vec<_>>>()?;
    let mut removed: Vec<DocumentId> = Vec::new();
    let mut files: Vec<PathBuf> = Vec::new();
    for mut going in all {
        // A document that was named twice is removed once.
        going.documents.retain(|document| !removed.contains(&document.id));
        let is_done =
            going.documents.is_empty() && going.copies.is_empty() && going.folders.is_empty();
        if is_done || !confirm(&going)? {
            continue;
        }
        // Folders come first, so that an update after an interruption adds nothing again.
        for folder in going.folders {
            store.forget_root(&folder)?;
        }
        for (path, id) in going.copies {
            // Other paths may already be forgotten with another folder.
            if let Forgotten::Document(id) = store.forget_path(&path, id, true)? {
                removed.push(id);
            }
        }
        for document in going.documents {
            if store.remove(document.id)? {
                removed.push(document.id);
                files.extend(document.path.as_deref().map(paths::path_of));
            }
        }
    }
    let roots: Vec<PathBuf> =
        store.roots()?.iter().map(|root| paths::path_of(&root.path)).collect();
    erase::finish(store, observer)?;
    let is_back = |path: &&PathBuf| {
        root_of(&roots, path).is_some()
            && path.symlink_metadata().is_ok_and(|found| found.is_file())
    };
    Ok(Removed { ids: removed, num_back: files.iter().filter(is_back).count() })
}

/// Looks up an argument: a document by its id, or all documents at and below a path.
fn going(store: &Store, typed: &str) -> Result<Going> {
    let unknown = || Error::UnknownDocument { id: typed.to_owned() };
    if let Ok(id) = session::document_id(typed) {
        let document = store.document(id)?.ok_or_else(unknown)?;
        let named = Named::Document(document.title.clone(), document.chunk_count);
        let name = DocumentName { id: document.id, title: document.title, path: document.path };
        return Ok(Going { named, documents: vec![name], copies: Vec::new(), folders: Vec::new() });
    }
    let path = session::typed(Path::new(typed))?;
    let path_prefix = Some(paths::path_text(&path));
    let documents = store.documents(&Filter { path_prefix, ..Filter::default() })?.into_iter();
    let documents: Vec<DocumentName> = documents
        .map(|document| DocumentName {
            id: document.id,
            title: document.title,
            path: document.path,
        })
        .collect();
    let folders: Vec<String> = store.roots()?.into_iter().map(|root| root.path).collect();
    let folders: Vec<String> =
        folders.into_iter().filter(|folder| paths::path_of(folder).starts_with(&path)).collect();
    let (within, outside): (Vec<_>, Vec<_>) = store
        .known_files()?
        .into_iter()
        .map(|file| (file.stamp.path, file.document_id))
        .partition(|known| paths::path_of(&known.0).starts_with(&path));
    let elsewhere: HashSet<DocumentId> = outside.into_iter().map(|known| known.1).collect();
    let copies: Vec<_> = within.into_iter().filter(|known| elsewhere.contains(&known.1)).collect();
    let documents: Vec<_> =
        documents.into_iter().filter(|document| !elsewhere.contains(&document.id)).collect();
    if documents.is_empty() && copies.is_empty() && folders.is_empty() {
        return Err(unknown());
    }
    Ok(Going { named: Named::Path(path), documents, copies, folders })
}
