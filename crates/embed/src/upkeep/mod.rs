//! Lists, examines and cleans kb's cache. Everything in it can be fetched or rebuilt.

mod examine;
mod parts;

use std::path::Path;

use super::cache::{CacheManifest, forget_missing, lock};
use super::graph::identity::GraphCacheKey;
use super::{InstalledModel, Locations};
use crate::error::{Error, Result};
use crate::files::folder;

use parts::{PARTS, entries_of, used_paths};

pub use examine::{Examination, ExaminedFile, examine, remove_wrong};
pub use parts::{CachePart, CachedKind, ManifestMatch};

/// Returns the parts of the cache, ordered by kind, then by path.
pub fn cached(locations: &Locations, used: Option<&InstalledModel>) -> Vec<CachePart> {
    let dir = &locations.cache_dir;
    let manifest = CacheManifest::read(dir);
    let used_paths = used_paths(used);
    let mut found = Vec::new();
    for (kind, name) in PARTS.into_iter().chain([(CachedKind::Leftover, "tmp")]) {
        for path in entries_of(dir, name) {
            let is_used = used_paths.iter().any(|used| used.starts_with(&path));
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name = match kind {
                CachedKind::Graph => GraphCacheKey::name(&path).unwrap_or(name),
                _ => name,
            };
            let (size_bytes, recorded) = (size_bytes(&path), recorded(&manifest, &path));
            found.push(CachePart { kind, name, path, size_bytes, is_used, recorded });
        }
    }
    found
}

/// Compares size, time and inode of the files of a part with the manifest.
fn recorded(manifest: &CacheManifest, part: &Path) -> ManifestMatch {
    let files = folder::files_below(part);
    let known: Vec<Option<bool>> = files.iter().map(|path| manifest.has_stamp(path)).collect();
    if known.is_empty() || known.contains(&None) {
        ManifestMatch::No
    } else if known.contains(&Some(false)) {
        ManifestMatch::Touched
    } else {
        ManifestMatch::Unchanged
    }
}

/// Removes parts of the cache, while no other process changes it. Stops at the first that cannot be removed.
pub fn remove_cached(locations: &Locations, parts: &[CachePart]) -> Result<()> {
    let lock = lock(&locations.cache_dir, &mut |_| {})?;
    for part in parts {
        folder::remove_all(&part.path).map_err(|error| Error::of_file(&part.path, error))?;
    }
    forget_missing(&locations.cache_dir, &lock)
}

/// Returns the bytes of a file, or of all files in a directory; links are not followed.
fn size_bytes(path: &Path) -> u64 {
    let mut total = 0;
    let mut rest = vec![path.to_owned()];
    while let Some(path) = rest.pop() {
        match path.symlink_metadata() {
            Ok(metadata) if metadata.is_dir() => rest.extend(folder::entries(&path)),
            Ok(metadata) => total += metadata.len(),
            Err(_) => {}
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::facts::{Activation, Family, ModelProperties};
    use crate::registry::Pooling;

    fn locations(cache_dir: &Path) -> Locations {
        Locations {
            cache_dir: cache_dir.to_owned(),
            hf_cache_dir: PathBuf::new(),
            hf_endpoint: None,
            files: crate::document::ModelFiles::default(),
            hf_token: None,
            runtime_path: None,
            library_dirs: Vec::new(),
            pythons: Vec::new(),
        }
    }

    fn write(path: &Path, length: usize) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, vec![0; length]).unwrap();
    }

    #[test]
    fn the_model_and_the_runtime_in_use_are_marked() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let (runtime, model) = ("onnxruntime/1.30/libonnxruntime.so", "models/m/1/weights");
        for file in [runtime, model, "onnxruntime/1.29/libonnxruntime.so", "models/other/weights"] {
            write(&at(file), 1);
        }
        let facts = ModelProperties {
            family: Family::Bert,
            dim: 4,
            num_layers: 1,
            num_heads: 1,
            epsilon: 1e-12,
            first_position: 0,
            max_tokens: 8,
            activation: Activation::Gelu,
            pooling: Pooling::Mean,
            modules: Vec::new(),
            query_prefix: String::new(),
            passage_prefix: String::new(),
        };
        let used = InstalledModel {
            name: "m".into(),
            model_dir: at("models/m/1"),
            facts,
            spec: None,
            runtime: at(runtime),
            cache_dir: dir.path().to_owned(),
            is_model_given: false,
            is_runtime_given: false,
        };
        let is_used = |used| -> Vec<(String, bool)> {
            let found = cached(&locations(dir.path()), used);
            found.into_iter().map(|part| (part.name, part.is_used)).collect()
        };
        let names = ["1.29", "1.30", "m", "other"].map(str::to_owned);
        assert_eq!(is_used(None), names.clone().map(|name| (name, false)));
        let expected = names.into_iter().zip([false, true, true, false]).collect::<Vec<_>>();
        assert_eq!(is_used(Some(&used)), expected);
    }

    #[test]
    fn parts_are_listed_with_their_sizes_and_only_given_ones_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let locations = locations(dir.path());
        assert_eq!(cached(&locations, None), []);
        for (file, length) in
            [("models/m/a.bin", 10), ("models/m/1/b", 5), ("graphs/f/g", 7), ("tmp/9/x", 1)]
        {
            write(&dir.path().join(file), length);
        }
        let found = cached(&locations, None);
        let rows: Vec<(&str, &str, u64)> = found
            .iter()
            .map(|part| (part.kind.as_str(), part.name.as_str(), part.size_bytes))
            .collect();
        assert_eq!(rows, [("model", "m", 15), ("graph", "f", 7), ("leftover", "9", 1)]);
        remove_cached(&locations, &found[1..]).unwrap();
        assert_eq!(cached(&locations, None), found[..1]);
    }
}
