//! Writes the rules that keep removed files away into the ignore files of added folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::open::{self, SymlinkPolicy};
use crate::files::write;
use crate::ingest::roots::Roots;
use crate::ingest::walk::{KB_IGNORE, MAX_IGNORE_BYTES, MAX_IGNORE_LINES};
use crate::wording::{kb, option, wording};

/// A line of the ignore file of an added folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct IgnoreLine {
    /// The added folder.
    folder: PathBuf,
    /// The pattern, which matches one file or folder.
    line: String,
}

/// Returns the rule that excludes a file, or a folder with everything below it.
pub(crate) fn rule(roots: &Roots, path: &Path, is_folder: bool) -> Result<IgnoreLine> {
    let shown = path.display();
    // The rule goes into the innermost folder: its rules apply to walks from all folders above it.
    let below = roots.folder_of(path).and_then(|root| Some((root, path.strip_prefix(root).ok()?)));
    let Some((folder, below)) = below.filter(|(_, below)| !below.as_os_str().is_empty()) else {
        if roots.folders().any(|root| root.starts_with(path)) {
            return Err(Error::usage(format!("{shown} is or contains an added folder")).with_hint(
                wording!(
                    "without `{}`, removing it also prevents its files from being added \
                    again",
                    option("--ignore")
                ),
            ));
        }
        return Err(Error::usage(format!("{shown} is not below an added folder")).with_hint(
            wording!(
                "without `{}`, removing it is enough: `{}` does not add it again",
                option("--ignore"),
                kb("update")
            ),
        ));
    };
    let Some(below) = below.to_str() else {
        return Err(Error::usage(format!("no ignore rule can name {shown}"))
            .with_hint(wording!("remove it without `{}`", option("--ignore"))));
    };
    let mut line = String::from("/");
    for c in below.chars() {
        match c {
            // A rule is one line, so a line end in a name becomes a wildcard for one character.
            '\n' | '\r' => line.push('?'),
            c if c == std::path::MAIN_SEPARATOR => line.push('/'),
            '\\' | '*' | '?' | '[' | ']' | '{' | '}' => line.extend(['\\', c]),
            c => line.push(c),
        }
    }
    if is_folder {
        line.push('/');
    } else if line.ends_with(' ') {
        line.insert(line.len() - 1, '\\');
    }
    Ok(IgnoreLine { folder: folder.to_owned(), line })
}

/// Adds rules to the ignore files of their folders, creating missing files; returns how many were
/// added. A rule that a file has already is not added.
pub(crate) fn write(rules: &BTreeSet<IgnoreLine>) -> Result<usize> {
    let mut by_folder: BTreeMap<&Path, Vec<&str>> = BTreeMap::new();
    for rule in rules {
        by_folder.entry(&rule.folder).or_default().push(&rule.line);
    }
    let mut num_added = 0;
    for (folder, lines) in by_folder {
        // A killed run may have left a draft, which nothing else removes.
        write::collect(folder);
        let path = folder.join(KB_IGNORE);
        let links = SymlinkPolicy::RefuseBelow(folder);
        let text = open::read_if_there(&path, links, MAX_IGNORE_BYTES)?;
        let mut text = text.unwrap_or_default();
        let known: BTreeSet<Vec<u8>> = text
            .split(|byte| *byte == b'\n')
            .map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec())
            .collect();
        let new: Vec<&str> =
            lines.into_iter().filter(|line| !known.contains(line.as_bytes())).collect();
        if new.is_empty() {
            continue;
        }
        if !text.is_empty() && !text.ends_with(b"\n") {
            text.push(b'\n');
        }
        for line in &new {
            text.extend_from_slice(line.as_bytes());
            text.push(b'\n');
        }
        let num_lines = text.iter().filter(|byte| **byte == b'\n').count();
        if num_lines > MAX_IGNORE_LINES || text.len() as u64 > MAX_IGNORE_BYTES {
            return Err(Error::usage(format!("{} would be longer than kb reads", path.display()))
                .with_hint("add one rule to it that matches all these files"));
        }
        write::replace_output(&path, &text).map_err(|source| Error::of_file(&path, source))?;
        num_added += new.len();
    }
    Ok(num_added)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::AddedFolder;

    fn line(path: &str, is_folder: bool) -> Result<String> {
        let root = |path: &str| AddedFolder {
            path: path.into(),
            tags: Vec::new(),
            doc_type: None,
            language: None,
            follows_links: false,
            real_path: None,
        };
        let roots = Roots::new(["/a", "/a/inner"].map(root).to_vec(), false);
        rule(&roots, Path::new(path), is_folder).map(|rule| rule.line)
    }

    #[test]
    fn a_rule_matches_one_file_whatever_its_name() {
        for (path, expected) in [
            ("/a/b.md", "/b.md"),
            ("/a/b/c d.md", "/b/c d.md"),
            ("/a/inner/x", "/x"),
            ("/a/[b]*?{c,d}\\", "/\\[b\\]\\*\\?\\{c,d\\}\\\\"),
            ("/a/!b#", "/!b#"),
            ("/a/b ", "/b\\ "),
            ("/a/b\nc", "/b?c"),
        ] {
            assert_eq!(line(path, false).unwrap(), expected);
        }
        assert_eq!(line("/a/b", true).unwrap(), "/b/");
    }

    #[test]
    fn only_files_below_an_added_folder_have_a_rule() {
        for path in ["/a", "/", "/b/c"] {
            assert!(matches!(line(path, true), Err(Error::Usage { .. })), "{path}");
        }
    }

    #[test]
    fn rules_are_added_once_below_those_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let rules = |lines: &[&str]| -> BTreeSet<IgnoreLine> {
            let rule = |line: &&str| IgnoreLine {
                folder: dir.path().to_owned(),
                line: (*line).to_owned(),
            };
            lines.iter().map(rule).collect()
        };
        let text = || std::fs::read_to_string(dir.path().join(KB_IGNORE)).unwrap();
        assert_eq!(write(&rules(&[])).unwrap(), 0);
        assert_eq!(write(&rules(&["/b", "/a"])).unwrap(), 2);
        assert_eq!(text(), "/a\n/b\n");
        std::fs::write(dir.path().join(KB_IGNORE), "# mine\r\n/a\r\n/x").unwrap();
        assert_eq!(write(&rules(&["/a", "/c"])).unwrap(), 1);
        assert_eq!(text(), "# mine\r\n/a\r\n/x\n/c\n");
        assert_eq!(write(&rules(&["/a", "/c"])).unwrap(), 0);
        let longest = "#\n".repeat(MAX_IGNORE_LINES - 1);
        std::fs::write(dir.path().join(KB_IGNORE), &longest).unwrap();
        assert_eq!(write(&rules(&["/a"])).unwrap(), 1);
        assert!(write(&rules(&["/b"])).is_err());
        assert_eq!(text(), format!("{longest}/a\n"));
    }
}
