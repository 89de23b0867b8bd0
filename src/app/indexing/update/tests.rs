//! Tests what an update finds, and what it does about files that have moved or are missing.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::app::session::export_file::ExportFile;
use crate::app::testing::World;
use crate::document::{FileOutcome, Filter};
use crate::files::stamp::Stamp;
use crate::store::{LedgerRow, PathRole, PathStamp};

/// Returns a world with an added folder of ten files, which are unchanged.
fn world() -> World {
    let world = World::new();
    for number in 0..10 {
        world.add(&format!("docs/{number}.md"), &format!("text {number}"));
    }
    world.add_folder("docs");
    world
}

fn foreseen(world: &World, request: &UpdateRequest) -> UpdateReport {
    let request = UpdateRequest { is_dry_run: true, ..request.clone() };
    update(&world.session, &request, world).unwrap()
}

/// Returns the numbers of added, updated, moved, unchanged, missing and removed files.
fn numbers(report: &UpdateReport) -> [usize; 6] {
    let UpdateReport { added, updated, moved, unchanged, missing, removed, .. } = report;
    [*added, *updated, *moved, *unchanged, missing.len(), removed.len()]
}

#[test]
fn a_dry_run_counts_what_would_be_done() {
    let world = world();
    let request = UpdateRequest::default();
    assert_eq!(numbers(&foreseen(&world, &request)), [0, 0, 0, 10, 0, 0]);
    fs::write(world.path("docs/new.md"), "new").unwrap();
    fs::write(world.path("docs/0.md"), "changed").unwrap();
    fs::remove_file(world.path("docs/1.md")).unwrap();
    fs::rename(world.path("docs/2.md"), world.path("docs/moved.md")).unwrap();
    let report = foreseen(&world, &request);
    assert_eq!(numbers(&report), [1, 1, 1, 7, 1, 0]);
    assert!(report.is_dry_run && report.refused.is_empty());
    let [moved] = &report.moves[..] else { panic!("{:?}", report.moves) };
    assert_eq!([world.short(&moved.from), world.short(&moved.to)], ["docs/2.md", "docs/moved.md"]);
    assert_eq!(world.short(&report.missing[0].path), "docs/1.md");
    let pruning = UpdateRequest { prunes: true, ..request };
    let report = foreseen(&world, &pruning);
    assert_eq!(numbers(&report), [1, 1, 1, 7, 0, 1]);
    assert_eq!(world.short(&report.removed_paths[0]), "docs/1.md");
    assert_eq!(world.store().num_documents().unwrap(), 10);
}

#[test]
fn more_than_thirty_percent_are_removed_only_with_force() {
    for (num_missing, is_forced, is_refused) in
        [(3, false, false), (4, false, true), (4, true, false)]
    {
        let world = world();
        for number in 0..num_missing {
            fs::remove_file(world.path(&format!("docs/{number}.md"))).unwrap();
        }
        let request = UpdateRequest { prunes: true, is_forced, ..UpdateRequest::default() };
        let report = foreseen(&world, &request);
        let expected = if is_refused { (num_missing, 0) } else { (0, num_missing) };
        assert_eq!((report.missing.len(), report.removed.len()), expected);
        assert_eq!(report.is_refused(&request), is_refused);
        if is_refused {
            let root = Some(world.path("docs"));
            assert_eq!(report.refused, [RefusedFolder { root, num_lost: 4, num_documents: 10 }]);
        }
    }
}

#[test]
fn nothing_is_missing_from_a_folder_that_is_away() {
    let world = world();
    fs::rename(world.path("docs"), world.path("elsewhere")).unwrap();
    let request = UpdateRequest { prunes: true, ..UpdateRequest::default() };
    let report = foreseen(&world, &request);
    assert_eq!((numbers(&report), report.away.as_slice()), ([0; 6], &[world.path("docs")][..]));
    assert!(!report.is_refused(&request), "it was not named");
    let named = UpdateRequest { named: vec![world.path("docs")], ..request };
    assert!(foreseen(&world, &named).is_refused(&named));
    fs::create_dir(world.path("docs")).unwrap();
    let report = update(&world.session, &named, &world).unwrap();
    assert_eq!((report.removed.len(), report.missing.len()), (0, 0));
    assert_eq!(world.store().num_documents().unwrap(), 10);
}

