//! Remembers which knowledge bases this user's kb made and which the user allowed, in a file of the user
//! outside of them all.
//!
//! Each line is `STATE ID PATH`: a state of [`State`], the random id in the database, and its folder. A
//! database with another id at the same path, or the same one at another path, is not known.

use std::path::{Path, PathBuf};

use crate::config::Environment;
use crate::error::{Error, Result};
use crate::files::open::Links;
use crate::files::{folder, open, write};
use crate::text::paths;

/// Name of the file.
const FILE: &str = "known_bases";

/// Most bytes of the file that are read; about ten thousand lines.
const MAX_BYTES: u64 = 2 << 20;

/// Lines kept. Beyond it, those of missing folders are left out.
const MAX_LINES: usize = 1000;

/// Who made a knowledge base, or what the user allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum State {
    /// The user no longer lists it by its name; its id is `-`.
    Forgotten,
    /// The user allowed its use, but not that its files are followed.
    Allowed,
    /// The user allowed its use, and that the files and folders that it names are followed.
    Files,
    /// This user's kb made it.
    Own,
}

impl State {
    const ALL: [Self; 4] = [Self::Forgotten, Self::Allowed, Self::Files, Self::Own];

    /// Returns the word in the file and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Forgotten => "forgotten",
            Self::Allowed => "allowed",
            Self::Files => "files",
            Self::Own => "own",
        }
    }

    /// Whether the files and folders that the database names are followed.
    pub fn follows_files(self) -> bool {
        matches!(self, Self::Files | Self::Own)
    }
}

/// The id of lines about a folder rather than a database.
const NO_ID: &str = "-";

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    state: State,
    id: String,
    /// Without links, as the database writes paths.
    path: String,
}

/// The lines of the file.
#[derive(Debug, Clone, Default)]
pub struct Known {
    lines: Vec<Line>,
}

impl Known {
    /// Reads the file; a missing one has no lines, and lines that cannot be read are left out: what they
    /// allowed must be allowed again.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] and [`Error::OverLimit`].
    pub fn read(environment: &Environment) -> Result<Self> {
        let bytes = match open::read(&file(environment), Links::Follow, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(Error::PathNotFound { .. }) => Vec::new(),
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&bytes);
        Ok(Self { lines: text.lines().filter_map(line).collect() })
    }

    /// Returns the state of the database with this id in a folder; `None` for a stranger's.
    pub fn state(&self, dir: &Path, id: &str) -> Option<State> {
        let path = real(dir);
        let lines = self.lines.iter().filter(|line| line.id == id && line.path == path);
        lines.map(|line| line.state).max()
    }

    /// Whether anything is known about some database in a folder.
    pub fn has_folder(&self, dir: &Path) -> bool {
        let path = real(dir);
        self.lines.iter().any(|line| line.path == path && line.state != State::Forgotten)
    }

    /// Whether the user no longer lists the knowledge base in a folder.
    pub fn is_forgotten(&self, dir: &Path) -> bool {
        self.state(dir, NO_ID) == Some(State::Forgotten)
    }

    /// Whether this user's kb made a database with this id, in any folder.
    pub fn is_own(&self, id: &str) -> bool {
        self.lines.iter().any(|line| line.id == id && line.state == State::Own)
    }

    fn set(&mut self, dir: &Path, id: &str, state: State) {
        let path = real(dir);
        self.lines.retain(|line| line.id != id || line.path != path);
        self.lines.push(Line { state, id: id.to_owned(), path });
    }

    fn text(&self) -> String {
        let line = |line: &Line| format!("{} {} {}\n", line.state.as_str(), line.id, line.path);
        self.lines.iter().map(line).collect()
    }
}

/// Remembers the state of the database with this id in a folder.
///
/// # Errors
///
/// [`Error::Io`], if the file cannot be written.
pub fn remember(environment: &Environment, dir: &Path, id: &str, state: State) -> Result<()> {
    change(environment, |known| known.set(dir, id, state))
}

/// Says that a folder is no longer listed by its name, or that it is listed again.
///
/// # Errors
///
/// As [`remember`].
pub fn set_forgotten(environment: &Environment, dir: &Path, is_forgotten: bool) -> Result<()> {
    change(environment, |known| {
        let path = real(dir);
        known.lines.retain(|line| line.id != NO_ID || line.path != path);
        if is_forgotten {
            known.set(dir, NO_ID, State::Forgotten);
        }
    })
}

