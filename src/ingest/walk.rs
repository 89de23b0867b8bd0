//! Roots in, files out: which files there are, one at a time, in the same order every time.
//!
//! Knows ignore rules, links and the size limit; what a file is, is for [`super::detect`] to say.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use ignore::WalkBuilder;

use crate::error::{Error, Result};
use crate::ingest::{detect, paths};

/// Our own ignore file, in the syntax of `.gitignore`; it wins over that one.
const KB_IGNORE: &str = ".kbignore";

/// What a megabyte is in `ingestion.max_file_mb`.
const BYTES_PER_MB: u64 = 1_000_000;

/// How to walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkOptions {
    /// Files larger than this many megabytes (of 1,000,000 bytes) are not read.
    pub max_file_mb: u64,
    /// Whether links found below a root are followed; a root that is a link always is.
    pub follow_links: bool,
}

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Where it is; as reached, without `.` and `..`, links not resolved.
    pub path: PathBuf,
    /// Its length.
    pub size_bytes: u64,
    /// Time of the last change since 1970, as the file system says.
    pub mtime_ns: i64,
    /// Whether it was named itself rather than found in a directory.
    pub is_named: bool,
}

/// Returns the files of `roots` (absolute paths): roots as given, below each one siblings in
/// byte order of their names. A file that two roots or two links lead to comes once.
///
/// Hidden files and what `.gitignore` and `.kbignore` say are left out below a root, never a root
/// itself. Loops of links end; FIFOs, devices and sockets are left out. A file over the size limit
/// that is neither named itself nor has a name some format claims is left out too: it would have
/// been ignored anyway.
///
/// # Errors
///
/// Items, not the end of the walk: [`Error::PathNotFound`] for a root that does not exist,
/// [`Error::NotAFile`] for one that is neither file nor directory, [`Error::TooLarge`]
/// over the limit, [`Error::Io`] where something cannot be read.
pub fn walk(
    roots: &[PathBuf],
    options: &WalkOptions,
) -> impl Iterator<Item = Result<Found>> + use<> {
    let WalkOptions { max_file_mb, follow_links } = *options;
    let roots: Vec<PathBuf> = roots.iter().map(|root| paths::clean(root)).collect();
    let named: HashSet<PathBuf> =
        roots.iter().filter(|root| !root.is_dir()).map(|root| identity(root)).collect();
    // One root without links cannot reach a file twice, so a plain walk remembers nothing.
    let mut seen = (roots.len() > 1 || follow_links).then(HashSet::new);

    let files = roots.into_iter().flat_map(move |root| files(root, follow_links));
    files.filter_map(move |item| {
        let (path, metadata) = match item {
            Ok(file) => file,
            Err(error) => return Some(Err(error)),
        };
        let is_named = !named.is_empty() && named.contains(&identity(&path));
        if seen.as_mut().is_some_and(|seen| !seen.insert(identity(&path))) {
            return None;
        }
        if metadata.len() > max_file_mb.saturating_mul(BYTES_PER_MB) {
            return (is_named || detect::is_claimed(&path))
                .then_some(Err(Error::TooLarge { path, limit_mb: max_file_mb }));
        }
        Some(Ok(Found {
            path,
            size_bytes: metadata.len(),
            mtime_ns: mtime_ns(&metadata),
            is_named,
        }))
    })
}

/// What makes two paths the same file. Hard links stay two: they are copies that change together,
/// and each has a path of its own to be remembered by.
fn identity(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// A file that is there, or why something is not.
type Item = Result<(PathBuf, Metadata)>;

/// The files of one root.
fn files(root: PathBuf, follow_links: bool) -> Box<dyn Iterator<Item = Item>> {
    match fs::metadata(&root) {
        Ok(metadata) if metadata.is_dir() => Box::new(below(&root, follow_links)),
        Ok(metadata) if metadata.is_file() => Box::new(std::iter::once(Ok((root, metadata)))),
        Ok(_) => Box::new(std::iter::once(Err(Error::NotAFile { path: root }))),
        Err(error) => Box::new(std::iter::once(Err(match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                Error::PathNotFound { path: root }
            }
            _ => Error::Io { path: root, source: error },
        }))),
    }
}

/// The files below a directory.
fn below(root: &Path, follow_links: bool) -> impl Iterator<Item = Item> + use<> {
    let walk = WalkBuilder::new(root)
        .follow_links(follow_links)
        .require_git(false)
        // Only what lies with the files decides: neither the user's git settings nor the
        // ignore files of other tools.
        .git_global(false)
        .ignore(false)
        .add_custom_ignore_filename(KB_IGNORE)
        .sort_by_file_name(Ord::cmp)
        .build();
    let root = root.to_owned();
    walk.filter_map(move |entry| {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => return failure(error, &root).map(Err),
        };
        if !entry.file_type().is_some_and(|it| it.is_file()) {
            return None;
        }
        match entry.metadata() {
            Ok(metadata) => Some(Ok((entry.into_path(), metadata))),
            Err(error) => failure(error, entry.path()).map(Err),
        }
    })
}

