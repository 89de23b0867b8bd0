//! Backs up the database to a file, verifies backups and restores them.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Session;
use crate::app::maintenance::allow;
use crate::app::session::copies::{self, CopyReason};
use crate::app::session::typed::absolute;
use crate::error::{Error, Result};
use crate::files::access::is_writable;
use crate::files::open::{self, SymlinkPolicy};
use crate::files::write::side_file;
use crate::store::{CopyVerification, ExistingTarget, Stats, Store};
use crate::text::{fields, paths::resolved};
use crate::wording::{kb, wording};

/// The first bytes of every SQLite database.
const HEAD: &[u8] = b"SQLite format 3\0";

/// A verified backup.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifiedBackup {
    /// The file.
    #[serde(serialize_with = "fields::path")]
    pub file: PathBuf,
    /// Its size in bytes.
    pub db_size_bytes: u64,
    /// Documents in it.
    pub total_documents: u32,
    /// Chunks in it.
    pub total_chunks: u32,
    /// A log next to it that SQLite applies when it is opened, and that belongs to the backup; null if there
    /// is none.
    #[serde(serialize_with = "fields::path_or_null")]
    pub log: Option<PathBuf>,
}

impl VerifiedBackup {
    fn of(file: PathBuf, CopyVerification { stats, log }: CopyVerification) -> Self {
        let (total_documents, total_chunks) = (stats.total_documents(), stats.total_chunks);
        Self { file, db_size_bytes: stats.db_size_bytes, total_documents, total_chunks, log }
    }
}

/// Copies the database to `file`; replaces an existing database if `replaces`.
pub fn create(session: &Session, file: &Path, replaces: bool) -> Result<VerifiedBackup> {
    let file = absolute(file)?;
    let database = session.database();
    // The link is resolved, because its target is replaced, not the link.
    let target = resolved(&file);
    if target == resolved(&database) {
        return Err(exists(&target));
    }
    // A log left over from another database would be applied to the copy.
    let taken = ["", "-wal", "-journal"].map(|end| side_file(&target, end));
    if let Some(taken) = taken.iter().find(|path| path.exists() && !replaces) {
        return Err(exists(taken));
    }
    require_backup(&target)?;
    let existing = if replaces { ExistingTarget::Replace } else { ExistingTarget::Keep };
    // The copy is not published if the database has changed, so a second attempt finds no file.
    let stats = match copy(session, &database, &target, existing) {
        Err(Error::ChangedMeanwhile { .. }) => copy(session, &database, &target, existing)?,
        outcome => outcome?,
    };
    Ok(VerifiedBackup::of(file, CopyVerification { stats, log: None }))
}

/// Copies the database to a file.
fn copy(
    session: &Session,
    database: &Path,
    target: &Path,
    existing: ExistingTarget,
) -> Result<Stats> {
    let Some(store) = session.open_existing()? else {
        return Err(Error::PathNotFound { path: database.to_owned() });
    };
    let stats = store.back_up(target, existing).map_err(|error| match error {
        // Another process has created it since the check.
        Error::Io { path, source } if source.kind() == ErrorKind::AlreadyExists => exists(&path),
        error => error,
    })?;
    store.close()?;
    Ok(stats)
}

/// Verifies a backup without changing it.
pub fn verify(session: &Session, file: &Path) -> Result<VerifiedBackup> {
    let file = absolute(file)?;
    let made = session.make_data_dir();
    let verified = if is_writable(session.data_dir()) {
        made.and_then(|()| Store::verify(&file, session.data_dir()))?
    } else {
        Store::verify(&file, &session.environment().temp_dir())?
    };
    Ok(VerifiedBackup::of(file, verified))
}

/// The report of `kb restore`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RestoreReport {
    /// The backup.
    #[serde(serialize_with = "fields::path")]
    pub file: PathBuf,
    /// The database that it is now.
    #[serde(serialize_with = "fields::path")]
    pub database: PathBuf,
    /// Documents in it.
    pub total_documents: u32,
    /// Chunks in it.
    pub total_chunks: u32,
    /// Where the database that was replaced is now; null if there was none.
    #[serde(serialize_with = "fields::path_or_null")]
    pub replaced: Option<PathBuf>,
}

