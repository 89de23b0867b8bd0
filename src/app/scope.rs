//! Selects the added folders and files to check for changes, and checks them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::app::Session;
use crate::app::read::walk_options;
use crate::error::{Error, Result};
use crate::ingest::reach::Access;
use crate::ingest::survey::{self, Survey, root_of};
use crate::store::{KnownFile, LedgerRow, Root, Store};
use crate::text::paths;

/// Files and folders to check.
#[derive(Default)]
pub struct Scope {
    pub(super) roots: Vec<Root>,
    pub(super) known: Vec<KnownFile>,
    pub(super) access: Access,
    /// Files that could not be read or have no text, by their path.
    without_text: HashMap<String, LedgerRow>,
}

impl Scope {
    /// Returns the added files and folders at or below one of `named`; all of them if that is empty.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for a path from which nothing was added; errors of the store.
    pub fn read(session: &Session, store: &Store, named: &[PathBuf]) -> Result<Self> {
        let (roots, known) = (store.roots()?, store.known_files()?);
        let access = Access::new(&roots, session.config().ingestion.follow_links);
        let without_text = store.files_without_text()?.into_iter();
        let without_text = without_text.map(|row| (row.path.clone(), row)).collect();
        let mut scope = Self { roots, known, access, without_text };
        if named.is_empty() {
            return Ok(scope);
        }
        let mut roots: Vec<Root> = Vec::new();
        let all: Vec<PathBuf> = scope.folders();
        for path in named {
            let is_below = |other: &Path| other.starts_with(path);
            roots.extend(
                scope.roots.iter().filter(|root| is_below(&paths::path_of(&root.path))).cloned(),
            );
            // A folder below an added one has the options of that one.
            if let Some(outer) = root_of(&all, path).filter(|outer| *outer != path && path.is_dir())
            {
                let outer = scope.roots.iter().find(|root| paths::path_of(&root.path) == outer);
                roots.extend(
                    outer.map(|outer| Root { path: paths::path_text(path), ..outer.clone() }),
                );
            }
            let is_known = roots.iter().any(|root| paths::path_of(&root.path).starts_with(path))
                || scope.known.iter().any(|file| is_below(&paths::path_of(&file.stamp.path)));
            if !is_known {
                return Err(Error::Usage {
                    message: format!("{} has not been added", path.display()),
                    hint: Some("add it with `kb add`; `kb list` shows all documents".into()),
                });
            }
        }
        roots.sort_by(|a, b| a.path.cmp(&b.path));
        roots.dedup();
        scope.roots = roots;
        scope.known.retain(|file| {
            let path = paths::path_of(&file.stamp.path);
            named.iter().any(|named| path.starts_with(named))
        });
        Ok(scope)
    }

    fn folders(&self) -> Vec<PathBuf> {
        self.roots.iter().map(|root| paths::path_of(&root.path)).collect()
    }

    /// Checks all of them.
    pub fn survey(&self, session: &Session, is_exact: bool) -> Vec<Survey> {
        survey::survey(&survey::Scope {
            access: &self.access,
            roots: &self.folders(),
            known: &self.known,
            without_text: &self.without_text,
            // `access` decides where links are followed.
            walk: walk_options(session, false),
            is_exact,
        })
    }
}
