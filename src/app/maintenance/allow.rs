//! Allows the use of a knowledge base, and of the files and folders that it names.

use std::path::Path;

use crate::app::indexing::relocate::follow_database;
use crate::app::session::bases::known::{self, KnownBases};
use crate::app::session::bases::place::{self, NamedBase};
use crate::app::session::bases::trust;
use crate::app::session::typed::absolute;
use crate::app::{Observer, Session};
use crate::config::PROJECT_FOLDER;
use crate::error::{Error, Result};
use crate::store::{FollowedPaths, UnfollowedPaths};

/// A knowledge base that may be allowed.
#[derive(Debug)]
pub struct AllowableBase {
    /// Its name and folder.
    pub place: NamedBase,
    /// Number of documents.
    pub num_documents: u64,
    unfollowed: UnfollowedPaths,
    id: String,
}

impl AllowableBase {
    /// Describes the folders and files that the database names and that are not followed yet, one line each.
    pub fn lines(&self) -> Vec<String> {
        trust::lines(&self.unfollowed)
    }
}

/// Returns the knowledge base to allow: the one in a folder or with a name, else the project's, else the
/// one of the run.
pub fn candidate(
    session: &Session,
    named: Option<&Path>,
    observer: &dyn Observer,
) -> Result<AllowableBase> {
    let place = match named {
        None => place::of_project(session.home(), session.environment())
            .filter(|_| !session.resolved().names_data_dir())
            .unwrap_or_else(|| session.place().clone()),
        Some(path) => by_folder_or_name(session, path)?,
    };
    let scratch = session.scratch_in(&place.dir)?;
    let Some(mut store) = scratch.open_existing()? else {
        return Err(Error::PathNotFound { path: place.database() });
    };
    if !scratch.is_read_only() {
        // Folders that have moved with the database are relocated first, so that they are shown where they are now.
        follow_database(&scratch, &mut store, observer)?;
    }
    let id = known::id(store.base_id()?);
    let known = KnownBases::read(session.environment())?;
    let allowed = known.base(&place.dir, &id).map(|base| base.allowed.clone());
    store.follow(FollowedPaths::Listed(allowed.unwrap_or_default()));
    let (num_documents, unfollowed) = (store.num_documents()?, store.unfollowed()?);
    store.close()?;
    Ok(AllowableBase { place, num_documents, unfollowed, id })
}

fn by_folder_or_name(session: &Session, named: &Path) -> Result<NamedBase> {
    let dir = absolute(named)?;
    for dir in [dir.clone(), dir.join(PROJECT_FOLDER)] {
        let place = NamedBase { name: place::PROJECT.into(), dir };
        if place.exists() {
            return Ok(place);
        }
    }
    let known = KnownBases::read(session.environment())?;
    let name = named.to_string_lossy();
    place::find(session.home(), session.environment(), &known, &name)
}

/// Allows the use of a knowledge base and, if `with_files` is set, the files and folders that the candidate
/// describes. Returns whether all that it names is followed now.
pub fn allow(session: &Session, candidate: &AllowableBase, with_files: bool) -> Result<bool> {
    let AllowableBase { place, unfollowed, id, .. } = candidate;
    known::allow(session.environment(), &place.dir, id, |all| {
        if with_files {
            all.replace(trust::shown(unfollowed));
        }
    })?;
    Ok(with_files || unfollowed.is_empty())
}

/// Allows the use of a restored database. It follows only those files and folders that the user allowed for this
/// database at this place before.
pub(crate) fn adopt_restored(session: &Session) -> Result<()> {
    let Some(store) = session.scratch_in(session.data_dir())?.open_existing()? else {
        return Ok(());
    };
    let id = known::id(store.base_id()?);
    known::allow(session.environment(), session.data_dir(), &id, |_| {})?;
    store.close()
}
