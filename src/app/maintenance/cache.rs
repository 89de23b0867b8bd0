//! Lists the contents of the cache and removes unused parts.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Session;
use crate::app::session::model;
use crate::embed::{self, CachePart};
use crate::error::Result;
use crate::text::fields;

/// The contents of the cache.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CacheContents {
    /// The directory.
    #[serde(rename = "directory", serialize_with = "fields::path")]
    pub dir: PathBuf,
    /// Total size of its parts in bytes.
    pub size_bytes: u64,
    /// Its parts.
    pub parts: Vec<CachePart>,
}

/// A request to clean the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CleanRequest {
    /// Whether parts in use are also removed.
    pub removes_all: bool,
    /// Whether nothing is removed, and the result only lists what would be.
    pub is_dry_run: bool,
}

/// The result of cleaning the cache.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CacheCleaning {
    /// The directory.
    #[serde(rename = "directory", serialize_with = "fields::path")]
    pub dir: PathBuf,
    /// Whether nothing was removed; the other fields then list what would be.
    #[serde(rename = "dry_run")]
    pub is_dry_run: bool,
    /// Size of the removed parts in bytes.
    pub freed_bytes: u64,
    /// Removed parts.
    pub removed: Vec<CachePart>,
    /// Remaining parts.
    pub kept: Vec<CachePart>,
}

/// Returns the total size of parts in bytes.
pub fn size_bytes(parts: &[CachePart]) -> u64 {
    parts.iter().map(|part| part.size_bytes).sum()
}

/// Lists the contents of the cache.
pub fn contents(session: &Session) -> Result<CacheContents> {
    let locations = session.locations();
    let bound = session.binding()?;
    let used = model::select(session, bound.as_ref()).and_then(|selection| selection.locate());
    let parts = embed::cached(&locations, used.as_ref().ok());
    Ok(CacheContents { dir: locations.cache_dir, size_bytes: size_bytes(&parts), parts })
}

/// Removes parts of the cache: those that the database's model does not need, or all. Calls `confirm`
/// before removing anything; returns `None` if it refuses.
pub fn clean(
    session: &Session,
    request: CleanRequest,
    confirm: &dyn Fn(&CacheCleaning) -> Result<bool>,
) -> Result<Option<CacheCleaning>> {
    let CleanRequest { removes_all, is_dry_run } = request;
    let CacheContents { dir, parts, .. } = contents(session)?;
    let (kept, removed): (Vec<_>, Vec<_>) =
        parts.into_iter().partition(|part| part.is_used && !removes_all);
    let cleaned =
        CacheCleaning { dir, is_dry_run, freed_bytes: size_bytes(&removed), removed, kept };
    if !cleaned.removed.is_empty() && !is_dry_run {
        if !confirm(&cleaned)? {
            return Ok(None);
        }
        embed::remove_cached(&session.locations(), &cleaned.removed)?;
    }
    Ok(Some(cleaned))
}
