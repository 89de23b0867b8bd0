//! Moves a server to the folder that its client works in.

use std::env;
use std::path::PathBuf;

use crate::app::session::typed::absolute;
use crate::error::Result;
use crate::text::paths::canonical;

/// Makes the first of these folders the working directory, unless it is in one of them already. From then on
/// skills, the knowledge base of the project and relative paths are looked for there, as if the server had been
/// started there.
pub fn enter(folders: &[PathBuf]) -> Result<()> {
    let current = absolute(".".as_ref())?;
    // Links are resolved, as they are in the working directory.
    let folders: Vec<PathBuf> =
        folders.iter().filter_map(|folder| canonical(folder).ok()).collect();
    if folders.iter().any(|folder| current.starts_with(folder)) {
        return Ok(());
    }
    // The first folder that can be entered is taken. If there is none, the directory is unchanged.
    let _ = folders.iter().any(|folder| env::set_current_dir(folder).is_ok());
    Ok(())
}
