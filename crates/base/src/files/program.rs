//! Finds the program that is running, even after an upgrade has put another one in its place.
//!
//! An installer replaces a program by renaming a new file over it. The running program continues without a name on the disk.
//! The path at which it was started then leads to another program, which may speak another protocol with its children.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// The message about a program that keeps running after it was replaced.
pub const REPLACED: &str = "kb was replaced on disk; restart this server";

/// Returns the path by which the running program starts itself again: never that of another program.
///
/// # Errors
///
/// [`Error::Io`] if the system does not say which program is running, and on systems other than Linux if it was replaced.
pub fn to_start() -> Result<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        // The kernel resolves it to the file that is running, whatever its name now leads to.
        let running = PathBuf::from(system::RUNNING);
        match running.metadata() {
            Ok(_) => Ok(running),
            Err(source) => Err(Error::of_file(&running, source)),
        }
    }
    #[cfg(not(target_os = "linux"))]
    path()
}

/// Returns the path of the running program, to be written into the settings of other programs.
///
/// # Errors
///
/// [`Error::Io`] if the system does not say which program is running, or if it was replaced.
pub fn path() -> Result<PathBuf> {
    let program = system::started_at();
    let program = program.map_err(|source| Error::Io { path: PathBuf::from("kb"), source })?;
    if is_replaced() {
        let source = io::Error::other(REPLACED);
        return Err(Error::Io { path: program, source });
    }
    Ok(program)
}

/// Returns [`REPLACED`] when it is first asked after the program was replaced. Long-running commands ask before
/// each piece of work.
pub fn news_of_replacement() -> Option<&'static str> {
    static IS_TOLD: AtomicBool = AtomicBool::new(false);
    (is_replaced() && !IS_TOLD.swap(true, Ordering::Relaxed)).then_some(REPLACED)
}

/// Whether the file of the running program was deleted, or replaced by another one. On systems other than Linux it is compared
/// with the file that was there when this, [`path`] or [`to_start`] was called first.
pub fn is_replaced() -> bool {
    system::is_replaced()
}

#[cfg(target_os = "linux")]
mod system {
    use std::path::{Path, PathBuf};
    use std::{env, io};

    use crate::files::open::identity;

    pub(super) const RUNNING: &str = "/proc/self/exe";

    pub(super) fn started_at() -> io::Result<PathBuf> {
        env::current_exe()
    }

    /// The kernel names a file that was deleted by its old path and a word, which may be the name of another file.
    pub(super) fn is_replaced() -> bool {
        let running = identity(Path::new(RUNNING));
        running.is_some() && started_at().is_ok_and(|path| identity(&path) != running)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::path::PathBuf;
    use std::sync::LazyLock;
    use std::{env, io};

    use crate::files::open::identity;
    use crate::files::stamp::FileVersion;

    /// The path of the program, and what identified its file.
    struct ProgramIdentity {
        path: PathBuf,
        identity: Option<(u64, u64)>,
        version: Option<FileVersion>,
    }

    static STARTED: LazyLock<Option<ProgramIdentity>> = LazyLock::new(|| {
        let path = env::current_exe().ok()?;
        let (identity, version) = (identity(&path), FileVersion::of(&path).ok());
        Some(ProgramIdentity { path, identity, version })
    });

    pub(super) fn started_at() -> io::Result<PathBuf> {
        STARTED.as_ref().map(|started| started.path.clone()).ok_or(io::ErrorKind::NotFound.into())
    }

    pub(super) fn is_replaced() -> bool {
        STARTED.as_ref().is_some_and(|started| {
            started.identity != identity(&started.path)
                || started.version != FileVersion::of(&started.path).ok()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_running_program_is_known_and_in_its_place() {
        assert!(!is_replaced() && news_of_replacement().is_none());
        assert_eq!(path().unwrap(), std::env::current_exe().unwrap());
        let same = crate::files::open::identity(&to_start().unwrap());
        assert_eq!(same, crate::files::open::identity(&path().unwrap()));
    }
}
