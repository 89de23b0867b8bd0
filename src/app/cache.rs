//! Lists the contents of the cache and removes unused parts.

use std::path::PathBuf;

use crate::app::{Session, model};
use crate::embed::{self, Cached};
use crate::error::Result;

/// The contents of the cache.
#[derive(Debug)]
pub struct Contents {
    /// Its directory.
    pub dir: PathBuf,
    /// Its parts.
    pub parts: Vec<Cached>,
}

/// A request to clean the cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CleanRequest {
    /// Whether parts in use are also removed.
    pub removes_all: bool,
    /// Whether nothing is removed, and the result only lists what would be.
    pub is_dry_run: bool,
}

/// The result of cleaning.
#[derive(Debug)]
pub struct Cleaned {
    /// The directory of the cache.
    pub dir: PathBuf,
    /// Whether nothing was removed.
    pub is_dry_run: bool,
    /// Removed parts.
    pub removed: Vec<Cached>,
    /// Remaining parts.
    pub kept: Vec<Cached>,
}

/// Returns the total size of parts in bytes.
pub fn size_bytes(parts: &[Cached]) -> u64 {
    parts.iter().map(|part| part.size_bytes).sum()
}

/// Lists the contents of the cache.
///
/// # Errors
///
/// Those of [`crate::store::Store::open_existing`].
pub fn contents(session: &Session) -> Result<Contents> {
    let locations = session.locations();
    let bound = session.binding()?;
    let used = model::select(session, bound.as_ref()).and_then(|selection| selection.locate());
    let parts = embed::cached(&locations, used.as_ref().ok());
    Ok(Contents { dir: locations.cache_dir, parts })
}

/// Removes parts of the cache: those that the database's model does not need, or all. Calls `confirm`
/// before removing anything; returns `None` if it refuses.
///
/// # Errors
///
/// Those of [`contents`], errors of `confirm`, and [`crate::error::Error::Io`].
pub fn clean(
    session: &Session,
    request: CleanRequest,
    confirm: &dyn Fn(&Cleaned) -> Result<bool>,
) -> Result<Option<Cleaned>> {
    let CleanRequest { removes_all, is_dry_run } = request;
    let Contents { dir, parts } = contents(session)?;
    let (kept, removed) = parts.into_iter().partition(|part| part.is_used && !removes_all);
    let cleaned = Cleaned { dir, is_dry_run, removed, kept };
    if !cleaned.removed.is_empty() && !is_dry_run {
        if !confirm(&cleaned)? {
            return Ok(None);
        }
        embed::remove_cached(&session.locations(), &cleaned.removed)?;
    }
    Ok(Some(cleaned))
}
