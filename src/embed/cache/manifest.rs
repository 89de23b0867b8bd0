//! Remembers every file that kb puts into its cache: its SHA-256, and its size, time and inode.
//!
//! A start compares size, time and inode of the files it is about to load, a few system calls; where
//! one differs, that file is hashed. `manifest.txt` in the cache has one line per file, then a line
//! with the SHA-256 of the lines above it. A manifest that is missing or damaged is taken for empty:
//! what `models.toml` lists is then hashed once, and graphs are made again.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::embed::cache::{CacheLock, sha256, try_lock};
use crate::embed::io_error;
use crate::error::{Error, Result};
use crate::files::stamp::Stamp;
use crate::files::{folder, open, write};
use crate::hash;

/// Its name in the cache.
const FILE: &str = "manifest.txt";

/// Its first line; a program that writes another format has another.
const HEAD: &str = "kb cache manifest 1\n";

/// What its last line begins with.
const END: &str = "sha256 ";

/// Far more than the files of any cache take.
const MAX_BYTES: u64 = 16 << 20;

/// Letters of a SHA-256 in hexadecimal.
const SHA256_LETTERS: usize = 64;

/// What is known about the bytes that a file must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::embed) enum Expected {
    /// One of these SHA-256, from `models.toml`; with none, the file is not one of kb's.
    Listed(Vec<String>),
    /// The SHA-256 by which the hub's cache names the file that a link leads to, if it does.
    HubName,
    /// What kb wrote down when it made the file.
    Recorded,
}

/// How a file was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileState {
    /// As it should be, or nothing is known about it and it is not kb's.
    Intact,
    /// It is missing.
    Missing,
    /// kb did not put it there, or an older version did, which kept no manifest.
    Unknown,
    /// Its bytes are not what they were.
    Changed {
        /// The SHA-256 of its bytes.
        found: String,
        /// What it should be.
        expected: String,
    },
}

/// How the manifest itself was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManifestState {
    /// It is there and says what was written.
    Sound,
    /// There is none.
    Absent,
    /// It is not as it was written.
    Damaged,
}

/// What is written down about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Record {
    sha256: String,
    stamp: Stamp,
}

/// The manifest of a cache.
pub(in crate::embed) struct Manifest {
    cache_dir: PathBuf,
    records: BTreeMap<String, Record>,
    /// What was hashed and found intact since it was read.
    confirmed: BTreeMap<String, Record>,
    state: ManifestState,
}

impl Manifest {
    /// Reads the manifest of a cache.
    pub(in crate::embed) fn read(cache_dir: &Path) -> Self {
        let bytes = open::read(&Self::path(cache_dir), open::Links::Follow, MAX_BYTES);
        let (records, state) = match bytes {
            Err(Error::PathNotFound { .. }) => (BTreeMap::new(), ManifestState::Absent),
            Err(_) => (BTreeMap::new(), ManifestState::Damaged),
            Ok(bytes) => match String::from_utf8(bytes).ok().and_then(|text| parse(&text)) {
                Some(records) => (records, ManifestState::Sound),
                None => (BTreeMap::new(), ManifestState::Damaged),
            },
        };
        Self { cache_dir: cache_dir.to_owned(), records, confirmed: BTreeMap::new(), state }
    }

    /// Returns where the manifest of a cache is.
    pub(in crate::embed) fn path(cache_dir: &Path) -> PathBuf {
        cache_dir.join(FILE)
    }

    /// Returns how it was found.
    pub(in crate::embed) fn state(&self) -> ManifestState {
        self.state
    }

    /// Whether a file is written down.
    pub(in crate::embed) fn knows(&self, path: &Path) -> bool {
        self.record(path).is_some()
    }

    /// Whether a file has the size, time and inode that are written down; `None` if none are.
    pub(in crate::embed) fn has_stamp(&self, path: &Path) -> Option<bool> {
        let stamp = Stamp::of(path).ok();
        self.record(path).map(|record| Some(record.stamp) == stamp)
    }

