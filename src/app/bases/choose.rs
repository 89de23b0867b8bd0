//! Chooses the knowledge base of a run, and reads its settings.

use std::path::PathBuf;

use crate::app::bases::known::Known;
use crate::app::bases::place::{self, Place};
use crate::app::typed::absolute;
use crate::config::{self, Environment, Flags, Resolved};
use crate::error::Result;

/// The knowledge base of a run with its settings.
pub(in crate::app) struct Chosen {
    pub(in crate::app) place: Place,
    pub(in crate::app) resolved: Resolved,
    /// The data directory.
    pub(in crate::app) home: PathBuf,
    pub(in crate::app) notices: Vec<String>,
}

/// Chooses the knowledge base with a name. Without one, it is the project's if its use is allowed and no
/// data directory was named, else the default one. `usual` are the settings of the default one.
pub(in crate::app) fn choose(
    environment: &Environment,
    flags: &Flags,
    usual: Resolved,
    base: Option<&str>,
) -> Result<Chosen> {
    let home = absolute(&usual.config.data_dir)?;
    // Not needed by most runs.
    let known = || Known::read(environment).unwrap_or_default();
    let mut notices = Vec::new();
    let place = match base {
        Some(name) => place::find(&home, environment, &known(), name)?,
        None if usual.names_data_dir() => Place::default_in(&home),
        None => match place::of_project(&home, environment) {
            Some(place) if place::is_allowed(&place, &known()) => {
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
    let resolved = match place.is_default() {
        true => usual,
        false => config::load_base(environment, flags, &place.dir)?,
    };
    Ok(Chosen { place, resolved, home, notices })
}
