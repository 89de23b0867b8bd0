//! Selects the added folders and files to check for changes, and checks them.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::app::Session;
use crate::app::ingestion::options::walk_options;
use crate::error::{Error, Result};
use crate::ingest::roots::Roots;
use crate::ingest::survey::{self, Survey};
use crate::store::{KnownFile, LedgerRow, Store};
use crate::text::paths;

/// Files and folders to check.
#[derive(Default)]
pub struct Scope {
    /// All added folders.
    pub(super) roots: Roots,
    /// Those to check, and folders in them.
    pub(super) parts: Vec<PathBuf>,
    pub(super) known: Vec<KnownFile>,
    /// Files that could not be read or have no text, by their path.
    without_text: HashMap<String, LedgerRow>,
}

impl Scope {
    /// Returns the added files and folders at or below one of `named`; all of them if that is empty.
    pub fn read(session: &Session, store: &Store, named: &[PathBuf]) -> Result<Self> {
        let roots = Roots::of(store, session.config().ingestion.follow_links)?;
        let mut known = store.known_files()?;
        let without_text = store.files_without_text()?.into_iter();
        let without_text = without_text.map(|row| (row.path.clone(), row)).collect();
        let parts = roots.parts(named);
        for path in named {
            let is_added = path.is_dir() && roots.folder_of(path).is_some();
            if !is_added
                && !parts.iter().any(|part| part.starts_with(path))
                && !known.iter().any(|file| paths::path_of(&file.stamp.path).starts_with(path))
            {
                return Err(Error::usage(format!("{} has not been added", path.display()))
                    .with_hint("add it with `kb add`; `kb list` shows all documents"));
            }
        }
        known.retain(|file| {
            let path = paths::path_of(&file.stamp.path);
            named.is_empty() || named.iter().any(|named| path.starts_with(named))
        });
        Ok(Self { roots, parts, known, without_text })
    }

    /// Checks all of them.
    pub fn survey(&self, session: &Session, is_exact: bool) -> Vec<Survey> {
        survey::survey(&survey::Scope {
            roots: &self.roots,
            parts: &self.parts,
            known: &self.known,
            without_text: &self.without_text,
            // `roots` decides where links are followed.
            walk: walk_options(session, false),
            is_exact,
        })
    }
}
