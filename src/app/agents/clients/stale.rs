//! Finds entries that no longer start this program, or start it on a missing folder.

use std::path::{Path, PathBuf};

use super::table::{CLIENTS, Client, Notation, System, is_kb, started};
use super::{MAX_BYTES, NAME, in_json, in_toml, in_yaml, text};
use crate::config::Environment;
use crate::error::{Error, Result};
use crate::files::open::{SymlinkPolicy, read_if_there};
use crate::text::paths::resolved;

/// An entry for kb in the settings of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StaleEntry {
    /// The name of the program for people.
    pub title: &'static str,
    /// Its name on the command line.
    pub client: &'static str,
    /// The settings.
    pub path: PathBuf,
    /// The name of the entry.
    pub name: String,
    /// Its problem, if it has one.
    pub problem: Option<Problem>,
}

/// A problem of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The program that it starts does not exist.
    NoProgram(String),
    /// The program that it starts is another kb.
    OtherProgram(String),
    /// The data directory that it names does not exist.
    NoDataDir(String),
}

/// Returns all entries that start kb, in the order of the programs, and an error for each file that
/// cannot be read. `program` is the one that runs.
pub fn find(
    environment: &Environment,
    system: System,
    program: &Path,
) -> (Vec<StaleEntry>, Vec<Error>) {
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    for client in &CLIENTS {
        let path = client.settings(environment, system);
        match entries(client, &path) {
            Ok(entries) => {
                all.extend(entries.into_iter().map(|(name, command, args)| StaleEntry {
                    title: client.title,
                    client: client.name,
                    path: path.clone(),
                    problem: problem(environment, program, &command, &args),
                    name,
                }));
            }
            Err(error) => errors.push(error),
        }
    }
    (all, errors)
}

/// Returns name, program and arguments of each entry that starts kb as a server.
fn entries(client: &Client, path: &Path) -> Result<Vec<(String, String, Vec<String>)>> {
    let Some(bytes) = read_if_there(path, SymlinkPolicy::Follow, MAX_BYTES)? else {
        return Ok(Vec::new());
    };
    let (_, text) = text(&bytes, path)?;
    let all = match client.notation {
        Notation::Json | Notation::Jsonc => in_json::entries(text, client),
        Notation::Toml => in_toml::entries(text, client),
        Notation::Yaml => in_yaml::entries(text, client),
    };
    let all = all.map_err(|fault| fault.in_file(path))?.into_iter().filter_map(|(name, entry)| {
        let (command, args) = started(&entry)?;
        // An entry may have another name. It is one of kb if it starts `kb mcp`.
        let serves = is_kb(&command) && args.iter().any(|arg| arg == "mcp");
        (serves || name == NAME).then_some((name, command, args))
    });
    Ok(all.collect())
}

fn problem(
    environment: &Environment,
    program: &Path,
    command: &str,
    args: &[String],
) -> Option<Problem> {
    let named = Path::new(command);
    let found = match named.components().count() {
        // The program looks for a bare name with its own PATH, which may differ from this one.
        1 => environment.program(command),
        _ => Some(named.to_owned()).filter(|path| path.is_file()),
    };
    let Some(found) = found else { return Some(Problem::NoProgram(command.to_owned())) };
    if resolved(&found) != resolved(program) {
        return Some(Problem::OtherProgram(command.to_owned()));
    }
    let dir = data_dir(args).filter(|dir| Path::new(dir).is_absolute());
    dir.filter(|dir| !Path::new(dir).is_dir()).map(|dir| Problem::NoDataDir(dir.to_owned()))
}

/// Returns the data directory that arguments name.
fn data_dir(args: &[String]) -> Option<&str> {
    const FLAG: &str = "--data-dir";
    args.iter().enumerate().find_map(|(i, arg)| match arg.strip_prefix(FLAG)? {
        "" => args.get(i + 1).map(String::as_str),
        rest => rest.strip_prefix('='),
    })
}
