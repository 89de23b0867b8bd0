//! Tests what is remembered of knowledge bases, and how it is written.

use super::*;
use crate::document::DocType;

fn environment(state: &Path) -> Environment {
    [("KB_STATE_DIR".to_owned(), state.into())].into_iter().collect()
}

fn allowed(folder: AllowedFolder, file: &str) -> AllowedPaths {
    let mut allowed = AllowedPaths::default();
    allowed.folders.insert("/docs".into(), folder);
    allowed.files.insert(file.into(), file.into());
    allowed
}

fn folder() -> AllowedFolder {
    let real_path = "/disk, two/docs".into();
    let language = Some("rust,follow".into());
    AllowedFolder { real_path, doc_type: Some(DocType::Note), language, follows_links: false }
}

#[test]
fn only_the_same_id_at_the_same_path_is_known_with_what_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let environment = environment(&dir.path().join("state"));
    let base = dir.path().join("a base");
    std::fs::create_dir(&base).unwrap();
    assert_eq!(KnownBases::read(&environment).unwrap().base(&base, "1"), None);
    let given = allowed(folder(), "/tab\there,\r\n.md");
    allow(&environment, &base, "1", |all| all.merge(given.clone())).unwrap();
    let known = KnownBases::read(&environment).unwrap();
    assert_eq!(known.base(&base, "1").unwrap().allowed, given);
    assert_eq!(known.base(&base, "2"), None);
    assert_eq!(known.base(dir.path(), "1"), None);
    assert!(known.has_folder(&base));
    copy_folder(&environment, &base, dir.path()).unwrap();
    let known = KnownBases::read(&environment).unwrap();
    assert_eq!(known.base(dir.path(), "1").unwrap().allowed, given);
    let of_base = KnownBases::read_of(&environment, &base).unwrap();
    assert_eq!(of_base.base(dir.path(), "1").unwrap().allowed, AllowedPaths::default());
    assert_eq!(of_base.into_base(&base, "1").unwrap().allowed, given);
}

#[test]
fn a_name_is_forgotten_without_what_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let environment = environment(dir.path());
    let base = dir.path().join("bases/work");
    allow(&environment, &base, "1", |all| all.merge(allowed(folder(), "/a"))).unwrap();
    set_forgotten(&environment, &base, true).unwrap();
    let known = KnownBases::read(&environment).unwrap();
    assert!(known.is_forgotten(&base) && known.base(&base, "1").is_some());
    set_forgotten(&environment, &base, false).unwrap();
    assert!(!KnownBases::read(&environment).unwrap().is_forgotten(&base));
    drop_folder(&environment, &base).unwrap();
    assert!(!KnownBases::read(&environment).unwrap().has_folder(&base));
}

#[test]
fn neither_a_path_nor_an_id_adds_a_line() {
    let dir = tempfile::tempdir().unwrap();
    let environment = environment(dir.path());
    let base = dir.path().join("x\nallowed 2 /victim");
    std::fs::create_dir_all(&base).unwrap();
    let id = id(Some("1 /x\nallowed 2 /victim\n".into()));
    assert_eq!(id, UNIDENTIFIED);
    allow(&environment, &base, &id, |_| {}).unwrap();
    let known = KnownBases::read(&environment).unwrap();
    assert!(known.base(&base, &id).is_some());
    assert_eq!(known.base(Path::new("/victim"), "2"), None);
}

#[test]
fn lines_that_cannot_be_read_allow_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let environment = environment(dir.path());
    let lines = "own\nall 1 /a\n\tfile\t/lost\nown 1\n\u{fffd}\nown 2 /b c\n\tfolder\tnew\t/c\n\
                 \tfolder\t-\t/d\n\tlink\t/e\nfiles 3 /f\n";
    std::fs::write(dir.path().join(FILE), lines).unwrap();
    let known = KnownBases::read(&environment).unwrap();
    assert_eq!(known.base(Path::new("/a"), "1"), None);
    let base = known.base(Path::new("/b c"), "2").unwrap();
    assert_eq!(base.state, BaseTrust::Own);
    assert!(base.allowed.folders.keys().eq(["/d"]) && base.allowed.files.is_empty());
    // An older version let all files of this one be followed.
    let base = known.base(Path::new("/f"), "3").unwrap();
    assert_eq!((base.state, &base.allowed), (BaseTrust::Allowed, &AllowedPaths::default()));
}

#[test]
fn options_are_read_as_they_are_written_and_others_allow_nothing() {
    let plain = AllowedFolder {
        real_path: "/r".into(),
        doc_type: None,
        language: None,
        follows_links: false,
    };
    let typed = AllowedFolder { doc_type: Some(DocType::Note), ..plain.clone() };
    let all = AllowedFolder { language: Some("c,d".into()), follows_links: true, ..typed.clone() };
    for (folder, text) in
        [(&plain, "-"), (&typed, "type=note"), (&all, "type=note,language=c\\x2cd,follow")]
    {
        assert_eq!(options(folder), text);
        assert_eq!(read_options(text, "/r".into()).as_ref(), Some(folder));
    }
    for text in ["new", "type=x", "follow=1", "follow,new"] {
        assert_eq!(read_options(text, "/r".into()), None, "{text}");
    }
    let others =
        ["\tfolder\t-\t/a\t/b\t/c", "\tfile\t/a\t/b\t/c", "\tfolder\t-", "\tfile", "\tx\t/a"];
    assert_eq!(read_entries(others.into_iter()), AllowedPaths::default());
    let allowed = read_entries(["\tfile\t/a\t/b", "\tfile\t/a\t/c"].into_iter());
    assert_eq!(allowed.files.into_iter().collect::<Vec<_>>(), [("/a".into(), "/c".into())]);
}

#[test]
fn an_id_is_a_short_word_and_the_file_is_where_the_user_says() {
    let of = |found: &str| id(Some(found.to_owned()));
    assert_eq!(
        (of("aZ9"), of(""), of("a b"), id(None)),
        ("aZ9".into(), "none".into(), "none".into(), "none".into())
    );
    assert_eq!((of(&"a".repeat(64)).len(), of(&"a".repeat(65))), (64, "none".into()));
    for (variables, expected) in [
        (&[("HOME", "/h")][..], "/h/.local/state/kb/known_bases"),
        (&[("HOME", "/h"), ("XDG_STATE_HOME", "/s")], "/s/kb/known_bases"),
        (&[("XDG_STATE_HOME", "/s"), ("KB_STATE_DIR", "/k")], "/k/known_bases"),
    ] {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), value.into()));
        assert_eq!(file(&variables.collect()), Path::new(expected));
    }
}
