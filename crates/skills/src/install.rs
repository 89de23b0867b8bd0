//! Installs kb's own skill, SKILL.md and its references, where agents look for skills.

use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::caller::Caller;
use crate::deploy::TARGETS;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, Result};
use crate::files::open::{self, SymlinkPolicy};
use crate::files::{path, private, write};
use crate::front_matter;
use crate::place::SKILL_FILE;
use crate::text::fields;

/// The program's own skill.
#[derive(Debug, Clone, Copy)]
pub struct OwnSkill {
    /// The path of each file below the skill's directory with its text, as of the build of this program. The first
    /// is SKILL.md.
    pub files: &'static [(&'static str, &'static str)],
    /// The version of the program.
    pub version: &'static str,
}

/// Largest size of a file that may be kb's own skill: many times its actual size.
const MAX_BYTES: u64 = 1 << 20;

/// Name of the skill.
const NAME: &str = "kb";

/// The installed copy of kb's own skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct InstalledSkill {
    /// Its SKILL.md.
    #[serde(serialize_with = "fields::path")]
    pub path: PathBuf,
    /// The version of kb that it belongs to.
    pub version: &'static str,
    /// Whether a file was written; false if all existed already.
    #[serde(rename = "written")]
    pub is_new: bool,
}

/// An installed copy of kb's own skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "AgentSkill")]
pub struct InstalledCopy {
    /// Its SKILL.md.
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
/// has another version, or was edited: `kb skill install` asks before it replaces it.
pub fn installed(own: OwnSkill, home: &Path) -> Vec<InstalledCopy> {
    let paths = TARGETS.iter().map(|(_, dir)| below(&home.join(dir).join("skills")));
    paths.filter_map(|path| own.copy_at(path)).collect()
}

/// Returns the path of the skill within a directory of skills.
fn below(folder: &Path) -> PathBuf {
    folder.join(NAME).join(SKILL_FILE)
}

/// Returns the path of the skill for an agent, or below a directory, which is written with a `/`: a mistyped name is
/// no directory.
pub fn path(caller: &Caller, target: &str) -> Result<PathBuf> {
    let known = TARGETS.iter().find(|(name, _)| *name == target);
    if let Some((_, dir)) = known {
        return Ok(below(&caller.home.join(dir).join("skills")));
    }
    if !target.contains(['/', std::path::MAIN_SEPARATOR]) {
        let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
        return Err(Diagnostic::InvalidOption {
            message: format!("unknown agent `{target}`"),
            hint: Some(
                format!("use one of {}; or a directory, as in ./{target}", names.join(", ")).into(),
            ),
        }
        .into());
    }
    Ok(below(&caller.cwd.join(target)))
}

/// Returns the existing files that [`install`] would replace: they are of another version, or something else.
pub fn replaced(own: OwnSkill, path: &Path) -> Vec<PathBuf> {
    let missing = own.missing(path).into_iter().map(|(path, _)| path);
    missing.filter(|path| path.symlink_metadata().is_ok()).collect()
}

/// Writes the files of the skill that are missing, and replaces those that are different.
pub fn install(own: OwnSkill, path: &Path) -> Result<InstalledSkill> {
    // If a killed run had written the skill, nothing else removes its drafts.
    own.files_at(path).for_each(|(path, _)| write::collect(path::folder_of(&path)));
    let missing = own.missing(path);
    // SKILL.md is written last, so that it is nowhere without the files that it leads to.
    for (path, text) in missing.iter().rev() {
        if path.is_dir() {
            let message = format!("{} is a directory", path.display());
            return Err(Diagnostic::InvalidOption { message, hint: None }.into());
        }
        write_file(path, text).map_err(|source| Error::of_file(path, source))?;
    }
    Ok(InstalledSkill { path: path.to_owned(), version: own.version, is_new: !missing.is_empty() })
}

fn write_file(path: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), private::create_folder)?;
    // This replaces a link, not the file that it leads to.
    write::replace_own(path, text.as_bytes())
}

/// Returns the text of a file; `None` if it cannot be read.
fn read(path: &Path) -> Option<String> {
    String::from_utf8(open::read(path, SymlinkPolicy::Follow, MAX_BYTES).ok()?).ok()
}

impl OwnSkill {
    /// Returns the path and the text of each file, where SKILL.md is at `path`, with the version in its front matter.
    fn files_at(self, path: &Path) -> impl Iterator<Item = (PathBuf, String)> {
        let folder = path::folder_of(path);
        let version = format!("\nmetadata:\n  version: \"{}\"\n---\n", self.version);
        self.files.iter().map(move |(name, text)| {
            let is_skill_file = *name == SKILL_FILE;
            let text =
                if is_skill_file { text.replacen("\n---\n", &version, 1) } else { (*text).into() };
            (folder.join(name), text)
        })
    }

