//! Lists the files of a skill as a tree.
//!
//! At each level directories come before files, both in byte order. A directory without matching
//! files is left out.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobMatcher};

use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::place::Skill;
use crate::{path, skill_files};

/// Which part of the tree to list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcesOptions {
    /// Levels to show; all if `None`.
    pub depth: Option<u32>,
    /// Directory to start at, below the skill's.
    pub dir: Option<String>,
    /// Largest number of entries to return.
    pub limit: u32,
    /// Files to list: a glob on their names, or on their paths if it contains a `/`.
    pub pattern: Option<String>,
}

/// Files and directories in the order of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    /// Label of the root: the skill's name, or the start directory.
    pub root: String,
    /// Up to the limit.
    pub entries: Vec<SourceEntry>,
    /// Entries beyond the limit.
    pub num_more: usize,
}

/// A file or a directory in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceEntry {
    /// Below the skill's directory.
    pub path: String,
    /// Whether it is a directory.
    pub is_dir: bool,
    /// Number of files below a collapsed directory.
    pub num_files: Option<usize>,
    /// For each directory above it, topmost first, and for the entry itself: whether it is the last
    /// of its level.
    pub is_last: Vec<bool>,
}

/// Lists a skill's files.
pub(super) fn sources(skill: &Skill, options: &SourcesOptions) -> Result<Sources> {
    let start = match &options.dir {
        Some(dir) => start(skill, dir)?,
        None => String::new(),
    };
    let pattern = options.pattern.as_deref().map(glob).transpose()?;
    let mut tree = SourceTree::default();
    for path in paths(skill)? {
        let is_wanted = pattern.as_ref().is_none_or(|pattern| pattern.is_match(&path));
        if let Some(below) = path.strip_prefix(&start).filter(|_| is_wanted) {
            tree.add(below);
        }
    }
    let mut entries = Vec::new();
    tree.flatten(&start, &[], options.depth.unwrap_or(u32::MAX), &mut entries);
    let limit = options.limit as usize;
    let num_more = entries.len().saturating_sub(limit);
    entries.truncate(limit);
    let root = if start.is_empty() { format!("{}/", skill.name) } else { start };
    Ok(Sources { root, entries, num_more })
}

/// Returns the start directory followed by a `/`; empty for the skill's directory.
fn start(skill: &Skill, dir: &str) -> Result<String> {
    let place = path::locate(&skill.dir, dir)?
        .filter(|path| path.is_dir())
        .ok_or_else(|| Diagnostic::DirectoryNotFound(dir.to_owned()))?;
    let below = place.strip_prefix(&skill.dir).unwrap_or(&place);
    let below = crate::text::paths::path_text(below);
    Ok(if below.is_empty() { below } else { below + "/" })
}

/// Returns all files, including links to files within the skill: each can be opened.
fn paths(skill: &Skill) -> Result<Vec<String>> {
    let listing = skill_files::list(&skill.dir)?;
    let mut paths: Vec<String> = listing.files.into_iter().map(|file| file.path).collect();
    for (link, _) in listing.links {
        if let Ok(Some(place)) = path::locate(&skill.dir, &link)
            && place.is_file()
        {
            paths.push(link);
        }
    }
    Ok(paths)
}

/// Parses a pattern.
pub fn glob(pattern: &str) -> Result<NamePattern> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| {
        Diagnostic::InvalidOption {
            message: format!("pattern {pattern}: {}", error.kind()),
            hint: None,
        }
    })?;
    Ok(NamePattern { matcher: glob.compile_matcher(), is_path: pattern.contains('/') })
}

/// A glob on names or on paths.
#[derive(Debug, Clone)]
pub struct NamePattern {
    matcher: GlobMatcher,
    is_path: bool,
}

impl NamePattern {
    /// Whether a path, or its last component, matches.
    pub fn is_match(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.matcher.is_match(if self.is_path { path } else { name })
    }
}

/// Directories by name, and the names of files.
#[derive(Default)]
struct SourceTree {
    dirs: BTreeMap<String, Self>,
    files: Vec<String>,
}

impl SourceTree {
    fn add(&mut self, path: &str) {
        match path.split_once('/') {
            Some((dir, below)) => self.dirs.entry(dir.to_owned()).or_default().add(below),
            None => self.files.push(path.to_owned()),
        }
    }

    fn num_files(&self) -> usize {
        self.files.len() + self.dirs.values().map(Self::num_files).sum::<usize>()
    }

