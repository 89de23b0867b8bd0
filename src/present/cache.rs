//! Presents the parts of the cache, for programs and for people.

use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::embed::{Cached, Recorded};
use crate::present::json;
use crate::present::terminal::sheet::Sheet;
use crate::present::terminal::table::{numbers, texts, words};
use crate::present::text::human::Human;
use crate::text::json::Json;
use crate::text::number::bytes_to_mb;
use crate::text::printable::clean;

/// What lies in the cache.
#[derive(Serialize, JsonSchema)]
pub(super) struct CacheJson {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// The directory.
    directory: String,
    /// Bytes of all its parts.
    size_bytes: u64,
    /// What it holds.
    parts: Vec<PartJson>,
}

/// A part of the cache.
#[derive(Serialize, JsonSchema)]
struct PartJson {
    /// `runtime`, `model`, `graph` or `leftover`.
    kind: &'static str,
    /// What it is of: a version, a model.
    name: String,
    /// Its file or directory.
    path: String,
    /// Its size in bytes.
    size_bytes: u64,
    /// Whether the database's model needs it.
    in_use: bool,
    /// `unchanged` or `touched` since it was written down in the manifest, by size, time and inode of
    /// its files; `no` where it is not written down.
    recorded: &'static str,
}

/// What cleaning the cache removed.
#[derive(Serialize, JsonSchema)]
pub(super) struct CleanedJson {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// The directory.
    directory: String,
    /// Whether nothing was removed, and the rest says what would be.
    dry_run: bool,
    /// Bytes of what was removed.
    freed_bytes: u64,
    /// What was removed.
    removed: Vec<PartJson>,
    /// What is left.
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

fn size_bytes(parts: &[Cached]) -> u64 {
    parts.iter().map(|it| it.size_bytes).sum()
}

/// Writes what lies in the cache for programs.
///
/// # Errors
///
/// What writing gives.
pub fn json(dir: &Path, parts: &[Cached], out: &mut Json<'_>) -> io::Result<()> {
    out.value(&CacheJson {
        contract_version: json::CONTRACT_VERSION,
        directory: dir.display().to_string(),
        size_bytes: size_bytes(parts),
        parts: parts.iter().map(PartJson::from).collect(),
    })
}

/// What cleaning did or would do.
#[derive(Debug)]
pub struct Cleaned {
    /// Nothing was removed.
    pub is_dry_run: bool,
    /// What goes.
    pub removed: Vec<Cached>,
    /// What stays.
    pub kept: Vec<Cached>,
}

/// Writes what cleaning did for programs.
///
/// # Errors
///
/// What writing gives.
pub fn cleaned_json(dir: &Path, cleaned: &Cleaned, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&CleanedJson {
        contract_version: json::CONTRACT_VERSION,
        directory: dir.display().to_string(),
        dry_run: cleaned.is_dry_run,
        freed_bytes: size_bytes(&cleaned.removed),
        removed: cleaned.removed.iter().map(PartJson::from).collect(),
        kept: cleaned.kept.iter().map(PartJson::from).collect(),
    })
}

impl Human {
    /// Writes what lies in the cache.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn cache(&self, dir: &Path, parts: &[Cached], out: &mut Sheet<'_>) -> io::Result<()> {
        let rows = parts.iter().map(|it| {
            vec![
                it.kind.as_str().to_owned(),
                clean(&it.name),
                megabytes(it.size_bytes),
                if it.is_used { "in use" } else { "" }.to_owned(),
                match it.recorded {
                    Recorded::Touched => {
                        "touched since it was made: `kb doctor` compares its bytes"
                    }
                    Recorded::Unchanged | Recorded::No => "",
                }
                .to_owned(),
            ]
        });
        if !parts.is_empty() {
            let columns = [words("KIND"), texts("NAME"), numbers("SIZE"), words(""), words("")];
            self.table(&columns, &rows.collect::<Vec<_>>(), out)?;
        }
        let dir = clean(&dir.display().to_string());
        writeln!(out, "{} in {dir}", megabytes(size_bytes(parts)))
    }

    /// Writes what cleaning did.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn cleaned(&self, cleaned: &Cleaned, out: &mut Sheet<'_>) -> io::Result<()> {
        let verb = if cleaned.is_dry_run { "would remove" } else { "removed" };
        for part in &cleaned.removed {
            let (kind, name) = (part.kind.as_str(), clean(&part.name));
            writeln!(out, "{verb}: {kind} {name}, {}", megabytes(part.size_bytes))?;
        }
        let freed = megabytes(size_bytes(&cleaned.removed));
        let would = if cleaned.is_dry_run { "Would free" } else { "Freed" };
        writeln!(out, "{would} {freed}, {} left.", megabytes(size_bytes(&cleaned.kept)))
    }
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes_to_mb(bytes))
}