    /// Returns the copy whose SKILL.md is at `path`; `None` if it cannot be read.
    fn copy_at(self, path: PathBuf) -> Option<InstalledCopy> {
        let text = read(&path)?;
        let front_matter = front_matter::read(&text).ok();
        let version = front_matter.and_then(|(fields, _)| fields.text_in("metadata", "version"));
        let is_current = self.missing(&path).is_empty();
        Some(InstalledCopy { path, version, is_current })
    }

    /// Returns the path and the text of each file that is not there with this text.
    fn missing(self, path: &Path) -> Vec<(PathBuf, String)> {
        let files = self.files_at(path);
        files.filter(|(path, text)| read(path).as_ref() != Some(text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::testing::World;

    const OWN: OwnSkill = OwnSkill {
        files: &[("SKILL.md", "---\nname: kb\n---\n# kb\n"), ("refs/more.md", "# More\n\n---\n")],
        version: "1.2.3",
    };

    #[test]
    fn the_skill_is_written_once_and_replaces_links_but_not_their_targets() {
        let world = World::new();
        let path = path(&world.caller, "./dir").unwrap();
        assert!(replaced(OWN, &path).is_empty());
        assert!(install(OWN, &path).unwrap().is_new);
        assert!(replaced(OWN, &path).is_empty());
        assert!(!install(OWN, &path).unwrap().is_new);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("---\nname: kb\n") && text.contains("\nmetadata:\n  version: \""));
        fs::write(&path, "mine").unwrap();
        assert_eq!(replaced(OWN, &path), std::slice::from_ref(&path));
        #[cfg(unix)]
        {
            let mine = world.path("mine.md");
            fs::write(&mine, "mine").unwrap();
            fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink(&mine, &path).unwrap();
            assert!(install(OWN, &path).unwrap().is_new);
            assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
        }
        assert!(
            super::path(&world.caller, "codex").unwrap().ends_with(".codex/skills/kb/SKILL.md")
        );
    }

    #[test]
    fn references_are_installed_as_they_are_and_kept_as_the_skill_is() {
        let world = World::new();
        let path = path(&world.caller, "codex").unwrap();
        let more = path.parent().unwrap().join("refs/more.md");
        let is_current = || installed(OWN, &world.caller.home)[0].is_current;
        install(OWN, &path).unwrap();
        assert_eq!(fs::read_to_string(&more).unwrap(), OWN.files[1].1);
        assert!(is_current());
        fs::write(&more, "mine").unwrap();
        assert!(!is_current());
        assert_eq!(replaced(OWN, &path), std::slice::from_ref(&more));
        fs::remove_file(&more).unwrap();
        assert!(!is_current() && replaced(OWN, &path).is_empty());
        // The skill is not there without them.
        fs::remove_file(&path).unwrap();
        fs::create_dir(&more).unwrap();
        install(OWN, &path).unwrap_err();
        assert!(!path.exists());
        fs::remove_dir(&more).unwrap();
        assert!(install(OWN, &path).unwrap().is_new && is_current());
    }

    #[test]
    fn a_mistyped_agent_is_no_directory() {
        let world = World::new();
        let error = path(&world.caller, "cluade").unwrap_err().to_string();
        assert!(error.contains("unknown agent `cluade`"), "{error}");
        for known in ["./cluade", "a/b", "/a", "agents"] {
            path(&world.caller, known).unwrap();
        }
        assert!(path(&world.caller, "agents").unwrap().ends_with(".agents/skills/kb/SKILL.md"));
    }

    #[test]
    fn a_skill_of_another_version_is_not_current() {
        let world = World::new();
        let home = &world.caller.home;
        assert_eq!(installed(OWN, home), []);
        for target in ["codex", "claude", "cursor"] {
            install(OWN, &path(&world.caller, target).unwrap()).unwrap();
        }
        let claude = path(&world.caller, "claude").unwrap();
        let old = fs::read_to_string(&claude).unwrap();
        let current = OWN.version;
        fs::write(&claude, old.replacen(&format!("\"{current}\""), "\"0.0.1\"", 1)).unwrap();
        fs::write(path(&world.caller, "cursor").unwrap(), "mine").unwrap();
        let found: Vec<(Option<String>, bool)> = installed(OWN, home)
            .into_iter()
            .map(|skill| (skill.version, skill.is_current))
            .collect();
        let version = |text: &str| Some(text.to_owned());
        assert_eq!(found, [(version("0.0.1"), false), (version(current), true), (None, false)]);
    }
}
