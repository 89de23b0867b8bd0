//! Folders and remembered files in, what is out of date out. Writes nothing; reads only files that
//! seem changed, and only where asked to.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::document::DocumentId;
use crate::ingest::walk::WalkOptions;
use crate::ingest::{content_hash, detect, paths, walk};
use crate::store::KnownFile;

/// A remembered file that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Its path as it is remembered.
    pub path: String,
    /// The document that was found there.
    pub document_id: DocumentId,
    /// Whether the document's bytes are at another path, so that nothing would be lost with this one.
    pub is_elsewhere: bool,
}

/// What is out of date below one folder, or among the files that were named themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// The folder; `None` for files outside of all folders.
    pub root: Option<PathBuf>,
    /// The folder is gone, empty or cannot be looked into: perhaps a disk that is not mounted. Then
    /// nothing else is said.
    pub is_away: bool,
    /// Files that are remembered.
    pub num_known: usize,
    /// Documents that are remembered.
    pub num_documents: usize,
    /// Remembered files that are another length, time or, where they were read, other bytes.
    pub changed: Vec<PathBuf>,
    /// Those of them that no walk reaches: named themselves, or hidden by an ignore rule since.
    pub unreached: Vec<PathBuf>,
    /// Files never seen whose name some format claims.
    pub new: Vec<PathBuf>,
    /// Remembered files that are gone.
    pub missing: Vec<Missing>,
    /// Empty folders in which files are remembered: perhaps disks that are not mounted, so the files
    /// do not count as missing.
    pub empty_folders: BTreeSet<PathBuf>,
    /// How many those are.
    pub num_in_empty: usize,
}

impl Survey {
    /// Counts the documents that would go with the missing files.
    pub fn num_lost(&self) -> usize {
        let lost = self.missing.iter().filter(|it| !it.is_elsewhere).map(|it| it.document_id);
        lost.collect::<HashSet<_>>().len()
    }
}

/// Whether a folder is gone, empty or cannot be looked into: what an unmounted disk leaves.
pub fn is_away(folder: &Path) -> bool {
    fs::read_dir(folder).map_or(true, |mut it| it.next().is_none())
}

/// Whether a file is certainly not there, or a folder is in its place: what cannot be looked at is not
/// gone.
pub fn is_gone(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(found) => found.is_dir(),
        Err(error) => {
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        }
    }
}

/// Returns the empty folder in which a missing file was, or in which its folder was.
fn empty_folder(path: &Path) -> Option<&Path> {
    path.ancestors().skip(1).find(|it| it.is_dir()).filter(|it| is_away(it))
}

/// Looks at the files of `roots` and at remembered ones outside of them, `known` being all that are
/// remembered. `is_exact`: what seems changed is read, and a file that was only touched does not
/// count.
pub fn survey(
    roots: &[PathBuf],
    known: &[KnownFile],
    walk_options: &WalkOptions,
    is_exact: bool,
) -> Vec<Survey> {
    let mut by_root: BTreeMap<Option<&Path>, Vec<&KnownFile>> =
        roots.iter().map(|it| (Some(it.as_path()), Vec::new())).collect();
    for file in known {
        let path = paths::path_of(&file.stamp.path);
        by_root.entry(root_of(roots, &path)).or_default().push(file);
    }
    let living: HashSet<DocumentId> = known
        .iter()
        .filter(|it| !is_gone(&paths::path_of(&it.stamp.path)))
        .map(|it| it.document_id)
        .collect();
    by_root
        .into_iter()
        .filter(|(root, files)| root.is_some() || !files.is_empty())
        .map(|(root, files)| look(root, &files, &living, walk_options, is_exact))
        .collect()
}

/// Returns the innermost of the folders a path is below.
pub fn root_of<'a>(roots: &'a [PathBuf], path: &Path) -> Option<&'a Path> {
    let above = roots.iter().filter(|it| path.starts_with(it));
    above.max_by_key(|it| it.components().count()).map(PathBuf::as_path)
}

