//! Changes the tags of documents, and renames tags.

use crate::app::query::choose::{DocumentChoice, choose};
use crate::app::session::erase;
use crate::app::{Observer, Session};
use crate::error::{Error, Result};
use crate::store::{DocumentId, StoredDocument};
use crate::wording::{kb, wording};

pub use crate::store::RenamedTag;

/// A request to change the tags of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagRequest {
    /// The documents.
    pub documents: DocumentChoice,
    /// Tags to add.
    pub added: Vec<String>,
    /// Tags to remove.
    pub removed: Vec<String>,
}

/// The selected documents after the change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaggedDocuments {
    /// All selected documents, each once.
    pub documents: Vec<StoredDocument>,
    /// Documents whose tags have changed.
    pub changed: Vec<DocumentId>,
}

/// Changes the tags of documents, all in one transaction.
pub fn change(
    session: &Session,
    request: &TagRequest,
    observer: &dyn Observer,
) -> Result<TaggedDocuments> {
    session.require_writable()?;
    let Some((mut store, ids)) = choose(session, &request.documents, observer)? else {
        return Ok(TaggedDocuments::default());
    };
    let changed = store.change_tags(&ids, &request.added, &request.removed)?;
    let mut documents = Vec::with_capacity(ids.len());
    for id in ids {
        documents.extend(store.document(id)?);
    }
    erase::finish(store, observer)?;
    if changed.is_empty() && !documents.is_empty() {
        observer.info(
            "no tags were changed: the documents already have all tags to add and none \
            of those to remove",
        );
    }
    Ok(TaggedDocuments { documents, changed })
}

/// Renames a tag, also in the tags that added folders give to new files. If a tag with the new name
/// exists, the two are merged.
pub fn rename(
    session: &Session,
    from: &str,
    to: &str,
    observer: &dyn Observer,
) -> Result<RenamedTag> {
    if from == to {
        let message = format!("the old and the new name are both `{from}`");
        return Err(Error::usage(message));
    }
    session.require_writable()?;
    let mut store = session.open_existing()?.ok_or_else(|| unknown_tag(from))?;
    let renamed = store.rename_tag(from, to)?.ok_or_else(|| unknown_tag(from))?;
    erase::finish(store, observer)?;
    Ok(renamed)
}

fn unknown_tag(tag: &str) -> Error {
    Error::usage(format!("no document has the tag `{tag}`"))
        .with_hint(wording!("`{}` lists all tags", kb("tags")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::World;

    #[test]
    fn tags_are_changed_and_renamed() {
        let world = World::new();
        let ids = ["a", "b"].map(|title| world.add_note(title, title));
        let request = |documents, added: &[&str], removed: &[&str]| TagRequest {
            documents,
            added: added.iter().map(|&tag| tag.to_owned()).collect(),
            removed: removed.iter().map(|&tag| tag.to_owned()).collect(),
        };
        let all = || DocumentChoice::Matching(Box::default());
        let one = DocumentChoice::Named(vec!["1".into()]);
        let tagged = change(&world.session, &request(one, &["x"], &[]), &world).unwrap();
        assert_eq!(
            (tagged.changed, tagged.documents[0].tags.join(" ")),
            (vec![ids[0]], "x".into())
        );
        let tagged = change(&world.session, &request(all(), &["x", "y"], &[]), &world).unwrap();
        assert_eq!((tagged.changed, tagged.documents.len()), (ids.to_vec(), 2));
        let tagged = change(&world.session, &request(all(), &[], &["z"]), &world).unwrap();
        assert_eq!((tagged.changed.len(), tagged.documents.len()), (0, 2));
        let renamed = rename(&world.session, "x", "y", &world).unwrap();
        assert_eq!(world.store().document(ids[1]).unwrap().unwrap().tags, ["y"], "{renamed:?}");
        for (from, to, refusal) in
            [("y", "y", "are both `y`"), ("x", "z", "no document has the tag `x`")]
        {
            let error = rename(&world.session, from, to, &world).unwrap_err().to_string();
            assert!(error.contains(refusal), "{error}");
        }
        let nothing = change(&World::new().session, &request(all(), &["x"], &[]), &world).unwrap();
        assert_eq!(nothing, TaggedDocuments::default());
    }
}
