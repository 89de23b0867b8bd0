//! Tests what is remembered after a folder, or the database with it, has moved.

use super::*;
use crate::app::testing::World;
use crate::files::stamp::Stamp;
use crate::store::FollowedPaths;

#[track_caller]
fn check(folder: &str, before: &str, place: &str, expected: Option<&str>) {
    let found = counterpart(Path::new(folder), Path::new(before), Path::new(place));
    assert_eq!(found.as_deref(), expected.map(Path::new), "{folder}");
}

#[test]
fn a_folder_is_found_where_it_is_as_seen_from_the_database() {
    check("/media/a/docs", "/media/a/.kb", "/media/b/.kb", Some("/media/b/docs"));
    check("/media/a", "/media/a/.kb", "/home/me/disk/.kb", Some("/home/me/disk"));
    check("/x/kb/docs", "/x/kb", "/y", Some("/y/docs"));
    check("/data/docs", "/home/u/.kb", "/mnt/home/u/.kb", Some("/mnt/data/docs"));
    // The database was copied alone.
    check("/data/docs", "/home/u/.kb", "/backup", None);
}

/// Returns a world in which the added folder `old` with three files is now `new`.
fn moved() -> World {
    let world = World::new();
    for name in ["old/a.md", "old/b.md", "old/sub/c.md"] {
        world.add(name, &format!("text of {name}"));
    }
    world.add_folder("old");
    std::fs::rename(world.path("old"), world.path("new")).unwrap();
    world
}

fn request(world: &World, from: &str, to: &str) -> RelocateRequest {
    let (from, to) = (world.path(from), world.path(to));
    RelocateRequest { from, to, is_forced: false, is_dry_run: false }
}

/// Returns the remembered paths and added folders, as they are below the home directory.
fn remembered(world: &World) -> (Vec<String>, Vec<String>) {
    let store = world.store();
    let known = store.known_files().unwrap().into_iter().map(|file| world.short(&file.stamp.path));
    let roots = store.roots().unwrap().into_iter().map(|root| world.short(&root.path));
    (known.collect(), roots.collect())
}

#[test]
fn a_folder_is_remembered_and_followed_at_its_new_place() {
    let world = moved();
    let dry = RelocateRequest { is_dry_run: true, ..request(&world, "old", "new") };
    let report = relocate(&world.session, &dry, &world).unwrap();
    assert_eq!((report.num_files, report.num_matching, report.is_dry_run), (3, 3, true));
    assert_eq!(remembered(&world).0, ["old/a.md", "old/b.md", "old/sub/c.md"]);
    let report = relocate(&world.session, &request(&world, "old", "new"), &world).unwrap();
    assert_eq!((report.num_files, report.num_matching, report.is_dry_run), (3, 3, false));
    assert_eq!((report.from, report.to), (world.path("old"), world.path("new")));
    let (known, roots) = remembered(&world);
    assert_eq!(
        (known.join(" "), roots.join(" ")),
        ("new/a.md new/b.md new/sub/c.md".into(), "new".into())
    );
}

#[test]
fn files_are_compared_by_size_and_where_the_time_differs_by_content() {
    let world = moved();
    std::fs::write(world.path("new/a.md"), "text of old/a.md").unwrap();
    std::fs::write(world.path("new/b.md"), "TEXT of old/b.md").unwrap();
    std::fs::remove_file(world.path("new/sub/c.md")).unwrap();
    let report = relocate(&world.session, &request(&world, "old", "new"), &world).unwrap();
    let short = |paths: &[String]| paths.iter().map(|path| world.short(path)).collect::<Vec<_>>();
    assert_eq!((report.num_files, report.num_matching), (3, 1));
    assert_eq!(
        (short(&report.changed), short(&report.missing)),
        (vec!["new/b.md".into()], vec!["new/sub/c.md".into()])
    );
    // The time of what has the same content is remembered, that of the others is not.
    let known = world.store().known_files().unwrap();
    let stamps = known
        .iter()
        .map(|file| Stamp::of(&world.path("new/a.md").metadata().unwrap()) == file.stamp.stamp());
    assert!(stamps.eq([true, false, false]));
}

