//! Describes where walks start, how the files found from there are read, and which files belong to
//! other starts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::extract::detect::TypeOverride;
use crate::files::reach::Reach;
use crate::text::paths;

/// How files are read, where that differs from the options of the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadAs {
    /// Their type and language.
    pub wanted: TypeOverride,
    /// Tags of documents that are new.
    pub tags: Vec<String>,
}

/// Which of several folders a path belongs to: the innermost that contains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Territory {
    /// All folders, without links.
    pub folders: Arc<[PathBuf]>,
    /// The one that is walked.
    pub own: PathBuf,
}

impl Territory {
    /// Whether a path without links belongs to another folder than the one that is walked. A path
    /// outside all of them belongs to none.
    pub fn is_elsewhere(&self, real: &Path) -> bool {
        innermost(&self.folders, real).is_some_and(|folder| *folder != self.own)
    }
}

/// Returns the innermost of the folders that contain a path or are that path.
pub fn innermost<'a>(folders: &'a [PathBuf], path: &Path) -> Option<&'a PathBuf> {
    let above = folders.iter().filter(|folder| path.starts_with(folder));
    above.max_by_key(|folder| folder.components().count())
}

/// A file or a folder where a walk starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// Absolute.
    pub(super) path: PathBuf,
    /// `None` for a path that the user has just named, which is resolved now.
    pub(super) reach: Option<Reach>,
    /// `None` where the options of the run say it.
    pub(super) read_as: Option<Arc<ReadAs>>,
    /// `None` if everything below the path belongs to it.
    pub(super) territory: Option<Territory>,
}

impl Start {
    /// Starts at a path that the user has just named; links are followed.
    pub fn named(path: &Path) -> Self {
        Self { path: paths::clean(path), reach: None, read_as: None, territory: None }
    }

    /// Starts at a path that was added before.
    pub fn known(path: &Path, reach: Reach) -> Self {
        Self { reach: Some(reach), ..Self::named(path) }
    }

    /// Reads the files as `read_as` says.
    #[must_use]
    pub fn read_as(self, read_as: Arc<ReadAs>) -> Self {
        Self { read_as: Some(read_as), ..self }
    }

    /// Leaves out what belongs to other folders.
    #[must_use]
    pub fn within(self, territory: Option<Territory>) -> Self {
        Self { territory, ..self }
    }

    /// Returns the type and language of its files, with those of the run.
    pub(crate) fn wanted(&self, of_run: TypeOverride) -> TypeOverride {
        self.read_as.as_ref().map_or(of_run, |read_as| read_as.wanted)
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
