//! Keeps copies of the database that kb makes itself: before a migration, before `kb reindex`, and the
//! database that `kb restore` replaced.
//!
//! They are next to the database, and their names say when and why they were made. A copy is an offer:
//! if it cannot be made, this is reported and the change continues.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::session::error_log;
use crate::app::{Observer, Session};
use crate::error::{Error, Result};
use crate::files::folder::Lock;
use crate::files::{folder, write};
use crate::store::{ExistingTarget, OldDatabase, Store};
use crate::text::{fields, paths::resolved};

/// The beginning and the end of the name of every copy; between them are the reason and the time.
const PREFIX: &str = "kb-before-";
const END: &str = ".db";

/// Free space that a change needs in addition to twice the size of the database: once for the copy, and
/// once for the change itself, which writes the database into its log in the worst case.
const MARGIN_BYTES: u64 = 16 << 20;

fields::words! {
    /// The change before which a copy was made.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum CopyReason {
        /// The database gets a newer schema.
        Migration = "migration",
        /// All vectors are computed again.
        Reindex = "reindex",
        /// A backup takes the place of the database.
        Restore = "restore",
    }
}

/// A copy of the database that kb made itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Copy")]
pub struct OwnCopy {
    /// The file.
    #[serde(rename = "file", serialize_with = "fields::path")]
    pub path: PathBuf,
    /// Its size in bytes.
    pub size_bytes: u64,
    /// The operation before which it was made: `migration`, `reindex` or `restore`.
    #[serde(rename = "before")]
    pub reason: CopyReason,
    /// When it was made, as in its name; sorts by time.
    #[serde(skip)]
    time: String,
}

/// Returns the copies next to the database, the oldest first.
pub fn list(session: &Session) -> Vec<OwnCopy> {
    let mut copies: Vec<OwnCopy> =
        folder::entries(&database_folder(session)).into_iter().filter_map(own_copy).collect();
    copies.sort_by(|one, other| (&one.time, &one.path).cmp(&(&other.time, &other.path)));
    copies
}

/// Returns a number of copies in words.
pub fn counted(num_copies: usize) -> String {
    match num_copies {
        1 => "1 copy of the database".into(),
        _ => format!("{num_copies} copies of the database"),
    }
}

/// Returns the size of all copies together.
pub fn total_bytes(copies: &[OwnCopy]) -> u64 {
    copies.iter().map(|copy| copy.size_bytes).sum()
}

/// Deletes copies with the files that SQLite may have left next to them.
pub fn delete(copies: &[OwnCopy]) -> Result<()> {
    for copy in copies {
        for end in write::SIDE_FILES.into_iter().chain([""]) {
            let path = write::side_file(&copy.path, end);
            write::remove(&path).map_err(|source| Error::Io { path, source })?;
        }
    }
    Ok(())
}

/// Returns a free name for a copy of the database.
pub(crate) fn free_name(session: &Session, reason: CopyReason) -> PathBuf {
    let time = error_log::now().replace([':', '-'], "");
    let stem = format!("{PREFIX}{}-{time}", reason.as_str());
    let folder = database_folder(session);
    let first = folder.join(format!("{stem}{END}"));
    if first.symlink_metadata().is_err() {
        return first;
    }
    let mut others = (2..=u32::MAX).map(|number| folder.join(format!("{stem}-{number}{END}")));
    others.find(|path| path.symlink_metadata().is_err()).unwrap_or(first)
}

/// Copies a database of an older schema. Only one process at a time does, so that they do not copy what
/// another has changed, or each make a copy; the result is the lock.
pub(crate) fn before_migration(session: &Session, database: &OldDatabase<'_>) -> Option<Lock> {
    if session.config().backup.keep == 0 {
        return None;
    }
    let lock = folder::lock_folder(&database_folder(session));
    if !database.is_pending().unwrap_or(true) {
        return lock;
    }
    let file = free_name(session, CopyReason::Migration);
    let copied = database
        .size_bytes()
        .and_then(|size| require_room(session, size))
        .and_then(|()| database.copy_to(&file));
    let what = "kb upgrades the database to the schema of this version";
    session.notify(&note(what, &file, copied.as_ref().err()));
    forget_oldest(session, copied.is_ok());
    lock
}

/// Copies the database before all its vectors are replaced, and returns the copy; `None` if there is none.
pub(crate) fn before_reindex(
    session: &Session,
    store: &Store,
    observer: &dyn Observer,
) -> Option<PathBuf> {
    // A run that continues an interrupted one makes no copy: the interrupted one has made it.
    let is_continuing = store.interrupted_reindex().is_ok_and(|interrupted| interrupted.is_some());
    if session.config().backup.keep == 0 || is_continuing {
        return None;
    }
    let file = free_name(session, CopyReason::Reindex);
    let copied = store
        .copy_bytes()
        .and_then(|size| require_room(session, size))
        .and_then(|()| store.back_up(&file, ExistingTarget::Keep));
    observer.note(note("kb recomputes all vectors", &file, copied.as_ref().err()));
    forget_oldest(session, copied.is_ok());
    copied.ok().map(|_| file)
}

/// Returns the sentence about a copy that was made, or why there is none.
fn note(what: &str, file: &Path, error: Option<&Error>) -> String {
    match error {
        None => format!("{what}; the previous database was saved as {}", file.display()),
        Some(Error::DiskFull { .. }) => {
            format!("{what}; there is no space for a copy of the previous database")
        }
        Some(error) => format!("{what}, without a copy of the previous database: {error}"),
    }
}

