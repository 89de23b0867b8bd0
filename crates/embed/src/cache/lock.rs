//! Locks the cache, so that one process at a time changes it.

use std::path::Path;

use crate::error::{Error, Result};
use crate::event::ModelEvent;
use crate::files::folder::{self, Lock};

/// Takes the cache's lock, waiting for another process if necessary.
pub(crate) fn lock(cache_dir: &Path, on_event: &mut dyn FnMut(ModelEvent)) -> Result<Lock> {
    let path = cache_dir.join("lock");
    let fail = |error| Error::of_file(&path, error);
    if let Some(lock) = folder::try_lock(&path).map_err(fail)? {
        return Ok(lock);
    }
    on_event(ModelEvent::Waiting);
    folder::lock(&path).map_err(fail)
}

/// Takes the cache's lock; `None` if another process has it, or if the cache cannot be written.
pub(crate) fn try_lock(cache_dir: &Path) -> Option<Lock> {
    folder::try_lock(&cache_dir.join("lock")).ok().flatten()
}
