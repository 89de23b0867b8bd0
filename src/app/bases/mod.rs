//! Lists, makes, names and forgets knowledge bases, and says which are trusted.

pub mod known;
pub mod place;
pub mod trust;

use std::path::{Path, PathBuf};

use crate::app::Session;
use crate::app::session::absolute;
use crate::config::{self, BaseFolder, COMMAND_KEY, Environment, Flags, OWN_KEYS, Resolved};
use crate::error::{Error, Result};
use crate::files::folder;
use crate::store::Store;

use known::{Known, State};
use place::Place;

/// Most characters of a description.
pub const MAX_DESCRIPTION: usize = 300;

/// The knowledge base of a run with its settings.
pub(super) struct Chosen {
    pub(super) place: Place,
    pub(super) resolved: Resolved,
    /// The data directory.
    pub(super) home: PathBuf,
    pub(super) notices: Vec<String>,
}

/// Chooses the knowledge base with a name. Without one, it is the project's if its use is allowed and no
/// data directory was named, else the default one.
pub(super) fn choose(
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

/// Returns the names in a list that is separated by commas, none twice.
///
/// # Errors
///
/// [`Error::Usage`] for an empty name.
pub fn names(typed: &str) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for name in typed.split(',').map(str::trim) {
        if name.is_empty() {
            return Err(Error::Usage {
                message: "the name of a knowledge base is empty".into(),
                hint: Some("`kb base list` shows the names".into()),
            });
        }
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// A knowledge base and what is in it.
#[derive(Debug)]
pub struct Listed {
    /// Its name and folder.
    pub place: Place,
    /// What the user says that it holds; only if its use is allowed.
    pub description: Option<String>,
    /// Its content; `None` if the database does not exist yet.
    pub content: Option<Result<Content>>,
    /// Whether its use is allowed. Only that of a project's may not be.
    pub is_allowed: bool,
}

/// What is in a knowledge base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Number of documents.
    pub num_documents: u64,
    /// The model that its vectors are bound to.
    pub model: Option<String>,
    /// Whether the files that it names are followed.
    pub follows_files: bool,
}

/// Returns the default knowledge base, the project's and the named ones.
///
/// # Errors
///
/// [`Error::Io`] and [`Error::OverLimit`] if the file of known ones cannot be read.
pub fn list(session: &Session) -> Result<Vec<Listed>> {
    let known = Known::read(&session.environment)?;
    let project = place::of_project(&session.home, &session.environment);
    let named = place::named_ones(&session.home, &known);
    let places = [Place::default_in(&session.home)].into_iter().chain(project).chain(named);
    Ok(places.map(|place| listed(session, &known, place)).collect())
}

/// Describes a knowledge base. One that cannot be read does not keep the others from being listed.
fn listed(session: &Session, known: &Known, place: Place) -> Listed {
    let is_allowed = !place.is_project() || place::is_allowed(&place, known);
    if !is_allowed || !place.exists() {
        return Listed { place, description: None, content: None, is_allowed };
    }
    let described = session.beside(&place.name).and_then(|other| described(&other, known));
    match described {
        Ok(Some((content, description))) => {
            Listed { place, description, content: Some(Ok(content)), is_allowed }
        }
        Ok(None) => Listed { place, description: None, content: None, is_allowed },
        Err(error) => Listed { place, description: None, content: Some(Err(error)), is_allowed },
    }
}

/// Returns the content and the description of a knowledge base; `None` if there is no database.
fn described(session: &Session, known: &Known) -> Result<Option<(Content, Option<String>)>> {
    session.steadily(|| {
        let Some(store) = session.open_existing()? else { return Ok(None) };
        let content = Content {
            num_documents: store.num_documents()?,
            model: store.binding()?.map(|binding| binding.model_name),
            follows_files: store.has_files(),
        };
        // The author of a database that is not trusted also wrote its description.
        let is_shown = store.has_files() || is_known(&store, known, session.data_dir())?;
        let description = if is_shown { store.description()? } else { None };
        store.close()?;
        Ok(Some((content, description)))
    })
}

fn is_known(store: &Store, known: &Known, dir: &Path) -> Result<bool> {
    Ok(store.base_id()?.is_some_and(|id| known.state(dir, &id).is_some()))
}

/// What was done with a knowledge base.
#[derive(Debug)]
pub struct BaseChange {
    /// What was done, in one word.
    pub action: &'static str,
    /// The knowledge base, by its new name.
    pub place: Place,
    /// Whether its files are followed now, if that was decided.
    pub follows_files: Option<bool>,
}

impl BaseChange {
    /// Makes one that decides nothing about files.
    pub fn new(action: &'static str, place: Place) -> Self {
        Self { action, place, follows_files: None }
    }
}

/// Makes a knowledge base, or lists one again whose name was removed. With a description, that of an
/// existing one is replaced. Returns whether it was made.
///
/// # Errors
///
/// [`Error::Usage`] for a name or description that cannot be used, or if there is nothing to do; errors
/// of the database.
pub fn add(session: &Session, name: &str, description: Option<&str>) -> Result<(Place, bool)> {
    let description = description.map(checked).transpose()?;
    let place = match name {
        place::DEFAULT => Place::default_in(&session.home),
        name => Place::named(&session.home, name)?,
    };
    let was_listed = place.exists() && !Known::read(&session.environment)?.is_forgotten(&place.dir);
    if was_listed && description.is_none() {
        return Err(Error::Usage {
            message: format!("there is a knowledge base `{name}` already"),
            hint: Some("`--description TEXT` says what it holds".into()),
        });
    }
    let is_new = !place.exists();
    if is_new {
        session.own_at(place.clone())?.open_store()?.close()?;
    }
    known::set_forgotten(&session.environment, &place.dir, false)?;
    if let Some(description) = description {
        let mut store = session.beside(name)?.open_store()?;
        store.describe(&description)?;
        store.close()?;
    }
    Ok((place, is_new))
}

/// Returns a description in one line.
fn checked(description: &str) -> Result<String> {
    let text = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_plain = !text.chars().any(char::is_control);
    match text.chars().count() <= MAX_DESCRIPTION && is_plain {
        true => Ok(text),
        false => Err(Error::Usage {
            message: format!(
                "the description has more than {MAX_DESCRIPTION} characters, or control characters"
            ),
            hint: None,
        }),
    }
}

/// Makes the project's knowledge base in a folder `.kb` of the working directory.
///
/// # Errors
///
/// [`Error::Usage`] if the home directory is the working directory; errors of the database.
pub fn make_here(session: &Session) -> Result<Place> {
    let here = absolute(Path::new("."))?;
    let place = Place::in_project(&here);
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if real(&here) == real(&session.environment.home()) || real(&place.dir) == real(&session.home) {
        return Err(Error::Usage {
            message: "the knowledge base in the home directory is the default one".into(),
            hint: Some("run `kb init --here` in the folder of a project".into()),
        });
    }
    if !place.exists() {
        session.own_at(Place::default_in(&place.dir))?.open_store()?.close()?;
    }
    Ok(place)
}

/// Forgets the name of a knowledge base; its files stay.
///
/// # Errors
///
/// [`Error::UnknownBase`], [`Error::Usage`] for the default one and a project's.
pub fn forget(session: &Session, name: &str) -> Result<Place> {
    let place = listed_by_name(session, name)?;
    known::set_forgotten(&session.environment, &place.dir, true)?;
    Ok(place)
}

/// Deletes the folder of a knowledge base with everything in it.
///
/// # Errors
///
/// As [`forget`], and [`Error::Io`].
pub fn erase(session: &Session, name: &str) -> Result<Place> {
    let place = listed_by_name(session, name)?;
    // A killed run leaves the name listed as long as its database exists.
    folder::remove_all(&place.dir)
        .map_err(|source| Error::Io { path: place.dir.clone(), source })?;
    known::drop_folder(&session.environment, &place.dir)?;
    Ok(place)
}

/// Gives a knowledge base another name.
///
/// # Errors
///
/// As [`forget`]; [`Error::Usage`] if there is one with the new name, listed or not; [`Error::Io`].
pub fn rename(session: &Session, name: &str, new_name: &str) -> Result<Place> {
    let from = listed_by_name(session, name)?;
    let to = Place::named(&session.home, new_name)?;
    let io = |source| Error::Io { path: to.dir.clone(), source };
    if to.dir.try_exists().map_err(io)? {
        return Err(Error::Usage {
            message: format!("there is a folder {} already", to.dir.display()),
            hint: Some(format!("choose another name, or list it with `kb base add {new_name}`")),
        });
    }
    let id = Store::peek_id(&from.database());
    let known = Known::read(&session.environment)?;
    let state = id.as_deref().and_then(|id| known.state(&from.dir, id));
    if let (Some(id), Some(state)) = (&id, state) {
        // Known under both names until the folder has moved.
        known::remember(&session.environment, &to.dir, id, state)?;
    }
    folder::move_to(&from.dir, &to.dir).map_err(io)?;
    known::drop_folder(&session.environment, &from.dir)?;
    Ok(to)
}

fn listed_by_name(session: &Session, name: &str) -> Result<Place> {
    let known = Known::read(&session.environment)?;
    let place = place::find(&session.home, &session.environment, &known, name)?;
    if place.is_default() || place.is_project() {
        return Err(Error::Usage {
            message: format!("the knowledge base `{name}` has no name of its own"),
            hint: Some(format!("delete {} to remove it", place.dir.display())),
        });
    }
    Ok(place)
}

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
pub(super) fn adopt_restored(session: &Session) -> Result<()> {
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
