//! Finds a document by what a user calls it.

use std::path::MAIN_SEPARATOR;

use crate::document::DocumentId;
use crate::error::{Error, Result};
use crate::store::{DocumentName, Store, StoredDocument};
use crate::text::fold::fold;

/// Documents named at most where several are meant.
const MAX_CANDIDATES: usize = 5;

/// Finds the document that an id, a path, or a unique part of a title or path means.
///
/// `path` is what was typed, as an absolute path. An id goes first, then the path of a file, then a
/// whole title or file name, then a part of either; case does not matter in the last two. A number is
/// never a part: the id of a document that is gone would mean another one.
///
/// # Errors
///
/// [`Error::UnknownDocument`]; [`Error::AmbiguousDocument`] with the first few that are meant; what
/// the database refuses.
pub fn find(store: &Store, typed: &str, path: &str) -> Result<StoredDocument> {
    let unknown = || Error::UnknownDocument { id: typed.to_owned() };
    let by_id = |id: DocumentId| store.document(id);
    let id: Option<DocumentId> = typed.parse().ok();
    if let Some(document) = id.map(by_id).transpose()?.flatten() {
        return Ok(document);
    }
    if let Some(known) = store.known_path(path)? {
        return by_id(known.document_id)?.ok_or_else(unknown);
    }
    let wanted = fold(typed.trim());
    let names = match wanted.is_empty() {
        true => Vec::new(),
        false => store.document_names()?,
    };
    let file = |it: &DocumentName| {
        it.path.as_deref().and_then(|it| it.rsplit(MAIN_SEPARATOR).next()).map(fold)
    };
    let whole: Vec<&DocumentName> = names
        .iter()
        .filter(|it| fold(&it.title) == wanted || file(it).as_ref() == Some(&wanted))
        .collect();
    let meant = match whole.is_empty() {
        false => whole,
        true if id.is_some() => Vec::new(),
        true => names
            .iter()
            .filter(|it| {
                let path = it.path.as_deref().map(fold);
                fold(&it.title).contains(&wanted) || path.is_some_and(|it| it.contains(&wanted))
            })
            .collect(),
    };
    match meant.as_slice() {
        [] => Err(unknown()),
        [one] => by_id(one.id)?.ok_or_else(unknown),
        _ => Err(Error::AmbiguousDocument {
            typed: typed.to_owned(),
            num_candidates: meant.len(),
            candidates: meant
                .iter()
                .take(MAX_CANDIDATES)
                .map(|it| format!("{} ({})", it.id, it.title))
                .collect(),
        }),
    }
}
