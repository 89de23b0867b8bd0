//! Chooses which path of a document is shown, if its content was seen at several.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::ids::DocumentId;
use crate::search::searchable::Searchable;
use crate::text::paths::{self, SEPARATOR};

/// Files and folders, in the database's notation. They decide which path of a document is shown: the one at or
/// below the first of them; if there are several such paths, the one at or below the second, and so on. Without
/// such a path, it is the first path of the document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShownPaths<'a>(Vec<&'a str>);

impl<'a> ShownPaths<'a> {
    /// Returns the choice for these places, the most important one first.
    pub fn at(places: impl IntoIterator<Item = &'a str>) -> Self {
        Self(places.into_iter().map(|place| place.trim_end_matches(SEPARATOR)).collect())
    }

    /// Replaces the paths of documents by the ones to show.
    pub fn choose<'b>(
        &self,
        store: &impl Searchable,
        documents: impl IntoIterator<Item = (DocumentId, &'b mut Option<String>)>,
    ) -> Result<()> {
        let documents = documents.into_iter().filter(|(_, path)| {
            path.as_deref().is_some_and(|path| self.fit(path).contains(&false))
        });
        let documents: Vec<(DocumentId, &mut Option<String>)> = documents.collect();
        if documents.is_empty() {
            return Ok(());
        }
        let ids: BTreeSet<DocumentId> = documents.iter().map(|document| document.0).collect();
        let others = store.other_paths(&ids.into_iter().collect::<Vec<_>>())?;
        for (id, shown) in documents {
            for other in others.get(&id).into_iter().flatten() {
                if shown.as_deref().is_some_and(|path| self.fit(other) > self.fit(path)) {
                    *shown = Some(other.clone());
                }
            }
        }
        Ok(())
    }

    /// Whether a path is at or below each of the places. The larger, the better.
    fn fit(&self, path: &str) -> Vec<bool> {
        self.0.iter().map(|place| paths::is_within(path, place)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathRole;
    use crate::testing::{TestDb, document, stamp};

    /// Checks which path of a document with three is shown.
    #[track_caller]
    fn check(places: &[&str], expected: &str) {
        let mut db = TestDb::new();
        let id = db.add("/wt/main/a.md", &["tide"], &[]);
        let hash = db.store.document(id).unwrap().unwrap().content_hash;
        for path in ["/wt/old/b.md", "/wt/old/a.md"] {
            db.store.remember_path(id, &hash, &stamp(path), PathRole::Further).unwrap();
        }
        let mut note = document("", &["note"], &[]);
        note.stamp = None;
        let note = db.put(&note, &["note"], &[]).document_id();
        let alone = db.add("/wt/main/c.md", &["ebb"], &[]);
        let mut paths = [Some("/wt/main/a.md".into()), None, Some("/wt/main/c.md".into())];
        let documents = [id, note, alone].into_iter().zip(&mut paths);
        ShownPaths::at(places.iter().copied()).choose(&db.store, documents).unwrap();
        assert_eq!(paths, [Some(expected.to_owned()), None, Some("/wt/main/c.md".into())]);
    }

    #[test]
    fn the_path_that_fits_is_shown_and_else_the_first() {
        check(&[], "/wt/main/a.md");
        check(&["/wt/old"], "/wt/old/a.md");
        check(&["/wt/old/"], "/wt/old/a.md");
        check(&["/wt/old/b.md"], "/wt/old/b.md");
        check(&["/wt"], "/wt/main/a.md");
        check(&["/"], "/wt/main/a.md");
        check(&["/wt/ol"], "/wt/main/a.md");
    }

    #[test]
    fn an_earlier_place_matters_more_than_a_later_one() {
        check(&["/wt/main", "/wt/old"], "/wt/main/a.md");
        check(&["/wt", "/wt/old"], "/wt/old/a.md");
        check(&["/elsewhere", "/wt/old/b.md"], "/wt/old/b.md");
    }
}
