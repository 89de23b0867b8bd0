//! Records the SHA-256, size, time and inode of every file that kb writes to its cache.
//!
//! A start compares size, time and inode of the files it is about to load, which takes a few system
//! calls; a file that differs is hashed. `manifest.txt` in the cache has one line per file, then a
//! line with the SHA-256 of the lines above it. A missing or damaged manifest counts as empty: the
//! files in `models.toml` are then hashed once, and graphs are rebuilt.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::checksum::sha256;
use super::lock::try_lock;
use crate::error::{Error, Result};
use crate::files::folder::{self, Lock};
use crate::files::stamp::{FileVersion, Stamp};
use crate::files::{open, write};
use crate::hash;
use crate::text::paths::canonical;

/// Its name in the cache.
const FILE: &str = "manifest.txt";

/// Its first line, which identifies the format.
const HEAD: &str = "kb cache manifest 1\n";

/// The start of its last line.
const END: &str = "sha256 ";

/// Far more than the manifest of any cache needs.
const MAX_BYTES: u64 = 16 << 20;

/// Length of a SHA-256 in hexadecimal.
const SHA256_LETTERS: usize = 64;

/// The expected content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ExpectedContent {
    /// One of these SHA-256, from `models.toml`; if empty, the file is not kb's.
    Listed(Vec<String>),
    /// The SHA-256 by which the hub's cache names the link's target, if it does.
    HubName,
    /// The SHA-256 that kb recorded when it wrote the file.
    Recorded,
}

/// The state of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CachedFileState {
    /// It has the expected content, or it is not kb's and nothing is known about it.
    Intact,
    /// It is missing.
    Missing,
    /// It was not recorded: kb did not write it, or an older version without a manifest did.
    Unknown,
    /// Its content has changed.
    Changed {
        /// The SHA-256 of its bytes.
        found: String,
        /// The expected SHA-256.
        expected: String,
    },
}

/// The recorded properties of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CachedFile {
    sha256: String,
    version: FileVersion,
}

/// The manifest of a cache.
pub(crate) struct CacheManifest {
    cache_dir: PathBuf,
    records: BTreeMap<String, CachedFile>,
    /// Files hashed and found intact since the manifest was read.
    confirmed: BTreeMap<String, CachedFile>,
    is_damaged: bool,
}

impl CacheManifest {
    pub(crate) fn read(cache_dir: &Path) -> Self {
        let bytes = open::read(&Self::path(cache_dir), open::SymlinkPolicy::Follow, MAX_BYTES);
        let is_missing = matches!(bytes, Err(Error::PathNotFound { .. }));
        let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let records = text.and_then(|text| parse(&text));
        Self {
            cache_dir: cache_dir.to_owned(),
            is_damaged: records.is_none() && !is_missing,
            records: records.unwrap_or_default(),
            confirmed: BTreeMap::new(),
        }
    }

    /// Returns the path of a cache's manifest.
    pub(crate) fn path(cache_dir: &Path) -> PathBuf {
        cache_dir.join(FILE)
    }

    /// Whether the manifest was there and not as kb wrote it.
    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged
    }

    /// Whether a file is recorded.
    pub(crate) fn knows(&self, path: &Path) -> bool {
        self.record(path).is_some()
    }

    /// Whether a file has the recorded size, time and inode; `None` if it is not recorded.
    pub(crate) fn has_stamp(&self, path: &Path) -> Option<bool> {
        let version = FileVersion::of(path).ok();
        self.record(path).map(|record| Some(record.version) == version)
    }

    /// Returns the recorded files.
    pub(crate) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.records.keys().map(|key| self.cache_dir.join(key))
    }

    /// Checks whether a file has the expected content. Reads its bytes only if its size, time or
    /// inode differ from the record.
    pub(crate) fn confirm(
        &mut self,
        path: &Path,
        expected: &ExpectedContent,
    ) -> Result<CachedFileState> {
        let Ok(version) = FileVersion::of(path) else { return Ok(CachedFileState::Missing) };
        let allowed = self.record(path).filter(|record| match expected {
            ExpectedContent::Listed(listed) => listed.contains(&record.sha256),
            ExpectedContent::HubName | ExpectedContent::Recorded => true,
        });
        if allowed.is_some_and(|record| record.version == version) {
            return Ok(CachedFileState::Intact);
        }
        self.examine(path, expected)
    }

    /// As [`Self::confirm`], but always reads all of the file's bytes.
    pub(crate) fn examine(
        &mut self,
        path: &Path,
        expected: &ExpectedContent,
    ) -> Result<CachedFileState> {
        // The version is read before the hash: a file that is written while it is hashed has another version
        // afterwards.
        let Ok(version) = FileVersion::of(path) else { return Ok(CachedFileState::Missing) };
        let allowed = match expected {
            ExpectedContent::Listed(listed) => listed.clone(),
            ExpectedContent::Recorded => {
                self.record(path).map(|record| record.sha256.clone()).into_iter().collect()
            }
            ExpectedContent::HubName => match hub_sha256(path) {
                Some(name) => vec![name],
                None => return Ok(CachedFileState::Intact),
            },
        };
        let Some(first) = allowed.first() else { return Ok(CachedFileState::Unknown) };
        let found = sha256(path)?;
        if !allowed.contains(&found) {
            return Ok(CachedFileState::Changed { found, expected: first.clone() });
        }
        if let Some(key) = self.key(path) {
            let record = CachedFile { sha256: found, version };
            if self.records.get(&key) != Some(&record) {
                self.confirmed.insert(key, record);
            }
        }
        Ok(CachedFileState::Intact)
    }

    /// Checks that files have the expected content.
    pub(crate) fn require(&mut self, files: &[(PathBuf, ExpectedContent)]) -> Result<()> {
        for (path, expected) in files {
            if let CachedFileState::Changed { found, expected } = self.confirm(path, expected)? {
                let reason = format!("its SHA-256 is {found}, expected {expected}");
                return Err(Error::CacheChanged { path: path.clone(), reason });
            }
        }
        Ok(())
    }

    /// Records the files found intact, unless another process is changing the cache: then the next
    /// start does it. A read-only cache is not an error.
    pub(crate) fn keep(&mut self) {
        if self.confirmed.is_empty() {
            return;
        }
        if let Some(lock) = try_lock(&self.cache_dir) {
            let mut confirmed = std::mem::take(&mut self.confirmed);
            // Another process may have replaced and recorded a file since.
            confirmed.retain(|key, record| {
                FileVersion::of(&self.cache_dir.join(key))
                    .is_ok_and(|version| version == record.version)
            });
            // After an error, these files are only hashed again next time.
            let _ = update(&self.cache_dir, &lock, confirmed);
        }
    }

    fn record(&self, path: &Path) -> Option<&CachedFile> {
        self.records.get(&self.key(path)?)
    }

    /// Returns the name of a file in the manifest: its path relative to the cache, or its full
    /// path. A path that does not fit in a line has no name, and the file is hashed at each start.
    fn key(&self, path: &Path) -> Option<String> {
        let key = path.strip_prefix(&self.cache_dir).unwrap_or(path).to_str()?;
        (!key.contains(['\n', '\r'])).then(|| key.to_owned())
    }
}

