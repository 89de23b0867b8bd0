//! The cache directory in, what lies in it out; and parts of it gone. All of it can be fetched or made
//! again.

use std::fs;
use std::path::{Path, PathBuf};

use super::fetch::{Locations, lock};
use super::identity::Identity;
use super::{Installed, graph, io_error};
use crate::document::Precision;
use crate::error::Result;

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
}

/// Returns what lies in the cache, in the order of kinds, then of paths.
pub fn cached(locations: &Locations, used: Option<&Installed>) -> Vec<Cached> {
    let dir = &locations.cache_dir;
    let is_in = |path: &Path, whole: &Path| path.starts_with(whole);
    let graphs: Vec<PathBuf> = used
        .into_iter()
        .flat_map(|it| {
            [Precision::Int8, Precision::Fp32].map(|precision| graph::find(it, precision))
        })
        .filter_map(|it| it.ok().flatten())
        .collect();
    let mut found = Vec::new();
    for (kind, folder) in [
        (CachedKind::Runtime, "onnxruntime"),
        (CachedKind::Model, "models"),
        (CachedKind::Graph, "graphs"),
        (CachedKind::Leftover, "tmp"),
    ] {
        for path in entries(&dir.join(folder)) {
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
            found.push(Cached { kind, name, size_bytes: size_bytes(&path), path, is_used });
        }
    }
    found
}

/// Removes parts of the cache, while nobody makes one.
///
/// # Errors
///
/// [`crate::error::Error::Io`] if one cannot be removed; those before it are gone.
pub fn remove_cached(locations: &Locations, parts: &[Cached]) -> Result<()> {
    let _lock = lock(&locations.cache_dir, &mut |_| {})?;
    for part in parts {
        let removed = match part.path.is_dir() {
            true => fs::remove_dir_all(&part.path),
            false => fs::remove_file(&part.path),
        };
        removed.map_err(|it| io_error(&part.path, it))?;
    }
    Ok(())
}

/// Returns what lies in a directory, in the order of names; nothing where there is none.
fn entries(dir: &Path) -> Vec<PathBuf> {
    let entries = dir.read_dir().into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|it| it.path()).collect();
    paths.sort();
    paths
}

/// Returns the bytes of a file, or of all files in a directory; links are not followed.
fn size_bytes(path: &Path) -> u64 {
    let mut total = 0;
    let mut rest = vec![path.to_owned()];
    while let Some(path) = rest.pop() {
        match path.symlink_metadata() {
            Ok(it) if it.is_dir() => rest.extend(entries(&path)),
            Ok(it) => total += it.len(),
            Err(_) => {}
        }
    }
    total
}

#[cfg(test)]
mod tests {
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
