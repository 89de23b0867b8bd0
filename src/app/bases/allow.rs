//! Allows the use of a knowledge base that this user's kb did not make.

use std::path::Path;

use crate::app::Session;
use crate::app::bases::known::{self, Known, State};
use crate::app::bases::place::{self, Place};
use crate::app::session::absolute;
use crate::error::{Error, Result};

/// A knowledge base that may be allowed.
#[derive(Debug)]
pub struct Candidate {
    /// Its name and folder.
    pub place: Place,
    /// Its state before.
    pub state: Option<State>,
    /// Number of documents.
    pub num_documents: u64,
    /// The folders that it names.
    pub folders: Vec<String>,
    id: Option<String>,
}

/// Returns the knowledge base to allow: the one in a folder or with a name, else the project's, else the
/// one of the run.
///
/// # Errors
///
/// [`Error::PathNotFound`] if there is no database; errors of the database.
pub fn candidate(session: &Session, named: Option<&Path>) -> Result<Candidate> {
    let place = match named {
        None => place::of_project(&session.home, &session.environment)
            .filter(|_| !session.resolved.names_data_dir())
            .unwrap_or_else(|| session.place.clone()),
        Some(path) => by_folder_or_name(session, path)?,
    };
    let missing = || Error::PathNotFound { path: place.database() };
    // Opened as kb's own: what is shown is what the database says, and nothing is followed.
    let store = session.at(&place.dir)?.open_existing()?.ok_or_else(missing)?;
    let id = store.base_id()?;
    let known = Known::read(&session.environment)?;
    let candidate = Candidate {
        state: id.as_deref().and_then(|id| known.state(&place.dir, id)),
        num_documents: store.num_documents()?,
        folders: store.roots()?.into_iter().map(|root| root.path).collect(),
        id,
        place,
    };
    store.close()?;
    Ok(candidate)
}

fn by_folder_or_name(session: &Session, named: &Path) -> Result<Place> {
    let dir = absolute(named)?;
    for dir in [dir.clone(), dir.join(place::PROJECT_FOLDER)] {
        let place = Place { name: place::PROJECT.into(), dir };
        if place.exists() {
            return Ok(place);
        }
    }
    let known = Known::read(&session.environment)?;
    let name = named.to_string_lossy();
    place::find(&session.home, &session.environment, &known, &name)
}

/// Allows the use of a knowledge base, and that its files are followed if `follows_files` is set.
///
/// # Errors
///
/// [`Error::Io`] if it cannot be remembered; errors of the database.
pub fn allow(session: &Session, candidate: &Candidate, follows_files: bool) -> Result<State> {
    let dir = &candidate.place.dir;
    let id = match &candidate.id {
        Some(id) => id.clone(),
        None => {
            let mut store = session.at(dir)?.open_store()?;
            let id = store.random_id()?;
            let id = store.keep_base_id(&id)?;
            store.close()?;
            id
        }
    };
    let wanted = if follows_files { State::Files } else { State::Allowed };
    let state = candidate.state.map_or(wanted, |state| state.max(wanted));
    known::remember(&session.environment, dir, &id, state)?;
    Ok(state)
}

/// Remembers a restored database as the user's own if this user's kb made it; else its files are not
/// followed.
///
/// # Errors
///
/// Errors of the database.
pub(in crate::app) fn adopt_restored(session: &Session) -> Result<()> {
    let scratch = session.at(session.data_dir())?;
    let Some(mut store) = scratch.open_existing()? else { return Ok(()) };
    let known = Known::read(&session.environment)?;
    match store.base_id()? {
        Some(id) if known.is_own(&id) => {
            known::remember(&session.environment, session.data_dir(), &id, State::Own)?;
        }
        Some(_) => {}
        // Without an id it would count as the user's own.
        None => {
            let id = store.random_id()?;
            store.keep_base_id(&id)?;
        }
    }
    store.close()
}
