//! Installs kb's own SKILL.md where agents look for skills.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::caller::Caller;
use crate::deploy::TARGETS;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, Result};
use crate::files::open::{self, Links};
use crate::files::{path, write};
use crate::front_matter;
use crate::place::SKILL_FILE;
use crate::text::fields;

/// The program's own skill.
#[derive(Debug, Clone, Copy)]
pub struct OwnSkill {
    /// The instructions for agents, as of the build of this program.
    pub text: &'static str,
    /// The version of the program.
    pub version: &'static str,
}

/// Largest size of a file that may be kb's own skill: many times its actual size.
const MAX_BYTES: u64 = 1 << 20;

/// Name of the skill.
const NAME: &str = "kb";

/// The installed copy of kb's own skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Installed {
    /// The file.
    #[serde(serialize_with = "fields::path")]
    pub path: PathBuf,
    /// The version of kb that it belongs to.
    pub version: &'static str,
    /// Whether it was written; false if it already existed.
    #[serde(rename = "written")]
    pub is_new: bool,
}

/// What is at the destination of the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Nothing.
    Free,
    /// The skill of this program.
    Current,
    /// The skill of another version, or something else.
    Other,
}

/// An installed copy of kb's own skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "AgentSkill")]
pub struct Found {
    /// The file.
    #[serde(serialize_with = "fields::path")]
    pub path: PathBuf,
    /// Version of kb that wrote it.
    pub version: Option<String>,
    /// Whether it is the version of this program.
    #[serde(rename = "current")]
    pub is_current: bool,
}

/// Returns each copy of kb's own skill that an agent finds below a home directory, in the order of
/// [`TARGETS`].
///
/// Copies that [`install`] wrote to other directories are not tracked. A copy that is not current
/// has another version, or was edited: `kb skill install --target ...` asks before it replaces it.
pub fn installed(own: OwnSkill, home: &Path) -> Vec<Found> {
    let paths = TARGETS.iter().map(|(_, dir)| below(&home.join(dir).join("skills")));
    let found = |path: PathBuf| {
        let text = read(&path)?;
        let version = front_matter::read(&text)
            .ok()
            .and_then(|(fields, _)| fields.text_in("metadata", "version"));
        Some(Found { path, version, is_current: text == own.text_with_version() })
    };
    paths.filter_map(found).collect()
}

/// Returns the path of the skill within a directory of skills.
fn below(folder: &Path) -> PathBuf {
    folder.join(NAME).join(SKILL_FILE)
}

/// Returns the path of the skill for an agent, or below a directory.
pub fn path(caller: &Caller, target: &str) -> PathBuf {
    let known = TARGETS.iter().find(|(name, _)| *name == target);
    let folder = known
        .map_or_else(|| caller.cwd.join(target), |(_, dir)| caller.home.join(dir).join("skills"));
    below(&folder)
}

/// Returns what is at a path.
pub fn place(own: OwnSkill, path: &Path) -> Place {
    match (path.symlink_metadata(), read(path)) {
        (Err(_), _) => Place::Free,
        (Ok(_), Some(text)) if text == own.text_with_version() => Place::Current,
        (Ok(_), _) => Place::Other,
    }
}

/// Writes the skill and replaces an existing file.
pub fn install(own: OwnSkill, path: &Path) -> Result<Installed> {
    // If a killed run had written the skill, nothing else removes its draft.
    write::collect(path::folder_of(path));
    let is_new = place(own, path) != Place::Current;
    if is_new {
        if path.is_dir() {
            let message = format!("{} is a directory", path.display());
            return Err(Diagnostic::InvalidOption { message, hint: None }.into());
        }
        let write = || {
            path.parent().map_or(Ok(()), write::create_public_folder)?;
            // Replaces a link, not the file it leads to.
            write::replace_public(path, own.text_with_version().as_bytes())
        };
        write().map_err(|source| Error::of_file(path, source))?;
    }
    Ok(Installed { path: path.to_owned(), version: own.version, is_new })
}

/// Returns the text of a file; `None` if it cannot be read.
fn read(path: &Path) -> Option<String> {
    String::from_utf8(open::read(path, Links::Follow, MAX_BYTES).ok()?).ok()
}

impl OwnSkill {
    /// Returns the text with the version in its front matter.
    fn text_with_version(self) -> String {
        let version = format!("\nmetadata:\n  version: \"{}\"\n---\n", self.version);
        self.text.replacen("\n---\n", &version, 1)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::testing::World;

    const OWN: OwnSkill = OwnSkill { text: "---\nname: kb\n---\n# kb\n", version: "1.2.3" };

    #[test]
    fn the_skill_is_written_once_and_replaces_links_but_not_their_targets() {
        let world = World::new();
        let path = path(&world.caller, "dir");
        assert_eq!(place(OWN, &path), Place::Free);
        assert!(install(OWN, &path).unwrap().is_new);
        assert_eq!(place(OWN, &path), Place::Current);
        assert!(!install(OWN, &path).unwrap().is_new);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("---\nname: kb\n") && text.contains("\nmetadata:\n  version: \""));
        fs::write(&path, "mine").unwrap();
        assert_eq!(place(OWN, &path), Place::Other);
        #[cfg(unix)]
        {
            let mine = world.path("mine.md");
            fs::write(&mine, "mine").unwrap();
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink(&mine, &path).unwrap();
            assert!(install(OWN, &path).unwrap().is_new);
            assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
        }
        assert!(super::path(&world.caller, "codex").ends_with(".codex/skills/kb/SKILL.md"));
    }

    #[test]
    fn a_skill_of_another_version_is_not_current() {
        let world = World::new();
        let home = &world.caller.home;
        assert_eq!(installed(OWN, home), []);
        for target in ["codex", "claude", "cursor"] {
            install(OWN, &path(&world.caller, target)).unwrap();
        }
        let claude = path(&world.caller, "claude");
        let old = fs::read_to_string(&claude).unwrap();
        let current = OWN.version;
        fs::write(&claude, old.replacen(&format!("\"{current}\""), "\"0.0.1\"", 1)).unwrap();
        fs::write(path(&world.caller, "cursor"), "mine").unwrap();
        let found: Vec<(Option<String>, bool)> = installed(OWN, home)
            .into_iter()
            .map(|skill| (skill.version, skill.is_current))
            .collect();
        let version = |text: &str| Some(text.to_owned());
        assert_eq!(found, [(version("0.0.1"), false), (version(current), true), (None, false)]);
    }
}