/// Deletes the oldest copies beyond `backup.keep`. The databases that `kb restore` replaced are not copies of existing
/// data, so they are kept.
fn forget_oldest(session: &Session, has_new: bool) {
    let mut copies = list(session);
    copies.retain(|copy| copy.reason != CopyReason::Restore);
    let num_beyond = copies.len().saturating_sub(session.config().backup.keep as usize);
    if has_new {
        // A copy that cannot be deleted is listed by `kb status`.
        let _ = delete(&copies[..num_beyond]);
    }
}

fn require_room(session: &Session, size_bytes: u64) -> Result<()> {
    let folder = database_folder(session);
    let needed = size_bytes.saturating_mul(2).saturating_add(MARGIN_BYTES);
    match write::free_bytes(&folder) {
        Some(free) if free < needed => Err(Error::DiskFull { path: folder }),
        _ => Ok(()),
    }
}

/// Returns the folder that has the database file, where a link leads to it.
fn database_folder(session: &Session) -> PathBuf {
    let database = resolved(&session.database());
    database.parent().map_or_else(|| session.data_dir().to_owned(), Path::to_owned)
}

/// Returns the copy that a path names; `None` for any other file.
fn own_copy(path: PathBuf) -> Option<OwnCopy> {
    let name = path.file_name()?.to_str()?.strip_prefix(PREFIX)?.strip_suffix(END)?;
    let (word, time) = name.split_once('-')?;
    let reason = CopyReason::ALL.into_iter().find(|reason| reason.as_str() == word)?;
    let found = path.symlink_metadata().ok().filter(|found| found.is_file())?;
    let is_time =
        time.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'T' | b'Z' | b'-'));
    let time = is_time.then(|| time.to_owned())?;
    Some(OwnCopy { size_bytes: found.len(), reason, time, path })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::World;

    #[track_caller]
    fn check(name: &str, expected: Option<CopyReason>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, "x").unwrap();
        assert_eq!(own_copy(path).map(|copy| copy.reason), expected, "{name}");
    }

    #[test]
    fn only_names_that_kb_gives_are_copies() {
        check("kb-before-migration-20261123T061958Z.db", Some(CopyReason::Migration));
        check("kb-before-reindex-20261123T061958Z-2.db", Some(CopyReason::Reindex));
        check("kb-before-restore-20261123T061958Z.db", Some(CopyReason::Restore));
        for name in [
            "kb.db",
            "kb-before-reindex-20261123T061958Z.db-wal",
            "kb-before-my-holiday.db",
            "kb-before-reindex-old.db",
            "my-kb-before-reindex-20261123T061958Z.db",
        ] {
            check(name, None);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_with_the_name_of_a_copy_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("kb-before-reindex-20261123T061958Z.db");
        std::fs::write(folder.path().join("mine"), "x").unwrap();
        std::os::unix::fs::symlink(folder.path().join("mine"), &link).unwrap();
        assert_eq!(own_copy(link), None);
    }

    #[test]
    fn copies_are_listed_by_time_and_the_oldest_are_deleted() {
        let world = World::with(tempfile::tempdir().unwrap(), &[("KB_BACKUP_KEEP", "2")]);
        drop(world.store());
        let dir = world.session.data_dir().to_owned();
        for (name, text) in [
            ("kb-before-reindex-20260103T000000Z.db", "333"),
            ("kb-before-migration-20260101T000000Z.db", "1"),
            ("kb-before-restore-20250101T000000Z.db", "0000"),
            ("kb-before-reindex-20260102T000000Z.db", "22"),
        ] {
            std::fs::write(dir.join(name), text).unwrap();
        }
        std::fs::write(dir.join("kb-before-migration-20260101T000000Z.db-wal"), "x").unwrap();
        let sizes =
            || -> Vec<u64> { list(&world.session).iter().map(|copy| copy.size_bytes).collect() };
        assert_eq!(sizes(), [4, 1, 2, 3]);
        assert_eq!(total_bytes(&list(&world.session)), 10);
        forget_oldest(&world.session, false);
        assert_eq!(sizes().len(), 4);
        forget_oldest(&world.session, true);
        assert_eq!(sizes(), [4, 2, 3], "the database that was replaced stays");
        assert!(!dir.join("kb-before-migration-20260101T000000Z.db-wal").exists());
        assert_eq!(
            (counted(1), counted(2)),
            ("1 copy of the database".into(), "2 copies of the database".into())
        );
    }

    #[test]
    fn a_copy_is_made_before_all_vectors_are_computed_again() {
        let world = World::new();
        world.add_note("n", "text");
        let copy = before_reindex(&world.session, &world.store(), &world).unwrap();
        assert!(
            copy.is_file()
                && world.heard("kb recomputes all vectors; the previous database was saved as")
        );
        assert_eq!(list(&world.session).len(), 1);
        let second = free_name(&world.session, CopyReason::Reindex);
        assert!(!second.exists() && second.starts_with(world.session.data_dir()));
        let none = World::with(tempfile::tempdir().unwrap(), &[("KB_BACKUP_KEEP", "0")]);
        assert_eq!(before_reindex(&none.session, &none.store(), &none), None);
    }

    #[test]
    fn the_note_says_why_there_is_no_copy() {
        let file = Path::new("/copy.db");
        assert_eq!(
            note("kb does x", file, None),
            "kb does x; the previous database was saved as /copy.db"
        );
        let full = Error::DiskFull { path: file.to_owned() };
        assert!(
            note("kb does x", file, Some(&full))
                .ends_with("there is no space for a copy of the previous database")
        );
        assert!(
            note("kb does x", file, Some(&Error::Cancelled))
                .starts_with("kb does x, without a copy")
        );
    }
}
