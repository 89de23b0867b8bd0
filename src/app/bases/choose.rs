//! Chooses the knowledge base of a run, and decides which settings in its folder count.

use std::path::PathBuf;

use crate::app::bases::known::{Known, State};
use crate::app::bases::place::{self, Place};
use crate::app::session::absolute;
use crate::config::{self, BaseFolder, COMMAND_KEY, Environment, Flags, OWN_KEYS, Resolved};
use crate::error::Result;
use crate::store::Store;

/// The knowledge base of a run with its settings.
pub(in crate::app) struct Chosen {
    pub(in crate::app) place: Place,
    pub(in crate::app) resolved: Resolved,
    /// The data directory.
    pub(in crate::app) home: PathBuf,
    pub(in crate::app) notices: Vec<String>,
}

/// Chooses the knowledge base with a name. Without one, it is the project's if its use is allowed and no
/// data directory was named, else the default one.
pub(in crate::app) fn choose(
    environment: &Environment,
    flags: &Flags,
    base: Option<&str>,
) -> Result<Chosen> {
    let usual = config::load(environment, flags)?;
    let home = absolute(&usual.config.data_dir)?;
    let known = Known::read(environment).unwrap_or_default();
    let mut notices = Vec::new();
    let place = match base {
        Some(name) => place::find(&home, environment, &known, name)?,
        None if usual.names_data_dir() => Place::default_in(&home),
        None => match place::of_project(&home, environment) {
            Some(place) if place::is_allowed(&place, &known) => {
                let dir = place.dir.display();
                notices.push(format!("this is about the knowledge base of the project, {dir}"));
                place
            }
            Some(place) => {
                let dir = place.dir.display();
                notices.push(format!(
                    "{dir} is a knowledge base of this project; `kb base allow` makes kb use it here"
                ));
                Place::default_in(&home)
            }
            None => Place::default_in(&home),
        },
    };
    let is_named = usual.names_data_dir();
    let refused_of =
        |resolved: &Resolved, place: &Place| refused(resolved, place, &known, is_named);
    let usual_refused = refused_of(&usual, &Place::default_in(&home));
    let resolved = if place.is_default() {
        config::load_refusing(environment, flags, usual_refused)?
    } else {
        let base = BaseFolder { dir: &place.dir, refused: &[] };
        let own = config::load_base(environment, flags, usual_refused, base)?;
        let base = BaseFolder { refused: refused_of(&own, &place), ..base };
        config::load_base(environment, flags, usual_refused, base)?
    };
    Ok(Chosen { place, resolved, home, notices })
}

/// Returns the keys that do not count in the settings of a folder, because someone else may have written them.
/// `is_named` says that a flag or a variable names the data directory.
fn refused(
    resolved: &Resolved,
    place: &Place,
    known: &Known,
    is_named: bool,
) -> &'static [&'static str] {
    let own = resolved.own_keys();
    if own.is_empty() {
        return &[];
    }
    if !follows_files(place, known, place.is_project()) {
        return &OWN_KEYS;
    }
    // A database without an id may be anyone's, and the permission to follow files does not cover programs.
    let is_elsewhere = place.is_project() || is_named;
    let starts_program = own.contains(&COMMAND_KEY);
    match starts_program && is_elsewhere && !is_made_here(place, known) {
        true => &[COMMAND_KEY],
        false => &[],
    }
}

/// Whether this user's kb made the database.
fn is_made_here(place: &Place, known: &Known) -> bool {
    let id = Store::peek_id(&place.database());
    id.is_some_and(|id| known.state(&place.dir, &id) == Some(State::Own))
}

/// Whether a folder's settings may name folders: there is no database, or it is the user's own.
fn follows_files(place: &Place, known: &Known, needs_id: bool) -> bool {
    match Store::peek_id(&place.database()) {
        Some(id) => known.state(&place.dir, &id).is_some_and(State::follows_files),
        None => !needs_id,
    }
}
