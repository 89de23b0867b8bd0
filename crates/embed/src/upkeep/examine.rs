//! Examines every file of the cache, and removes files that are not as kb wrote them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::parts::{PARTS, entries_of, used_paths};
use crate::cache::{CacheManifest, CachedFileState, forget_missing, lock};
use crate::error::{Error, Result};
use crate::files::folder;
use crate::text::paths::canonical;
use crate::{InstalledModel, Locations, trust};

/// An examined file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExaminedFile {
    /// Its path.
    pub path: PathBuf,
    /// Its state.
    pub state: CachedFileState,
    /// Whether the given model needs it.
    pub is_used: bool,
    /// The part of the cache that is made as a unit: a folder, or only the file.
    pub part: PathBuf,
}

impl ExaminedFile {
    /// Whether it is wrong: changed, or missing from a part that needs it.
    pub fn is_wrong(&self) -> bool {
        matches!(self.state, CachedFileState::Changed { .. } | CachedFileState::Missing)
    }
}

/// The result of examining the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examination {
    /// The file with kb's records of the others.
    pub manifest: PathBuf,
    /// Whether that file exists and differs from the one that kb wrote.
    pub is_manifest_damaged: bool,
    /// All other files, ordered by path.
    pub files: Vec<ExaminedFile>,
}

/// Reads every file of the cache, and of the given model, and compares it with its expected
/// content. Loads nothing.
pub fn examine(locations: &Locations, used: Option<&InstalledModel>) -> Result<Examination> {
    let cache_dir = &locations.cache_dir;
    let mut manifest = CacheManifest::read(cache_dir);
    let used_paths = used_paths(used);
    let mut files = Vec::new();
    for (_, name) in PARTS {
        for part in entries_of(cache_dir, name) {
            let is_used = used_paths.iter().any(|used| used.starts_with(&part));
            let mut paths: BTreeSet<PathBuf> = if part.is_dir() {
                folder::files_below(&part).into_iter().collect()
            } else {
                BTreeSet::from([part.clone()])
            };
            paths.extend(manifest.paths().filter(|path| path.starts_with(&part)));
            for path in paths {
                let state = manifest.examine(&path, &trust::in_cache(cache_dir, &path))?;
                files.push(ExaminedFile { path, state, is_used, part: part.clone() });
            }
        }
    }
    // A model in the hub's cache is not below kb's cache, so the parts above do not include it.
    for (path, expected) in used.map(trust::model).unwrap_or_default() {
        if !path.starts_with(cache_dir) && path.is_file() {
            let state = manifest.examine(&path, &expected)?;
            files.push(ExaminedFile { part: path.clone(), path, state, is_used: true });
        }
    }
    let is_manifest_damaged = manifest.is_damaged();
    if !is_manifest_damaged {
        manifest.keep();
    }
    Ok(Examination { manifest: CacheManifest::path(cache_dir), is_manifest_damaged, files })
}

/// Removes each part of the cache with a wrong file, so that it is fetched or rebuilt, and a
/// damaged manifest. Returns whether there was anything to remove.
pub fn remove_wrong(locations: &Locations, examination: &Examination) -> Result<bool> {
    let wrong: BTreeSet<&Path> =
        examination.files.iter().filter(|file| file.is_wrong()).map(|file| &*file.part).collect();
    if wrong.is_empty() && !examination.is_manifest_damaged {
        return Ok(false);
    }
    let cache_dir = &locations.cache_dir;
    let lock = lock(cache_dir, &mut |_| {})?;
    if examination.is_manifest_damaged {
        remove(&examination.manifest)?;
    }
    for part in wrong {
        // A file in the hub's cache is a link; the bytes that it leads to are removed, too.
        if let (false, Ok(blob)) = (part.starts_with(cache_dir), canonical(part)) {
            remove(&blob)?;
        }
        remove(part)?;
    }
    forget_missing(cache_dir, &lock)?;
    Ok(true)
}

fn remove(path: &Path) -> Result<()> {
    folder::remove_all(path).map_err(|error| Error::of_file(path, error))
}