/// Puts a backup in place of the database. The database that it replaces is kept next to it.
pub fn restore(session: &Session, file: &Path) -> Result<RestoreReport> {
    let file = absolute(file)?;
    let database = session.database();
    if resolved(&file) == resolved(&database) {
        return Err(Error::usage(format!("{} is the database itself", file.display()))
            .with_hint(wording!("name a file that `{}` wrote", kb("backup"))));
    }
    session.require_writable()?;
    session.make_data_dir()?;
    let target = resolved(&database);
    let kept = copies::free_name(session, CopyReason::Restore);
    let (stats, is_replacing) = Store::restore(&file, &target, &kept)?;
    allow::adopt_restored(session)?;
    // The database is opened at once: its faults must show while the old one still exists.
    if let Some(store) = session.open_existing()? {
        session.unfollowed_notes(&store)?.iter().for_each(|note| session.notify(note));
        store.close()?;
    }
    Ok(RestoreReport {
        file,
        database,
        total_documents: stats.total_documents(),
        total_chunks: stats.total_chunks,
        replaced: is_replacing.then_some(kept),
    })
}

fn exists(file: &Path) -> Error {
    Error::usage(format!("{} already exists", file.display()))
        .with_hint("name another file, or replace this backup with --force")
}

/// Refuses to replace anything but a database: a device, a folder, another file.
fn require_backup(file: &Path) -> Result<()> {
    let Ok(metadata) = file.metadata() else { return Ok(()) };
    let is_ours = metadata.is_file() && {
        let mut head = Vec::new();
        let opened = open::open(file, SymlinkPolicy::Follow)?;
        let read = opened.take(HEAD.len() as u64).read_to_end(&mut head);
        read.map_err(|source| Error::of_file(file, source))?;
        head.is_empty() || head == HEAD
    };
    if is_ours {
        return Ok(());
    }
    let message = format!("{} is not a database; it was not replaced", file.display());
    Err(Error::usage(message).with_hint("name another file"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::World;

    fn refused<T>(outcome: Result<T>) -> String {
        match outcome {
            Err(Error::Usage { message, hint: Some(_) }) => message.to_string(),
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("it was not refused"),
        }
    }

    #[test]
    fn a_backup_is_made_once_and_replaced_on_request() {
        let world = World::new();
        world.add_note("n", "ebb");
        let file = world.path("backup.db");
        let made = create(&world.session, &file, false).unwrap();
        assert_eq!((made.file.as_path(), made.total_documents), (file.as_path(), 1));
        assert!(refused(create(&world.session, &file, false)).ends_with("already exists"));
        world.add_note("m", "flood");
        let replaced = create(&world.session, &file, true).unwrap();
        assert_eq!(replaced.total_documents, 2);
        assert_eq!(verify(&world.session, &file).unwrap().total_documents, 2);
    }

    #[test]
    fn nothing_but_a_database_is_replaced() {
        let world = World::new();
        world.add_note("n", "ebb");
        let create = |file: &Path| create(&world.session, file, true);
        std::fs::write(world.path("letter"), "Dear Ada").unwrap();
        assert!(
            refused(create(&world.path("letter")))
                .ends_with("is not a database; it was not replaced")
        );
        std::fs::create_dir(world.path("folder")).unwrap();
        assert!(refused(create(&world.path("folder"))).contains("is not a database"));
        assert!(refused(create(&world.session.database())).ends_with("already exists"));
        std::fs::write(world.path("empty"), "").unwrap();
        assert!(create(&world.path("empty")).is_ok());
        std::fs::write(world.path("other.db-wal"), "x").unwrap();
        let with_log = super::create(&world.session, &world.path("other.db"), false);
        assert!(refused(with_log).ends_with("other.db-wal already exists"));
        let nothing = World::new();
        assert!(super::create(&nothing.session, &nothing.path("b.db"), false).is_err());
    }

    #[test]
    fn a_restored_backup_leaves_the_database_before_it_next_to_it() {
        let world = World::new();
        world.add_note("n", "ebb");
        let file = world.path("backup.db");
        create(&world.session, &file, false).unwrap();
        world.add_note("m", "flood");
        let restored = restore(&world.session, &file).unwrap();
        assert_eq!(restored.total_documents, 1);
        assert_eq!(world.store().num_documents().unwrap(), 1);
        assert!(restored.replaced.is_some_and(|replaced| replaced.is_file()));
        let database = world.session.database();
        assert!(refused(restore(&world.session, &database)).ends_with("is the database itself"));
        std::fs::remove_file(&database).unwrap();
        assert_eq!(restore(&world.session, &file).unwrap().replaced, None);
    }
}
