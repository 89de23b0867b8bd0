//! Chooses the knowledge base of a run, and reads its settings.

use std::path::PathBuf;

use crate::app::session::bases::known::KnownBases;
use crate::app::session::bases::place::{self, NamedBase};
use crate::app::session::typed::absolute;
use crate::config::{self, Environment, Flags, ResolvedConfig};
use crate::error::Result;

/// The knowledge base of a run with its settings.
pub(crate) struct ChosenBase {
    pub(crate) place: NamedBase,
    pub(crate) resolved: ResolvedConfig,
    /// The data directory.
    pub(crate) home: PathBuf,
    pub(crate) notices: Vec<String>,
}

/// Chooses the knowledge base with a name. Without one, it is the project's if its use is allowed and no
/// data directory was named, else the default one. `usual` are the settings of the default one.
pub(crate) fn choose(
    environment: &Environment,
    flags: &Flags,
    usual: ResolvedConfig,
    base: Option<&str>,
) -> Result<ChosenBase> {
    let home = absolute(&usual.config.data_dir)?;
    // Not needed by most runs.
    let known = || KnownBases::read(environment).unwrap_or_default();
    let mut notices = Vec::new();
    let place = match base {
        Some(name) => place::find(&home, environment, &known(), name)?,
        None if usual.names_data_dir() => NamedBase::default_in(&home),
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
                NamedBase::default_in(&home)
            }
            None => NamedBase::default_in(&home),
        },
    };
    let resolved =
        if place.is_default() { usual } else { config::load_base(environment, flags, &place.dir)? };
    Ok(ChosenBase { place, resolved, home, notices })
}