/// Records the current state of a file, or of all files in a folder, of the cache.
pub(crate) fn record(cache_dir: &Path, lock: &Lock, place: &Path) -> Result<()> {
    let manifest = CacheManifest::read(cache_dir);
    let files = if place.is_dir() { folder::files_below(place) } else { vec![place.to_owned()] };
    let mut records = BTreeMap::new();
    for path in files {
        let version = FileVersion::of(&path).map_err(|error| Error::of_file(&path, error))?;
        if let Some(key) = manifest.key(&path) {
            records.insert(key, CachedFile { sha256: sha256(&path)?, version });
        }
    }
    update(cache_dir, lock, records)
}

/// Removes the records of missing files.
pub(crate) fn forget_missing(cache_dir: &Path, lock: &Lock) -> Result<()> {
    update(cache_dir, lock, BTreeMap::new())
}

/// Adds records to the current manifest.
fn update(cache_dir: &Path, _: &Lock, records: BTreeMap<String, CachedFile>) -> Result<()> {
    let mut all = CacheManifest::read(cache_dir).records;
    all.extend(records);
    all.retain(|key, _| cache_dir.join(key).is_file());
    let path = CacheManifest::path(cache_dir);
    write::replace(&path, lines(&all).as_bytes()).map_err(|error| Error::of_file(&path, error))
}

fn lines(records: &BTreeMap<String, CachedFile>) -> String {
    let mut text = HEAD.to_owned();
    for (key, CachedFile { sha256, version }) in records {
        let FileVersion { stamp: Stamp { size_bytes, mtime_ns }, inode } = version;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{sha256} {size_bytes} {mtime_ns} {inode} {key}");
    }
    let sha256 = hash::sha256(&text);
    text + END + &sha256 + "\n"
}

/// Parses the output of [`lines`]; `None` for anything else.
fn parse(text: &str) -> Option<BTreeMap<String, CachedFile>> {
    let before_end = text.len().checked_sub(END.len() + SHA256_LETTERS + 1)?;
    let (above, end) = text.split_at_checked(before_end)?;
    let sha256 = end.strip_prefix(END)?.strip_suffix('\n')?;
    if hash::sha256(above) != sha256 {
        return None;
    }
    above.strip_prefix(HEAD)?.lines().map(parse_line).collect()
}

/// Parses the key and the record of a file.
fn parse_line(line: &str) -> Option<(String, CachedFile)> {
    let mut words = line.splitn(5, ' ');
    let sha256 = words.next()?.to_owned();
    let stamp =
        Stamp { size_bytes: words.next()?.parse().ok()?, mtime_ns: words.next()?.parse().ok()? };
    let version = FileVersion { stamp, inode: words.next()?.parse().ok()? };
    Some((words.next()?.to_owned(), CachedFile { sha256, version }))
}

/// Returns the SHA-256 in the name of a file of the hub's cache: `blobs/<sha256>`. A small file has
/// git's hash as its name, which is shorter.
pub(crate) fn hub_sha256(path: &Path) -> Option<String> {
    let blob = canonical(path).ok()?;
    let name = blob.file_name()?.to_str()?;
    let is_sha256 = name.len() == SHA256_LETTERS && name.chars().all(|c| c.is_ascii_hexdigit());
    (is_sha256 && blob.parent()?.ends_with("blobs")).then(|| name.to_owned())
}

#[cfg(test)]
mod tests;
