//! Finds the document that a user typed.

use std::path::Path;

use crate::app::Session;
use crate::app::session::typed::absolute;
use crate::error::{Error, Result};
use crate::read;
use crate::store::{ChunkId, Store, StoredDocument};
use crate::text::paths;

/// Finds a document by id, path, or a unique part of its title or path.
pub fn find(session: &Session, typed: &str) -> Result<(Store, StoredDocument)> {
    let Some(store) = session.open_existing()? else {
        return Err(Error::UnknownDocument { id: typed.to_owned() });
    };
    let document = find_in(&store, typed)?;
    Ok((store, document))
}

/// Finds a document that is only read. If it has several paths, it gets the one that is shown: the one in `within`,
/// else the typed one.
pub(crate) fn shown(
    session: &Session,
    typed: &str,
    within: Option<&str>,
) -> Result<(Store, StoredDocument)> {
    let (store, mut document) = find(session, typed)?;
    let named = path_in(&store, typed)?;
    let places = [within.map_or(named, str::to_owned)];
    let shown = session.shown_paths(&places);
    shown.choose(&store, [(document.id, &mut document.path)])?;
    Ok((store, document))
}

/// Finds the document that was typed in an open database.
pub(crate) fn find_in(store: &Store, typed: &str) -> Result<StoredDocument> {
    read::find(store, typed, &path_in(store, typed)?)
}

/// Returns what was typed as an absolute path, in the database's notation.
fn path_in(store: &Store, typed: &str) -> Result<String> {
    let path = if typed.is_empty() { "." } else { typed };
    match member(store, path)? {
        Some(member) => Ok(member),
        None => Ok(paths::typed_text(&absolute(Path::new(path))?)),
    }
}

/// Returns the path of a file in a container, typed as its container, two separators, and its name there.
/// `None` for any other path, which may have two separators in a row by mistake.
pub(crate) fn member(store: &Store, typed: &str) -> Result<Option<String>> {
    let (file, Some(name)) = paths::split_member(typed) else { return Ok(None) };
    let file = paths::typed_text(&absolute(Path::new(file))?);
    for name in [name, &*paths::typed_member(name)] {
        let path = paths::member_text(&file, name);
        if store.known_path(&path)?.is_some() {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Finds the document of a chunk.
pub fn of_chunk(session: &Session, id: ChunkId) -> Result<(Store, StoredDocument)> {
    let unknown = || Error::UnknownChunk { id: id.0 };
    let store = session.open_existing()?.ok_or_else(unknown)?;
    let hits = store.hits(&[id])?;
    let document_id = hits.first().ok_or_else(unknown)?.document_id;
    let mut document = store.document(document_id)?.ok_or_else(unknown)?;
    session.shown_paths(&[]).choose(&store, [(document_id, &mut document.path)])?;
    Ok((store, document))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::World;
    use crate::store::{PathRole, PathStamp};

    #[test]
    fn of_several_paths_the_one_that_is_meant_is_shown() {
        let mut world = World::new();
        let id = world.add_named("main/a.md", "tide");
        let [main, old] =
            ["main/a.md", "old/a.md"].map(|name| world.path(name).display().to_string());
        let mut store = world.store();
        let hash = store.document(id).unwrap().unwrap().content_hash;
        let stamp = PathStamp { path: old.clone(), size_bytes: 4, mtime_ns: 1, real_path: None };
        store.remember_path(id, &hash, &stamp, PathRole::Further).unwrap();
        store.close().unwrap();
        world.follow_file(&mut world.store(), "main/a.md");
        let mut check = |typed: &str, within: Option<&str>, near: Option<&str>, expected: &str| {
            world.session.made_of.working_dir = near.map(str::to_owned);
            let (store, document) = shown(&world.session, typed, within).unwrap();
            assert_eq!(document.path.as_deref(), Some(expected), "{typed} {within:?} {near:?}");
            store.close().unwrap();
            let (store, document) = of_chunk(&world.session, ChunkId(1)).unwrap();
            assert_eq!(document.path.as_ref() == Some(&old), near == Some(&old), "{near:?}");
            store.close().unwrap();
            // A document that is changed keeps its first path.
            let (store, document) = find(&world.session, typed).unwrap();
            assert_eq!(document.path.as_ref(), Some(&main));
            store.close().unwrap();
        };
        check("1", None, None, &main);
        check("1", Some(&old), None, &old);
        check("1", None, Some(&old), &old);
        check("1", Some(&main), Some(&old), &main);
        check(&main, None, Some(&old), &main);
    }

    #[test]
    fn a_document_is_found_by_what_was_typed_and_by_its_chunk() {
        let world = World::new();
        let ids = ["a.md", "b.md"].map(|name| world.add_named(name, name));
        let path = world.path("b.md").display().to_string();
        for (typed, expected) in [("1", ids[0]), ("a.md", ids[0]), (&path, ids[1])] {
            assert_eq!(find(&world.session, typed).unwrap().1.id, expected, "{typed}");
        }
        for typed in ["", "9", "nothing"] {
            assert!(find(&world.session, typed).is_err(), "{typed}");
        }
        assert_eq!(of_chunk(&world.session, ChunkId(2)).unwrap().1.id, ids[1]);
        let unknown = of_chunk(&world.session, ChunkId(9)).err();
        assert!(matches!(unknown, Some(Error::UnknownChunk { id: 9 })));
        let empty = World::new();
        let unknown = find(&empty.session, "1").err();
        assert!(matches!(unknown, Some(Error::UnknownDocument { id }) if id == "1"));
    }
}
