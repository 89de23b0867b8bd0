//! Reads paths and ids as users type them.

use std::path::{Path, PathBuf};

use crate::document::{Filter, NumberedPath};
use crate::error::{Error, Result};
use crate::store::DocumentId;
use crate::text::paths;

/// Returns an absolute path without `.` and `..`, without resolving links. An empty path is refused: it
/// would mean the current directory, but is probably an unset variable.
pub fn absolute(path: &Path) -> Result<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(Error::usage("a path is empty"));
    }
    // On Windows, `D:a.md` is below the current folder of that drive.
    let absolute = std::path::absolute(path);
    let absolute = absolute.map_err(|source| Error::Io { path: PathBuf::from("."), source })?;
    Ok(paths::with_stored_case(paths::clean(&absolute)))
}

/// Returns the absolute path for a typed one, which may be written as kb prints a path that is not valid
/// text.
pub fn typed(path: &Path) -> Result<PathBuf> {
    Ok(paths::path_of(&paths::typed_text(&absolute(path)?)))
}

/// Returns an absolute path in the database's notation, for filters.
pub fn path_prefix(path: &Path) -> Result<String> {
    Ok(paths::typed_text(&absolute(path)?))
}

/// Adds the paths of a filter as they were typed. As for `kb show`, a number is the id of a document if there is one, and
/// `./4` the path.
pub fn add_paths(typed: &[PathBuf], filter: &mut Filter) -> Result<()> {
    for typed in typed {
        let path = path_prefix(typed)?;
        match typed.to_str().and_then(|typed| typed.parse().ok()) {
            Some(DocumentId(id)) => filter.numbered.push(NumberedPath { id, path }),
            None => filter.paths.push(path),
        }
    }
    Ok(())
}

/// Parses a document id.
pub fn document_id(typed: &str) -> Result<DocumentId> {
    typed.parse().map_err(|_| Error::UnknownDocument { id: typed.to_owned() })
}