    /// Returns the files that are written down.
    pub(in crate::embed) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.records.keys().map(|key| self.cache_dir.join(key))
    }

    /// Looks whether a file is what it should be. Its bytes are read only if its size, time or inode
    /// is not what is written down.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if it cannot be read.
    pub(in crate::embed) fn confirm(
        &mut self,
        path: &Path,
        expected: &Expected,
    ) -> Result<FileState> {
        let Ok(stamp) = Stamp::of(path) else { return Ok(FileState::Missing) };
        let is_allowed = |record: &&Record| match expected {
            Expected::Listed(listed) => listed.contains(&record.sha256),
            Expected::HubName | Expected::Recorded => true,
        };
        if self.record(path).filter(is_allowed).is_some_and(|record| record.stamp == stamp) {
            return Ok(FileState::Intact);
        }
        self.examine(path, expected)
    }

    /// As [`Self::confirm`], but always reads all of the file's bytes.
    ///
    /// # Errors
    ///
    /// As [`Self::confirm`].
    pub(in crate::embed) fn examine(
        &mut self,
        path: &Path,
        expected: &Expected,
    ) -> Result<FileState> {
        // Looked at first: a file that is written while it is hashed has another stamp afterwards.
        let Ok(stamp) = Stamp::of(path) else { return Ok(FileState::Missing) };
        let allowed = match expected {
            Expected::Listed(listed) => listed.clone(),
            Expected::Recorded => {
                self.record(path).map(|it| it.sha256.clone()).into_iter().collect()
            }
            Expected::HubName => match hub_sha256(path) {
                Some(name) => vec![name],
                None => return Ok(FileState::Intact),
            },
        };
        let Some(first) = allowed.first() else { return Ok(FileState::Unknown) };
        let found = sha256(path)?;
        if !allowed.contains(&found) {
            return Ok(FileState::Changed { found, expected: first.clone() });
        }
        if let Some(key) = self.key(path) {
            let record = Record { sha256: found, stamp };
            if self.records.get(&key) != Some(&record) {
                self.confirmed.insert(key, record);
            }
        }
        Ok(FileState::Intact)
    }

    /// Requires that files are what they should be.
    ///
    /// # Errors
    ///
    /// [`Error::CacheChanged`] naming the first that is not; else as [`Self::confirm`].
    pub(in crate::embed) fn require(&mut self, files: &[(PathBuf, Expected)]) -> Result<()> {
        for (path, expected) in files {
            if let FileState::Changed { found, expected } = self.confirm(path, expected)? {
                let reason = format!("its SHA-256 is {found}, expected {expected}");
                return Err(Error::CacheChanged { path: path.clone(), reason });
            }
        }
        Ok(())
    }

    /// Writes down what was found intact, unless another process is at work in the cache: then the
    /// next start does it. A cache that cannot be written is no error.
    pub(in crate::embed) fn keep(&mut self) {
        if self.confirmed.is_empty() {
            return;
        }
        if let Some(lock) = try_lock(&self.cache_dir) {
            let mut confirmed = std::mem::take(&mut self.confirmed);
            // Another process may have replaced a file since, and written that down.
            confirmed.retain(|key, record| {
                Stamp::of(&self.cache_dir.join(key)).is_ok_and(|stamp| stamp == record.stamp)
            });
            let _ = update(&self.cache_dir, &lock, confirmed);
        }
    }

    fn record(&self, path: &Path) -> Option<&Record> {
        self.records.get(&self.key(path)?)
    }

    /// Returns the name of a file in the manifest: below the cache, or its full path. A name that
    /// would not fit in a line has none, and its file is hashed at each start.
    fn key(&self, path: &Path) -> Option<String> {
        let key = path.strip_prefix(&self.cache_dir).unwrap_or(path).to_str()?;
        (!key.contains(['\n', '\r'])).then(|| key.to_owned())
    }
}

/// Writes down the files at a place in the cache, a file or a folder, as they are now.
///
/// # Errors
///
/// [`Error::Io`] or [`Error::DiskFull`].
pub(in crate::embed) fn record(cache_dir: &Path, lock: &CacheLock, place: &Path) -> Result<()> {
    let manifest = Manifest::read(cache_dir);
    let files = if place.is_dir() { folder::files_below(place) } else { vec![place.to_owned()] };
    let mut records = BTreeMap::new();
    for path in files {
        let stamp = Stamp::of(&path).map_err(|error| io_error(&path, error))?;
        if let Some(key) = manifest.key(&path) {
            records.insert(key, Record { sha256: sha256(&path)?, stamp });
        }
    }
    update(cache_dir, lock, records)
}

