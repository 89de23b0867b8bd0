//! Lists, makes, names and forgets knowledge bases.

pub mod known;
pub mod place;
pub mod trust;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::app::Session;
use crate::app::session::typed::absolute;
use crate::error::{Error, Result};
use crate::files::{folder, write};
use crate::text::{fields, paths::resolved};
use crate::wording::{kb, wording};

use known::KnownBases;
use place::NamedBase;
use schemars::JsonSchema;
use serde::Serialize;

/// Most characters of a description.
pub const MAX_DESCRIPTION: usize = 300;

/// Keeps git from offering the knowledge base of a project: who clones it would get all its texts, and who
/// commits to it could change what is found.
const GIT_IGNORE: &str = ".gitignore";

/// Returns the names in a list that is separated by commas, without duplicates.
pub fn names(typed: &str) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for name in typed.split(',').map(str::trim) {
        if name.is_empty() {
            return Err(Error::usage("the name of a knowledge base is empty")
                .with_hint(wording!("`{}` shows the names", kb("base list"))));
        }
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// A knowledge base.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Base")]
pub struct ListedBase {
    /// `default`, `project`, or the name that `--base` takes.
    pub name: String,
    /// The folder of its database and settings.
    #[serde(rename = "path", serialize_with = "fields::path")]
    pub dir: PathBuf,
    /// Its description by the user; null without one, or if it is not allowed.
    pub description: Option<String>,
    /// Number of documents; null if the database does not exist or is not allowed.
    #[serde(rename = "documents")]
    pub num_documents: Option<u64>,
    /// The model of its vectors; null before the first document.
    pub model: Option<String>,
    /// Whether its use is allowed; only that of a project's knowledge base may not be.
    #[serde(rename = "allowed")]
    pub is_allowed: bool,
    /// Whether the files and folders that it names are followed; null if nothing is known.
    pub follows_files: Option<bool>,
    /// Why it cannot be read; null if it can.
    pub error: Option<String>,
}

/// Returns the default knowledge base, the project's and the named ones.
pub fn list(session: &Session) -> Result<Vec<ListedBase>> {
    let known = KnownBases::read(session.environment())?;
    let project = place::of_project(session.home(), session.environment());
    let named = place::named_ones(session.home(), &known);
    let places = [NamedBase::default_in(session.home())].into_iter().chain(project).chain(named);
    Ok(places.map(|place| listed(session, &known, place)).collect())
}

/// Describes a knowledge base. One that cannot be read does not keep the others from being listed.
fn listed(session: &Session, known: &KnownBases, place: NamedBase) -> ListedBase {
    let is_allowed = !place.is_project() || place::is_allowed(&place, known);
    let content = if is_allowed && place.exists() {
        session.for_base(&place.name).and_then(|other| content(&other))
    } else {
        Ok(ListedBase::default())
    };
    let content = content.unwrap_or_else(|error| ListedBase {
        error: Some(error.to_string()),
        ..ListedBase::default()
    });
    let NamedBase { name, dir } = place;
    ListedBase { name, dir, is_allowed, ..content }
}

/// Returns what is in a knowledge base, without its name and folder.
fn content(session: &Session) -> Result<ListedBase> {
    session.read_with_retry(|| {
        let Some(store) = session.open_existing()? else { return Ok(ListedBase::default()) };
        let content = ListedBase {
            num_documents: Some(store.num_documents()?),
            model: store.binding()?.map(|binding| binding.model_name),
            follows_files: Some(store.is_allowed() && store.unfollowed()?.is_empty()),
            // The author of a database that is not trusted also wrote its description.
            description: if store.is_allowed() { store.description()? } else { None },
            ..ListedBase::default()
        };
        store.close()?;
        Ok(content)
    })
}

/// A change of a knowledge base.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BaseChange {
    /// `made`, `listed`, `removed`, `erased`, `renamed` or `allowed`.
    pub action: &'static str,
    /// The knowledge base, after renaming by its new name.
    #[serde(flatten)]
    pub place: NamedBase,
    /// With `allowed`: whether the files and folders that it names are followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows_files: Option<bool>,
}

impl BaseChange {
    /// Makes one that decides nothing about files.
    pub fn new(action: &'static str, place: NamedBase) -> Self {
        Self { action, place, follows_files: None }
    }
}

