//! Tests what is removed, what is lost with it, and what comes back.

use std::fs;

use super::*;
use crate::app::testing::World;
use crate::store::testing::stamp;
use crate::store::{PathRole, PathStamp};

/// Returns a world with an added folder of three files, a note, and a file outside of the folder.
fn world() -> (World, [DocumentId; 5]) {
    let world = World::new();
    let ids = [
        world.add("docs/a.md", "ebb"),
        world.add("docs/b.md", "flood"),
        world.add("docs/sub/c.md", "neap"),
        world.add_note("A note", "spring"),
        world.add_named("other/d.md", "slack"),
    ];
    world.add_folder("docs");
    (world, ids)
}

fn request(documents: &[&str]) -> RemoveRequest {
    let documents = documents.iter().map(|&typed| typed.to_owned()).collect();
    RemoveRequest { documents, ..RemoveRequest::default() }
}

fn removed(world: &World, request: &RemoveRequest) -> Result<RemoveReport> {
    remove(&world.session, request, &|_| Ok(true), world)
}

fn left(world: &World) -> Vec<DocumentId> {
    let documents = world.store().documents(&Filter::default()).unwrap();
    documents.into_iter().map(|document| document.id).collect()
}

#[test]
fn documents_are_removed_by_id_and_path_each_once() {
    let (world, [a, b, c, note, d]) = world();
    let path = world.path("docs/sub").display().to_string();
    let given = request(&[&b.to_string(), &path, &c.to_string(), &note.to_string()]);
    let dry = removed(&world, &RemoveRequest { is_dry_run: true, ..request(&[&path]) }).unwrap();
    assert_eq!((dry.ids, dry.is_dry_run, dry.documents[0].id), (vec![c], true, c));
    assert_eq!(left(&world), [a, b, c, note, d], "nothing was removed");
    let found = removed(&world, &given).unwrap();
    assert_eq!((found.ids, found.is_dry_run), (vec![b, c, note], false));
    assert_eq!(left(&world), [a, d]);
    // The files of two are still in the added folder.
    assert_eq!(found.num_back, 2);
    assert_eq!(found.losses, UnreproducibleData { num_notes: 1, ..UnreproducibleData::default() });
    assert!(world.heard("in no file and will be lost: 1 note; `--export FILE` saves them"));
}

#[test]
fn an_added_folder_is_forgotten_with_its_documents() {
    let (world, [.., note, d]) = world();
    let path = world.path("docs").display().to_string();
    let found = removed(&world, &request(&[&path])).unwrap();
    assert_eq!((found.ids.len(), found.num_back), (3, 0));
    assert_eq!(left(&world), [note, d]);
    assert!(world.store().all_roots().unwrap().is_empty());
    for typed in [path.as_str(), "999", "nowhere"] {
        let error = removed(&world, &request(&[typed])).unwrap_err();
        assert!(matches!(error, Error::UnknownDocument { .. }), "{typed}");
    }
}

#[test]
fn a_title_or_a_unique_part_of_it_names_a_document() {
    let (world, [a, b, c, note, d]) = world();
    assert_eq!(removed(&world, &request(&["a NOTE"])).unwrap().ids, [note]);
    assert_eq!(removed(&world, &request(&["sub/c"])).unwrap().ids, [c]);
    let error = removed(&world, &request(&[".md"])).unwrap_err();
    assert!(matches!(error, Error::AmbiguousDocument { num_candidates: 3, .. }), "{error}");
    let beginning = world.path("oth").display().to_string();
    let error = removed(&world, &request(&[&beginning])).unwrap_err();
    assert!(matches!(error, Error::UnknownDocument { .. }), "a part of a path: {error}");
    assert_eq!(left(&world), [a, b, d]);
}

#[test]
fn what_is_not_confirmed_stays() {
    let (world, [a, b, c, note, d]) = world();
    let confirm = |going: &Removal| match &going.named {
        RemovalTarget::Document(title, num_chunks) => {
            Ok((title.as_str(), *num_chunks) == ("docs/b.md", 1))
        }
        _ => Ok(false),
    };
    let given =
        request(&[&a.to_string(), &b.to_string(), &world.path("other").display().to_string()]);
    let found = remove(&world.session, &given, &confirm, &world).unwrap();
    assert_eq!(found.ids, [b]);
    assert_eq!(left(&world), [a, c, note, d]);
    let found = remove(&world.session, &given_without(&given), &|_| Ok(false), &world).unwrap();
    assert!(found.ids.is_empty() && left(&world).len() == 4);
}

/// Returns the first argument of a request alone.
fn given_without(request: &RemoveRequest) -> RemoveRequest {
    RemoveRequest { documents: vec![request.documents[0].clone()], ..RemoveRequest::default() }
}

