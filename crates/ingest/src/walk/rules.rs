//! Reads ignore files and decides which files they exclude.
//!
//! An ignore file comes with the folder, so it is not trusted: a pipe, a device, a link that leaves
//! the folder or a file of gigabytes is skipped and reported. Ignore files above an added folder
//! apply only within the git repository that the folder belongs to.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::error::{Error, Result};
use crate::files::open;
use crate::files::open::{EntryKind, FolderEntry, SymlinkPolicy};

use super::left_out::LeftOutReason;

/// kb's ignore file, in the syntax of `.gitignore`; its rules override those of `.gitignore`.
pub const KB_IGNORE: &str = ".kbignore";

/// git's ignore file.
const GIT_IGNORE: &str = ".gitignore";

/// The entry that makes a folder the top of a git repository.
const GIT: &str = ".git";

/// Rules of a repository that are not committed, relative to [`GIT`].
const GIT_EXCLUDE: &str = "info/exclude";

/// A longer ignore file is not used; the longest in real projects have a few thousand bytes.
pub const MAX_BYTES: u64 = 1_000_000;

/// An ignore file with more lines is not used, as each line may cost a regular expression.
pub const MAX_LINES: usize = 10_000;

/// A longer line is not a rule, as no path is that long.
const MAX_LINE_BYTES: usize = 4096;

/// The rules that apply in a folder: those of the folder and of the folders above it.
#[derive(Clone, Default)]
pub(super) struct IgnoreRules(Option<Arc<FolderRules>>);

/// The rules of one folder.
struct FolderRules {
    above: Option<Arc<Self>>,
    kb: Gitignore,
    git: Gitignore,
    exclude: Gitignore,
}

/// The decision of the rules about a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IgnoreDecision {
    /// Exclude it, as this rule says.
    Out(LeftOutReason),
    /// Include it, even if it is hidden.
    In,
    /// No rule matches.
    None,
}

/// Where ignore files are read, and the problems found in them.
pub(super) struct IgnoreFiles<'a> {
    /// The folder that links must not leave; its path has no links.
    top: &'a Path,
    follows_links: bool,
    problems: &'a mut Vec<Error>,
}

impl<'a> IgnoreFiles<'a> {
    pub(super) fn new(top: &'a Path, follows_links: bool, problems: &'a mut Vec<Error>) -> Self {
        Self { top, follows_links, problems }
    }

