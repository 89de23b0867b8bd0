//! Tests links, pipes and devices that replace files.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;

/// Creates a folder `real` with files, and links into it and out of it.
fn world() -> tempfile::TempDir {
    let world = tempfile::tempdir().unwrap();
    let at = |name: &str| world.path().join(name);
    fs::create_dir_all(at("real/sub")).unwrap();
    fs::create_dir(at("secret")).unwrap();
    fs::write(at("real/a.md"), "a").unwrap();
    fs::write(at("real/sub/b.md"), "b").unwrap();
    fs::write(at("secret/key"), "key").unwrap();
    symlink("real", at("entrance")).unwrap();
    symlink("../secret/key", at("real/key.md")).unwrap();
    symlink("../secret", at("real/folder")).unwrap();
    symlink("nowhere", at("real/dangling.md")).unwrap();
    world
}

#[track_caller]
fn check(path: &str, root: Option<&str>, expected: &str) {
    let world = world();
    let root = root.map(|root| world.path().join(root));
    let links = root.as_deref().map_or(SymlinkPolicy::Follow, SymlinkPolicy::RefuseBelow);
    let found = match read(&world.path().join(path), links, 100) {
        Ok(bytes) => String::from_utf8(bytes).unwrap(),
        Err(error) => error.code().to_owned(),
    };
    assert_eq!(found, expected, "{path}");
}

#[test]
fn plain_files_are_read_and_the_root_may_be_a_link() {
    check("real/a.md", Some("real"), "a");
    check("real/sub/b.md", Some("real"), "b");
    check("entrance/sub/b.md", Some("entrance"), "b");
    check("entrance/a.md", Some("entrance/a.md"), "a");
}

#[test]
fn no_link_below_the_root_is_followed_in_any_component() {
    for path in ["real/key.md", "real/folder/key", "real/dangling.md"] {
        check(path, Some("real"), "link_refused");
    }
    check("real/key.md", Some("elsewhere"), "link_refused");
    check("real/../secret/key", Some("real"), "io");
}

#[test]
fn links_are_followed_where_that_is_allowed() {
    check("real/key.md", None, "key");
    check("real/folder/key", None, "key");
}

#[test]
fn only_regular_files_are_opened_and_nothing_blocks() {
    let world = world();
    let pipe = world.path().join("real/pipe.md");
    crate::files::testing::pipe(&pipe);
    let _socket = std::os::unix::net::UnixListener::bind(world.path().join("real/socket")).unwrap();
    for path in [pipe.as_path(), &world.path().join("real/socket"), Path::new("/dev/zero")] {
        let error = read(path, SymlinkPolicy::Follow, 10).unwrap_err();
        assert!(matches!(error, Error::NotAFile { .. }), "{error}");
    }
    assert!(matches!(
        open(&world.path().join("real"), SymlinkPolicy::Follow),
        Err(Error::NotAFile { .. })
    ));
    check("real/none.md", Some("real"), "path_not_found");
}

#[test]
fn kernel_views_are_not_files() {
    for path in ["/proc/kmsg", "/proc/self/status", "/sys/kernel/mm/transparent_hugepage/enabled"] {
        if Path::new(path).exists() {
            let error = read(Path::new(path), SymlinkPolicy::Follow, 10_000).unwrap_err();
            assert!(matches!(error, Error::NotAFile { .. } | Error::Io { .. }), "{error}");
        }
    }
}

#[test]
fn looking_and_listing_follow_the_same_links_as_opening() {
    let world = world();
    let real = world.path().join("real");
    let code = |path: &str| match look(&real.join(path), SymlinkPolicy::RefuseBelow(&real)) {
        Ok(found) => format!("{:?}", EntryKind::of(&found)),
        Err(error) => error.code().to_owned(),
    };
    for (path, expected) in [
        ("a.md", "File"),
        ("sub", "Folder"),
        ("sub/b.md", "File"),
        ("key.md", "link_refused"),
        ("folder/key", "link_refused"),
        ("dangling.md", "link_refused"),
        ("none", "path_not_found"),
    ] {
        assert_eq!(code(path), expected, "{path}");
    }
    let names = |path: &str| match list(&real.join(path), SymlinkPolicy::RefuseBelow(&real)) {
        Ok(entries) => entries
            .iter()
            .map(|entry| format!("{} {:?}", entry.name.display(), entry.kind))
            .collect::<Vec<_>>()
            .join(", "),
        Err(error) => error.code().to_owned(),
    };
    assert_eq!(names(""), "a.md File, dangling.md Link, folder Link, key.md Link, sub Folder");
    assert_eq!(names("sub"), "b.md File");
    assert_eq!(names("folder"), "link_refused");
    assert_eq!(names("a.md"), "path_not_found");
    let entrance = world.path().join("entrance");
    assert_eq!(list(&entrance, SymlinkPolicy::RefuseBelow(&entrance)).unwrap().len(), 5);
}

/// The fallback for systems without `openat2` has the same result.
#[test]
fn no_link_is_followed_step_by_step() {
    let world = world();
    let real = world.path().join("real");
    for (path, expected) in [
        ("a.md", None),
        ("sub/b.md", None),
        ("key.md", Some("link_refused")),
        ("folder/key", Some("link_refused")),
        ("a.md/x", Some("path_not_found")),
    ] {
        let root = File::open(&real).unwrap().into();
        let opened = system::step_by_step(root, Path::new(path), system::READ);
        let code = opened.map_err(|source| failure(&real.join(path), source).code()).err();
        assert_eq!(code, expected, "{path}");
    }
}

#[test]
fn a_file_over_the_limit_is_refused() {
    let world = world();
    let path = world.path().join("real/a.md");
    fs::write(&path, "12345").unwrap();
    assert_eq!(read(&path, SymlinkPolicy::Follow, 5).unwrap(), b"12345");
    let error = read(&path, SymlinkPolicy::Follow, 4).unwrap_err();
    assert!(matches!(error, Error::OverLimit { limit_bytes: 4, .. }), "{error}");
}
