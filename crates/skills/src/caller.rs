//! Describes the environment of a skill command: program, directories, time and settings.
//!
//! The command line and the server create one value per command. Nothing in this folder reads the clock, the working
//! directory or an environment variable.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::diagnostic::{Diagnostic, Program, Warning};
use crate::error::{Error, Result};
use crate::store::skills::index::FtsTokenizer;
use crate::text::paths::canonical;

/// Name of the directory that holds a store.
pub(super) const STORE_DIR: &str = ".skillc";

/// Where skills are looked for in addition to the stores, below the working directory.
pub const SKILLS_ROOT: &str = ".agents/skills";

/// The part of a store that receives log rows when the runtime directory cannot be written.
const FALLBACK_LOGS: &str = "logs";

/// The environment of a skill command.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The program name used in messages.
    pub program: Program,
    /// Working directory; absolute, without `.` and `..`.
    pub cwd: PathBuf,
    /// Directory that holds the global store.
    pub home: PathBuf,
    /// The only directory of skills, if one was named; absolute, need not exist.
    pub named_root: Option<PathBuf>,
    /// Identifies the session in the access log.
    pub run_id: String,
    /// When the command began.
    pub now: SystemTime,
    /// The same in RFC 3339, UTC, whole seconds.
    pub timestamp: String,
    /// Whether reading a skill brings its index up to date first. On the command line the protocol wants
    /// an error instead.
    pub updates_index: bool,
    /// The tokenizer chosen in the settings.
    pub tokenizer: FtsTokenizer,
}

impl Caller {
    /// Returns the global store, whether it exists or not.
    pub fn global_store(&self) -> PathBuf {
        self.home.join(STORE_DIR)
    }

    /// Returns the project: the nearest directory at or above the working directory that contains a
    /// store. The home directory never is a project, because its store is the global one.
    pub fn project(&self) -> Option<&Path> {
        project_of(&self.cwd, &self.home)
    }

    /// Returns the project's store.
    pub fn project_store(&self) -> Option<PathBuf> {
        self.project().map(|project| project.join(STORE_DIR))
    }

    /// Returns where accesses are logged if the runtime directory cannot be written.
    pub fn fallback_logs(&self) -> PathBuf {
        fallback_logs(&self.cwd)
    }
}

/// Returns where accesses of a project are logged if a runtime directory cannot be written.
pub fn fallback_logs(project: &Path) -> PathBuf {
    project.join(STORE_DIR).join(FALLBACK_LOGS)
}

/// Returns the nearest directory at or above `cwd` that has a store and is not `home`.
pub fn project_of<'a>(cwd: &'a Path, home: &Path) -> Option<&'a Path> {
    cwd.ancestors().find(|dir| is_store(&dir.join(STORE_DIR)) && !same_place(dir, home))
}

/// Whether two paths are the same, or lead to the same place.
pub(super) fn same_place(one: &Path, other: &Path) -> bool {
    one == other || canonical(one).is_ok_and(|real| canonical(other).is_ok_and(|o| o == real))
}

/// Whether a directory is a store. A directory that holds only logs is not: logging creates one
/// where runtime directories are read-only, and that must not change where indexes are looked for.
fn is_store(dir: &Path) -> bool {
    let Ok(entries) = dir.read_dir() else { return false };
    let names: Vec<_> = entries.take(2).flatten().map(|entry| entry.file_name()).collect();
    !matches!(names.as_slice(), [only] if only == FALLBACK_LOGS)
}

/// The outcome of a skill command and its warnings.
#[derive(Debug)]
pub struct WithWarnings<T> {
    /// The requested value, or the error.
    pub outcome: Result<T>,
    /// In the order in which they arose.
    pub warnings: Vec<Warning>,
}

impl<T> From<Result<T>> for WithWarnings<T> {
    /// Returns an answer without warnings.
    fn from(outcome: Result<T>) -> Self {
        Self { outcome, warnings: Vec::new() }
    }
}

/// Formats an error as it appears on stderr and in the access log.
pub fn error_line(error: &Error, program: Program) -> String {
    match error {
        Error::Skill(diagnostic) => diagnostic.line(program),
        other => Diagnostic::Internal(other.to_string()).line(program),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_found_from_below_and_is_never_the_home() {
        let dir = tempfile::tempdir().unwrap();
        let (home, project) = (dir.path(), dir.path().join("work/project"));
        let deep = project.join("src/deep");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::create_dir_all(home.join(".skillc/skills")).unwrap();
        assert_eq!(project_of(&deep, home), None);
        std::fs::create_dir(project.join(".skillc")).unwrap();
        assert_eq!(project_of(&deep, home), Some(project.as_path()));
        assert_eq!(project_of(&project, home), Some(project.as_path()));
        // A nearer one wins.
        std::fs::create_dir_all(deep.join(".skillc/skills")).unwrap();
        assert_eq!(project_of(&deep, home), Some(deep.as_path()));
    }

    #[test]
    fn logs_alone_do_not_make_a_project() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().join("cwd");
        std::fs::create_dir_all(cwd.join(".skillc/logs/x/.skillc-meta")).unwrap();
        assert_eq!(project_of(&cwd, dir.path()), None);
        std::fs::create_dir(cwd.join(".skillc/skills")).unwrap();
        assert_eq!(project_of(&cwd, dir.path()), Some(cwd.as_path()));
    }
}
