//! Tests the survey of remembered files.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;

use super::*;
use crate::document::DocType;
use crate::extract::detect::TextExtensions;
use crate::files::stamp::Stamp;
use crate::store::{AddedFolder, PathStamp};

mod disks;

const OPTIONS: WalkOptions =
    WalkOptions { max_file_mb: 1, follow_links: false, text_extensions: TextExtensions::NONE };

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[&str]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|name| folder.write(name, name));
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn known(&self, names: &[&str]) -> Vec<RememberedFile> {
        let ids = (1..).map(DocumentId);
        names.iter().zip(ids).map(|(name, id)| self.file(name, id)).collect()
    }

    fn file(&self, name: &str, document_id: DocumentId) -> RememberedFile {
        let path = self.path(name);
        let Stamp { size_bytes, mtime_ns } = Stamp::of(&path.metadata().unwrap());
        let content_hash = content_hash(fs::read(&path).unwrap());
        let path = paths::path_text(&path);
        let stamp = PathStamp { path, size_bytes, mtime_ns, real_path: None };
        let (doc_type, language) = (DocType::Markdown, None);
        RememberedFile { stamp, document_id, content_hash, doc_type, language, is_mounted: None }
    }

    fn survey(
        &self,
        roots: &[&str],
        known: &[RememberedFile],
        is_exact: bool,
    ) -> Vec<FolderSurvey> {
        let added: Vec<AddedFolder> = roots.iter().map(|root| added(&self.path(root))).collect();
        let roots = Roots::new(added, false);
        let (parts, without_text) = (roots.parts(&[]), BTreeMap::new());
        let known = known.to_vec();
        survey(&SurveyInput { roots, parts, known, without_text, walk: OPTIONS, is_exact })
    }
}

fn added(path: &Path) -> AddedFolder {
    AddedFolder {
        path: paths::path_text(path),
        tags: Vec::new(),
        doc_type: None,
        language: None,
        follows_links: false,
        real_path: None,
    }
}

/// Finding F2: a link that replaced a file was followed.
#[cfg(unix)]
#[test]
fn links_that_replace_files_or_folders_are_refused_and_nothing_is_missing() {
    let folder = Folder::new(&["d/a.md", "d/s/b.md", "d/s/c.md", "d/e.md", "o/a.md", "o/b.md"]);
    let known = folder.known(&["d/a.md", "d/s/b.md", "d/s/c.md", "d/e.md"]);
    for (name, target) in [("d/a.md", "o/a.md"), ("d/s", "o")] {
        let before = format!("before {}", target.len());
        fs::rename(folder.path(name), folder.path(&before)).unwrap();
        symlink(folder.path(target), folder.path(name)).unwrap();
    }
    for is_exact in [true, false] {
        let found = folder.survey(&["d"], &known, is_exact).remove(0);
        assert!(found.changed.is_empty() && found.new.is_empty(), "{found:?}");
        assert!(found.unreached.is_empty() && found.missing.is_empty(), "{found:?}");
        let expected = ["d/a.md", "d/s/b.md", "d/s/c.md"].map(|name| folder.path(name));
        assert_eq!(found.refused, expected);
    }
}

#[test]
fn new_changed_and_missing_files_are_found() {
    let folder = Folder::new(&["d/a.md", "d/b.md", "d/c.md", "d/e.md"]);
    let known = folder.known(&["d/a.md", "d/b.md", "d/c.md"]);
    folder.write("d/b.md", "other words");
    folder.write("d/x.xyz", "no format claims it");
    fs::remove_file(folder.path("d/c.md")).unwrap();
    let found = folder.survey(&["d"], &known, false);
    assert_eq!(found[0].changed, [folder.path("d/b.md")]);
    assert_eq!(found[0].new, [folder.path("d/e.md")]);
    assert_eq!(
        found[0].missing.iter().map(|missing| missing.document_id).collect::<Vec<_>>(),
        [DocumentId(3)]
    );
    assert_eq!((found[0].num_known, found[0].num_documents, found[0].num_lost()), (3, 3, 1));
}