    /// Reads an ignore file of `folder`, if there is one; problems are reported with the path
    /// `shown`.
    fn rules(&mut self, folder: &Path, name: &str, shown: &Path) -> Gitignore {
        let text = match self.read(&folder.join(name)) {
            Ok(text) => text,
            Err(Error::PathNotFound { .. }) => return Gitignore::empty(),
            Err(error) => {
                self.report(shown.join(name), reason(&error));
                return Gitignore::empty();
            }
        };
        match compile(folder, &text) {
            Ok(rules) => rules,
            Err(reason) => {
                self.report(shown.join(name), reason);
                Gitignore::empty()
            }
        }
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>> {
        if self.follows_links {
            return open::read(path, SymlinkPolicy::Follow, MAX_BYTES);
        }
        match read_unlinked(path) {
            Err(refused @ Error::LinkRefused { .. }) => match open::resolve_links(path) {
                Ok(real) if real.starts_with(self.top) => read_unlinked(&real),
                _ => Err(refused),
            },
            other => other,
        }
    }

    fn report(&mut self, path: PathBuf, reason: String) {
        self.problems.push(Error::IgnoreFile { path, reason });
    }
}

/// Reads a file whose path must not contain links.
fn read_unlinked(path: &Path) -> Result<Vec<u8>> {
    open::read(path, SymlinkPolicy::RefuseBelow(path.ancestors().last().unwrap_or(path)), MAX_BYTES)
}

fn reason(error: &Error) -> String {
    match error {
        Error::LinkRefused { .. } => "it is a link that points outside the folder".into(),
        Error::NotAFile { .. } => "it is not a file".into(),
        Error::OverLimit { limit_bytes, .. } => format!("it is longer than {limit_bytes} bytes"),
        Error::Io { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}

/// Compiles the lines of an ignore file; a line that is not a valid pattern is skipped.
fn compile(folder: &Path, text: &[u8]) -> std::result::Result<Gitignore, String> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let mut rules = GitignoreBuilder::new(folder);
    for (idx, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if idx > MAX_LINES {
            return Err(format!("it has more than {MAX_LINES} lines"));
        }
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Ok(line) = str::from_utf8(line)
            && line.len() <= MAX_LINE_BYTES
        {
            // git also skips invalid patterns.
            let _ = rules.add_line(None, line);
        }
    }
    rules.build().map_err(|_| "its patterns are too large in total".to_owned())
}

impl IgnoreRules {
    /// Returns the rules that apply to a folder (a path without links) from above: those of the git
    /// repository that it belongs to, or none if it belongs to none.
    pub(super) fn above(folder: &Path, problems: &mut Vec<Error>) -> Self {
        let Some(top) = repository(folder) else { return Self::default() };
        let mut source = IgnoreFiles::new(top, false, problems);
        let mut between: Vec<&Path> =
            folder.ancestors().skip(1).take_while(|above| above.starts_with(top)).collect();
        between.reverse();
        between.into_iter().fold(Self::default(), |rules, above| {
            let has_exclude = above == top;
            rules.with(&mut source, above, above, [true, true, has_exclude])
        })
    }

    /// Returns the rules that apply in a folder, given those of the folder above it.
    ///
    /// `folder` is its path without links, `shown` is the path that is reported.
    pub(super) fn within(
        &self,
        source: &mut IgnoreFiles<'_>,
        folder: &Path,
        shown: &Path,
        entries: &[FolderEntry],
    ) -> Self {
        let has_git =
            entries.iter().any(|entry| entry.name == GIT && entry.kind == EntryKind::Folder);
        let has = [has_file(entries, KB_IGNORE), has_file(entries, GIT_IGNORE), has_git];
        self.clone().with(source, folder, shown, has)
    }

    /// Adds a folder's rules: those of [`KB_IGNORE`], [`GIT_IGNORE`] and [`GIT_EXCLUDE`] for which
    /// `has` is true.
    fn with(
        self,
        source: &mut IgnoreFiles<'_>,
        folder: &Path,
        shown: &Path,
        has: [bool; 3],
    ) -> Self {
        if has == [false; 3] {
            return self;
        }
        let mut rules = |has: bool, name: &str| {
            if has { source.rules(folder, name, shown) } else { Gitignore::empty() }
        };
        let kb = rules(has[0], KB_IGNORE);
        let git = rules(has[1], GIT_IGNORE);
        let exclude = rules(has[2], &format!("{GIT}/{GIT_EXCLUDE}"));
        if kb.is_empty() && git.is_empty() && exclude.is_empty() {
            return self;
        }
        Self(Some(Arc::new(FolderRules { above: self.0, kb, git, exclude })))
    }

    /// Returns what the rules decide about a path without links above it. kb's rules override
    /// git's, and the rules of a folder override those of the folders above it.
    pub(super) fn verdict(&self, path: &Path, is_folder: bool) -> IgnoreDecision {
        let kinds: [fn(&FolderRules) -> &Gitignore; 3] =
            [|node| &node.kb, |node| &node.git, |node| &node.exclude];
        for (kind, rule) in kinds.into_iter().zip([
            LeftOutReason::Kbignore,
            LeftOutReason::Gitignore,
            LeftOutReason::Gitignore,
        ]) {
            for node in std::iter::successors(self.0.as_deref(), |node| node.above.as_deref()) {
                match kind(node).matched(path, is_folder) {
                    Match::None => {}
                    Match::Ignore(_) => return IgnoreDecision::Out(rule),
                    Match::Whitelist(_) => return IgnoreDecision::In,
                }
            }
        }
        IgnoreDecision::None
    }
}

/// Returns the top of the git repository that a folder belongs to, if the top is above the folder.
///
/// Only a repository of the folder's owner counts: any user can create a `.git` in `/tmp`, and git
/// does not use such a repository either.
fn repository(folder: &Path) -> Option<&Path> {
    if owner_of_git(folder).is_some() {
        return None;
    }
    let owner = open::owner(&folder.metadata().ok()?);
    let above = folder.ancestors().skip(1);
    let mut tops = above.filter_map(|above| Some((above, owner_of_git(above)?)));
    let (top, owner_of_repository) = tops.next()?;
    let owner_of_top = open::owner(&top.metadata().ok()?);
    (owner_of_repository == owner && owner_of_top == owner).then_some(top)
}

/// Returns the owner of the `.git` in a folder, if the system names one; `None` if there is no `.git`.
fn owner_of_git(folder: &Path) -> Option<Option<u32>> {
    let metadata = folder.join(GIT).symlink_metadata().ok()?;
    (metadata.is_dir() || metadata.is_file()).then(|| open::owner(&metadata))
}

/// Whether there is an entry with this name that is no folder.
fn has_file(entries: &[FolderEntry], name: &str) -> bool {
    entries.iter().any(|entry| entry.name == name && entry.kind != EntryKind::Folder)
}
