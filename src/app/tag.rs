//! Changes the tags of documents, and renames tags.

use crate::app::choose::{Choice, choose};
use crate::app::{Observer, Session, erase};
use crate::document::DocumentId;
use crate::error::{Error, Result};
use crate::store::StoredDocument;

pub use crate::store::RenamedTag;

/// A request to change the tags of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagRequest {
    /// The documents.
    pub documents: Choice,
    /// Tags to add.
    pub added: Vec<String>,
    /// Tags to remove.
    pub removed: Vec<String>,
}

/// The documents that were chosen, after the change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tagged {
    /// All of them, each once.
    pub documents: Vec<StoredDocument>,
    /// Those whose tags are others now.
    pub changed: Vec<DocumentId>,
}

/// Changes the tags of documents, all in one transaction.
///
/// # Errors
///
/// [`Error::UnknownDocument`] and [`Error::AmbiguousDocument`] for a name, those of a search, and
/// those of [`crate::store::Store::change_tags`]. Nothing is changed in these cases.
pub fn change(session: &Session, request: &TagRequest, observer: &dyn Observer) -> Result<Tagged> {
    let Some((mut store, ids)) = choose(session, &request.documents, observer)? else {
        return Ok(Tagged::default());
    };
    let changed = store.change_tags(&ids, &request.added, &request.removed)?;
    let mut documents = Vec::with_capacity(ids.len());
    for id in ids {
        documents.extend(store.document(id)?);
    }
    erase::finish(store, observer)?;
    Ok(Tagged { documents, changed })
}

/// Renames a tag, also among the tags that added folders give to new files. If there is a tag with
/// the new name, the two become one.
///
/// # Errors
///
/// [`Error::Usage`] if nothing has the tag, or if both names are the same; what the store refuses.
pub fn rename(
    session: &Session,
    from: &str,
    to: &str,
    observer: &dyn Observer,
) -> Result<RenamedTag> {
    if from == to {
        let message = format!("`{from}` is the old and the new name");
        return Err(Error::Usage { message, hint: None });
    }
    let unknown = || Error::Usage {
        message: format!("no document has the tag `{from}`"),
        hint: Some("`kb tags` lists the tags".into()),
    };
    let mut store = session.open_existing()?.ok_or_else(unknown)?;
    let renamed = store.rename_tag(from, to)?.ok_or_else(unknown)?;
    erase::finish(store, observer)?;
    Ok(renamed)
}