/// Removes every line of a folder.
///
/// # Errors
///
/// As [`remember`].
pub fn drop_folder(environment: &Environment, dir: &Path) -> Result<()> {
    let path = real(dir);
    change(environment, |known| known.lines.retain(|line| line.path != path))
}

/// Changes the file while no other process does.
fn change(environment: &Environment, change: impl FnOnce(&mut Known)) -> Result<()> {
    let file = file(environment);
    let io = |source| Error::Io { path: file.clone(), source };
    let _lock = folder::lock(&file.with_extension("lock")).map_err(io)?;
    let mut known = Known::read(environment)?;
    let before = known.text();
    change(&mut known);
    if known.lines.len() > MAX_LINES {
        known.lines.retain(|line| paths::path_of(&line.path).exists());
    }
    let after = known.text();
    if after == before { Ok(()) } else { write::replace_own(&file, after.as_bytes()).map_err(io) }
}

fn file(environment: &Environment) -> PathBuf {
    let home = environment.home();
    let usual = environment.path("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state"));
    environment.path("KB_STATE_DIR").unwrap_or_else(|| usual.join("kb")).join(FILE)
}

fn line(text: &str) -> Option<Line> {
    let mut words = text.splitn(3, ' ');
    let state = words.next()?;
    let state = State::ALL.into_iter().find(|known| known.as_str() == state)?;
    Some(Line { state, id: words.next()?.to_owned(), path: words.next()?.to_owned() })
}

/// Returns a folder without links, in the notation of the database, which has no line ends.
fn real(dir: &Path) -> String {
    let real = dir.canonicalize();
    paths::path_text(real.as_deref().unwrap_or(dir)).replace('\n', "\\x0a")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(state: &Path) -> Environment {
        [("KB_STATE_DIR".to_owned(), state.into())].into_iter().collect()
    }

    #[test]
    fn only_the_same_id_at_the_same_path_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let environment = environment(&dir.path().join("state"));
        let base = dir.path().join("a base");
        std::fs::create_dir(&base).unwrap();
        assert_eq!(Known::read(&environment).unwrap().state(&base, "1"), None);
        remember(&environment, &base, "1", State::Own).unwrap();
        let known = Known::read(&environment).unwrap();
        assert_eq!(known.state(&base, "1"), Some(State::Own));
        assert_eq!(known.state(&base, "2"), None);
        assert_eq!(known.state(dir.path(), "1"), None);
        assert!(known.has_folder(&base) && known.is_own("1") && !known.is_own("2"));
    }

    #[test]
    fn a_name_is_forgotten_and_remembered_without_its_state() {
        let dir = tempfile::tempdir().unwrap();
        let environment = environment(dir.path());
        let base = dir.path().join("bases/work");
        remember(&environment, &base, "1", State::Files).unwrap();
        set_forgotten(&environment, &base, true).unwrap();
        let known = Known::read(&environment).unwrap();
        assert!(known.is_forgotten(&base) && known.state(&base, "1") == Some(State::Files));
        set_forgotten(&environment, &base, false).unwrap();
        assert!(!Known::read(&environment).unwrap().is_forgotten(&base));
        drop_folder(&environment, &base).unwrap();
        assert!(!Known::read(&environment).unwrap().has_folder(&base));
    }

    #[test]
    fn a_folder_with_a_line_end_in_its_name_is_one_line() {
        let dir = tempfile::tempdir().unwrap();
        let environment = environment(dir.path());
        let base = dir.path().join("x\nown 2 /victim");
        std::fs::create_dir_all(&base).unwrap();
        remember(&environment, &base, "1", State::Allowed).unwrap();
        let known = Known::read(&environment).unwrap();
        assert_eq!(known.state(&base, "1"), Some(State::Allowed));
        assert_eq!(known.state(Path::new("/victim"), "2"), None);
    }

    #[test]
    fn lines_that_cannot_be_read_allow_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let environment = environment(dir.path());
        std::fs::write(dir.path().join(FILE), "own\nall 1 /a\nown 1\n\u{fffd}\nown 2 /b c\n")
            .unwrap();
        let known = Known::read(&environment).unwrap();
        assert_eq!(known.state(Path::new("/a"), "1"), None);
        assert_eq!(known.state(Path::new("/b c"), "2"), Some(State::Own));
    }
}