fn look(
    root: Option<&Path>,
    files: &[&KnownFile],
    living: &HashSet<DocumentId>,
    walk_options: &WalkOptions,
    is_exact: bool,
) -> Survey {
    let mut survey = Survey {
        root: root.map(Path::to_owned),
        is_away: root.is_some_and(is_away),
        num_known: files.len(),
        num_documents: files.iter().map(|it| it.document_id).collect::<HashSet<_>>().len(),
        ..Survey::default()
    };
    if survey.is_away {
        return survey;
    }
    let mut unseen: HashMap<PathBuf, &KnownFile> =
        files.iter().map(|it| (paths::path_of(&it.stamp.path), *it)).collect();
    if let Some(root) = root {
        // What the walk cannot reach is told when it is ingested.
        for found in walk::walk(&[root.to_owned()], walk_options).flatten() {
            match unseen.remove(&found.path) {
                Some(file) if is_changed(file, found.size_bytes, found.mtime_ns, is_exact) => {
                    // The user said what it is; its folder's other files do not tell.
                    if !detect::is_claimed(&found.path) {
                        survey.unreached.push(found.path.clone());
                    }
                    survey.changed.push(found.path);
                }
                None if found.size_bytes > 0 && detect::is_claimed(&found.path) => {
                    survey.new.push(found.path);
                }
                _ => {}
            }
        }
    }
    // Files that were named themselves, and those an ignore rule has hidden since.
    let mut rest: Vec<_> = unseen.into_iter().collect();
    rest.sort_by(|a, b| a.0.cmp(&b.0));
    for (path, file) in rest {
        match walk::stamp(&path) {
            Some((size_bytes, mtime_ns)) if is_changed(file, size_bytes, mtime_ns, is_exact) => {
                survey.changed.push(path.clone());
                survey.unreached.push(path);
            }
            None if is_gone(&path) => {
                // Of a file that was named itself nothing but its folder tells that a disk is there.
                let parent = path.parent().filter(|it| root.is_none() && is_away(it));
                if let Some(folder) = parent.or_else(|| empty_folder(&path)) {
                    survey.empty_folders.insert(folder.to_owned());
                    survey.num_in_empty += 1;
                    continue;
                }
                survey.missing.push(Missing {
                    path: file.stamp.path.clone(),
                    document_id: file.document_id,
                    is_elsewhere: living.contains(&file.document_id),
                });
            }
            _ => {}
        }
    }
    survey
}

fn is_changed(file: &KnownFile, size_bytes: u64, mtime_ns: i64, is_exact: bool) -> bool {
    let is_same = (file.stamp.size_bytes, file.stamp.mtime_ns) == (size_bytes, mtime_ns);
    if is_same || !is_exact {
        return !is_same;
    }
    let bytes = fs::read(paths::path_of(&file.stamp.path));
    bytes.map_or(true, |it| content_hash(&it) != file.content_hash)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::DocType;
    use crate::store::PathStamp;

    const OPTIONS: WalkOptions = WalkOptions { max_file_mb: 1, follow_links: false };

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new(files: &[&str]) -> Self {
            let folder = Self(tempfile::tempdir().unwrap());
            files.iter().for_each(|it| folder.write(it, it));
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
            let ids = 1..;
            names.iter().zip(ids).map(|(name, id)| self.file(name, id)).collect()
        }

        fn file(&self, name: &str, document_id: DocumentId) -> KnownFile {
            let path = self.path(name);
            let (size_bytes, mtime_ns) = walk::stamp(&path).unwrap();
            let content_hash = content_hash(&fs::read(&path).unwrap());
            let path = paths::path_text(&path);
            let stamp = PathStamp { path, size_bytes, mtime_ns, real_path: None };
            let (doc_type, language) = (DocType::Markdown, None);
            KnownFile { stamp, document_id, content_hash, doc_type, language }
        }

        fn survey(&self, roots: &[&str], known: &[KnownFile], is_exact: bool) -> Vec<Survey> {
            let roots: Vec<PathBuf> = roots.iter().map(|it| self.path(it)).collect();
            survey(&roots, known, &OPTIONS, is_exact)
        }
    }

    #[test]
    fn new_changed_and_missing_files_are_told() {
        let folder = Folder::new(&["d/a.md", "d/b.md", "d/c.md", "d/e.md"]);
        let known = folder.known(&["d/a.md", "d/b.md", "d/c.md"]);
        folder.write("d/b.md", "other words");
        folder.write("d/x.xyz", "no format claims it");
        fs::remove_file(folder.path("d/c.md")).unwrap();
        let found = folder.survey(&["d"], &known, false);
        assert_eq!(found[0].changed, [folder.path("d/b.md")]);
        assert_eq!(found[0].new, [folder.path("d/e.md")]);
        assert_eq!(found[0].missing.iter().map(|it| it.document_id).collect::<Vec<_>>(), [3]);
        assert_eq!((found[0].num_known, found[0].num_documents, found[0].num_lost()), (3, 3, 1));
    }

    #[test]
    fn a_file_that_was_only_touched_is_told_by_reading_it() {
        let folder = Folder::new(&["d/a.md"]);
        let mut known = folder.known(&["d/a.md"]);
        known[0].stamp.mtime_ns += 1;
        assert_eq!(folder.survey(&["d"], &known, false)[0].changed.len(), 1);
        assert_eq!(folder.survey(&["d"], &known, true)[0].changed.len(), 0);
    }

    #[test]
    fn a_folder_that_is_gone_or_empty_is_away_and_nothing_in_it_is_missing() {
        let folder = Folder::new(&["d/a.md", "e/b.md"]);
        let known = folder.known(&["d/a.md", "e/b.md"]);
        fs::remove_dir_all(folder.path("d")).unwrap();
        fs::remove_file(folder.path("e/b.md")).unwrap();
        for roots in [&["d", "e"][..], &[]] {
            let found = folder.survey(roots, &known, true);
            assert!(found.iter().all(|it| it.missing.is_empty()), "{found:?}");
            assert!(found.iter().all(|it| it.is_away == it.root.is_some()), "{found:?}");
        }
    }

    #[test]
    fn bytes_at_another_path_are_not_lost() {
        let folder = Folder::new(&["d/a.md", "d/b.md"]);
        let known = [folder.file("d/a.md", 1), folder.file("d/b.md", 1)];
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
}
