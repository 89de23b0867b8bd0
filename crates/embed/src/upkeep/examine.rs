//! Examines every file of the cache, and removes files that are not as kb wrote them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::parts::{PARTS, entries_of};
use crate::cache::{FileState, Manifest, ManifestState, forget_missing, lock};
use crate::document::Precision;
use crate::error::Result;
use crate::fault::io_error;
use crate::files::folder;
use crate::{Installed, Locations, graph, trust};

/// An examined file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examined {
    /// Its path.
    pub path: PathBuf,
    /// Its state.
    pub state: FileState,
    /// Whether the given model needs it.
    pub is_used: bool,
    /// The part of the cache that is made as a unit: a folder, or only the file.
    pub part: PathBuf,
}

impl Examined {
    /// Whether it is wrong: changed, or missing from a part that needs it.
    pub fn is_wrong(&self) -> bool {
        matches!(self.state, FileState::Changed { .. } | FileState::Missing)
    }
}

/// The result of examining the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Examination {
    /// The file with kb's records of the others.
    pub manifest: PathBuf,
    /// The state of that file.
    pub manifest_state: ManifestState,
    /// All other files, ordered by path.
    pub files: Vec<Examined>,
}

/// Reads every file of the cache, and of the given model, and compares it with its expected
/// content. Loads nothing.
///
/// # Errors
///
/// [`Error::Io`](crate::error::Error::Io) if a file cannot be read.
pub fn examine(locations: &Locations, used: Option<&Installed>) -> Result<Examination> {
    let cache_dir = &locations.cache_dir;
    let mut manifest = Manifest::read(cache_dir);
    let used_parts = used.map(parts_of).unwrap_or_default();
    let mut files = Vec::new();
    for (_, name) in PARTS {
        for part in entries_of(cache_dir, name) {
            let is_used = used_parts.iter().any(|used| used.starts_with(&part));
            let mut paths: BTreeSet<PathBuf> = if part.is_dir() {
                folder::files_below(&part).into_iter().collect()
            } else {
                BTreeSet::from([part.clone()])
            };
            paths.extend(manifest.paths().filter(|path| path.starts_with(&part)));
            for path in paths {
                let state = manifest.examine(&path, &trust::in_cache(cache_dir, &path))?;
                files.push(Examined { path, state, is_used, part: part.clone() });
            }
        }
    }
    // A model in the hub's cache is not one of the parts.
    for (path, expected) in used.map(trust::model).unwrap_or_default() {
        if !path.starts_with(cache_dir) && path.is_file() {
            let state = manifest.examine(&path, &expected)?;
            files.push(Examined { part: path.clone(), path, state, is_used: true });
        }
    }
    let manifest_state = manifest.state();
    if manifest_state != ManifestState::Damaged {
        manifest.keep();
    }
    Ok(Examination { manifest: Manifest::path(cache_dir), manifest_state, files })
}

/// Removes each part of the cache with a wrong file, so that it is fetched or made again, and a
/// damaged manifest. Returns whether there was anything to remove.
///
/// # Errors
///
/// [`Error::Io`](crate::error::Error::Io) if something cannot be removed.
pub fn remove_wrong(locations: &Locations, examination: &Examination) -> Result<bool> {
    let wrong: BTreeSet<&Path> =
        examination.files.iter().filter(|file| file.is_wrong()).map(|file| &*file.part).collect();
    let is_damaged = examination.manifest_state == ManifestState::Damaged;
    if wrong.is_empty() && !is_damaged {
        return Ok(false);
    }
    let cache_dir = &locations.cache_dir;
    let lock = lock(cache_dir, &mut |_| {})?;
    if is_damaged {
        remove(&examination.manifest)?;
    }
    for part in wrong {
        // In the hub's cache it is a link to the file with the bytes.
        if let (false, Ok(blob)) = (part.starts_with(cache_dir), part.canonicalize()) {
            remove(&blob)?;
        }
        remove(part)?;
    }
    forget_missing(cache_dir, &lock)?;
    Ok(true)
}

fn remove(path: &Path) -> Result<()> {
    folder::remove_all(path).map_err(|error| io_error(path, error))
}

/// Returns the paths that a model is loaded from, in or below the parts of the cache.
fn parts_of(installed: &Installed) -> Vec<PathBuf> {
    let graphs =
        [Precision::Int8, Precision::Fp32].map(|precision| graph::find(installed, precision));
    let graphs = graphs.into_iter().filter_map(|found| found.ok().flatten());
    graphs.chain([installed.runtime.clone(), installed.model_dir.clone()]).collect()
}
