//! Describes a skill and its files for clients that load skills from a server.
//!
//! The rules are those of the MCP Skills extension (SEP-2640): a complete list of files with their hashes.

use std::collections::BTreeSet;

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

/// Describes the files of a skill, in byte order of their paths; `None` if the extension does not allow to serve it.
pub fn describe(skill: &FoundSkill) -> Result<Option<Vec<ServedFile>>> {
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
    Ok(Some(described))
}

/// Lists the direct children of a directory of a skill, in byte order of their paths below the skill's directory, and
/// whether each is a directory; `None` if there is no such directory. The skill itself is the directory `""`.
pub fn directory(skill: &FoundSkill, path: &str) -> Result<Option<BTreeSet<(String, bool)>>> {
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let mut entries = BTreeSet::new();
    for file in skill_files::list(&skill.skill.dir)?.files {
        let Some(rest) = file.path.strip_prefix(&prefix) else { continue };
        let (child, is_directory) = match rest.split_once('/') {
            Some((child, _)) => (child, true),
            None => (rest, false),
        };
        entries.insert((format!("{prefix}{child}"), is_directory));
    }
    Ok((!entries.is_empty()).then_some(entries))
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
        let files = describe(&skill).unwrap().unwrap();
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["SKILL.md", "a/b.txt"]);
        let file = &files[1];
        assert_eq!((file.size_bytes, file.sha256.clone()), (3, hash::sha256("abc")));
        let entry = |path: &str, is_directory| (path.to_owned(), is_directory);
        let top = directory(&skill, "").unwrap();
        assert_eq!(top, Some([entry("SKILL.md", false), entry("a", true)].into()));
        assert_eq!(directory(&skill, "a").unwrap(), Some([entry("a/b.txt", false)].into()));
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