/// Returns a world in which files were named themselves, one of them with a copy; no folder was added.
fn of_files() -> (World, [DocumentId; 4]) {
    let world = World::new();
    let ids = [0, 1, 2, 3]
        .map(|number| world.add_named(&format!("docs/{number}.md"), &format!("text {number}")));
    let path = world.path("docs/copy.md");
    fs::write(&path, "text 3").unwrap();
    let mut store = world.store();
    let known = store.known_files().unwrap().into_iter().find(|file| file.document_id == ids[3]);
    let known = known.unwrap();
    world.follow_file(&mut store, "docs/copy.md");
    let Stamp { size_bytes, mtime_ns } = Stamp::of(&path.metadata().unwrap());
    let path = path.to_str().unwrap().to_owned();
    let further = PathStamp { path, size_bytes, mtime_ns, real_path: None };
    store.remember_path(ids[3], &known.content_hash, &further, PathRole::Further).unwrap();
    store.close().unwrap();
    (world, ids)
}

#[test]
fn documents_of_missing_files_stay_until_they_are_pruned() {
    let (world, ids) = of_files();
    fs::remove_file(world.path("docs/0.md")).unwrap();
    fs::remove_file(world.path("docs/copy.md")).unwrap();
    let report = update(&world.session, &UpdateRequest::default(), &world).unwrap();
    // The document of the last file is still at its main path.
    assert_eq!(numbers(&report), [0, 0, 1, 2, 1, 0]);
    let [moved] = &report.moves[..] else { panic!("{:?}", report.moves) };
    assert_eq!([world.short(&moved.from), world.short(&moved.to)], ["docs/copy.md", "docs/3.md"]);
    assert_eq!((moved.document_id, report.missing[0].document_id), (ids[3], ids[0]));
    let path = world.path("kept.jsonl");
    let export = Some(ExportFile { path: path.clone(), is_replacing: false });
    let request = UpdateRequest { prunes: true, export, ..UpdateRequest::default() };
    let report = update(&world.session, &request, &world).unwrap();
    assert_eq!((numbers(&report), &report.removed[..]), ([0, 0, 0, 3, 0, 1], &ids[..1]));
    assert_eq!(world.short(&report.removed_paths[0]), "docs/0.md");
    assert_eq!(fs::read_to_string(path).unwrap().lines().count(), 2);
    let left = world.store().documents(&Filter::default()).unwrap();
    assert!(left.iter().map(|document| document.id).eq(ids[1..].iter().copied()));
}

#[test]
fn only_an_update_of_everything_is_remembered() {
    let (world, _) = of_files();
    let last = || world.store().last_update().unwrap().is_some();
    let named = UpdateRequest { named: vec![world.path("docs/0.md")], ..UpdateRequest::default() };
    assert_eq!(update(&world.session, &named, &world).unwrap().unchanged, 1);
    assert!(!last());
    assert_eq!(update(&world.session, &UpdateRequest::default(), &world).unwrap().unchanged, 5);
    assert!(last());
    let unknown = UpdateRequest { named: vec![world.path("nowhere")], ..UpdateRequest::default() };
    let error = update(&world.session, &unknown, &world).unwrap_err().to_string();
    assert!(error.ends_with("has not been added"), "{error}");
}

#[test]
fn failures_of_named_files_are_forgotten_when_the_files_are_gone() {
    let (world, _) = of_files();
    fs::write(world.path("there.pdf"), "x").unwrap();
    let row = |name: &str| LedgerRow {
        path: world.path(name).to_str().unwrap().to_owned(),
        outcome: FileOutcome::Failed,
        reason: "unreadable".into(),
        message: Some("no text".into()),
        reader: Some("1".into()),
        stamp: Some(Stamp { size_bytes: 1, mtime_ns: 0 }),
        seen_at: String::new(),
    };
    let mut store = world.store();
    world.follow_file(&mut store, "gone.pdf");
    world.follow_file(&mut store, "there.pdf");
    store.update_ledger(&[row("gone.pdf"), row("there.pdf")], &[]).unwrap();
    store.close().unwrap();
    let failed = || -> Vec<String> {
        let rows = world.store().files_without_text().unwrap();
        rows.iter().map(|row| world.short(&row.path)).collect()
    };
    let named = UpdateRequest { named: vec![world.path("docs/0.md")], ..UpdateRequest::default() };
    update(&world.session, &named, &world).unwrap();
    assert_eq!(failed(), ["gone.pdf", "there.pdf"]);
    update(&world.session, &UpdateRequest::default(), &world).unwrap();
    assert_eq!(failed(), ["there.pdf"]);
}

#[test]
fn unchanged_files_are_those_that_are_nothing_else() {
    let survey = FolderSurvey {
        num_known: 20,
        changed: vec![PathBuf::new(); 2],
        missing: Vec::new(),
        refused: vec![PathBuf::new(); 3],
        num_in_empty: 4,
        num_outdated: 5,
        ..FolderSurvey::default()
    };
    assert_eq!(num_unchanged(&survey), 6);
}
