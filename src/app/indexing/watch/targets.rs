//! Decides what to update after changes were announced.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::app::Session;
use crate::app::indexing::ingestion::options::is_claimed;
use crate::app::indexing::watch::following::WatchedFolders;
use crate::error::Result;
use crate::ingest::roots::Roots;
use crate::ingest::walk::innermost;
use crate::store::RememberedFile;
use crate::text::paths;

/// Files that change which other files of their folder are indexed.
const RULES: [&str; 3] = [".gitignore", ".ignore", ".kbignore"];

/// Returns the files and folders to update: a remembered file itself, for a new one its folder, because ignore
/// rules apply to it. Hidden files and files of unknown types give nothing.
pub(super) fn targets(
    session: &Session,
    following: &WatchedFolders,
    changed: &[PathBuf],
) -> Result<Vec<PathBuf>> {
    let Some(store) = session.open_existing()? else { return Ok(Vec::new()) };
    let trees = following.trees();
    // All added folders count, because one may be added although it is hidden in another one.
    let roots = Roots::of(&store, session.config().ingestion.follow_links)?;
    let folders: Vec<PathBuf> =
        roots.folders().map(Path::to_owned).chain(trees.iter().cloned()).collect();
    let mut known: Option<Vec<RememberedFile>> = None;
    let mut found: Vec<PathBuf> = Vec::new();
    for path in changed {
        if store.known_path(&paths::path_text(path))?.is_some() {
            found.push(path.clone());
            continue;
        }
        let Some(folder) = innermost(&folders, path) else { continue };
        if innermost(&trees, path).is_none() || is_hidden(path, folder) {
            continue;
        }
        if path.is_dir() {
            found.push(path.clone());
        } else if path.symlink_metadata().is_ok() {
            if is_claimed(session, path) || is_rule(path) {
                found.extend(path.parent().map(Path::to_owned));
            }
        } else {
            // A missing path may be a folder that was removed or moved away.
            if known.is_none() {
                known = Some(store.known_files()?);
            }
            let mut files = known.iter().flatten().map(|file| paths::path_of(&file.stamp.path));
            if files.any(|file| file.starts_with(path)) {
                found.push(path.clone());
            }
        }
    }
    store.close()?;
    Ok(outermost(found))
}

/// Returns each path once, and none below another one, so that no folder is walked twice.
fn outermost(mut found: Vec<PathBuf>) -> Vec<PathBuf> {
    found.sort();
    found.dedup();
    let outer = found
        .iter()
        .filter(|path| !found.iter().any(|other| other != *path && path.starts_with(other)));
    outer.cloned().collect()
}

/// Whether a walk of `tree` would skip the path because of its name or that of a folder above it.
fn is_hidden(path: &Path, tree: &Path) -> bool {
    let Ok(below) = path.strip_prefix(tree) else { return true };
    let above = below.parent().unwrap_or(Path::new(""));
    above.iter().any(is_dotted) || below.file_name().is_some_and(is_dotted) && !is_rule(path)
}

fn is_dotted(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn is_rule(path: &Path) -> bool {
    path.file_name().is_some_and(|name| RULES.iter().any(|rule| name == *rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_walked_once_however_many_of_its_files_change() {
        for (found, expected) in [
            (&["/b", "/a", "/b", "/a"][..], &["/a", "/b"][..]),
            (&["/a/b", "/a", "/a/b/c.md", "/ab"], &["/a", "/ab"]),
            (&["/a/b", "/a/c"], &["/a/b", "/a/c"]),
            (&[], &[]),
        ] {
            let found = found.iter().map(PathBuf::from).collect();
            assert_eq!(outermost(found), expected.iter().map(PathBuf::from).collect::<Vec<_>>());
        }
    }

    #[test]
    fn hidden_files_are_skipped_except_rules() {
        for (path, expected) in [
            ("/d/a.md", false),
            ("/d", false),
            ("/d/.a.md", true),
            ("/d/.git/index", true),
            ("/d/.git/.gitignore", true),
            ("/d/sub/.kbignore", false),
            ("/e/a.md", true),
        ] {
            assert_eq!(is_hidden(Path::new(path), Path::new("/d")), expected, "{path}");
        }
        assert!(!is_hidden(Path::new("/home/.notes/a.md"), Path::new("/home/.notes")));
    }
}