#[test]
fn reading_a_file_shows_that_it_was_only_touched() {
    let folder = Folder::new(&["d/a.md"]);
    let mut known = folder.known(&["d/a.md"]);
    known[0].stamp.mtime_ns += 1;
    assert_eq!(folder.survey(&["d"], &known, false)[0].changed.len(), 1);
    assert_eq!(folder.survey(&["d"], &known, true)[0].changed.len(), 0);
}

#[test]
fn a_missing_or_empty_folder_is_away_and_nothing_in_it_is_missing() {
    let folder = Folder::new(&["d/a.md", "e/b.md"]);
    let known = folder.known(&["d/a.md", "e/b.md"]);
    fs::remove_dir_all(folder.path("d")).unwrap();
    fs::remove_file(folder.path("e/b.md")).unwrap();
    for roots in [&["d", "e"][..], &[]] {
        let found = folder.survey(roots, &known, true);
        assert!(found.iter().all(|survey| survey.missing.is_empty()), "{found:?}");
        assert!(found.iter().all(|survey| survey.is_away == survey.root.is_some()), "{found:?}");
    }
}

#[test]
fn bytes_at_another_path_are_not_lost() {
    let folder = Folder::new(&["d/a.md", "d/b.md"]);
    let known = ["d/a.md", "d/b.md"].map(|name| folder.file(name, DocumentId(1)));
    fs::remove_file(folder.path("d/a.md")).unwrap();
    let found = folder.survey(&["d"], &known, true);
    assert!(found[0].missing[0].is_elsewhere);
    assert_eq!(found[0].num_lost(), 0);
}

#[test]
fn documents_without_another_path_are_lost_once() {
    let missing = |document_id, is_elsewhere| MissingFile {
        path: "/a".into(),
        document_id: DocumentId(document_id),
        is_elsewhere,
    };
    let lost = |missing: &[MissingFile]| {
        FolderSurvey { missing: missing.into(), ..FolderSurvey::default() }.num_lost()
    };
    assert_eq!(lost(&[]), 0);
    assert_eq!(lost(&[missing(1, true)]), 0);
    assert_eq!(lost(&[missing(1, false), missing(1, false), missing(2, false)]), 2);
    assert_eq!(lost(&[missing(1, true), missing(2, false)]), 1);
}

#[test]
fn what_is_out_of_date_is_the_sum_of_all_folders() {
    let path = PathBuf::from("/a");
    let paths = |count: usize| vec![path.clone(); count];
    let missing = MissingFile { path: "/a".into(), document_id: DocumentId(1), is_elsewhere: true };
    let one = FolderSurvey {
        is_away: true,
        changed: paths(1),
        new: paths(2),
        missing: vec![missing; 3],
        failed: paths(4),
        refused: paths(5),
        empty_folders: ["/b", "/c"].map(PathBuf::from).into(),
        ..FolderSurvey::default()
    };
    let other = FolderSurvey { is_away: false, ..one.clone() };
    let expected = OutOfDate {
        num_changed: 2,
        num_new: 4,
        num_missing: 6,
        num_failed: 8,
        num_folders_away: 5,
        num_refused: 10,
    };
    assert_eq!(OutOfDate::of(&[one, other]), expected);
    assert_eq!(OutOfDate::of(&[]), OutOfDate::default());
}

