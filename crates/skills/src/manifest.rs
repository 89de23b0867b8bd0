//! Reads and writes the manifest, a small JSON file that records what was built, when, and from
//! which bytes.

use std::path::Path;

use serde_json::{Value, json};

use crate::caller::Caller;
use crate::error::{Error, Result};
use crate::files::open::{self, SymlinkPolicy};
use crate::files::write;
use crate::place::Skill;

/// Version of the file's shape.
const VERSION: u32 = 1;

/// Largest size of a manifest: hundreds of times the usual one.
const MAX_BYTES: u64 = 1 << 16;

/// The contents of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildManifest {
    /// Name in the front matter of the skill.
    pub skill: String,
    /// Hash over the files it was built from.
    pub source_hash: String,
}

/// Reads a skill's manifest; `None` if there is no usable one.
pub fn read(skill: &Skill) -> Option<BuildManifest> {
    let path = skill.manifest_path();
    let bytes = open::read(&path, SymlinkPolicy::RefuseBelow(&skill.runtime), MAX_BYTES).ok()?;
    let value: Value = serde_json::from_slice(&bytes).ok()?;
    Some(BuildManifest {
        skill: value.get("skill")?.as_str()?.to_owned(),
        source_hash: value.get("source_hash")?.as_str()?.to_owned(),
    })
}

/// Writes a skill's manifest.
pub(super) fn write(caller: &Caller, skill: &Skill, manifest: &BuildManifest) -> Result<()> {
    let value = json!({
        "skill": manifest.skill,
        "version": VERSION,
        "built_at": caller.timestamp,
        "source_hash": manifest.source_hash,
    });
    replace(&skill.manifest_path(), &format!("{value:#}\n"))
}

/// Writes a file of a runtime directory atomically, readable only by its owner.
pub(super) fn replace(path: &Path, text: &str) -> Result<()> {
    write::replace_own(path, text.as_bytes()).map_err(|source| Error::of_file(path, source))
}
