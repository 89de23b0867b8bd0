//! Writes the contents of the cache as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::cache::{self, Cleaned, Contents};
use crate::embed::Cached;
use crate::present::json::CONTRACT_VERSION;
use crate::text::json::Json;

/// The contents of the cache.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct CacheJson {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// The directory.
    directory: String,
    /// Total size of its parts in bytes.
    size_bytes: u64,
    /// Its parts.
    parts: Vec<PartJson>,
}

/// A part of the cache.
#[derive(Serialize, JsonSchema)]
struct PartJson {
    /// `runtime`, `model`, `graph` or `leftover`.
    kind: &'static str,
    /// Its version or model.
    name: String,
    /// Its file or directory.
    path: String,
    /// Its size in bytes.
    size_bytes: u64,
    /// Whether the database's model needs it.
    in_use: bool,
    /// Whether size, time and inode of its files match the manifest: `unchanged` or `touched`; `no` if it is
    /// not in the manifest.
    recorded: &'static str,
}

/// The result of cleaning the cache.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct CleanedJson {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// The directory.
    directory: String,
    /// Whether nothing was removed; the other fields then list what would be.
    dry_run: bool,
    /// Size of the removed parts in bytes.
    freed_bytes: u64,
    /// Removed parts.
    removed: Vec<PartJson>,
    /// Remaining parts.
    kept: Vec<PartJson>,
}

impl From<&Cached> for PartJson {
    fn from(part: &Cached) -> Self {
        Self {
            kind: part.kind.as_str(),
            name: part.name.clone(),
            path: part.path.display().to_string(),
            size_bytes: part.size_bytes,
            in_use: part.is_used,
            recorded: part.recorded.as_str(),
        }
    }
}

/// Writes the contents of the cache.
///
/// # Errors
///
/// Errors of writing.
pub fn cache(contents: &Contents, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&CacheJson {
        contract_version: CONTRACT_VERSION,
        directory: contents.dir.display().to_string(),
        size_bytes: cache::size_bytes(&contents.parts),
        parts: contents.parts.iter().map(PartJson::from).collect(),
    })
}

/// Writes the result of cleaning.
///
/// # Errors
///
/// Errors of writing.
pub fn cleaned(cleaned: &Cleaned, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&CleanedJson {
        contract_version: CONTRACT_VERSION,
        directory: cleaned.dir.display().to_string(),
        dry_run: cleaned.is_dry_run,
        freed_bytes: cache::size_bytes(&cleaned.removed),
        removed: cleaned.removed.iter().map(PartJson::from).collect(),
        kept: cleaned.kept.iter().map(PartJson::from).collect(),
    })
}
