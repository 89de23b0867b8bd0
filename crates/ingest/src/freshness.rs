//! Checks whether the files of documents still have the indexed bytes. Writes nothing.
//!
//! A file with the same size and time counts as unchanged. Other files of the same size are hashed,
//! for a limited time.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::document::StaleReason;
use crate::error::{Error, Result};
use crate::files::reach::Reach;
use crate::files::stamp::Stamp;
use crate::hash;
use crate::roots::Roots;
use crate::store::{DocumentFiles, DocumentId, PathStamp};
use crate::survey::is_missing;
use crate::text::paths;

/// Time for hashing the files of one answer. When it has passed, a file with another time counts as
/// changed. 50 ms are enough to hash about 20 MB, and too short for a person to notice.
pub const HASH_LIMIT: Duration = Duration::from_millis(50);

/// Compares documents with their files, and returns those that are stale. Documents without files
/// are not, nor are those whose files cannot be examined.
///
/// `roots` is called only if a file looks changed, because it reads the database.
pub fn stale(
    documents: &[DocumentFiles],
    roots: impl FnOnce() -> Result<Roots>,
    hash_limit: Duration,
) -> Result<HashMap<DocumentId, StaleReason>> {
    let suspects: Vec<&DocumentFiles> = documents
        .iter()
        .filter(|document| document.stamps.first().is_some_and(|stamp| !looks_same(stamp)))
        .collect();
    if suspects.is_empty() {
        return Ok(HashMap::new());
    }
    let roots = roots()?;
    let deadline = Instant::now() + hash_limit;
    let judged = suspects
        .into_iter()
        .filter_map(|document| Some((document.document_id, judge(document, &roots, deadline)?)));
    Ok(judged.collect())
}

/// Whether a path is a regular file, not a link, with the remembered size and time.
fn looks_same(stamp: &PathStamp) -> bool {
    let found = paths::path_of(&stamp.path).symlink_metadata();
    found.is_ok_and(|found| found.is_file() && stamp.stamp() == Stamp::of(&found))
}

/// The state of a remembered path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PathState {
    /// The bytes that were indexed.
    Same,
    /// Other bytes, or a link that is not followed.
    Changed,
    /// No file.
    Missing,
    /// It cannot be examined.
    Unknown,
}

/// The file whose path is shown decides. If it is missing, a copy elsewhere may still have the
/// bytes.
fn judge(document: &DocumentFiles, roots: &Roots, deadline: Instant) -> Option<StaleReason> {
    let mut verdict = StaleReason::Missing;
    for (number, stamp) in document.stamps.iter().enumerate() {
        match state(stamp, &document.content_hash, roots, deadline) {
            PathState::Same | PathState::Unknown => return None,
            PathState::Changed if number == 0 => return Some(StaleReason::Changed),
            PathState::Changed => verdict = StaleReason::Changed,
            PathState::Missing => {}
        }
    }
    Some(verdict)
}

