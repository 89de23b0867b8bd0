//! Tests the survey of remembered files.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;

use super::*;
use crate::document::DocType;
use crate::ingest::detect::TextExtensions;
use crate::store::{PathStamp, Root};

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

    fn known(&self, names: &[&str]) -> Vec<KnownFile> {
        let ids = (1..).map(DocumentId);
        names.iter().zip(ids).map(|(name, id)| self.file(name, id)).collect()
    }

    fn file(&self, name: &str, document_id: DocumentId) -> KnownFile {
        let path = self.path(name);
        let (size_bytes, mtime_ns) = walk::stamp(&path.metadata().unwrap());
        let content_hash = content_hash(&fs::read(&path).unwrap());
        let path = paths::path_text(&path);
        let stamp = PathStamp { path, size_bytes, mtime_ns, real_path: None };
        let (doc_type, language) = (DocType::Markdown, None);
        KnownFile { stamp, document_id, content_hash, doc_type, language }
    }

    fn survey(&self, roots: &[&str], known: &[KnownFile], is_exact: bool) -> Vec<Survey> {
        let roots: Vec<PathBuf> = roots.iter().map(|root| self.path(root)).collect();
        let added: Vec<Root> = roots.iter().map(|root| added(root)).collect();
        let access = Access::new(&added, false);
        let (access, roots, without_text) = (&access, roots.as_slice(), &HashMap::new());
        survey(&Scope { access, roots, known, without_text, walk: OPTIONS, is_exact })
    }
}

fn added(path: &Path) -> Root {
    Root {
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
fn a_file_belongs_to_the_innermost_folder() {
    let roots = [PathBuf::from("/a"), PathBuf::from("/a/b"), PathBuf::from("/a/bc")];
    for (path, expected) in
        [("/a/b/x", Some("/a/b")), ("/a/x", Some("/a")), ("/x", None), ("/a/bcd", Some("/a"))]
    {
        assert_eq!(root_of(&roots, Path::new(path)), expected.map(Path::new));
    }
}
