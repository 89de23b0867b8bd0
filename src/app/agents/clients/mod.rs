//! Enters the server into the settings of the programs that start it, and finds entries that are stale.
//!
//! Only the command line does this. An agent must not be able to change how it is started.

mod edited;
mod in_json;
mod in_toml;
mod in_yaml;
pub mod stale;
mod table;

#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::app::Session;
use crate::config::Environment;
use crate::error::{Error, Result};
use crate::files::open::{SymlinkPolicy, read_if_there};
use crate::files::{path, private, program, write};
use crate::text::fields;
use crate::text::paths::canonical;
use crate::wording::{option, wording};

use edited::{EditedSettings, SettingsFault, WantedEntry};
pub use edited::{NAME, OtherFields};
use table::Notation;
pub use table::{CLIENTS, Client, ServerEntry, System};

/// Most bytes of settings. Claude Code keeps a history in its file, which grows to some megabytes.
const MAX_BYTES: u64 = 64 << 20;

/// Bytes that some editors put before UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Which settings change.
#[derive(Debug, Clone, Copy)]
pub enum Settings<'a> {
    /// Those of the user with this environment, on this system.
    OfUser(&'a Environment, System),
    /// Those of the project in this folder.
    OfProject(&'a Path),
}

fields::words! {
    /// The change of the entry.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Action {
        /// It is new.
        Added = "added",
        /// It is changed.
        Updated = "updated",
        /// It is removed.
        Removed = "removed",
        /// It is already as wanted.
        Unchanged = "unchanged",
        /// It should be removed and is not there.
        Absent = "absent",
    }
}

/// A change of settings that has not been made yet.
#[derive(Debug, Clone)]
pub struct SettingsPlan {
    /// Whose settings.
    pub client: &'static Client,
    /// The file that changes, without links.
    pub path: PathBuf,
    /// The keys that lead to the servers, joined by points.
    pub key: String,
    /// The change of the entry.
    pub action: Action,
    /// The entry as it is written in the file.
    pub before: Option<String>,
    /// The entry as it will be written.
    pub after: Option<String>,
    /// The fields of the earlier entry that kb does not write, kept and dropped.
    pub others: OtherFields,
    /// The content of the file; `None` if it is missing.
    old: Option<Vec<u8>>,
    new: String,
}

/// Returns the entry that starts this program as a server, on the data directory that was named for
/// this run and on the knowledge base `base`, if one was named.
pub fn entry(session: &Session, base: Option<&str>, allows_writing: bool) -> Result<ServerEntry> {
    let mut args = vec!["mcp".to_owned()];
    // A project's knowledge base has no name where the server will be started.
    let is_project = base.is_some() && session.place().is_project();
    if is_project {
        args.extend(["--data-dir".to_owned(), unicode(&session.place().dir)?]);
    } else if session.resolved().names_data_dir() {
        args.extend(["--data-dir".to_owned(), unicode(session.home())?]);
    }
    if let Some(base) = base.filter(|_| !is_project) {
        args.extend(["--base".to_owned(), base.to_owned()]);
    }
    if allows_writing {
        args.push("--allow-write".to_owned());
    }
    Ok(ServerEntry { command: unicode(&program::path()?)?, args })
}

fn unicode(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Error::usage(format!(
            "{} cannot be written into settings: it is not Unicode",
            path.display()
        ))
        .with_hint("use a path that is Unicode")
    })
}

/// Returns the entry for settings that a project shares: the program as each finds it, which looks for the project's
/// knowledge base itself.
pub fn shared_entry(base: Option<&str>, allows_writing: bool) -> ServerEntry {
    let mut args = vec!["mcp".to_owned()];
    args.extend(base.into_iter().flat_map(|base| ["--base".to_owned(), base.to_owned()]));
    args.extend(allows_writing.then(|| "--allow-write".to_owned()));
    ServerEntry { command: NAME.to_owned(), args }
}

