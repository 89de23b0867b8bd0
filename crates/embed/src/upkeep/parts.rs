//! Names the parts of the cache, and lists those of one kind and those that a model needs.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::Precision;
use crate::files::folder;
use crate::text::fields;
use crate::{InstalledModel, graph};

/// The kinds of usable parts of the cache, and the folder of each.
pub(super) const PARTS: [(CachedKind, &str); 3] = [
    (CachedKind::RuntimeSpec, "onnxruntime"),
    (CachedKind::Model, "models"),
    (CachedKind::Graph, "graphs"),
];

fields::words! {
    /// The kind of a part of the cache.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CachedKind {
        /// ONNX Runtime.
        RuntimeSpec = "runtime",
        /// The files of a model.
        Model = "model",
        /// A model prepared for one machine and one precision.
        Graph = "graph",
        /// Files left by a killed process.
        Leftover = "leftover",
    }

    /// Whether the files of a part of the cache match the manifest by size, time and inode.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ManifestMatch {
        /// All of its files match their records.
        Unchanged = "unchanged",
        /// A file was touched since; its bytes are compared before it is loaded.
        Touched = "touched",
        /// There is no record: kb did not write it, or an older version did, or it is not for use.
        No = "no",
    }
}

/// A part of the cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Part")]
pub struct CachePart {
    /// `runtime`, `model`, `graph` or `leftover`.
    pub kind: CachedKind,
    /// Its version or model.
    pub name: String,
    /// Its file or directory.
    #[serde(serialize_with = "fields::path")]
    pub path: PathBuf,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// Whether the database's model needs it.
    #[serde(rename = "in_use")]
    pub is_used: bool,
    /// Whether size, time and inode of its files match the manifest: `unchanged` or `touched`; `no` if it is
    /// not in the manifest.
    pub recorded: ManifestMatch,
}

/// Returns the paths that a model is loaded from, in or below the parts of the cache.
pub(super) fn used_paths(used: Option<&InstalledModel>) -> Vec<PathBuf> {
    let Some(installed) = used else { return Vec::new() };
    let graphs =
        [Precision::Int8, Precision::Fp32].map(|precision| graph::find(installed, precision));
    let graphs = graphs.into_iter().filter_map(|found| found.ok().flatten());
    graphs.chain([installed.runtime.clone(), installed.model_dir.clone()]).collect()
}

/// Returns the parts of one kind.
pub(super) fn entries_of(cache_dir: &Path, name: &str) -> Vec<PathBuf> {
    folder::entries(&cache_dir.join(name))
}