/// What a failed step of the walk means to the user; `None` if nothing: a loop of links, a link
/// to nowhere, a file that vanished meanwhile, an ignore rule that makes no sense.
fn failure(error: ignore::Error, near: &Path) -> Option<Error> {
    match error {
        ignore::Error::WithPath { path, err } => failure(*err, &path),
        ignore::Error::WithDepth { err, .. } => failure(*err, near),
        ignore::Error::Io(source) if source.kind() != io::ErrorKind::NotFound => {
            Some(Error::Io { path: near.to_owned(), source })
        }
        _ => None,
    }
}

/// Returns size in bytes and time of the last change of a file; `None` if it is not there.
pub fn stamp(path: &Path) -> Option<(u64, i64)> {
    let metadata = fs::metadata(path).ok().filter(Metadata::is_file)?;
    Some((metadata.len(), mtime_ns(&metadata)))
}

/// Nanoseconds since 1970, negative before; 0 where the file system keeps no time.
fn mtime_ns(metadata: &Metadata) -> i64 {
    let Ok(modified) = metadata.modified() else { return 0 };
    match modified.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Err(before) => {
            i64::try_from(before.duration().as_nanos()).map_or(i64::MIN, |it| it.saturating_neg())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: WalkOptions = WalkOptions { max_file_mb: 1, follow_links: false };

    /// A directory with these files; `/` at the end makes a directory, ` -> ` a link.
    fn tree(entries: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for entry in entries {
            let (name, target) = entry.split_once(" -> ").unwrap_or((entry, ""));
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match target {
                "" if name.ends_with('/') => fs::create_dir_all(&path).unwrap(),
                "" => fs::write(&path, name).unwrap(),
                target => std::os::unix::fs::symlink(target, &path).unwrap(),
            }
        }
        dir
    }

    fn listed(dir: &Path, roots: &[&str], options: &WalkOptions) -> Vec<String> {
        let roots: Vec<PathBuf> = roots.iter().map(|root| dir.join(root)).collect();
        let shown = |path: &Path| path.strip_prefix(dir).unwrap().display().to_string();
        walk(&roots, options)
            .map(|item| match item {
                Ok(Found { path, is_named: true, .. }) => format!("{} (named)", shown(&path)),
                Ok(Found { path, .. }) => shown(&path),
                Err(Error::TooLarge { path, .. }) => format!("{} (too large)", shown(&path)),
                Err(Error::PathNotFound { path }) => format!("{} (not found)", shown(&path)),
                Err(error) => error.to_string(),
            })
            .collect()
    }

    #[track_caller]
    fn check(entries: &[&str], roots: &[&str], expected: &[&str]) {
        let dir = tree(entries);
        assert_eq!(listed(dir.path(), roots, &OPTIONS), expected);
    }

    #[track_caller]
    fn check_following(entries: &[&str], roots: &[&str], expected: &[&str]) {
        let dir = tree(entries);
        let options = WalkOptions { follow_links: true, ..OPTIONS };
        assert_eq!(listed(dir.path(), roots, &options), expected);
    }

    #[test]
    fn files_come_sorted_below_roots_as_given() {
        check(
            &["a/z.md", "a/B.md", "a/b/c.md", "a/b.md", "0/x.md", "a/é.md"],
            &["a", "0"],
            &["a/B.md", "a/b/c.md", "a/b.md", "a/z.md", "a/é.md", "0/x.md"],
        );
    }

    #[test]
    fn an_empty_directory_has_no_files() {
        check(&["a/"], &["a"], &[]);
        check(&[], &[], &[]);
    }

    #[test]
    fn hidden_files_are_skipped_unless_named() {
        let tree = ["a/.x.md", "a/.d/y.md", "a/z.md"];
        check(&tree, &["a"], &["a/z.md"]);
        check(&tree, &["a/.d", "a/.x.md"], &["a/.d/y.md", "a/.x.md (named)"]);
    }

    #[test]
    fn ignore_rules_hold_outside_of_repositories_but_not_for_what_is_named() {
        let dir = tree(&["a/x.log", "a/x.md", "a/build/y.md", "a/draft.md", "a/sub/draft.md"]);
        fs::write(dir.path().join("a/.gitignore"), "*.log\nbuild/\n").unwrap();
        fs::write(dir.path().join("a/.kbignore"), "draft.md\n!/draft.md\n").unwrap();
        assert_eq!(listed(dir.path(), &["a"], &OPTIONS), ["a/draft.md", "a/x.md"]);
        assert_eq!(
            listed(dir.path(), &["a/x.log", "a/build"], &OPTIONS),
            ["a/x.log (named)", "a/build/y.md"]
        );
        assert!(listed(dir.path(), &["a/sub"], &OPTIONS).is_empty(), "rules from above hold");
    }

    #[test]
    fn ignore_files_of_other_tools_and_bad_rules_change_nothing() {
        let dir = tree(&["a/x.md", "a/y.md"]);
        fs::write(dir.path().join("a/.ignore"), "*.md\n").unwrap();
        fs::write(dir.path().join("a/.gitignore"), "{a,b\n[z-\ny.md\n").unwrap();
        assert_eq!(listed(dir.path(), &["a"], &OPTIONS), ["a/x.md"]);
    }

    #[test]
    fn a_missing_root_does_not_stop_the_rest() {
        check(
            &["a.md", "b.md"],
            &["a.md", "none", "a.md/none", "b.md"],
            &["a.md (named)", "none (not found)", "a.md/none (not found)", "b.md (named)"],
        );
    }

    #[test]
    fn a_file_reached_twice_comes_once_and_keeps_being_named() {
        check(
            &["a/b/x.md", "a/y.md"],
            &["a/b", "a", "a/./b/../y.md", "a/y.md"],
            &["a/b/x.md", "a/y.md (named)"],
        );
        check(&["a/x.md", "l -> a"], &["l", "a"], &["l/x.md"]);
    }

    #[test]
    fn links_are_followed_on_request_only() {
        let tree = ["a/x.md", "a/l.md -> ../b/y.md", "a/d -> ../b", "b/y.md", "b/z.md"];
        check(&tree, &["a"], &["a/x.md"]);
        check_following(&tree, &["a"], &["a/d/y.md", "a/d/z.md", "a/x.md"]);
    }

    #[test]
    fn a_link_named_itself_is_followed() {
        check(&["b/y.md", "l -> b"], &["l"], &["l/y.md"]);
        check(&["b/y.md", "l.md -> b/y.md"], &["l.md"], &["l.md (named)"]);
        check(&["l.md -> nowhere"], &["l.md"], &["l.md (not found)"]);
    }

    #[test]
    fn loops_and_links_to_nowhere_are_survived() {
        let tree = ["a/x.md", "a/d/up -> ..", "a/self -> self", "a/gone -> nowhere", "a/y.md"];
        check(&tree, &["a"], &["a/x.md", "a/y.md"]);
        let dir = self::tree(&tree);
        let options = WalkOptions { follow_links: true, ..OPTIONS };
        let listed = listed(dir.path(), &["a"], &options);
        let files: Vec<_> = listed.iter().filter(|it| it.ends_with(".md")).collect();
        assert_eq!(files, ["a/x.md", "a/y.md"]);
    }

    #[test]
    fn files_over_the_limit_are_reported_where_they_would_have_been_read() {
        let dir = tree(&["a/big.md", "a/big.mp4", "a/fits.md", "big.mp4"]);
        for (name, size) in
            [("a/big.md", 1_000_001), ("a/big.mp4", 1_000_001), ("a/fits.md", 1_000_000)]
        {
            fs::File::options()
                .write(true)
                .open(dir.path().join(name))
                .unwrap()
                .set_len(size)
                .unwrap();
        }
        assert_eq!(listed(dir.path(), &["a"], &OPTIONS), ["a/big.md (too large)", "a/fits.md"]);
        assert_eq!(listed(dir.path(), &["a/big.mp4"], &OPTIONS), ["a/big.mp4 (too large)"]);
    }

    #[test]
    fn special_files_are_skipped_and_refused_when_named() {
        let dir = tree(&["a/x.md"]);
        std::os::unix::net::UnixListener::bind(dir.path().join("a/socket.md")).unwrap();
        assert_eq!(listed(dir.path(), &["a"], &OPTIONS), ["a/x.md"]);
        let refused = walk(&[dir.path().join("a/socket.md")], &OPTIONS).next();
        assert!(matches!(refused, Some(Err(Error::NotAFile { .. }))), "{refused:?}");
    }

    #[test]
    fn what_cannot_be_read_is_an_item() {
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let nested = ignore::Error::WithPath {
            path: "/secret".into(),
            err: Box::new(ignore::Error::WithDepth {
                depth: 1,
                err: Box::new(ignore::Error::Io(denied)),
            }),
        };
        let error = failure(nested, Path::new("/")).unwrap();
        assert_eq!(error.to_string(), "cannot access /secret: permission denied");
    }

    #[test]
    fn size_and_time_are_the_files_own() {
        let dir = tree(&["x.md"]);
        let path = dir.path().join("x.md");
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(UNIX_EPOCH + std::time::Duration::from_nanos(1_500_000_007)).unwrap();
        let found = walk(&[path], &OPTIONS).next().unwrap().unwrap();
        assert_eq!((found.size_bytes, found.mtime_ns), (4, 1_500_000_007));
        file.set_modified(UNIX_EPOCH - std::time::Duration::from_nanos(7)).unwrap();
        let found = walk(&[found.path], &OPTIONS).next().unwrap().unwrap();
        assert_eq!(found.mtime_ns, -7);
    }
}
