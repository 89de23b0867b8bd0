//! Selects the added folders and files to check for changes.

use std::path::PathBuf;

use crate::app::Session;
use crate::app::indexing::ingestion::options::walk_options;
use crate::error::{Error, Result};
use crate::ingest::roots::Roots;
use crate::ingest::survey::SurveyInput;
use crate::store::Store;
use crate::text::paths;
use crate::wording::{kb, wording};

/// Returns the added files and folders at or below one of `named`; all of them if that is empty.
pub fn read(session: &Session, store: &Store, named: &[PathBuf]) -> Result<SurveyInput> {
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
            return Err(Error::usage(format!("{} has not been added", path.display())).with_hint(
                wording!("add it with `{}`; `{}` shows all documents", kb("add"), kb("list")),
            ));
        }
    }
    known.retain(|file| {
        let path = paths::path_of(&file.stamp.path);
        named.is_empty() || named.iter().any(|named| path.starts_with(named))
    });
    // The walk itself follows no links: `roots` decides that for each folder.
    let walk = walk_options(session, false);
    Ok(SurveyInput { roots, parts, known, without_text, walk, is_exact: false })
}