#[test]
fn a_folder_without_the_remembered_files_needs_force() {
    let world = moved();
    for name in ["a.md", "b.md", "sub/c.md"] {
        std::fs::write(world.path("new").join(name), "other").unwrap();
    }
    let given = request(&world, "old", "new");
    let message = relocate(&world.session, &given, &world).unwrap_err().to_string();
    assert!(message.contains("has none of the 3 files that kb remembers below"), "{message}");
    let forced = RelocateRequest { is_forced: true, ..given };
    let report = relocate(&world.session, &forced, &world).unwrap();
    assert_eq!((report.num_matching, report.changed.len()), (0, 3));
    assert_eq!(remembered(&world).0, ["new/a.md", "new/b.md", "new/sub/c.md"]);
}

#[test]
fn two_places_of_a_folder_are_folders_of_which_none_contains_the_other() {
    let world = moved();
    std::fs::write(world.path("file"), "x").unwrap();
    std::fs::create_dir(world.path("empty")).unwrap();
    for (from, to, refusal) in [
        ("new", "new", "is both the old and the new folder"),
        ("new", "new/sub", "contains the other"),
        ("new/sub", "new", "contains the other"),
        ("old", "file", "is not a folder"),
        ("old", "nowhere", "no such file"),
        ("other", "empty", "nothing was added from"),
    ] {
        let message = relocate(&world.session, &request(&world, from, to), &world).unwrap_err();
        assert!(message.to_string().contains(refusal), "{message}");
    }
    let empty = World::new();
    std::fs::create_dir(empty.path("new")).unwrap();
    assert!(relocate(&empty.session, &request(&empty, "old", "new"), &empty).is_err());
}

#[test]
fn a_part_that_moved_out_of_an_added_folder_becomes_one() {
    let world = moved();
    std::fs::rename(world.path("new"), world.path("old")).unwrap();
    std::fs::rename(world.path("old/sub"), world.path("part")).unwrap();
    relocate(&world.session, &request(&world, "old/sub", "part"), &world).unwrap();
    let (known, roots) = remembered(&world);
    assert_eq!(
        (known.join(" "), roots.join(" ")),
        ("old/a.md old/b.md part/c.md".into(), "old part".into())
    );
}

#[test]
fn an_added_folder_in_a_moved_one_moves_with_it() {
    let world = World::new();
    world.add("old/sub/c.md", "c");
    world.add_folder("old/sub");
    std::fs::rename(world.path("old"), world.path("new")).unwrap();
    relocate(&world.session, &request(&world, "old", "new"), &world).unwrap();
    assert_eq!(remembered(&world), (vec!["new/sub/c.md".into()], vec!["new/sub".into()]));
}

#[test]
fn folders_that_moved_with_the_database_are_found() {
    for (num_missing, is_found) in [(0, true), (1, true), (2, false), (3, false)] {
        let world = World::at("disk/kb");
        for name in ["a", "b", "c"] {
            world.add(&format!("disk/docs/{name}.md"), name);
        }
        world.add_folder("disk/docs");
        let mut store = world.store();
        follow_database(&world.session, &mut store, &world).unwrap();
        assert!(store.last_folder().unwrap().is_some());
        store.close().unwrap();
        std::fs::rename(world.path("disk"), world.path("moved")).unwrap();
        for name in &["a", "b", "c"][..num_missing] {
            std::fs::remove_file(world.path(&format!("moved/docs/{name}.md"))).unwrap();
        }
        std::fs::write(world.path("moved/docs/other.md"), "x").unwrap();
        let world = world.now_at("moved/kb");
        let mut store = world.store();
        store.follow(FollowedPaths::Everything);
        follow_database(&world.session, &mut store, &world).unwrap();
        let roots = store.all_roots().unwrap();
        let expected = if is_found { "moved/docs" } else { "disk/docs" };
        assert_eq!(world.short(&roots[0].path), expected, "{num_missing}");
        assert_eq!(world.heard("has moved with the database to"), is_found);
        // If one was not found, a later run checks again.
        let place = world.short(&store.last_folder().unwrap().unwrap());
        assert_eq!(place, if is_found { "moved/kb" } else { "disk/kb" });
    }
}