/// Takes out what is written down about files that are missing.
///
/// # Errors
///
/// [`Error::Io`] or [`Error::DiskFull`].
pub(in crate::embed) fn forget_missing(cache_dir: &Path, lock: &CacheLock) -> Result<()> {
    update(cache_dir, lock, BTreeMap::new())
}

/// Adds records to the manifest as it is by now.
fn update(cache_dir: &Path, _: &CacheLock, records: BTreeMap<String, Record>) -> Result<()> {
    let mut all = Manifest::read(cache_dir).records;
    all.extend(records);
    all.retain(|key, _| cache_dir.join(key).is_file());
    let path = Manifest::path(cache_dir);
    write::replace(&path, lines(&all).as_bytes()).map_err(|error| io_error(&path, error))
}

fn lines(records: &BTreeMap<String, Record>) -> String {
    let mut text = HEAD.to_owned();
    for (key, Record { sha256, stamp }) in records {
        let Stamp { size_bytes, mtime_ns, inode } = stamp;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{sha256} {size_bytes} {mtime_ns} {inode} {key}");
    }
    let sha256 = hash::sha256(&text);
    text + END + &sha256 + "\n"
}

/// Reads what [`lines`] wrote; `None` for anything else.
fn parse(text: &str) -> Option<BTreeMap<String, Record>> {
    let before_end = text.len().checked_sub(END.len() + SHA256_LETTERS + 1)?;
    let (above, end) = text.split_at_checked(before_end)?;
    let sha256 = end.strip_prefix(END)?.strip_suffix('\n')?;
    if hash::sha256(above) != sha256 {
        return None;
    }
    let record = |line: &str| {
        let mut words = line.splitn(5, ' ');
        let sha256 = words.next()?.to_owned();
        let stamp = Stamp {
            size_bytes: words.next()?.parse().ok()?,
            mtime_ns: words.next()?.parse().ok()?,
            inode: words.next()?.parse().ok()?,
        };
        Some((words.next()?.to_owned(), Record { sha256, stamp }))
    };
    above.strip_prefix(HEAD)?.lines().map(record).collect()
}

