//! Decides whether the files that a database names are followed, when it is opened.

use std::path::Path;

use crate::app::bases::known::{self, Known, State};
use crate::config::Environment;
use crate::error::Result;
use crate::store::Store;

/// What decides about the trust in a database.
#[derive(Debug, Clone, Copy)]
pub struct Opening<'a> {
    /// The variables of the process.
    pub environment: &'a Environment,
    /// The folder of the database.
    pub dir: &'a Path,
    /// Whether this run creates the database.
    pub is_new: bool,
    /// Whether the user named the folder, or it is the default one. A database of an older version has
    /// no id, and is the user's own then.
    pub is_named: bool,
}

/// Gives a new database an id, or stops following the files of a database of someone else.
/// Returns what to tell the user.
///
/// # Errors
///
/// Errors of the database.
pub fn settle(store: &mut Store, opening: &Opening<'_>) -> Result<Option<String>> {
    let Opening { environment, dir, is_new, is_named } = *opening;
    let Some(id) = store.base_id()? else {
        if is_new {
            return make_own(store, environment, dir);
        }
        if !is_named {
            store.forget_files();
        }
        return Ok(None);
    };
    let known = match Known::read(environment) {
        Ok(known) => known,
        Err(error) => {
            store.forget_files();
            return Ok(Some(format!("nothing is known about the knowledge bases: {error}")));
        }
    };
    if !known.state(dir, &id).is_some_and(State::follows_files) {
        store.forget_files();
    }
    Ok(None)
}

/// Gives a database an id. It is remembered first, so that no other process sees an id that is not
/// known yet.
fn make_own(store: &mut Store, environment: &Environment, dir: &Path) -> Result<Option<String>> {
    let id = store.random_id()?;
    if let Err(error) = known::remember(environment, dir, &id, State::Own) {
        // Without an id, the database stays the user's own where it is.
        return Ok(Some(format!("that kb made this database cannot be remembered: {error}")));
    }
    let kept = store.keep_base_id(&id)?;
    if kept != id {
        // Another process was faster.
        let _ = known::remember(environment, dir, &kept, State::Own);
    }
    Ok(None)
}
