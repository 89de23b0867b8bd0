//! Tests replacing, creating and appending to files, next to links, pipes and leftovers of other
//! processes.

use std::os::unix::fs::{PermissionsExt, symlink};

use super::super::testing::{names, pipe};
use super::*;

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_file_is_replaced_in_one_step_and_is_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings");
    replace(&path, b"first").unwrap();
    set_mode(&path, 0o644);
    replace(&path, b"second").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"second");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(names(folder.path()), ["settings"]);
}

#[test]
fn a_file_of_output_keeps_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kb.1");
    replace_output(&path, b"page").unwrap();
    set_mode(&path, 0o644);
    replace_output(&path, b"new page").unwrap();
    assert_eq!((mode(&path), fs::read(&path).unwrap()), (0o644, b"new page".to_vec()));
}

#[test]
fn the_users_link_stays_and_its_target_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("dotfiles")).unwrap();
    let link = folder.path().join("settings");
    symlink("dotfiles/settings", &link).unwrap();
    // First for a missing file, then for an existing one.
    for text in [b"one", b"two"] {
        replace(&link, text).unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(folder.path().join("dotfiles/settings")).unwrap(), text);
    }
    symlink("circle", folder.path().join("circle")).unwrap();
    assert!(replace(&folder.path().join("circle"), b"x").is_err());
}

#[test]
fn a_link_that_replaced_a_file_of_kb_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (mine, link) = (folder.path().join("mine"), folder.path().join("manifest.json"));
    fs::write(&mine, "mine").unwrap();
    for write in [replace_own, replace_output] {
        let _ = fs::remove_file(&link);
        symlink("mine", &link).unwrap();
        write(&link, b"kb's").unwrap();
        assert!(!link.is_symlink());
        assert_eq!(fs::read(&link).unwrap(), b"kb's");
        assert_eq!(fs::read(&mine).unwrap(), b"mine");
    }
    assert!(create_new(&link, b"x").is_err());
    create_new(&folder.path().join("new"), b"x").unwrap();
}

#[test]
fn an_unfinished_draft_leaves_nothing_behind_and_changes_no_user_file() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("file");
    fs::write(folder.path().join("file.partial"), "the user's").unwrap();
    let in_use = Draft::create(&target).unwrap();
    drop(Draft::create(&target).unwrap());
    assert!(in_use.path().exists());
    drop(in_use);
    assert_eq!(names(folder.path()), ["file.partial"]);
}

#[test]
fn the_real_destination_has_no_links_and_is_not_made_up() {
    let folder = tempfile::tempdir().unwrap();
    let real = canonical(folder.path()).unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("a/b")).unwrap();
    fs::write(at("a/b/file"), "").unwrap();
    symlink("a/b", at("folder")).unwrap();
    symlink("file", at("a/b/link")).unwrap();
    symlink("gone", at("dangling")).unwrap();
    symlink("gone/../../elsewhere", at("out")).unwrap();
    for (name, expected) in [
        ("folder/file", "a/b/file"),
        ("folder/link", "a/b/file"),
        ("folder/new/deep", "a/b/new/deep"),
        ("dangling", "gone"),
    ] {
        assert_eq!(real_destination(&at(name)).unwrap(), real.join(expected), "{name}");
    }
    for name in ["dangling/file", "out", "out/file"] {
        assert!(real_destination(&at(name)).is_err(), "{name}");
    }
}

#[test]
fn only_regular_files_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    pipe(&path);
    assert_eq!(replace(&path, b"x").unwrap_err().kind(), io::ErrorKind::InvalidInput);
    // No process reads the pipe, and opening it must not wait for one.
    assert!(append(&path).is_err());
    assert!(append(Path::new("/dev/null")).is_err());
    assert!(replace(folder.path(), b"x").is_err());
    assert_eq!(names(folder.path()), ["pipe"]);
}

#[test]
fn a_new_file_never_takes_an_existing_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export");
    let mut draft = Draft::create(&path).unwrap();
    draft.file().write_all(b"mine").unwrap();
    fs::write(&path, "another's").unwrap();
    let error = draft.publish_new().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&path).unwrap(), b"another's");
    fs::remove_file(&path).unwrap();
    let mut draft = Draft::create(&path).unwrap();
    draft.file().write_all(b"mine").unwrap();
    draft.publish_new().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    assert_eq!(names(folder.path()), ["export"]);
}

#[test]
fn a_log_is_appended_to_and_becomes_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    append(&path).unwrap().write_all(b"one\n").unwrap();
    assert_eq!(mode(&path), 0o600);
    set_mode(&path, 0o666);
    append(&path).unwrap().write_all(b"two\n").unwrap();
    assert_eq!((mode(&path), fs::read(&path).unwrap()), (0o600, b"one\ntwo\n".to_vec()));
}

#[test]
fn a_link_is_replaced_in_one_step() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    for original in ["one", "two"] {
        replace_link(Path::new(original), &link).unwrap();
        assert_eq!(link.read_link().unwrap(), Path::new(original));
    }
    assert_eq!(names(folder.path()), ["link"]);
}
