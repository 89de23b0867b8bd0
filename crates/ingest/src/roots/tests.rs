//! Tests which folder a file belongs to, how it is read and which links its path may contain.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// Folders `home` and `secret`, and links in `home` that the user made.
struct World(tempfile::TempDir);

impl World {
    fn new() -> Self {
        let world = Self(tempfile::tempdir().unwrap());
        for (name, text) in [
            ("home/docs/a.md", "a"),
            ("home/docs/sub/b.md", "b"),
            ("home/notes/c.md", "c"),
            ("secret/a.md", "key"),
            ("secret/b.md", "key"),
            ("secret/c.md", "key"),
        ] {
            fs::create_dir_all(world.path(name).parent().unwrap()).unwrap();
            fs::write(world.path(name), text).unwrap();
        }
        symlink("notes/c.md", world.path("home/link.md")).unwrap();
        symlink("docs", world.path("home/entrance")).unwrap();
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Replaces a file or folder with a link.
    fn swap(&self, name: &str, target: &str) {
        let path = self.path(name);
        fs::rename(&path, self.path("before")).unwrap();
        symlink(self.path(target), path).unwrap();
    }

    fn root(&self, name: &str, follows_links: bool, is_old: bool) -> AddedFolder {
        let path = self.path(name);
        AddedFolder {
            real_path: (!is_old).then(|| paths::path_text(&resolve_links(&path).unwrap())),
            path: paths::path_text(&path),
            tags: Vec::new(),
            doc_type: None,
            language: None,
            follows_links,
        }
    }

    /// Reads a file that was added when its path led to `real_path`.
    fn read(&self, roots: &[AddedFolder], name: &str, real_path: Option<&str>) -> String {
        let path = self.path(name);
        let roots = Roots::new(roots.to_vec(), false);
        let read = roots.of_file(&path, real_path).and_then(|reach| reach.read(&path, 100));
        match read {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(error) => error.code().to_owned(),
        }
    }

    fn named(&self, name: &str) -> Option<String> {
        Reach::named(&self.path(name)).unwrap().real_path()
    }
}

#[test]
fn a_link_that_replaces_a_file_or_folder_is_refused() {
    for (name, swapped, target) in [
        ("home/docs/a.md", "home/docs/a.md", "secret/a.md"),
        ("home/docs/sub/b.md", "home/docs/sub", "secret"),
        ("home/docs/a.md", "home/docs", "secret"),
    ] {
        let world = World::new();
        let roots = [world.root("home/docs", false, false)];
        assert_eq!(world.read(&roots, name, None).len(), 1);
        world.swap(swapped, target);
        assert_eq!(world.read(&roots, name, None), "link_refused", "{swapped}");
        // Even if the real path was not remembered.
        let roots = [world.root("home", false, true)];
        assert_eq!(world.read(&roots, name, None), "link_refused", "{swapped}");
    }
}

#[test]
fn a_folder_that_was_added_through_a_link_keeps_working() {
    let world = World::new();
    for is_old in [false, true] {
        let roots = [world.root("home/entrance", false, is_old)];
        assert_eq!(world.read(&roots, "home/entrance/sub/b.md", None), "b");
    }
}

#[test]
fn links_are_followed_in_a_folder_added_with_follow() {
    let world = World::new();
    let roots = [world.root("home/docs", true, false)];
    world.swap("home/docs/sub", "secret");
    assert_eq!(world.read(&roots, "home/docs/sub/b.md", None), "key");
}

#[test]
fn a_named_link_works_and_a_link_that_replaces_it_does_not() {
    for (name, swapped) in [
        ("home/link.md", "home/link.md"),
        ("home/notes/c.md", "home/notes/c.md"),
        ("home/notes/c.md", "home/notes"),
    ] {
        let world = World::new();
        let real_path = world.named(name);
        assert_eq!(world.read(&[], name, real_path.as_deref()), "c");
        let target = if swapped.ends_with(".md") { "secret/c.md" } else { "secret" };
        world.swap(swapped, target);
        assert_eq!(world.read(&[], name, real_path.as_deref()), "link_refused", "{swapped}");
    }
}

#[test]
fn a_link_named_in_an_added_folder_works() {
    let world = World::new();
    let roots = [world.root("home", false, false)];
    assert_eq!(world.read(&roots, "home/link.md", None), "link_refused");
    assert_eq!(world.read(&roots, "home/link.md", world.named("home/link.md").as_deref()), "c");
}

#[test]
fn a_file_added_by_an_older_kb_must_not_be_a_link() {
    let world = World::new();
    assert_eq!(world.read(&[], "home/notes/c.md", None), "c");
    assert_eq!(world.read(&[], "home/entrance/a.md", None), "a");
    assert_eq!(world.read(&[], "home/link.md", None), "link_refused");
}

/// Folders that need not exist, with their types and tags.
fn added(all: &[(&str, Option<DocType>, &[&str])]) -> Roots {
    let root = |(path, doc_type, tags): &(&str, Option<DocType>, &[&str])| AddedFolder {
        path: (*path).to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        doc_type: *doc_type,
        language: None,
        follows_links: false,
        real_path: None,
    };
    Roots::new(all.iter().map(root).collect(), false)
}

#[test]
fn a_file_belongs_to_the_innermost_folder() {
    // In any order.
    let roots = added(&[("/a/bc", None, &[]), ("/a", None, &[]), ("/a/b", None, &[])]);
    for (path, expected) in [
        ("/a/b/x", Some("/a/b")),
        ("/a/b", Some("/a/b")),
        ("/a/x", Some("/a")),
        ("/x", None),
        ("/a/bcd", Some("/a")),
    ] {
        assert_eq!(roots.folder_of(Path::new(path)), expected.map(Path::new), "{path}");
    }
    assert_eq!(roots.folders().collect::<Vec<_>>(), ["/a", "/a/b", "/a/bc"].map(Path::new));
}

#[test]
fn a_folder_inherits_what_it_does_not_say() {
    let (note, code) = (Some(DocType::Note), Some(DocType::Code));
    let roots = added(&[
        ("/a", note, &["outer"]),
        ("/a/b", None, &["inner", "outer"]),
        ("/a/b/c", code, &[]),
        ("/d", None, &[]),
    ]);
    for (path, doc_type, tags) in [
        ("/a/x", note, &["outer"][..]),
        ("/a/b/x", note, &["inner", "outer"]),
        ("/a/b/c/x", code, &["inner", "outer"]),
        ("/d/x", None, &[]),
        ("/x", None, &[]),
    ] {
        let path = Path::new(path);
        assert_eq!(roots.tags_of(path), tags, "{path:?}");
        let wanted = roots.added(path).and_then(|added| added.read_as.wanted.doc_type);
        assert_eq!(wanted, doc_type, "{path:?}");
    }
}

#[test]
fn parts_do_not_overlap() {
    let world = World::new();
    let roots = [world.root("home", false, false), world.root("home/docs", false, false)];
    let roots = Roots::new(roots.to_vec(), false);
    for (named, expected) in [
        (&[][..], &["home", "home/docs"][..]),
        (&["home"], &["home", "home/docs"]),
        (&["home/docs"], &["home/docs"]),
        (&["home/docs/sub"], &["home/docs/sub"]),
        (&["home/docs", "home/docs/sub"], &["home/docs"]),
        (&["home/docs/sub", "home/notes"], &["home/docs/sub", "home/notes"]),
        (&["home/docs/a.md", "secret"], &[]),
    ] {
        let at = |names: &[&str]| names.iter().map(|name| world.path(name)).collect::<Vec<_>>();
        assert_eq!(roots.parts(&at(named)), at(expected), "{named:?}");
    }
}

#[test]
fn walks_of_all_folders_find_each_file_once() {
    use crate::extract::detect::TextExtensions;
    use crate::walk::{WalkOptions, walk};
    let world = World::new();
    symlink(world.path("home/docs"), world.path("home/notes/docs")).unwrap();
    let options =
        WalkOptions { max_file_mb: 1, follow_links: false, text_extensions: TextExtensions::NONE };
    for follows_links in [false, true] {
        let root = |name: &&str| world.root(name, follows_links, false);
        let roots: Vec<AddedFolder> =
            ["home", "home/docs/sub", "home/docs"].iter().map(root).collect();
        let roots = Roots::new(roots, false);
        let starts: Vec<Start> =
            roots.parts(&[]).iter().map(|part| roots.start(part).unwrap()).collect();
        let found: Vec<PathBuf> =
            walk(&starts, &options).map(|found| found.unwrap().path).collect();
        let expected = ["home/notes/c.md", "home/docs/a.md", "home/docs/sub/b.md"];
        let expected: Vec<PathBuf> = expected.iter().map(|name| world.path(name)).collect();
        let links = [world.path("home/link.md")];
        let found: Vec<PathBuf> = found.into_iter().filter(|path| !links.contains(path)).collect();
        // With links, the first path to a file counts.
        let is_same = found == expected || follows_links && found[..] == expected[1..];
        assert!(is_same, "{found:?}");
        let named = roots.starts_of_named(&world.path("home"), TypeOverride::default());
        assert_eq!(walk(&named, &options).count(), 3, "{follows_links}");
    }
}

#[test]
fn a_remembered_file_is_read_as_its_folder_says_else_as_before() {
    let world = World::new();
    let stamp = |name: &str| PathStamp {
        path: paths::path_text(&world.path(name)),
        size_bytes: 1,
        mtime_ns: 0,
        real_path: None,
    };
    let typed =
        AddedFolder { doc_type: Some(DocType::Code), ..world.root("home/docs", false, false) };
    let roots = Roots::new(vec![world.root("home", false, false), typed], false);
    let (note, markdown) = (DocType::Note, DocType::Markdown);
    for (name, before, is_claimed, expected) in [
        ("home/docs/a.md", markdown, true, Some(DocType::Code)),
        ("home/docs/a.md", note, false, Some(DocType::Code)),
        ("home/notes/c.md", markdown, true, None),
        ("home/notes/c.md", markdown, false, Some(markdown)),
        ("home/notes/c.md", note, true, Some(note)),
        ("secret/a.md", markdown, false, Some(markdown)),
    ] {
        let start = roots.start_of_file(&stamp(name), before, None, is_claimed).unwrap();
        let wanted = start.wanted(TypeOverride::new(Some(DocType::Pdf), None).unwrap());
        assert_eq!(wanted.doc_type, expected, "{name} {before} {is_claimed}");
    }
}
