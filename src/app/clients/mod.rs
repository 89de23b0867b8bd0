//! Enters the server into the settings of the programs that start it, and finds entries that are stale.
//!
//! Only the command line does this. An agent must not be able to change how it is started.

mod edited;
mod in_json;
mod in_toml;
pub mod stale;
mod table;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::app::Session;
use crate::config::Environment;
use crate::error::{Error, Result};
use crate::files::open::{Links, read};
use crate::files::{path, write};

pub use edited::NAME;
use edited::{Edited, Fault};
use table::Notation;
pub use table::{CLIENTS, Client, System};

/// Most bytes of settings. Claude Code keeps a history in its file, which grows to some megabytes.
const MAX_BYTES: u64 = 64 << 20;

/// Bytes that some editors put before UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEntry {
    /// The absolute path of a program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
}

/// What happens to the entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It is new.
    Added,
    /// It is changed.
    Updated,
    /// It is removed.
    Removed,
    /// It is already as wanted.
    Unchanged,
    /// It should be removed and is not there.
    Absent,
}

impl Action {
    /// Returns the word for JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Updated => "updated",
            Self::Removed => "removed",
            Self::Unchanged => "unchanged",
            Self::Absent => "absent",
        }
    }
}

/// A change of settings that has not been made yet.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Whose settings.
    pub client: &'static Client,
    /// The file that changes: links are followed.
    pub path: PathBuf,
    /// What happens.
    pub action: Action,
    /// The entry as it is written in the file.
    pub before: Option<String>,
    /// The entry as it will be written.
    pub after: Option<String>,
    /// The content of the file; `None` if it is missing.
    old: Option<Vec<u8>>,
    new: String,
}

/// Returns the entry that starts this program as a server, on the data directory that was named for
/// this run and on the knowledge base `base`, if one was named.
pub fn entry(session: &Session, base: Option<&str>, allows_writing: bool) -> Result<ServerEntry> {
    let mut args = vec!["mcp".to_owned()];
    // A project's knowledge base has no name where the server will be started.
    let is_project = base.is_some() && session.place.is_project();
    if is_project {
        args.extend(["--data-dir".to_owned(), unicode(&session.place.dir)?]);
    } else if session.resolved.names_data_dir() {
        args.extend(["--data-dir".to_owned(), unicode(&session.home)?]);
    }
    if let Some(base) = base.filter(|_| !is_project) {
        args.extend(["--base".to_owned(), base.to_owned()]);
    }
    if allows_writing {
        args.push("--allow-write".to_owned());
    }
    Ok(ServerEntry { command: unicode(&this_program()?)?, args })
}

/// Returns the path of the running program.
pub fn this_program() -> Result<PathBuf> {
    let program = std::env::current_exe();
    program.map_err(|source| Error::Io { path: PathBuf::from("kb"), source })
}

fn unicode(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| Error::Usage {
        message: format!("{} cannot be written into settings: it is not Unicode", path.display()),
        hint: Some("use a path without such characters".into()),
    })
}

/// Works out how the settings of a program change if the entry is set, or removed without one.
pub fn plan(
    environment: &Environment,
    system: System,
    client: &'static Client,
    entry: Option<&ServerEntry>,
) -> Result<Plan> {
    let named = client.settings(environment, system);
    let path = write::destination(&named).map_err(|source| Error::of_file(&named, source))?;
    let old = content(&path)?;
    let (mark, text) = text(old.as_deref().unwrap_or_default(), &path)?;
    let fields = entry.map(|entry| client.shape.fields(&entry.command, &entry.args));
    let edited = match client.notation {
        Notation::Json | Notation::Jsonc => in_json::edit(text, client, fields.as_ref()),
        Notation::Toml => in_toml::edit(text, client, fields.as_ref()),
    };
    let edited = edited.map_err(|fault| fault.in_file(&path))?;
    let action = match (&edited.before, &edited.after) {
        (None, None) => Action::Absent,
        (None, Some(_)) => Action::Added,
        (Some(_), None) => Action::Removed,
        (Some(before), Some(after)) if before == after => Action::Unchanged,
        (Some(_), Some(_)) => Action::Updated,
    };
    let new = format!("{mark}{}", edited.text);
    let Edited { before, after, .. } = edited;
    Ok(Plan { client, path, action, before, after, old, new })
}

impl Plan {
    /// Whether there is something to do.
    pub fn changes(&self) -> bool {
        !matches!(self.action, Action::Unchanged | Action::Absent)
    }

    /// Writes the settings in one step, if they change; the file keeps its permissions. Removes what a
    /// killed run has left next to them.
    pub fn apply(&self) -> Result<()> {
        let folder = path::folder_of(&self.path);
        write::collect(folder);
        if !self.changes() {
            return Ok(());
        }
        // Programs write into their settings while they run.
        if content(&self.path)? != self.old {
            return Err(Error::Config {
                path: self.path.clone(),
                message: "it has changed meanwhile; nothing was written".into(),
                hint: Some("run the command again".into()),
            });
        }
        let failed = |source| Error::of_file(&self.path, source);
        write::create_public_folder(folder).map_err(failed)?;
        write::replace_of_user(&self.path, self.new.as_bytes()).map_err(failed)
    }
}

/// Returns the content of a file; `None` if it is missing.
fn content(path: &Path) -> Result<Option<Vec<u8>>> {
    match read(path, Links::Follow, MAX_BYTES) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(Error::PathNotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the text of settings, after the mark that some editors put before it.
fn text<'a>(bytes: &'a [u8], path: &Path) -> Result<(&'static str, &'a str)> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        Fault { line: Some(line), message: "it is not UTF-8".into() }.in_file(path)
    })?;
    Ok(match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    })
}