fn state(stamp: &PathStamp, content_hash: &str, roots: &Roots, deadline: Instant) -> PathState {
    let path = paths::path_of(&stamp.path);
    let found = roots.of_stamp(stamp).and_then(|(_, reach)| Ok((reach.look(&path)?, reach)));
    let (found, reach): (_, Reach) = match found {
        Ok(found) => found,
        Err(Error::LinkRefused { .. }) => return PathState::Changed,
        Err(_) if is_missing(&path) => return PathState::Missing,
        // A link that leads nowhere.
        Err(Error::PathNotFound { .. }) => return PathState::Missing,
        Err(_) => return PathState::Unknown,
    };
    if found.is_dir() {
        return PathState::Missing;
    }
    let seen = Stamp::of(&found);
    if !found.is_file() || seen.size_bytes != stamp.size_bytes {
        return PathState::Changed;
    }
    if stamp.stamp() == seen {
        return PathState::Same;
    }
    let hashed = reach.open(&path).ok().and_then(|file| hash::sha256_until(file, deadline).ok());
    match hashed.flatten() {
        Some(hashed) if hashed == content_hash => PathState::Same,
        _ => PathState::Changed,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    #[cfg(unix)]
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};
    use std::time::SystemTime;

    use super::*;
    use crate::content_hash;
    use crate::store::AddedFolder;

    /// A folder `d` that was added.
    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            let folder = Self(tempfile::tempdir().unwrap());
            fs::create_dir(folder.path("d")).unwrap();
            folder
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        fn write(&self, name: &str, text: &str) {
            fs::write(self.path(name), text).unwrap();
        }

        /// Returns a document with the text of the first of these files, whose path is shown.
        fn document(&self, names: &[&str]) -> DocumentFiles {
            let stamp = |name: &&str| {
                let Stamp { size_bytes, mtime_ns } =
                    Stamp::of(&self.path(name).metadata().unwrap());
                let path = paths::path_text(&self.path(name));
                PathStamp { path, size_bytes, mtime_ns, real_path: None }
            };
            DocumentFiles {
                document_id: DocumentId(1),
                chunk_ids: Vec::new(),
                content_hash: content_hash(fs::read(self.path(names[0])).unwrap()),
                stamps: names.iter().map(stamp).collect(),
            }
        }

        fn stale_within(&self, document: &DocumentFiles, limit: Duration) -> Option<StaleReason> {
            let root = AddedFolder {
                path: paths::path_text(&self.path("d")),
                tags: Vec::new(),
                doc_type: None,
                language: None,
                follows_links: false,
                real_path: None,
            };
            let documents = std::slice::from_ref(document);
            let found = stale(documents, || Ok(Roots::new(vec![root], false)), limit).unwrap();
            found.get(&DocumentId(1)).copied()
        }

        #[track_caller]
        fn check(&self, document: &DocumentFiles, expected: Option<StaleReason>) {
            assert_eq!(self.stale_within(document, Duration::from_secs(60)), expected);
        }
    }

    fn touch(path: &Path, time: SystemTime) {
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn files_with_the_same_size_and_time_are_fresh_and_need_no_access() {
        let folder = Folder::new();
        folder.write("d/a.md", "tide");
        let document = folder.document(&["d/a.md"]);
        let none = DocumentFiles { stamps: Vec::new(), ..document.clone() };
        let refused = || -> Result<Roots> { panic!("nothing looks changed") };
        let found = stale(&[document, none], refused, Duration::ZERO).unwrap();
        assert_eq!(found, HashMap::new());
    }

    #[test]
    fn other_bytes_are_changed_and_a_touched_file_is_not() {
        let folder = Folder::new();
        folder.write("d/a.md", "tide");
        let document = folder.document(&["d/a.md"]);
        touch(&folder.path("d/a.md"), SystemTime::UNIX_EPOCH);
        folder.check(&document, None);
        // Without time to hash it, another time counts.
        assert_eq!(folder.stale_within(&document, Duration::ZERO), Some(StaleReason::Changed));
        folder.write("d/a.md", "moon");
        touch(&folder.path("d/a.md"), SystemTime::UNIX_EPOCH);
        folder.check(&document, Some(StaleReason::Changed));
        folder.write("d/a.md", "longer");
        folder.check(&document, Some(StaleReason::Changed));
    }

    #[test]
    fn a_document_without_a_file_is_missing() {
        let folder = Folder::new();
        folder.write("d/a.md", "tide");
        let document = folder.document(&["d/a.md"]);
        fs::remove_file(folder.path("d/a.md")).unwrap();
        folder.check(&document, Some(StaleReason::Missing));
        fs::create_dir(folder.path("d/a.md")).unwrap();
        folder.check(&document, Some(StaleReason::Missing));
        fs::remove_dir_all(folder.path("d")).unwrap();
        folder.check(&document, Some(StaleReason::Missing));
    }

    #[test]
    fn a_copy_keeps_a_document_fresh_only_where_the_shown_file_is_missing() {
        let folder = Folder::new();
        folder.write("d/a.md", "tide");
        folder.write("d/b.md", "tide");
        let document = folder.document(&["d/a.md", "d/b.md"]);
        fs::remove_file(folder.path("d/a.md")).unwrap();
        folder.check(&document, None);
        folder.write("d/a.md", "other");
        folder.check(&document, Some(StaleReason::Changed));
        fs::remove_file(folder.path("d/a.md")).unwrap();
        folder.write("d/b.md", "other");
        folder.check(&document, Some(StaleReason::Changed));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_place_of_a_file_is_a_change() {
        let folder = Folder::new();
        folder.write("d/a.md", "tide");
        let document = folder.document(&["d/a.md"]);
        fs::rename(folder.path("d/a.md"), folder.path("a.md")).unwrap();
        symlink(folder.path("a.md"), folder.path("d/a.md")).unwrap();
        folder.check(&document, Some(StaleReason::Changed));
    }
}
