//! Who asks, from where and when: what skill commands know of their surroundings.
//!
//! A value, made once at the edge: nothing in this folder asks for the time, the working directory
//! or a variable.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::diagnostic::{Diagnostic, Program, Warning};
use crate::error::{Error, Result};
use crate::store::skills::index::Tokenizer;

/// Name of the directory that holds a store.
pub(super) const STORE_DIR: &str = ".skillc";

/// Where skills are looked for beside the stores, below the working directory.
pub const SKILLS_ROOT: &str = ".agents/skills";

/// The part of a store that accesses are logged to where the runtime directory cannot be written.
const FALLBACK_LOGS: &str = "logs";

/// What a skill command knows of its surroundings.
#[derive(Debug, Clone)]
pub struct Caller {
    /// What the program is called in messages.
    pub program: Program,
    /// Working directory; absolute, without `.` and `..`.
    pub cwd: PathBuf,
    /// Directory that holds the global store.
    pub home: PathBuf,
    /// Directory of skills beside the stores; absolute, need not be there.
    pub skills_root: PathBuf,
    /// Identifies the session in the access log.
    pub run_id: String,
    /// When the command began.
    pub now: SystemTime,
    /// The same in RFC 3339, UTC, whole seconds.
    pub timestamp: String,
    /// The tokenizer the settings ask for.
    pub tokenizer: Tokenizer,
}

impl Caller {
    /// Returns the global store, whether it is there or not.
    pub fn global_store(&self) -> PathBuf {
        self.home.join(STORE_DIR)
    }

    /// Returns the project: the nearest directory at or above the working directory with a store
    /// in it. The home directory is none, because its store is the global one.
    pub fn project(&self) -> Option<&Path> {
        project_of(&self.cwd, &self.home)
    }

    /// Returns the project's store.
    pub fn project_store(&self) -> Option<PathBuf> {
        self.project().map(|it| it.join(STORE_DIR))
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
    let is_home = |dir: &Path| {
        dir == home || dir.canonicalize().is_ok_and(|it| home.canonicalize().is_ok_and(|h| h == it))
    };
    cwd.ancestors().find(|dir| is_store(&dir.join(STORE_DIR)) && !is_home(dir))
}

/// Whether a directory is a store. One that holds nothing but logs is not: logging in a read-only
/// surrounding makes it, and that must not move the place where indexes are looked for.
fn is_store(dir: &Path) -> bool {
    let Ok(entries) = dir.read_dir() else { return false };
    let names: Vec<_> = entries.take(2).flatten().map(|it| it.file_name()).collect();
    !matches!(names.as_slice(), [only] if only == FALLBACK_LOGS)
}

/// The outcome of a skill command with what there is to say beside it.
#[derive(Debug)]
pub struct Answer<T> {
    /// The value asked for, or why there is none.
    pub outcome: Result<T>,
    /// In the order in which they arose.
    pub warnings: Vec<Warning>,
}

impl<T> From<Result<T>> for Answer<T> {
    /// Returns an answer with nothing beside it.
    fn from(outcome: Result<T>) -> Self {
        Self { outcome, warnings: Vec::new() }
    }
}

/// Returns an error as stderr and the access log have it.
pub fn error_line(error: &Error, program: Program) -> String {
    match error {
        Error::Skill(diagnostic) => diagnostic.line(program),
        other => Diagnostic::Internal { message: other.to_string() }.line(program),
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
    fn logs_alone_make_no_project() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path().join("cwd");
        std::fs::create_dir_all(cwd.join(".skillc/logs/x/.skillc-meta")).unwrap();
        assert_eq!(project_of(&cwd, dir.path()), None);
        std::fs::create_dir(cwd.join(".skillc/skills")).unwrap();
        assert_eq!(project_of(&cwd, dir.path()), Some(cwd.as_path()));
    }
}