#[test]
fn folders_are_away_and_files_missing_for_certain() {
    let folder = Folder::new(&["d/a.md"]);
    fs::create_dir_all(folder.path("e/f")).unwrap();
    for (name, away, missing) in [
        ("d", false, true),
        ("e", false, true),
        ("e/f", true, true),
        ("d/a.md", true, false),
        ("none", true, true),
        ("none/a.md", true, true),
        ("d/a.md/b.md", true, true),
    ] {
        let found = (is_away(&folder.path(name)), is_missing(&folder.path(name)));
        assert_eq!(found, (away, missing), "{name}");
    }
    let roots = Roots::new(vec![added(&folder.path(""))], false);
    let file = folder.file("d/a.md", DocumentId(1));
    for (name, expected) in
        [("e/f/a.md", Some("e/f")), ("e/f/g/a.md", Some("e/f")), ("e/a.md", None), ("d/b.md", None)]
    {
        let path = folder.path(name);
        let found = away_folder(&roots, &mut Mounts::default(), &path, &[&file]);
        assert_eq!(found, expected.map(|name| folder.path(name)).as_deref());
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_missing_and_a_folder_that_became_one_is_refused() {
    let folder = Folder::new(&["d/a.md"]);
    symlink("nowhere", folder.path("link")).unwrap();
    assert!(!is_missing(&folder.path("link")));
    // A link that replaced a whole folder.
    let roots = [folder.path("d")];
    let real_path = Some(paths::path_text(&paths::canonical(&roots[0]).unwrap()));
    let known = folder.known(&["d/a.md"]);
    fs::rename(folder.path("d"), folder.path("o")).unwrap();
    symlink("o", folder.path("d")).unwrap();
    let all = Roots::new(vec![AddedFolder { real_path, ..added(&roots[0]) }], false);
    let (parts, without_text) = (roots.to_vec(), BTreeMap::new());
    let scope =
        SurveyInput { roots: all, parts, known, without_text, walk: OPTIONS, is_exact: true };
    let found = survey(&scope).remove(0);
    assert_eq!((found.is_refused, found.is_away, found.refused), (true, false, roots.to_vec()));
}

#[test]
fn every_folder_is_surveyed_and_other_files_together() {
    let folder = Folder::new(&["d/a.md", "d/s/b.md", "e/c.md", "o/x.md", "o/y.md"]);
    let known = folder.known(&["o/x.md", "d/a.md", "d/s/b.md", "o/y.md"]);
    let counts =
        |roots: &[&str], known: &[RememberedFile]| -> Vec<(Option<PathBuf>, usize, usize)> {
            let found = folder.survey(roots, known, false);
            found
                .into_iter()
                .map(|survey| (survey.root, survey.num_known, survey.num_documents))
                .collect()
        };
    let root = |name: &str| Some(folder.path(name));
    assert_eq!(
        counts(&["e", "d", "d/s"], &known),
        [(None, 2, 2), (root("d"), 1, 1), (root("d/s"), 1, 1), (root("e"), 0, 0)]
    );
    assert_eq!(counts(&["d"], &known[1..2]), [(root("d"), 1, 1)]);
    let copies = ["d/a.md", "d/s/b.md"].map(|name| folder.file(name, DocumentId(1)));
    assert_eq!(counts(&["d"], &copies), [(root("d"), 2, 1)]);
    assert_eq!(counts(&[], &[]), []);
}

#[test]
fn only_files_with_content_and_a_known_name_are_new() {
    let folder = Folder::new(&["d/a.md", "d/b.xyz"]);
    folder.write("d/empty.md", "");
    let found = folder.survey(&["d"], &[], false).remove(0);
    assert_eq!(found.new, [folder.path("d/a.md")]);
    assert!(found.unreached.is_empty() && found.changed.is_empty(), "{found:?}");
    assert!(folder.survey(&["d"], &folder.known(&["d/a.md"]), false)[0].new.is_empty());
}

#[test]
fn changed_files_that_no_walk_finds_are_listed_separately() {
    let folder =
        Folder::new(&["d/a.md", "d/b.xyz", "d/hidden.md", "d/same.xyz", "o/c.md", "o/d.md"]);
    let names = ["d/a.md", "d/b.xyz", "d/hidden.md", "d/same.xyz", "o/c.md", "o/d.md"];
    let known = folder.known(&names);
    folder.write("d/.kbignore", "hidden.md\n");
    for name in ["d/a.md", "d/b.xyz", "d/hidden.md", "o/c.md"] {
        folder.write(name, "other words");
    }
    for is_exact in [false, true] {
        let found = folder.survey(&["d"], &known, is_exact);
        assert_eq!(found[0].changed, [folder.path("o/c.md")]);
        assert_eq!(found[0].unreached, [folder.path("o/c.md")]);
        let in_folder = ["d/a.md", "d/b.xyz", "d/hidden.md"].map(|name| folder.path(name));
        assert_eq!(found[1].changed, in_folder);
        assert_eq!(found[1].unreached, in_folder[1..]);
        assert!(found.iter().all(|survey| survey.missing.is_empty()), "{found:?}");
    }
}

/// Surveys a folder with one file, of which the ledger has a row.
#[track_caller]
fn check_without_text(
    (outcome, is_current): (FileOutcome, bool),
    known_as: Option<bool>,
    expected: (usize, usize, usize, usize),
) {
    let folder = Folder::new(&["d/a.md"]);
    let mut known = folder.known(&["d/a.md"]);
    let stamp = known[0].stamp.stamp();
    match known_as {
        // As it is now.
        Some(true) => {}
        Some(false) => known[0].stamp.size_bytes += 1,
        None => known.clear(),
    }
    let path = paths::path_text(&folder.path("d/a.md"));
    let row = LedgerRow {
        path: path.clone(),
        outcome,
        reason: "not_text".into(),
        message: None,
        reader: None,
        stamp: Some(if is_current {
            stamp
        } else {
            Stamp { mtime_ns: stamp.mtime_ns + 1, ..stamp }
        }),
        seen_at: String::new(),
    };
    for roots in [&[folder.path("d")][..], &[]] {
        if roots.is_empty() && known.is_empty() {
            continue;
        }
        let added: Vec<AddedFolder> = roots.iter().map(|root| added(root)).collect();
        let scope = SurveyInput {
            roots: Roots::new(added, false),
            parts: roots.to_vec(),
            known: known.clone(),
            without_text: BTreeMap::from([(path.clone(), row.clone())]),
            walk: OPTIONS,
            is_exact: false,
        };
        let found = survey(&scope).remove(0);
        let counts = (found.new.len(), found.changed.len(), found.failed.len(), found.num_outdated);
        assert_eq!(counts, expected, "{roots:?}");
    }
}

#[test]
fn a_file_without_text_is_neither_new_nor_changed_until_it_changes() {
    let (failed, waived) = (FileOutcome::Failed, FileOutcome::Waived);
    check_without_text((failed, true), None, (0, 0, 1, 0));
    check_without_text((failed, false), None, (1, 0, 0, 0));
    check_without_text((waived, true), None, (0, 0, 0, 0));
    check_without_text((waived, false), None, (0, 0, 0, 0));
    check_without_text((failed, true), Some(false), (0, 0, 1, 1));
    check_without_text((failed, false), Some(false), (0, 1, 0, 0));
    check_without_text((waived, false), Some(false), (0, 0, 0, 1));
    // It has been read since.
    check_without_text((failed, true), Some(true), (0, 0, 0, 0));
    check_without_text((waived, false), Some(true), (0, 0, 0, 0));
}

#[test]
fn a_size_or_a_time_shows_a_change_and_reading_only_another_content() {
    let folder = Folder::new(&["d/a.md"]);
    let same = folder.known(&["d/a.md"]).remove(0);
    let change = |size_bytes: u64, mtime_ns: i64, content_hash: &str| {
        let mut file = same.clone();
        file.stamp.size_bytes += size_bytes;
        file.stamp.mtime_ns += mtime_ns;
        file.content_hash += content_hash;
        [file]
    };
    for (known, seems_changed, is_changed) in [
        (change(0, 0, ""), false, false),
        (change(1, 0, ""), true, false),
        (change(0, -1, ""), true, false),
        (change(1, 0, "0"), true, true),
        (change(0, 1, "0"), true, true),
        // Nothing shows it, so the file is not read.
        (change(0, 0, "0"), false, false),
    ] {
        let num_changed = |is_exact| folder.survey(&["d"], &known, is_exact)[0].changed.len();
        let expected = (usize::from(seems_changed), usize::from(is_changed));
        assert_eq!((num_changed(false), num_changed(true)), expected);
    }
}
