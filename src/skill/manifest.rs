//! What was built, when, from which bytes: a small JSON file in, values out, and the reverse.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::skill::caller::Caller;
use crate::skill::resolve::Skill;

/// Version of the file's shape.
const VERSION: u32 = 1;

/// What a manifest says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// Name in the front matter of the skill.
    pub skill: String,
    /// Hash over the files it was built from.
    pub source_hash: String,
}

/// Reads a skill's manifest; `None` if there is none that can be used.
pub fn read(skill: &Skill) -> Option<Manifest> {
    let value: Value = serde_json::from_slice(&fs::read(skill.manifest_path()).ok()?).ok()?;
    let text = |key: &str| value.get(key)?.as_str().map(str::to_owned);
    Some(Manifest { skill: text("skill")?, source_hash: text("source_hash")? })
}

/// Writes a skill's manifest.
///
/// # Errors
///
/// [`Error::Io`].
pub(super) fn write(caller: &Caller, skill: &Skill, manifest: &Manifest) -> Result<()> {
    let value = json!({
        "skill": manifest.skill,
        "version": VERSION,
        "built_at": caller.timestamp,
        "source_hash": manifest.source_hash,
    });
    replace(&skill.manifest_path(), &format!("{value:#}\n"))
}

/// Writes a file in one step.
///
/// # Errors
///
/// [`Error::Io`].
pub(super) fn replace(path: &Path, text: &str) -> Result<()> {
    let draft = path.with_extension(format!("{}.draft", std::process::id()));
    fs::write(&draft, text)
        .and_then(|()| fs::rename(&draft, path))
        .inspect_err(|_| drop(fs::remove_file(&draft)))
        .map_err(|source| Error::Io { path: path.to_owned(), source })
}
