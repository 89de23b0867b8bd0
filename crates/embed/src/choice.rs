//! Names the model to use.

use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::model_files::is_plain_name;
use crate::registry::{self, ModelSpec};
use crate::text::paths::resolved;

/// The chosen model.
#[derive(Debug, Clone)]
pub enum ModelChoice {
    /// A row of `models.toml`.
    Known(&'static ModelSpec),
    /// Any other model of the hub, by its full id.
    Hub(String),
    /// A directory given by the user, with the layout of sentence-transformers.
    Directory {
        /// The directory.
        path: PathBuf,
        /// The model's name, if the user gave one; else the directory's.
        name: Option<String>,
    },
}

impl ModelChoice {
    /// Finds the model called `name`; a full hub id need not be in `models.toml`.
    pub fn named(name: &str) -> Result<Self> {
        match registry::model(name) {
            Ok(spec) => Ok(Self::Known(spec)),
            Err(_) if is_hub_id(name) => Ok(Self::Hub(name.to_owned())),
            Err(error) => Err(error),
        }
    }

    /// Chooses a directory given by the user, under its own name.
    pub fn directory(path: impl Into<PathBuf>) -> Self {
        Self::Directory { path: path.into(), name: None }
    }

    /// Returns the name that databases are bound to: of the row, of the hub's model, or of the
    /// directory.
    pub fn name(&self) -> String {
        match self {
            Self::Known(spec) => spec.name.clone(),
            Self::Hub(id) => id.clone(),
            Self::Directory { path, name } => name.clone().unwrap_or_else(|| directory_name(path)),
        }
    }

    /// Returns the row of `models.toml`, if there is one.
    pub fn spec(&self) -> Option<&'static ModelSpec> {
        match self {
            Self::Known(spec) => Some(spec),
            Self::Hub(_) | Self::Directory { .. } => None,
        }
    }
}

/// Whether `name` has the form `organisation/model` with the characters that the hub allows.
fn is_hub_id(name: &str) -> bool {
    let parts = name.split_once('/');
    parts.is_some_and(|(organisation, model)| is_plain_name(organisation) && is_plain_name(model))
}

/// Returns the last component of a directory; for a hub snapshot, the model's own name.
fn directory_name(path: &Path) -> String {
    let path = resolved(path);
    let snapshots = path.parent().filter(|folder| folder.ends_with("snapshots"));
    let named = snapshots.and_then(Path::parent).unwrap_or(&path);
    let name = named.file_name().unwrap_or_default().to_string_lossy();
    name.rsplit("--").next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn a_hub_id_need_not_be_in_the_registry() {
        assert!(matches!(ModelChoice::named("all-MiniLM-L6-v2"), Ok(ModelChoice::Known(_))));
        assert!(matches!(ModelChoice::named("BAAI/bge-small-en-v1.5"), Ok(ModelChoice::Known(_))));
        assert!(matches!(ModelChoice::named("someone/some-model"), Ok(ModelChoice::Hub(_))));
        for name in ["some-model", "", "/", "a/", "../a", "a/../b", "a/b/c", "a/b c", "a/.b"] {
            assert!(matches!(ModelChoice::named(name), Err(Error::UnknownModel { .. })), "{name}");
        }
    }

    #[test]
    fn a_directory_is_called_by_its_last_component() {
        for (path, name) in [
            ("/models/my-model", "my-model"),
            ("/models/my-model/", "my-model"),
            ("/hub/models--a--all-MiniLM-L6-v2/snapshots/0123abc", "all-MiniLM-L6-v2"),
        ] {
            let choice = |name| ModelChoice::Directory { path: path.into(), name };
            assert_eq!(choice(None).name(), name);
            assert_eq!(choice(Some("given".into())).name(), "given");
        }
    }
}
