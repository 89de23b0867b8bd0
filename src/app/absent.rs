//! Notes which path or tag of a filter no document has, so that an empty answer is not mistaken for
//! an answer about documents.

use crate::app::Observer;
use crate::document::Filter;
use crate::error::Result;
use crate::store::Store;
use crate::text::paths;

/// Reports the path and the tags of a filter for which there is no document. Called where nothing
/// was found: otherwise the path and every tag have documents.
///
/// # Errors
///
/// Errors of the database.
pub(super) fn note(store: &Store, filter: &Filter, observer: &dyn Observer) -> Result<()> {
    if let Some(path) = &filter.path_prefix {
        let below = Filter { path_prefix: Some(path.clone()), ..Filter::default() };
        if !store.has_document(&below)? {
            let path = paths::path_of(path);
            observer.note(&format!("note: no document is at or below {}", path.display()));
        }
    }
    for tag in &filter.tags {
        let tagged = Filter { tags: vec![tag.clone()], ..Filter::default() };
        if !store.has_document(&tagged)? {
            observer.note(&format!("note: no document has the tag `{tag}`"));
        }
    }
    Ok(())
}