    fn flatten(mut self, prefix: &str, above: &[bool], depth: u32, entries: &mut Vec<SourceEntry>) {
        let Some(depth_below) = depth.checked_sub(1) else { return };
        self.files.sort_unstable();
        let num_entries = self.dirs.len() + self.files.len();
        let is_last = |idx: usize| [above, &[idx + 1 == num_entries]].concat();
        let num_dirs = self.dirs.len();
        for (idx, (name, below)) in self.dirs.into_iter().enumerate() {
            let (path, is_last) = (format!("{prefix}{name}"), is_last(idx));
            let num_files = (depth_below == 0).then(|| below.num_files());
            entries.push(SourceEntry {
                path: path.clone(),
                is_dir: true,
                num_files,
                is_last: is_last.clone(),
            });
            below.flatten(&format!("{path}/"), &is_last, depth_below, entries);
        }
        for (idx, name) in self.files.into_iter().enumerate() {
            entries.push(SourceEntry {
                path: format!("{prefix}{name}"),
                is_dir: false,
                num_files: None,
                is_last: is_last(num_dirs + idx),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve;
    use crate::testing::World;

    fn world() -> World {
        let world = World::new();
        for path in [
            "SKILL.md", "Zoo.md", "a.md", "b/c.md", "b/d/e.md", "b/d/f.txt", "b-2/g.md", ".hidden",
            ".git/config",
        ] {
            world.write(&format!("project/.skillc/skills/x/{path}"), "");
        }
        world
    }

    const ALL: SourcesOptions =
        SourcesOptions { depth: None, dir: None, limit: 100, pattern: None };

    #[track_caller]
    fn check(options: &SourcesOptions, expected: &[&str], num_more: usize) {
        let world = world();
        let skill = resolve::resolve(&world.caller, "x").unwrap();
        let found = sources(&skill, options).unwrap();
        let paths: Vec<String> = found
            .entries
            .into_iter()
            .map(|entry| match entry.num_files {
                Some(num_files) => format!("{}/ ({num_files})", entry.path),
                None if entry.is_dir => entry.path + "/",
                None => entry.path,
            })
            .collect();
        assert_eq!(paths, expected);
        assert_eq!(found.num_more, num_more);
    }

    #[test]
    fn directories_come_first_and_both_are_in_byte_order() {
        let all = [
            "b/", "b/d/", "b/d/e.md", "b/d/f.txt", "b/c.md", "b-2/", "b-2/g.md", ".hidden",
            "SKILL.md", "Zoo.md", "a.md",
        ];
        check(&ALL, &all, 0);
        check(&SourcesOptions { limit: 2, ..ALL }, &all[..2], 9);
    }

    #[test]
    fn depth_counts_levels() {
        let flat = ["b/ (3)", "b-2/ (1)", ".hidden", "SKILL.md", "Zoo.md", "a.md"];
        check(&SourcesOptions { depth: Some(1), ..ALL }, &flat, 0);
        check(
            &SourcesOptions { depth: Some(2), ..ALL },
            &[
                "b/", "b/d/ (2)", "b/c.md", "b-2/", "b-2/g.md", ".hidden", "SKILL.md", "Zoo.md",
                "a.md",
            ],
            0,
        );
        check(&SourcesOptions { depth: Some(0), ..ALL }, &[], 0);
    }

    #[test]
    fn the_start_directory_is_the_first_level() {
        let dir = |dir: &str| Some(dir.to_owned());
        check(&SourcesOptions { dir: dir("b"), depth: Some(1), ..ALL }, &["b/d/ (2)", "b/c.md"], 0);
        check(&SourcesOptions { dir: dir("./b/d/"), ..ALL }, &["b/d/e.md", "b/d/f.txt"], 0);
        check(&SourcesOptions { dir: dir("b-2"), ..ALL }, &["b-2/g.md"], 0);
        let world = world();
        let skill = resolve::resolve(&world.caller, "x").unwrap();
        for (dir, expected) in [
            ("nope", "E022 directory not found: 'nope'"),
            ("a.md", "E022 directory not found: 'a.md'"),
            ("../..", "E012 path escapes skill root: '../..'"),
        ] {
            let options = SourcesOptions { dir: Some(dir.to_owned()), ..ALL };
            let error = sources(&skill, &options).unwrap_err();
            assert_eq!(format!("{} {error}", error.code()), expected);
        }
    }

    #[test]
    fn a_pattern_applies_to_names_or_to_paths() {
        let pattern = |pattern: &str| SourcesOptions { pattern: Some(pattern.to_owned()), ..ALL };
        check(&pattern("*.txt"), &["b/", "b/d/", "b/d/f.txt"], 0);
        check(&pattern("[A-S]*.md"), &["SKILL.md"], 0);
        check(&pattern("b/*.md"), &["b/", "b/c.md"], 0);
        check(&pattern("b/**/*.md"), &["b/", "b/d/", "b/d/e.md", "b/c.md"], 0);
        check(&pattern("nothing"), &[], 0);
        check(&SourcesOptions { depth: Some(1), ..pattern("*.txt") }, &["b/ (1)"], 0);
        assert_eq!(glob("[").unwrap_err().code(), "E100");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_listed_where_they_can_be_opened() {
        let world = world();
        let skill = resolve::resolve(&world.caller, "x").unwrap();
        for (target, link) in [("SKILL.md", "in.md"), ("/etc/passwd", "out"), ("b", "dir")] {
            std::os::unix::fs::symlink(target, skill.dir.join(link)).unwrap();
        }
        let found = sources(&skill, &ALL).unwrap();
        let names: Vec<_> = found.entries.iter().map(|entry| entry.path.as_str()).collect();
        assert!(names.contains(&"in.md"));
        assert!(!names.contains(&"out") && !names.contains(&"dir"));
    }
}
