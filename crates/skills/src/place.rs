//! Describes a skill that exists: its directory, and where its index, manifest and log are kept.

use std::path::{Path, PathBuf};

use crate::caller::{Caller, same_place};
use crate::error::{Error, Result};
use crate::files::{private, write};
use crate::hash;
use crate::text::{fields, paths};

/// The file that makes a directory a skill.
pub const SKILL_FILE: &str = "SKILL.md";

/// The part of a store that holds sources.
const SOURCES: &str = "skills";

/// The part of a store that holds build results.
pub(super) const RUNTIME: &str = "runtime";

/// The directory in a runtime directory that only kb and skc use.
pub const META_DIR: &str = ".skillc-meta";

/// Hex digits of the hash that names an index file: 64 bits. A collision is recognised by the path in the index.
const HASH16_LEN: usize = 16;

fields::words! {
    /// The store a skill belongs to.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum SkillScope {
        /// The project's.
        Project = "project",
        /// The user's.
        Global = "global",
    }
}

/// A skill that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// The name or path that the user typed.
    pub typed: String,
    /// Base name of its directory.
    pub name: String,
    /// Its directory; absolute, links resolved.
    pub dir: PathBuf,
    /// The store its runtime directory is in.
    pub scope: SkillScope,
    /// Where build results go; need not exist.
    pub runtime: PathBuf,
}

impl Skill {
    /// Returns the path of its SKILL.md.
    pub fn skill_file(&self) -> PathBuf {
        self.dir.join(SKILL_FILE)
    }

    /// Returns the directory of index, manifest and log.
    pub fn meta_dir(&self) -> PathBuf {
        self.runtime.join(META_DIR)
    }

    /// Creates and returns the directory of index, manifest and log. Only the owner may read kb's
    /// data about a skill, even if an older version created the directory.
    pub fn make_meta_dir(&self) -> Result<PathBuf> {
        let dir = self.meta_dir();
        private::create_folder(&dir).map_err(|source| Error::of_file(&dir, source))?;
        for place in [&dir, &self.runtime, self.runtime.parent().unwrap_or(&self.runtime)] {
            // A directory of another user keeps that user's permissions.
            let _ = private::close(place);
        }
        Ok(dir)
    }

    /// Removes what killed builds and imports left, even if nothing needs to be built.
    pub(super) fn remove_drafts(&self) {
        write::collect(&self.meta_dir());
        write::collect(&self.runtime);
        if let Some(store) = self.runtime.ancestors().nth(2) {
            write::collect(&sources_of(store));
        }
    }

    /// Returns the index file of this source directory; there may be others next to it.
    pub fn index_path(&self) -> PathBuf {
        self.meta_dir().join(format!("search-{}.db", self.hash16()))
    }

    /// Returns the file that records what was built and when.
    pub fn manifest_path(&self) -> PathBuf {
        self.meta_dir().join("manifest.json")
    }

    /// Returns the access log.
    pub fn log_path(&self) -> PathBuf {
        self.meta_dir().join("logs.db")
    }

    /// Returns its directory as text, distinct for each directory.
    pub fn skill_path(&self) -> String {
        paths::path_text(&self.dir)
    }

    /// Returns the first 16 hex digits of the SHA-256 of its directory's path.
    pub fn hash16(&self) -> String {
        let mut hash = hash::sha256(self.skill_path());
        hash.truncate(HASH16_LEN);
        hash
    }
}

/// Whether a directory is a build result of [`crate::build()`], or a copy of one.
pub fn is_compiled(dir: &Path) -> bool {
    dir.join(META_DIR).join("manifest.json").exists()
}

/// Returns the directory of a store that holds sources.
pub fn sources_of(store: &Path) -> PathBuf {
    store.join(SOURCES)
}

/// Returns the skill in a directory that contains SKILL.md.
///
/// A directory in a store, whatever path leads to it, has its runtime directory in that store. Any
/// other has it in the project's store, or in the global one if there is no project.
pub fn at_path(caller: &Caller, typed: &str, path: &Path) -> Result<Skill> {
    let dir = canonical(path)?;
    for place in [path, &dir] {
        if let Some(store) = store_around(place) {
            return in_store(caller, typed, place, store);
        }
    }
    let (scope, store) = match caller.project_store() {
        Some(store) => (SkillScope::Project, store),
        None => (SkillScope::Global, caller.global_store()),
    };
    let name = base_name(&dir);
    let runtime = runtime_dir(&store, &name);
    Ok(Skill { typed: typed.to_owned(), name, dir, scope, runtime })
}

/// Returns where a store keeps the build results of a skill.
pub fn runtime_dir(store: &Path, name: &str) -> PathBuf {
    store.join(RUNTIME).join(name)
}

fn in_store(caller: &Caller, typed: &str, path: &Path, store: &Path) -> Result<Skill> {
    let name = base_name(path);
    let is_global = same_place(store, &caller.global_store());
    Ok(Skill {
        typed: typed.to_owned(),
        runtime: runtime_dir(store, &name),
        name,
        dir: canonical(path)?,
        scope: if is_global { SkillScope::Global } else { SkillScope::Project },
    })
}

/// Returns the store that contains a path as one of its sources.
fn store_around(path: &Path) -> Option<&Path> {
    let sources = path.parent().filter(|dir| dir.ends_with(SOURCES))?;
    sources.parent().filter(|dir| dir.ends_with(".skillc"))
}

/// Whether a directory contains SKILL.md.
pub fn is_skill(dir: &Path) -> bool {
    dir.join(SKILL_FILE).is_file()
}

fn base_name(dir: &Path) -> String {
    dir.file_name().map_or_else(|| "root".into(), |name| paths::path_text(Path::new(name)))
}

fn canonical(path: &Path) -> Result<PathBuf> {
    paths::canonical(path).map_err(|source| Error::of_file(path, source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_is_named_by_the_hash_of_the_path() {
        let skill = Skill {
            typed: "my-skill".into(),
            name: "my-skill".into(),
            dir: "/tmp/skc/w/proj/.skillc/skills/my-skill".into(),
            scope: SkillScope::Project,
            runtime: "/r/my-skill".into(),
        };
        // The name that skc 0.2.1 gave to the index of this exact path.
        let expected = "/r/my-skill/.skillc-meta/search-66edeaf27426600c.db";
        assert_eq!(skill.index_path(), Path::new(expected));
    }
}