/// Returns the SHA-256 that the hub's cache has in the name of a file: `blobs/<sha256>`. A small file
/// is named by git's hash, which is shorter.
pub(in crate::embed) fn hub_sha256(path: &Path) -> Option<String> {
    let blob = path.canonicalize().ok()?;
    let name = blob.file_name()?.to_str()?;
    let is_sha256 = name.len() == SHA256_LETTERS && name.chars().all(|it| it.is_ascii_hexdigit());
    (is_sha256 && blob.parent()?.ends_with("blobs")).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A cache with one file, `graphs/g/model.bin`, that is written down.
    fn cache() -> (tempfile::TempDir, PathBuf) {
        let cache = tempfile::tempdir().unwrap();
        let path = cache.path().join("graphs/g/model.bin");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "weights").unwrap();
        let lock = try_lock(cache.path()).unwrap();
        record(cache.path(), &lock, path.parent().unwrap()).unwrap();
        (cache, path)
    }

    fn confirm(cache: &Path, path: &Path, expected: &Expected) -> FileState {
        let mut manifest = Manifest::read(cache);
        let state = manifest.confirm(path, expected).unwrap();
        manifest.keep();
        state
    }

    /// Writes bytes and gives the file the time that it had.
    fn write_unseen(path: &Path, bytes: &str) {
        let time = fs::metadata(path).unwrap().modified().unwrap();
        fs::write(path, bytes).unwrap();
        fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn a_changed_file_is_found_when_its_stamp_differs_and_always_when_all_is_read() {
        let (cache, path) = cache();
        let state = || confirm(cache.path(), &path, &Expected::Recorded);
        assert_eq!(state(), FileState::Intact);
        // Nothing but the bytes differs, which no look from outside tells.
        write_unseen(&path, "Weights");
        assert_eq!(state(), FileState::Intact);
        let mut manifest = Manifest::read(cache.path());
        let examined = manifest.examine(&path, &Expected::Recorded).unwrap();
        assert!(matches!(examined, FileState::Changed { .. }));
        fs::write(&path, "Weights").unwrap();
        assert!(matches!(state(), FileState::Changed { .. }));
        fs::remove_file(&path).unwrap();
        assert_eq!(state(), FileState::Missing);
    }

    #[test]
    fn a_file_that_was_only_copied_is_hashed_once() {
        let (cache, path) = cache();
        let copy = path.with_file_name("copy");
        fs::copy(&path, &copy).unwrap();
        fs::rename(&copy, &path).unwrap();
        assert_eq!(Manifest::read(cache.path()).has_stamp(&path), Some(false));
        assert_eq!(confirm(cache.path(), &path, &Expected::Recorded), FileState::Intact);
        assert_eq!(Manifest::read(cache.path()).has_stamp(&path), Some(true));
    }

    #[test]
    fn what_is_listed_needs_no_record_and_overrides_one() {
        let (cache, path) = cache();
        let listed = |text: &str| Expected::Listed(vec![hash::sha256("x"), hash::sha256(text)]);
        fs::remove_file(Manifest::path(cache.path())).unwrap();
        assert_eq!(confirm(cache.path(), &path, &Expected::Recorded), FileState::Unknown);
        assert_eq!(confirm(cache.path(), &path, &Expected::Listed(vec![])), FileState::Unknown);
        assert_eq!(confirm(cache.path(), &path, &listed("weights")), FileState::Intact);
        // Whoever writes the manifest too cannot make another library of it.
        let state = confirm(cache.path(), &path, &listed("other"));
        assert!(matches!(state, FileState::Changed { .. }), "{state:?}");
        let files = [(path.clone(), listed("other"))];
        let error = Manifest::read(cache.path()).require(&files).unwrap_err();
        assert!(matches!(&error, Error::CacheChanged { path: found, .. } if *found == path));
    }

    #[test]
    fn a_manifest_that_was_changed_is_not_believed() {
        let (cache, path) = cache();
        let place = Manifest::path(cache.path());
        let text = fs::read_to_string(&place).unwrap();
        assert_eq!(parse(&text).unwrap().len(), 1);
        assert_eq!(lines(&parse(&text).unwrap()), text);
        for damaged in [
            text.replace(&hash::sha256("weights"), &hash::sha256("Weights")),
            text.replace("manifest 1", "manifest 2"),
            text[..text.len() - 1].to_owned(),
            text[1..].to_owned(),
            format!("{text}\n"),
            "é".repeat(36),
            String::new(),
        ] {
            fs::write(&place, &damaged).unwrap();
            let manifest = Manifest::read(cache.path());
            assert_eq!(manifest.state(), ManifestState::Damaged, "{damaged}");
            assert_eq!(confirm(cache.path(), &path, &Expected::Recorded), FileState::Unknown);
        }
    }

    #[test]
    fn records_of_files_that_are_missing_go_and_those_of_others_stay() {
        let (cache, path) = cache();
        let other = cache.path().join("onnxruntime/1.0.0/library");
        fs::create_dir_all(other.parent().unwrap()).unwrap();
        fs::write(&other, "library").unwrap();
        let lock = try_lock(cache.path()).unwrap();
        record(cache.path(), &lock, &other).unwrap();
        assert_eq!(Manifest::read(cache.path()).paths().count(), 2);
        fs::remove_file(&path).unwrap();
        forget_missing(cache.path(), &lock).unwrap();
        assert_eq!(Manifest::read(cache.path()).paths().collect::<Vec<_>>(), [other]);
    }

    #[test]
    fn a_file_of_the_hub_is_known_by_the_name_of_its_blob() {
        let cache = tempfile::tempdir().unwrap();
        let at = |name: &str| cache.path().join(name);
        fs::create_dir_all(at("hub/blobs")).unwrap();
        for (name, is_known) in [(hash::sha256("weights"), true), ("0123abc".to_owned(), false)] {
            let blob = at("hub/blobs").join(&name);
            fs::write(&blob, "weights").unwrap();
            let link = at("hub").join(format!("file-{is_known}"));
            std::os::unix::fs::symlink(&blob, &link).unwrap();
            assert_eq!(confirm(&at("kb"), &link, &Expected::HubName), FileState::Intact);
            assert_eq!(Manifest::read(&at("kb")).knows(&link), is_known);
            fs::write(&blob, "other").unwrap();
            let state = confirm(&at("kb"), &link, &Expected::HubName);
            assert_eq!(matches!(state, FileState::Changed { .. }), is_known, "{state:?}");
        }
    }
}