/// Works out how the settings of a program change if the entry is set, or removed without one. `version` returns the
/// first number of the version of a program; it is asked only where it matters.
pub fn plan(
    client: &'static Client,
    settings: Settings<'_>,
    entry: Option<&ServerEntry>,
    version: &dyn Fn(&str) -> Option<u32>,
) -> Result<SettingsPlan> {
    let named = match settings {
        Settings::OfUser(environment, system) => client.settings(environment, system),
        Settings::OfProject(folder) => {
            let below = client.of_project().ok_or_else(|| no_project(client))?;
            folder.join(below)
        }
    };
    let is_new = client
        .newer
        .is_some_and(|newer| version(client.name).is_some_and(|version| version >= newer.version));
    let path = write::real_destination(&named).map_err(|source| Error::of_file(&named, source))?;
    if let Settings::OfProject(folder) = settings {
        refuse_outside(folder, &named, &path)?;
    }
    let old = read_if_there(&path, SymlinkPolicy::Follow, MAX_BYTES)?;
    let (mark, text) = text(old.as_deref().unwrap_or_default(), &path)?;
    // Other fields of a project's settings are dropped. Another person may have written them, and a variable there
    // can load a library into kb.
    let keeps_others = matches!(settings, Settings::OfUser(..));
    let wanted = WantedEntry { entry, keeps_others };
    let edited = match client.notation {
        Notation::Json | Notation::Jsonc => in_json::edit(text, client, is_new, wanted),
        Notation::Toml => in_toml::edit(text, client, wanted),
        Notation::Yaml => in_yaml::edit(text, client, wanted),
    };
    let edited = edited.map_err(|fault| fault.in_file(&path))?;
    let action = match (&edited.before, &edited.after) {
        (None, None) => Action::Absent,
        (None, Some(_)) => Action::Added,
        (Some(_), None) => Action::Removed,
        (Some(_), Some(_)) if edited.text == text => Action::Unchanged,
        (Some(_), Some(_)) => Action::Updated,
    };
    let mark = if edited.text.is_empty() { "" } else { mark };
    let new = format!("{mark}{}", edited.text);
    let EditedSettings { key, before, after, others, .. } = edited;
    Ok(SettingsPlan { client, path, key, action, before, after, others, old, new })
}

/// Refuses settings of a project that a link in it puts elsewhere: the author of the project would
/// choose which file of the user changes.
fn refuse_outside(project: &Path, named: &Path, real: &Path) -> Result<()> {
    let folder = canonical(project).map_err(|source| Error::of_file(project, source))?;
    if real.starts_with(folder) {
        return Ok(());
    }
    let message =
        format!("a link points outside the project, to {}; nothing was changed", real.display());
    Err(Error::config(named, message).with_hint("remove the link, then run the command again"))
}

fn no_project(client: &Client) -> Error {
    let known = CLIENTS.iter().filter(|client| client.of_project().is_some());
    let names: Vec<&str> = known.map(|client| client.name).collect();
    Error::usage(format!("kb knows no project settings of {}", client.title)).with_hint(wording!(
        "`{}` works for {}",
        option("--project"),
        names.join(", ")
    ))
}

impl SettingsPlan {
    /// Whether there is something to do.
    pub fn changes(&self) -> bool {
        !matches!(self.action, Action::Unchanged | Action::Absent)
    }

    /// Writes the settings in one step, if they change; the file keeps its permissions. Removes the files that a killed
    /// run has left next to them.
    pub fn apply(&self) -> Result<()> {
        let folder = path::folder_of(&self.path);
        write::collect(folder);
        if !self.changes() {
            return Ok(());
        }
        // Programs write into their settings while they run, so these are read again just before they are replaced.
        if read_if_there(&self.path, SymlinkPolicy::Follow, MAX_BYTES)? != self.old {
            return Err(Error::config(
                &self.path,
                "it has changed in the meantime; nothing was \
                written",
            )
            .with_hint("run the command again"));
        }
        let failed = |source| Error::of_file(&self.path, source);
        if self.new.trim().is_empty() {
            write::remove(&self.path).map_err(failed)?;
            write::remove_empty_folder(folder);
            return Ok(());
        }
        private::create_folder(folder).map_err(failed)?;
        write::replace_of_user(&self.path, self.new.as_bytes()).map_err(failed)
    }
}

/// Returns the text of settings, after the mark that some editors put before it.
fn text<'a>(bytes: &'a [u8], path: &Path) -> Result<(&'static str, &'a str)> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        SettingsFault { line: Some(line), message: "it is not UTF-8".into() }.in_file(path)
    })?;
    Ok(match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    })
}
