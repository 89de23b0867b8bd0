//! Describes a skill and its files for clients that load skills from a server.
//!
//! The rules are those of the MCP Skills extension (SEP-2640): a complete list of files with their hashes.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::error::Result;
use crate::hash;
use crate::lint;
use crate::place::SKILL_FILE;
use crate::registry::FoundSkill;
use crate::skill_files::{self, SourceFile};

/// Largest number of files of a skill that every client accepts, by the extension.
const MAX_FILES: usize = 512;

/// Largest total size of a skill that every client accepts, by the extension.
const MAX_BYTES: u64 = 16 << 20;

/// A skill as servers describe it.
#[derive(Debug, Clone, PartialEq)]
pub struct ServedSkill {
    /// The name in its front matter.
    pub name: String,
    /// Its front matter; an object with all fields.
    pub front_matter: Value,
    /// All files, in byte order of their paths.
    pub files: Vec<ServedFile>,
}

/// A file of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedFile {
    /// Below the skill's directory, with `/`.
    pub path: String,
    /// SHA-256 of its bytes in hex.
    pub sha256: String,
    /// Its length.
    pub size_bytes: u64,
}

/// Whether a skill has a name, a description and files that the extension allows.
pub fn is_servable(skill: &FoundSkill) -> Result<bool> {
    Ok(allows(skill, &skill_files::list(&skill.skill.dir)?.files))
}

fn allows(skill: &FoundSkill, files: &[SourceFile]) -> bool {
    let total: u64 = files.iter().map(|file| file.size_bytes).sum();
    lint::name_fault(&skill.row.name).is_none()
        && skill.row.description.chars().count() <= lint::MAX_DESCRIPTION_CHARS
        && files.len() <= MAX_FILES
        && total <= MAX_BYTES
        && files.iter().any(|file| file.path == SKILL_FILE)
}

/// Describes a skill; `None` if the extension does not allow to serve it.
pub fn describe(skill: &FoundSkill) -> Result<Option<ServedSkill>> {
    let files = skill_files::list(&skill.skill.dir)?.files;
    if !allows(skill, &files) {
        return Ok(None);
    }
    let mut described = Vec::new();
    for file in files {
        let bytes = file.read()?;
        let size_bytes = bytes.len() as u64;
        described.push(ServedFile { path: file.path, sha256: hash::sha256(&bytes), size_bytes });
    }
    Ok(Some(ServedSkill {
        name: skill.row.name.clone(),
        // It was made by this program from the front matter.
        front_matter: serde_json::from_str(&skill.row.frontmatter_json).unwrap_or_default(),
        files: described,
    }))
}

/// An entry of a directory of a skill.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirectoryEntry {
    /// Below the skill's directory, with `/`.
    pub path: String,
    /// Whether it is a directory.
    pub is_directory: bool,
}

/// Lists the direct children of a directory of a skill, in byte order; `None` if there is no such directory. The
/// skill itself is the directory `""`.
pub fn directory(skill: &FoundSkill, path: &str) -> Result<Option<Vec<DirectoryEntry>>> {
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let mut entries = BTreeSet::new();
    for file in skill_files::list(&skill.skill.dir)?.files {
        let Some(rest) = file.path.strip_prefix(&prefix) else { continue };
        let (child, is_directory) = match rest.split_once('/') {
            Some((child, _)) => (child, true),
            None => (rest, false),
        };
        entries.insert(DirectoryEntry { path: format!("{prefix}{child}"), is_directory });
    }
    Ok((!entries.is_empty()).then(|| entries.into_iter().collect()))
}

/// Whether a path is that of a file that [`describe`] lists.
pub fn has_file(skill: &FoundSkill, path: &str) -> Result<bool> {
    Ok(skill_files::list(&skill.skill.dir)?.files.iter().any(|file| file.path == path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;
    use crate::testing::World;

    fn found(world: &World) -> FoundSkill {
        let roots = registry::roots(&world.caller, None);
        registry::skills_of(&world.caller, &roots[0]).pop().unwrap()
    }

    #[test]
    fn every_file_is_described_with_hash_and_size() {
        let world = World::new();
        world.skill("project/.skillc/skills/xx");
        world.write("project/.skillc/skills/xx/a/b.txt", "abc");
        let skill = found(&world);
        let served = describe(&skill).unwrap().unwrap();
        assert_eq!(served.front_matter["description"], "Use when testing.");
        let paths: Vec<&str> = served.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["SKILL.md", "a/b.txt"]);
        let file = &served.files[1];
        assert_eq!((file.size_bytes, file.sha256.clone()), (3, hash::sha256("abc")));
        let entry = |path: &str, is_directory| DirectoryEntry { path: path.into(), is_directory };
        let top = directory(&skill, "").unwrap();
        assert_eq!(top, Some(vec![entry("SKILL.md", false), entry("a", true)]));
        assert_eq!(directory(&skill, "a").unwrap(), Some(vec![entry("a/b.txt", false)]));
        assert_eq!(directory(&skill, "a/b.txt").unwrap(), None);
        assert!(
            has_file(&skill, "a/b.txt").unwrap() && !has_file(&skill, "a/../SKILL.md").unwrap()
        );
    }

    #[test]
    fn a_skill_beyond_the_limits_is_not_served() {
        let world = World::new();
        world.skill("project/.skillc/skills/xx");
        for number in 1..MAX_FILES {
            world.write(&format!("project/.skillc/skills/xx/{number}.txt"), "");
        }
        assert!(is_servable(&found(&world)).unwrap());
        world.write("project/.skillc/skills/xx/more.txt", "");
        assert!(!is_servable(&found(&world)).unwrap());
        assert_eq!(describe(&found(&world)).unwrap(), None);
    }

    #[test]
    fn a_description_that_is_longer_than_the_standard_allows_is_not_served() {
        let world = World::new();
        for (num_chars, is_served) in [(1024, true), (1025, false)] {
            let description = "ü".repeat(num_chars);
            let text = format!("---\nname: xx\ndescription: {description}\n---\n# xx\n");
            world.write("project/.skillc/skills/xx/SKILL.md", text);
            assert_eq!(is_servable(&found(&world)).unwrap(), is_served);
        }
    }
}
