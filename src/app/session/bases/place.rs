//! Chooses the knowledge base of a run: the named one, else the project's, else the default one.

use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::session::bases::known::{self, KnownBases};
use crate::config::{Environment, PROJECT_FOLDER};
use crate::error::{Error, Result};
use crate::files::folder;
use crate::store::Store;
use crate::text::{fields, paths::resolved};

/// Name of the database in its folder.
pub const DATABASE: &str = "kb.db";

/// The name of the knowledge base in the data directory itself.
pub const DEFAULT: &str = "default";

/// The name of the knowledge base of the project around the working directory.
pub const PROJECT: &str = "project";

/// The folder of the other ones in the data directory.
const FOLDER: &str = "bases";

/// Most characters of a name.
const MAX_NAME: usize = 64;

/// A knowledge base by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NamedBase {
    /// `default`, `project`, or the name that the user gave it.
    pub name: String,
    /// The folder of its database and settings.
    #[serde(rename = "path", serialize_with = "fields::path")]
    pub dir: PathBuf,
}

impl NamedBase {
    /// Returns the default one.
    pub fn default_in(data_dir: &Path) -> Self {
        Self { name: DEFAULT.into(), dir: data_dir.to_owned() }
    }

    /// Returns the one that the user gave a name, which need not exist.
    pub fn named(data_dir: &Path, name: &str) -> Result<Self> {
        check_name(name)?;
        Ok(Self { name: name.to_owned(), dir: data_dir.join(FOLDER).join(name) })
    }

    /// Returns one of a project, which need not exist.
    pub fn in_project(project: &Path) -> Self {
        Self { name: PROJECT.into(), dir: project.join(PROJECT_FOLDER) }
    }

    /// Returns the path of the database, whether it exists or not.
    pub fn database(&self) -> PathBuf {
        self.dir.join(DATABASE)
    }

    /// Whether the database exists.
    pub fn exists(&self) -> bool {
        self.database().is_file()
    }

    /// Whether it is in the data directory itself.
    pub fn is_default(&self) -> bool {
        self.name == DEFAULT
    }

    /// Whether it was found above the working directory.
    pub fn is_project(&self) -> bool {
        self.name == PROJECT
    }
}

impl fmt::Display for NamedBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// Refuses a name that could not be a folder everywhere, or that has a meaning already.
fn check_name(name: &str) -> Result<()> {
    let is_name = name.len() <= MAX_NAME
        && name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c));
    if is_name && name != DEFAULT && name != PROJECT {
        return Ok(());
    }
    Err(Error::usage(format!("`{name}` cannot be the name of a knowledge base")).with_hint(
        format!(
            "use up to {MAX_NAME} lower-case letters, digits, `.`, `_` and `-`, beginning with a \
             letter or digit; `{DEFAULT}` and `{PROJECT}` are reserved"
        ),
    ))
}

/// Returns the named knowledge bases of a data directory that the user has not forgotten, by name.
pub fn named_ones(data_dir: &Path, known: &KnownBases) -> Vec<NamedBase> {
    let folders = folder::entries(&data_dir.join(FOLDER));
    let names = folders.iter().filter_map(|dir| dir.file_name()?.to_str());
    let places = names.filter_map(|name| NamedBase::named(data_dir, name).ok());
    places.filter(|place| place.exists() && !known.is_forgotten(&place.dir)).collect()
}

/// Returns the one with a name among the default, the project's and the named ones.
pub fn find(
    data_dir: &Path,
    environment: &Environment,
    known: &KnownBases,
    name: &str,
) -> Result<NamedBase> {
    let project = || of_project(data_dir, environment);
    let found = match name {
        DEFAULT => Some(NamedBase::default_in(data_dir)),
        PROJECT => project().filter(|place| is_allowed(place, known)),
        name => named_ones(data_dir, known).into_iter().find(|place| place.name == name),
    };
    found.ok_or_else(|| {
        let named = named_ones(data_dir, known).into_iter().map(|place| place.name);
        let project = project().filter(|place| is_allowed(place, known)).map(|place| place.name);
        let known = [DEFAULT.to_owned()].into_iter().chain(project).chain(named).collect();
        Error::UnknownBase { name: name.to_owned(), known }
    })
}

/// Returns the knowledge base of the project around the working directory, allowed or not. Neither the
/// home directory nor the data directory is one.
pub fn of_project(data_dir: &Path, environment: &Environment) -> Option<NamedBase> {
    #[expect(clippy::disallowed_methods, reason = "a project is found by where the user is")]
    let current = std::env::current_dir().ok()?;
    let home = resolved(&environment.home());
    let data_dir = resolved(data_dir);
    let projects = current.ancestors().map(NamedBase::in_project);
    let mut found = projects.filter(NamedBase::exists);
    found.find(|place| {
        place.dir.parent().map(resolved).as_ref() != Some(&home) && resolved(&place.dir) != data_dir
    })
}

/// Whether the user allowed the use of a project's knowledge base. The database is opened only if
/// something is known about its folder.
pub fn is_allowed(place: &NamedBase, known: &KnownBases) -> bool {
    known.has_folder(&place.dir)
        && known.base(&place.dir, &known::id(Store::peek_id(&place.database()))).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_plain_folder_name() {
        let long = "a".repeat(MAX_NAME + 1);
        for name in ["work", "2026", "a.b_c-d"] {
            assert!(NamedBase::named(Path::new("/d"), name).is_ok(), "{name}");
        }
        for name in
            ["", ".", "..", "-x", "a/b", "A", "a b", "ä", "default", "project", &long, "a\n"]
        {
            assert!(NamedBase::named(Path::new("/d"), name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_folder_without_a_database_is_not_listed() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["work", "empty", "Bad Name"] {
            std::fs::create_dir_all(dir.path().join("bases").join(name)).unwrap();
        }
        for name in ["work", "Bad Name"] {
            std::fs::write(dir.path().join("bases").join(name).join(DATABASE), "").unwrap();
        }
        let places = named_ones(dir.path(), &KnownBases::default());
        assert_eq!(places.iter().map(|place| place.name.as_str()).collect::<Vec<_>>(), ["work"]);
    }
}
