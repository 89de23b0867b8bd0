//! kb's own SKILL.md in, a skill where an agent looks out.

use std::fs;
use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::error::{Error, Result};
use crate::skill::caller::Caller;
use crate::skill::deploy::TARGETS;
use crate::skill::resolve::SKILL_FILE;

/// What agents are told, as it was when this program was built.
const OWN_SKILL: &str = include_str!("../../SKILL.md");

/// What the skill is called.
const NAME: &str = "kb";

/// Where kb's own skill is, or is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// Its SKILL.md.
    pub path: PathBuf,
    /// The version of the program it is from.
    pub version: &'static str,
    /// Whether the file was written; not if it was there as it should be.
    pub is_new: bool,
}

/// What is in the place of the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Nothing.
    Free,
    /// The skill of this program.
    Current,
    /// That of another version, or something else.
    Other,
}

/// Returns where the skill goes for an agent, or below a directory.
pub fn path(caller: &Caller, target: &str) -> PathBuf {
    let known = TARGETS.iter().find(|(name, _)| *name == target);
    let folder = known
        .map_or_else(|| caller.cwd.join(target), |(_, dir)| caller.home.join(dir).join("skills"));
    folder.join(NAME).join(SKILL_FILE)
}

/// Looks at what is there.
pub fn place(path: &Path) -> Place {
    match (path.symlink_metadata(), fs::read_to_string(path)) {
        (Err(_), _) => Place::Free,
        (Ok(_), Ok(text)) if text == text_with_version() => Place::Current,
        (Ok(_), _) => Place::Other,
    }
}

/// Writes the skill, in the place of what is there.
///
/// # Errors
///
/// [`Error::Io`]; [`Diagnostic::InvalidOption`] if a directory is in its place.
pub fn install(path: &Path) -> Result<Installed> {
    let version = env!("CARGO_PKG_VERSION");
    let is_new = place(path) != Place::Current;
    if is_new {
        if path.is_dir() {
            let message = format!("{} is a directory", path.display());
            return Err(Diagnostic::InvalidOption { message, hint: None }.into());
        }
        let write = || {
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            // What a link leads to stays as it is.
            if path.is_symlink() {
                fs::remove_file(path)?;
            }
            fs::write(path, text_with_version())
        };
        write().map_err(|source| Error::Io { path: path.to_owned(), source })?;
    }
    Ok(Installed { path: path.to_owned(), version, is_new })
}

/// Returns the skill with the version in its front matter.
fn text_with_version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    OWN_SKILL.replacen("\n---\n", &format!("\nmetadata:\n  version: \"{version}\"\n---\n"), 1)
}

#[cfg(test)]
mod tests {
    use super::super::testing::World;
    use super::*;

    #[test]
    fn the_skill_is_written_once_with_its_version_and_replaces_links_not_what_they_lead_to() {
        let world = World::new();
        let path = path(&world.caller, "dir");
        assert_eq!(place(&path), Place::Free);
        assert!(install(&path).unwrap().is_new);
        assert_eq!(place(&path), Place::Current);
        assert!(!install(&path).unwrap().is_new);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("---\nname: kb\n") && text.contains("\nmetadata:\n  version: \""));
        fs::write(&path, "mine").unwrap();
        assert_eq!(place(&path), Place::Other);
        #[cfg(unix)]
        {
            let mine = world.path("mine.md");
            fs::write(&mine, "mine").unwrap();
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink(&mine, &path).unwrap();
            assert!(install(&path).unwrap().is_new);
            assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
        }
        assert!(super::path(&world.caller, "codex").ends_with(".codex/skills/kb/SKILL.md"));
    }
}
