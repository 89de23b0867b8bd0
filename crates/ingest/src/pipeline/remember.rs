//! Remembers the paths of files whose documents are stored already.

use crate::error::Result;
use crate::files::stamp::Stamp;
use crate::prepare::path_stamp;
use crate::store::{DocumentId, PathRole, PathStamp, Store};
use crate::text::paths;
use crate::walk::FoundFile;

use super::planner::Planner;

/// Renames a path that an older version wrote differently.
pub(super) fn rename(store: &mut Store, text: &str) -> Result<()> {
    match paths::old_text(text) {
        Some(old)
            if store.known_path(&old)?.is_some()
                && paths::path_of(&old) == paths::path_of(text) =>
        {
            store.rename_path(&old, text)
        }
        _ => Ok(()),
    }
}

/// Remembers another path of a document, given with the hash of its content; `false` if it no longer has these bytes.
pub(super) fn remember(
    store: &mut Store,
    planner: Planner<'_>,
    found: &FoundFile,
    document: (DocumentId, &str),
) -> Result<bool> {
    let (id, content_hash) = document;
    let stamp = path_stamp(found);
    // The primary path is replaced if no file is there any more, or if the file there has
    // changed.
    let shown = store.document(id)?.and_then(|document| document.path);
    let is_missing = match &shown {
        Some(shown) => !planner.is_there(shown)?,
        None => true,
    };
    let vacated = match shown.filter(|shown| !is_missing && *shown != stamp.path) {
        Some(shown) => store.known_path(&shown)?.map(|known| known.stamp),
        None => None,
    };
    let vacated = vacated.filter(|stamp| !is_unchanged(planner, stamp));
    let role = match &vacated {
        _ if is_missing => PathRole::Primary,
        Some(vacated) => PathRole::PrimaryInsteadOf(vacated),
        None => PathRole::Further,
    };
    store.remember_path(id, content_hash, &stamp, role)
}

/// Whether the file at a remembered path is unchanged.
pub(super) fn is_unchanged(planner: Planner<'_>, stamp: &PathStamp) -> bool {
    planner
        .decider
        .roots
        .look(stamp)
        .is_ok_and(|metadata| metadata.is_file() && Stamp::of(&metadata) == stamp.stamp())
}
