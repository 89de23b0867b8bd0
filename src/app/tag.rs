//! Changes the tags of a document.

use crate::app::{Observer, Session, erase, session};
use crate::error::{Error, Result};
use crate::store::StoredDocument;

/// A request to change the tags of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TagRequest {
    /// Id, as typed.
    pub document: String,
    /// Tags to add.
    pub added: Vec<String>,
    /// Tags to remove.
    pub removed: Vec<String>,
}

/// Changes the tags of a document; returns the document.
///
/// # Errors
///
/// [`Error::UnknownDocument`], and those of [`crate::store::Store::change_tags`].
pub fn change(
    session: &Session,
    request: &TagRequest,
    observer: &dyn Observer,
) -> Result<StoredDocument> {
    let id = session::document_id(&request.document)?;
    let unknown = || Error::UnknownDocument { id: request.document.clone() };
    let mut store = session.open_existing()?.ok_or_else(unknown)?;
    if store.document(id)?.is_none() {
        return Err(unknown());
    }
    store.change_tags(id, &request.added, &request.removed)?;
    let document = store.document(id)?.ok_or_else(unknown)?;
    erase::finish(store, observer)?;
    Ok(document)
}