/// Makes a knowledge base, or lists one again whose name was removed. With a description, that of an
/// existing one is replaced. Returns whether it was made.
pub fn add(session: &Session, name: &str, description: Option<&str>) -> Result<(NamedBase, bool)> {
    let description = description.map(checked).transpose()?;
    let place = match name {
        place::DEFAULT => NamedBase::default_in(session.home()),
        name => NamedBase::named(session.home(), name)?,
    };
    let was_listed =
        place.exists() && !KnownBases::read(session.environment())?.is_forgotten(&place.dir);
    if was_listed && description.is_none() {
        return Err(Error::usage(format!("the knowledge base `{name}` already exists"))
            .with_hint("`--description TEXT` describes it"));
    }
    let is_new = !place.exists();
    if is_new {
        session.for_new_base(place.clone()).open_store()?.close()?;
    }
    known::set_forgotten(session.environment(), &place.dir, false)?;
    if let Some(description) = description {
        let mut store = session.for_base(name)?.open_store()?;
        store.describe(&description)?;
        store.close()?;
    }
    Ok((place, is_new))
}

/// Returns a description in one line.
fn checked(description: &str) -> Result<String> {
    let text = description.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_plain = !text.chars().any(char::is_control);
    if text.chars().count() <= MAX_DESCRIPTION && is_plain {
        return Ok(text);
    }
    Err(Error::usage(format!(
        "the description has more than {MAX_DESCRIPTION} characters, or control characters"
    )))
}

/// Makes the project's knowledge base in a folder `.kb` of the working directory.
pub fn make_here(session: &Session) -> Result<NamedBase> {
    let here = absolute(Path::new("."))?;
    let place = NamedBase::in_project(&here);
    if resolved(&here) == resolved(&session.environment().home())
        || resolved(&place.dir) == resolved(session.home())
    {
        return Err(Error::usage("the knowledge base in the home directory is the default one")
            .with_hint(wording!(
                "run `{}` in the folder of a project",
                kb("init").flag("--here")
            )));
    }
    if !place.exists() {
        session.for_new_base(place.clone()).open_store()?.close()?;
        let file = place.dir.join(GIT_IGNORE);
        match write::create_new(&file, b"*\n") {
            Err(source) if source.kind() != ErrorKind::AlreadyExists => {
                return Err(Error::Io { path: file, source });
            }
            _ => session.notify(&format!(
                "git ignores it; to share it on purpose, delete {} and commit the folder",
                file.display()
            )),
        }
    }
    Ok(place)
}

/// Forgets the name of a knowledge base; its files are kept.
pub fn forget(session: &Session, name: &str) -> Result<NamedBase> {
    let place = listed_by_name(session, name)?;
    known::set_forgotten(session.environment(), &place.dir, true)?;
    Ok(place)
}

/// Deletes the folder of a knowledge base with everything in it.
pub fn erase(session: &Session, name: &str) -> Result<NamedBase> {
    let place = listed_by_name(session, name)?;
    // A killed run leaves the name listed as long as its database exists.
    folder::remove_all(&place.dir).map_err(|source| Error::of_file(&place.dir, source))?;
    known::drop_folder(session.environment(), &place.dir)?;
    Ok(place)
}

/// Gives a knowledge base another name.
pub fn rename(session: &Session, name: &str, new_name: &str) -> Result<NamedBase> {
    let from = listed_by_name(session, name)?;
    let to = NamedBase::named(session.home(), new_name)?;
    let io = |source| Error::of_file(&to.dir, source);
    if to.dir.try_exists().map_err(io)? {
        return Err(Error::usage(format!("the folder {} already exists", to.dir.display()))
            .with_hint(wording!(
                "choose another name, or list it with `{}`",
                kb("base add").arg(new_name)
            )));
    }
    // The base is known under both names until its folder has moved, so that a kill at any moment loses nothing.
    known::copy_folder(session.environment(), &from.dir, &to.dir)?;
    folder::move_to(&from.dir, &to.dir).map_err(io)?;
    known::drop_folder(session.environment(), &from.dir)?;
    Ok(to)
}

fn listed_by_name(session: &Session, name: &str) -> Result<NamedBase> {
    let known = KnownBases::read(session.environment())?;
    let place = place::find(session.home(), session.environment(), &known, name)?;
    if place.is_default() || place.is_project() {
        return Err(Error::usage(format!(
            "the knowledge base `{name}` cannot be renamed or removed \
            by name"
        ))
        .with_hint(format!("delete {} to remove it", place.dir.display())));
    }
    Ok(place)
}
