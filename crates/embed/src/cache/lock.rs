//! Locks the cache, so that one process at a time changes it.

use std::path::Path;

use crate::error::Result;
use crate::event::Event;
use crate::fault::io_error;
use crate::files::folder;

/// The cache's lock, held until dropped.
pub(crate) struct CacheLock {
    _lock: folder::Lock,
}

/// Takes the cache's lock, waiting for another process if necessary.
pub(crate) fn lock(cache_dir: &Path, on_event: &mut dyn FnMut(Event)) -> Result<CacheLock> {
    let path = cache_dir.join("lock");
    let fail = |error| io_error(&path, error);
    let lock = match folder::try_lock(&path).map_err(fail)? {
        Some(lock) => lock,
        None => {
            on_event(Event::Waiting);
            folder::lock(&path).map_err(fail)?
        }
    };
    Ok(CacheLock { _lock: lock })
}

/// Takes the cache's lock; `None` if another process has it, or if the cache cannot be written.
pub(crate) fn try_lock(cache_dir: &Path) -> Option<CacheLock> {
    let lock = folder::try_lock(&cache_dir.join("lock")).ok().flatten()?;
    Some(CacheLock { _lock: lock })
}
