//! Lists, examines and cleans kb's cache. All of it can be fetched or made again.

mod examine;

use std::path::{Path, PathBuf};

use super::cache::{Manifest, forget_missing, lock};
use super::graph::identity::Identity;
use super::{Installed, Locations, graph, io_error};
use crate::document::Precision;
use crate::error::Result;
use crate::files::folder;

pub use examine::{Examination, Examined, examine, remove_wrong};

/// What the cache holds for use, and the folder of each kind.
const PARTS: [(CachedKind, &str); 3] = [
    (CachedKind::Runtime, "onnxruntime"),
    (CachedKind::Model, "models"),
    (CachedKind::Graph, "graphs"),
];

/// What a part of the cache is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CachedKind {
    /// ONNX Runtime.
    Runtime,
    /// The files of a model.
    Model,
    /// A model made ready for one machine, and how it is computed.
    Graph,
    /// What a killed process left.
    Leftover,
}

impl CachedKind {
    /// Returns the word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Runtime => "runtime",
            Self::Model => "model",
            Self::Graph => "graph",
            Self::Leftover => "leftover",
        }
    }
}

/// What the manifest says of a part of the cache, by size, time and inode of its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// All of its files are as they were written down.
    Unchanged,
    /// A file was touched since; its bytes are compared before it is loaded.
    Touched,
    /// kb did not put it there, or an older version did, or it is not for use.
    No,
}

impl Recorded {
    /// Returns the word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Touched => "touched",
            Self::No => "no",
        }
    }
}

/// A part of the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cached {
    /// What it is.
    pub kind: CachedKind,
    /// What it is of: a version, a model.
    pub name: String,
    /// Its file or directory.
    pub path: PathBuf,
    /// Bytes of all its files.
    pub size_bytes: u64,
    /// Whether the model that was asked about needs it.
    pub is_used: bool,
    /// Whether it is as the manifest has it.
    pub recorded: Recorded,
}

/// Returns what lies in the cache, in the order of kinds, then of paths.
pub fn cached(locations: &Locations, used: Option<&Installed>) -> Vec<Cached> {
    let dir = &locations.cache_dir;
    let manifest = Manifest::read(dir);
    let is_in = |path: &Path, part: &Path| path.starts_with(part);
    let graphs: Vec<PathBuf> = used
        .into_iter()
        .flat_map(|installed| {
            [Precision::Int8, Precision::Fp32].map(|precision| graph::find(installed, precision))
        })
        .filter_map(|place| place.ok().flatten())
        .collect();
    let mut found = Vec::new();
    for (kind, name) in PARTS.into_iter().chain([(CachedKind::Leftover, "tmp")]) {
        for path in entries_of(dir, name) {
            let is_used = match kind {
                CachedKind::Runtime => used.is_some_and(|it| is_in(&it.runtime, &path)),
                CachedKind::Model => used.is_some_and(|it| is_in(&it.model_dir, &path)),
                CachedKind::Graph => graphs.contains(&path),
                CachedKind::Leftover => false,
            };
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name = match kind {
                CachedKind::Graph => Identity::name(&path).unwrap_or(name),
                _ => name,
            };
            let (size_bytes, recorded) = (size_bytes(&path), recorded(&manifest, &path));
            found.push(Cached { kind, name, path, size_bytes, is_used, recorded });
        }
    }
    found
}

/// Compares size, time and inode of the files of a part with what is written down.
fn recorded(manifest: &Manifest, part: &Path) -> Recorded {
    let files = folder::files_below(part);
    let known: Vec<Option<bool>> = files.iter().map(|path| manifest.has_stamp(path)).collect();
    if known.is_empty() || known.contains(&None) {
        Recorded::No
    } else if known.contains(&Some(false)) {
        Recorded::Touched
    } else {
        Recorded::Unchanged
    }
}

/// Removes parts of the cache, while no other process makes one.
///
/// # Errors
///
/// [`crate::error::Error::Io`] if one cannot be removed; those before it are gone.
pub fn remove_cached(locations: &Locations, parts: &[Cached]) -> Result<()> {
    let lock = lock(&locations.cache_dir, &mut |_| {})?;
    for part in parts {
        folder::remove_all(&part.path).map_err(|error| io_error(&part.path, error))?;
    }
    forget_missing(&locations.cache_dir, &lock)
}

/// Returns the parts of one kind.
fn entries_of(cache_dir: &Path, name: &str) -> Vec<PathBuf> {
    folder::entries(&cache_dir.join(name))
}

/// Returns the bytes of a file, or of all files in a directory; links are not followed.
fn size_bytes(path: &Path) -> u64 {
    let mut total = 0;
    let mut rest = vec![path.to_owned()];
    while let Some(path) = rest.pop() {
        match path.symlink_metadata() {
            Ok(it) if it.is_dir() => rest.extend(folder::entries(&path)),
            Ok(it) => total += it.len(),
            Err(_) => {}
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn parts_are_listed_with_their_sizes_and_only_those_named_go() {
        let dir = tempfile::tempdir().unwrap();
        let locations = Locations {
            cache_dir: dir.path().to_owned(),
            hf_cache_dir: PathBuf::new(),
            hf_endpoint: None,
            hf_token: None,
            runtime_path: None,
            library_dirs: Vec::new(),
            python: None,
        };
        assert_eq!(cached(&locations, None), []);
        for (file, length) in
            [("models/m/a.bin", 10), ("models/m/1/b", 5), ("graphs/f/g", 7), ("tmp/9/x", 1)]
        {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, vec![0; length]).unwrap();
        }
        let found = cached(&locations, None);
        let rows: Vec<(&str, &str, u64)> =
            found.iter().map(|it| (it.kind.as_str(), it.name.as_str(), it.size_bytes)).collect();
        assert_eq!(rows, [("model", "m", 15), ("graph", "f", 7), ("leftover", "9", 1)]);
        remove_cached(&locations, &found[1..]).unwrap();
        assert_eq!(cached(&locations, None), found[..1]);
    }
}
