//! Recognises second checkouts of a git repository (`git worktree add`), which hold the files of the first one again.
//! Submodules are no copies, and are read.

use std::path::{Component, Path, PathBuf};

use crate::files::open::{EntryKind, FolderEntry};
use crate::files::reach::{Reach, ResolvedFolder};

/// In a second checkout, a file instead of a folder.
const GIT: &str = ".git";

/// The folder of a repository that has one folder for each of its second checkouts.
const WORKTREES: &str = "worktrees";

/// The beginning of the file (<https://git-scm.com/docs/gitrepository-layout>).
const POINTER: &str = "gitdir:";

/// Longer files are not read: git writes one line into the first, and some hundred bytes into the second.
const MAX_POINTER_BYTES: u64 = 65_536;
const MAX_CONFIG_BYTES: u64 = 1_000_000;

/// Whether a folder with these entries is a second checkout of a repository, the first checkout of which is below `top`
/// or not on this machine. If the first one is elsewhere, or there is none, no other folder has these files.
pub(super) fn is_second(
    reach: &Reach,
    top: &ResolvedFolder,
    folder: &Path,
    entries: &[FolderEntry],
) -> bool {
    if !entries.iter().any(|entry| entry.name == GIT && entry.kind == EntryKind::File) {
        return false;
    }
    let pointer = reach.read(&folder.join(GIT), MAX_POINTER_BYTES).unwrap_or_default();
    let Some(repository) = repository(folder, &String::from_utf8_lossy(&pointer)) else {
        return false;
    };
    let Some(first) = repository.parent() else { return false };
    let is_below = top.within(first).is_some() || first.starts_with(top.real());
    let config = reach.read(&repository.join("config"), MAX_CONFIG_BYTES).unwrap_or_default();
    if is_below { !is_bare(&String::from_utf8_lossy(&config)) } else { !first.is_dir() }
}

/// Returns the folder `.git` to whose `worktrees` the file in a folder points; `None` if it points elsewhere, such as
/// to that of a submodule.
fn repository(folder: &Path, pointer: &str) -> Option<PathBuf> {
    let target = pointer.strip_prefix(POINTER)?.lines().next()?.trim();
    let mut path = PathBuf::new();
    for component in folder.join(target).components() {
        match component {
            Component::ParentDir => drop(path.pop()),
            other => path.push(other),
        }
    }
    let worktrees = path.parent().filter(|parent| parent.ends_with(WORKTREES))?;
    worktrees.ancestors().find(|above| above.ends_with(GIT)).map(Path::to_owned)
}

/// Whether the settings of a repository say that it has no first checkout.
fn is_bare(config: &str) -> bool {
    let lines = config.lines().map(|line| line.replace(char::is_whitespace, ""));
    lines.into_iter().any(|line| line.eq_ignore_ascii_case("bare=true"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_second_checkouts_point_to_worktrees() {
        for (pointer, expected) in [
            ("gitdir: /code/app/.git/worktrees/fix\n", Some("/code/app/.git")),
            ("gitdir: ../.git/worktrees/fix", Some("/code/app/.git")),
            ("gitdir: /code/app/.git/modules/lib/worktrees/fix\n", Some("/code/app/.git")),
            ("gitdir: ../.git/modules/lib\n", None),
            ("gitdir: /code/app/.git/modules/worktrees\n", None),
            ("gitdir: /code/app.git/worktrees/fix\n", None),
            ("gitdir:", None),
            ("", None),
        ] {
            let found = repository(Path::new("/code/app/wt"), pointer);
            assert_eq!(found.as_deref(), expected.map(Path::new), "{pointer}");
        }
    }

    #[test]
    fn a_bare_repository_says_so() {
        assert!(is_bare("[core]\n\tfilemode = true\n\tbare = true\n"));
        assert!(!is_bare("[core]\n\tbare = false\n"));
        assert!(!is_bare(""));
    }
}