#[test]
fn a_document_that_is_also_elsewhere_loses_only_the_paths_below() {
    let (world, [a, ..]) = world();
    let mut store = world.store();
    let further = PathStamp { size_bytes: 3, ..stamp(world.path("other/a.md").to_str().unwrap()) };
    store.remember_path(a, &content_hash_of(&store, a), &further, PathRole::Further).unwrap();
    store.close().unwrap();
    let path = world.path("other").display().to_string();
    let found = removed(&world, &request(&[&path])).unwrap();
    assert_eq!(found.ids.len(), 1, "only the document that is nowhere else");
    let known = world.store().known_files().unwrap();
    assert!(known.iter().all(|file| !file.stamp.path.starts_with(&path)));
    assert!(left(&world).contains(&a));
}

fn content_hash_of(store: &Store, id: DocumentId) -> String {
    store.document(id).unwrap().unwrap().content_hash
}

#[test]
fn documents_are_removed_by_a_filter() {
    let (world, [a, b, c, note, d]) = world();
    let paths = vec![world.path("docs/sub").display().to_string()];
    let filter = Filter { paths, ..Filter::default() };
    let criteria = Some(SelectionCriteria { filter, ..SelectionCriteria::default() });
    let found = removed(&world, &RemoveRequest { criteria, ..RemoveRequest::default() }).unwrap();
    assert_eq!(found.ids, [c]);
    assert_eq!(left(&world), [a, b, note, d]);
}

#[test]
fn a_rule_keeps_the_files_away() {
    let (world, [a, .., note, d]) = world();
    let sub = world.path("docs/sub").display().to_string();
    let keep = |documents: &[&str]| RemoveRequest { keeps_away: true, ..request(documents) };
    let found = removed(&world, &keep(&[&a.to_string(), &sub])).unwrap();
    assert_eq!((found.ids.len(), found.num_rules, found.num_back), (2, 2, 0));
    assert_eq!(fs::read_to_string(world.path("docs/.kbignore")).unwrap(), "/a.md\n/sub/\n");
    for (id, reason) in [(note, "has no file to ignore"), (d, "not below an added folder")] {
        let error = removed(&world, &keep(&[&id.to_string()])).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn the_files_of_each_document_of_a_filter_are_kept_away() {
    let (world, [a, b, c, ..]) = world();
    let paths = vec![world.path("docs").display().to_string()];
    let filter = Filter { paths, ..Filter::default() };
    let criteria = Some(SelectionCriteria { filter, ..SelectionCriteria::default() });
    let given = RemoveRequest { criteria, keeps_away: true, ..RemoveRequest::default() };
    let found = removed(&world, &given).unwrap();
    assert_eq!((found.ids, found.num_rules), (vec![a, b, c], 3));
    let text = fs::read_to_string(world.path("docs/.kbignore")).unwrap();
    assert_eq!(text, "/a.md\n/b.md\n/sub/c.md\n");
}

#[test]
fn what_is_removed_is_first_written_to_a_file() {
    let (world, [.., note, _]) = world();
    let path = world.path("kept.jsonl");
    let export = Some(ExportFile { path: path.clone(), is_replacing: false });
    let folder = world.path("docs").display().to_string();
    removed(&world, &RemoveRequest { export, ..request(&[&note.to_string(), &folder]) }).unwrap();
    assert!(world.heard("Exported 4 documents to"));
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 5);
    assert!(text.lines().next().unwrap().contains(&folder), "the folder is in the first line");
}

#[test]
fn copies_that_kb_made_are_listed_and_deleted_on_request() {
    let (world, [a, b, ..]) = world();
    let copy = world.session.data_dir().join("kb-before-reindex-20261123T061958Z.db");
    fs::write(&copy, "copy").unwrap();
    let found = removed(&world, &request(&[&a.to_string()])).unwrap();
    assert_eq!((found.copies.len(), found.deleted_copies.len()), (1, 0));
    let given = RemoveRequest { deletes_copies: true, ..request(&[&b.to_string()]) };
    let dry =
        RemoveRequest { is_dry_run: true, deletes_copies: true, ..request(&[&b.to_string()]) };
    assert_eq!(removed(&world, &dry).unwrap().copies.len(), 1);
    let confirm = |going: &Removal| {
        if let RemovalTarget::Copies(num_copies, num_bytes) = going.named {
            assert_eq!((num_copies, num_bytes), (1, 4));
        }
        Ok(true)
    };
    let found = remove(&world.session, &given, &confirm, &world).unwrap();
    assert_eq!((found.copies.len(), found.deleted_copies.len()), (0, 1));
    assert!(!copy.exists());
}

#[test]
fn without_a_database_only_a_name_is_an_error() {
    let world = World::new();
    assert!(removed(&world, &RemoveRequest::default()).unwrap().ids.is_empty());
    assert!(matches!(removed(&world, &request(&["7"])), Err(Error::UnknownDocument { .. })));
}
