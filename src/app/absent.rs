//! Reports the path or tags of a filter that no document has, so that the user sees why an answer is
//! empty.

use crate::app::Observer;
use crate::document::Filter;
use crate::error::Result;
use crate::store::Store;
use crate::text::paths;

/// Reported for an empty answer if the database is empty.
pub(super) const NOTHING_ADDED: &str =
    "Nothing has been added yet. `kb add DIRECTORY` adds documents.";

/// Reports why an answer is empty, if the reason is that there are no documents or none for the filter.
pub(super) fn explain(store: &Store, filter: &Filter, observer: &dyn Observer) -> Result<()> {
    if store.has_document(&Filter::default())? {
        return note(store, filter, observer);
    }
    observer.note(NOTHING_ADDED);
    Ok(())
}

/// Reports the path and the tags of a filter that no document has. Only needed after an empty answer:
/// otherwise documents have the path and every tag.
pub(super) fn note(store: &Store, filter: &Filter, observer: &dyn Observer) -> Result<()> {
    if let Some(path) = &filter.path_prefix {
        let below = Filter { path_prefix: Some(path.clone()), ..Filter::default() };
        if !store.has_document(&below)? {
            let path = paths::path_of(path);
            observer.note(&format!("note: there is no document at or below {}", path.display()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::World;

    #[test]
    fn an_empty_answer_is_explained_by_what_no_document_has() {
        let world = World::new();
        let filter = |path: Option<&str>, tags: &[&str]| Filter {
            path_prefix: path.map(|path| world.path(path).display().to_string()),
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
            ..Filter::default()
        };
        explain(&world.store(), &filter(Some("docs"), &[]), &world).unwrap();
        assert!(world.heard(NOTHING_ADDED));
        let id = world.add_named("docs/a.md", "ebb");
        world.store().add_tags(id, &["tide".into()]).unwrap();
        for (path, tags, expected) in [
            (None, &[][..], ""),
            (Some("docs"), &["tide"], ""),
            (Some("notes"), &["tide"], "notes"),
            (Some("docs"), &["tide", "moon"], "no document has the tag `moon`"),
        ] {
            explain(&world.store(), &filter(path, tags), &world).unwrap();
            assert_eq!(world.heard(expected), !expected.is_empty(), "{path:?} {tags:?}");
        }
    }
}
