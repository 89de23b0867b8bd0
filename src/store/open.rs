//! A path in, a connection to a database of ours out, or the reason why not.
//!
//! A file that is not ours is never written to: what it is, is decided by reading alone.
//!
//! Over 400 lines, more than half of them tests.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Once;
use std::time::Duration;
use std::{fs, io};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, Result};

use super::fault::Fault;
use super::lend::file_id;
use super::{Store, migrate};

/// How long a statement waits for another process before the database counts as locked.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Statements kept prepared on a connection; more than the methods here use together.
const STATEMENT_CACHE: usize = 64;

/// Settings of one connection; the file itself only remembers that it is in WAL mode.
///
/// - `synchronous = NORMAL`: a commit is one write without a flush. A killed process loses nothing;
///   a power cut may take the last commits with it, never the consistency of the file
///   (sqlite.org/wal.html, section 3.1). What is lost was files that are still on disk.
/// - `cache_size`: in KiB when negative. Large enough that the upper levels of the keyword index
///   stay in memory during an ingest.
/// - `mmap_size`: in bytes. A scan of all vectors takes a third less time where pages need not be
///   copied into the cache first. SQLite reads as usual what lies beyond, or cannot be mapped.
const PRAGMAS: &str = "
    PRAGMA foreign_keys = ON;
    PRAGMA synchronous = NORMAL;
    PRAGMA cache_size = -16384;
    PRAGMA mmap_size = 1073741824;
    PRAGMA temp_store = MEMORY;";

impl Store {
    /// Opens the database for reading and writing; makes it, and its directory, where they are
    /// missing, readable for the owner alone. An empty file becomes a new database.
    ///
    /// # Errors
    ///
    /// [`Error::Foreign`], [`Error::Corrupt`] and [`Error::SchemaTooNew`] for a file that is not
    /// ours to write, which is then left as it was; [`Error::Locked`], [`Error::DiskFull`] and
    /// [`Error::Io`] for what the machine refuses.
    pub fn open(path: &Path) -> Result<Self> {
        create_private(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
        Self::connect(path)
    }

    /// Opens the database if there is one; `None`, and nothing made, where there is no file.
    ///
    /// # Errors
    ///
    /// As [`Store::open`].
    pub fn open_existing(path: &Path) -> Result<Option<Self>> {
        match path.try_exists() {
            Ok(true) => Self::connect(path).map(Some),
            Ok(false) => Ok(None),
            Err(source) => Err(Error::Io { path: path.to_owned(), source }),
        }
    }

    /// Opens a second connection to the same file, for reading only; what [`Store::open`] has
    /// checked is not checked again.
    ///
    /// # Errors
    ///
    /// [`Error::Locked`] and [`Error::Io`].
    pub fn reader(&self) -> Result<Self> {
        let connection = open_connection(&self.path, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .and_then(|it| it.execute_batch(PRAGMAS).map(|()| it))
            .map_err(|error| Fault::from(error).at(&self.path))?;
        Ok(Self {
            idle: RefCell::default(),
            connection,
            path: self.path.clone(),
            file: self.file,
            bound: self.bound.clone(),
            reindexing: None,
        })
    }

    /// Returns the version of SQLite that is linked in.
    pub fn sqlite_version() -> &'static str {
        rusqlite::version()
    }

    /// Closes the connection. The last one to close leaves one file: the log is written back and
    /// removed. Dropping does the same without telling of errors.
    ///
    /// # Errors
    ///
    /// [`Error::DiskFull`] and [`Error::Io`] where the log cannot be written back; it is then kept
    /// and nothing is lost.
    pub fn close(self) -> Result<()> {
        self.idle.take();
        self.connection.close().map_err(|(_, error)| Fault::from(error).at(&self.path))
    }

    fn connect(path: &Path) -> Result<Self> {
        let connection = open_connection(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
            .map_err(Fault::from)
            .and_then(|mut it| {
                // Until the file is known to be ours its log is not written back on closing.
                it.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
                let version = migrate::version(&it)?;
                migrate::refuse_newer(version, migrate::MIGRATIONS)?;
                it.execute_batch(PRAGMAS)?;
                migrate::enter_wal(&it, BUSY_TIMEOUT)?;
                migrate::apply(&mut it, version, migrate::MIGRATIONS)?;
                it.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
                Ok(it)
            })
            .map_err(|fault| fault.at(path))?;
        Ok(Self {
            idle: RefCell::default(),
            connection,
            path: path.to_owned(),
            file: file_id(path),
            bound: RefCell::new(None),
            reindexing: None,
        })
    }
}

/// Makes an empty file with mode 0600 in a directory with mode 0700, where they are missing.
pub(super) fn create_private(path: &Path) -> io::Result<()> {
    if path.try_exists()? {
        return Ok(());
    }
    let mut directory = fs::DirBuilder::new();
    let mut file = fs::OpenOptions::new();
    directory.recursive(true);
    file.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        directory.mode(0o700);
        file.mode(0o600);
    }
    if let Some(parent) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
        directory.create(parent)?;
    }
    match file.open(path) {
        // Another process was faster; it means the same file.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other.map(drop),
    }
}

/// Without `SQLITE_OPEN_CREATE`: files are made by `create_private` alone.
fn open_connection(path: &Path, access: OpenFlags) -> rusqlite::Result<Connection> {
    register_vec0()?;
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENT_CACHE);
    Ok(connection)
}

/// Makes `vec0` known to every connection of this process.
fn register_vec0() -> rusqlite::Result<()> {
    static REGISTERED: Once = Once::new();
    let mut outcome = Ok(());
    REGISTERED.call_once(|| outcome = register_vec0_once());
    outcome
}

#[expect(unsafe_code, reason = "the one way to link sqlite-vec into the bundled SQLite")]
fn register_vec0_once() -> rusqlite::Result<()> {
    use rusqlite::auto_extension::{RawAutoExtension, register_auto_extension};
    // SAFETY: the crate declares `sqlite3_vec_init` without parameters, but sqlite-vec.c defines
    // it with SQLite's signature for extension entry points, which is what is restored here. It
    // opens and closes no connection and does not touch the list of extensions.
    unsafe {
        let init: RawAutoExtension = std::mem::transmute::<*const (), RawAutoExtension>(
            sqlite_vec::sqlite3_vec_init as *const (),
        );
        register_auto_extension(init)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::thread;

    use super::super::testing::{TestDb, binding, chunk, document, vector};
    use super::*;
    use crate::document::Filter;

    fn scratch() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("kb.db");
        (directory, path)
    }

    fn files(directory: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(directory)
            .unwrap()
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The file is refused and every byte of it stays.
    #[track_caller]
    fn check_refused(path: &Path, is_expected: impl Fn(&Error) -> bool) {
        let before = fs::read(path).unwrap();
        let error = Store::open(path).unwrap_err();
        assert!(is_expected(&error), "{error}");
        let error = Store::open_existing(path).unwrap_err();
        assert!(is_expected(&error), "{error}");
        assert_eq!(fs::read(path).unwrap(), before);
    }

    #[test]
    fn reading_makes_no_file() {
        let (directory, path) = scratch();
        assert!(Store::open_existing(&path).unwrap().is_none());
        assert!(files(directory.path()).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn file_and_directory_are_the_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let (directory, _) = scratch();
        let path = directory.path().join("new").join("kb.db");
        let store = Store::open(&path).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&path.with_file_name("kb.db-wal")), 0o600);
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        drop(store);
    }

    #[test]
    fn an_empty_file_becomes_a_database() {
        let (_directory, path) = scratch();
        fs::write(&path, "").unwrap();
        let store = Store::open_existing(&path).unwrap().unwrap();
        assert_eq!(store.stats().unwrap().total_chunks, 0);
    }

    #[test]
    fn garbage_is_corrupt() {
        let (_directory, path) = scratch();
        for bytes in [vec![b'x'; 20], vec![b'x'; 5000], b"SQLite format 3\0 and no more".to_vec()] {
            fs::write(&path, bytes).unwrap();
            check_refused(&path, |it| matches!(it, Error::Corrupt { .. }));
        }
    }

    #[test]
    fn a_truncated_database_is_corrupt() {
        let mut db = TestDb::new();
        db.add("/a.md", &["words"], &[]);
        let path = db.path();
        db.store.close().unwrap();
        let bytes = fs::read(&path).unwrap();
        for length in [50, 100, 4096, bytes.len() / 2] {
            fs::write(&path, &bytes[..length]).unwrap();
            check_refused(&path, |it| matches!(it, Error::Corrupt { .. }));
        }
    }

    #[test]
    fn a_page_of_garbage_is_corruption_whenever_it_is_met() {
        let mut db = TestDb::new();
        for number in 0..200 {
            db.add(&format!("/{number}.md"), &[&format!("some words {number}")], &[]);
        }
        let path = db.path();
        db.store.close().unwrap();
        let mut bytes = fs::read(&path).unwrap();
        bytes[8192..].fill(0xa5);
        fs::write(&path, &bytes).unwrap();
        let outcome = Store::open(&path).and_then(|it| it.documents(&Filter::default()));
        assert!(matches!(outcome, Err(Error::Corrupt { .. })), "{outcome:?}");
    }

    #[test]
    fn another_programs_database_is_foreign() {
        for (setup, is_ours) in [
            ("CREATE TABLE theirs (id INTEGER)", false),
            ("PRAGMA application_id = 7", false),
            ("PRAGMA journal_mode = WAL; CREATE TABLE theirs (id INTEGER)", false),
            ("PRAGMA journal_mode = WAL", true),
        ] {
            let (_directory, path) = scratch();
            Connection::open(&path).unwrap().execute_batch(setup).unwrap();
            if is_ours {
                // What a kb leaves that is killed just after it made the file.
                Store::open(&path).unwrap();
            } else {
                check_refused(&path, |it| matches!(it, Error::Foreign { .. }));
            }
        }
    }

    #[test]
    fn the_log_of_a_foreign_database_is_not_written_back() {
        let (directory, path) = scratch();
        let theirs = Connection::open(&path).unwrap();
        theirs
            .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE theirs (id INTEGER)")
            .unwrap();
        let (copies, copy) = scratch();
        for name in ["kb.db", "kb.db-wal"] {
            fs::copy(directory.path().join(name), copies.path().join(name)).unwrap();
        }
        let log = fs::read(copy.with_file_name("kb.db-wal")).unwrap();
        check_refused(&copy, |it| matches!(it, Error::Foreign { .. }));
        assert_eq!(fs::read(copy.with_file_name("kb.db-wal")).unwrap(), log);
    }

    #[test]
    fn a_directory_in_its_place_is_an_error() {
        let (_directory, path) = scratch();
        fs::create_dir(&path).unwrap();
        assert!(matches!(Store::open(&path), Err(Error::Io { .. })));
    }

    #[test]
    fn a_clean_close_leaves_one_file_that_can_be_copied() {
        let mut db = TestDb::new();
        db.add("/a.md", &["install git", "bake bread"], &["one"]);
        let reader = db.store.reader().unwrap();
        let query = vector("bake bread");
        let expected = reader.rank_by_cosine(&query, None, 10).unwrap();
        reader.close().unwrap();
        let path = db.path();
        db.store.close().unwrap();
        assert_eq!(files(path.parent().unwrap()), ["kb.db"]);
        let (_directory, copy) = scratch();
        fs::copy(&path, &copy).unwrap();
        let copied = Store::open_existing(&copy).unwrap().unwrap();
        assert_eq!(copied.rank_by_cosine(&query, None, 10).unwrap(), expected);
        assert_eq!(copied.occurrences("git").unwrap().len(), 1);
    }

    #[test]
    fn a_killed_process_loses_nothing_that_was_stored() {
        let mut db = TestDb::new();
        db.add("/a.md", &["words"], &[]);
        // The files as a kill leaves them: the log is not written back.
        let (copies, copy) = scratch();
        for name in files(db.path().parent().unwrap()) {
            fs::copy(db.path().with_file_name(&name), copies.path().join(&name)).unwrap();
        }
        assert!(files(copies.path()).contains(&"kb.db-wal".to_owned()));
        let store = Store::open(&copy).unwrap();
        assert_eq!(store.documents(&Filter::default()).unwrap().len(), 1);
        assert!(store.check().unwrap().is_empty());
    }

    #[test]
    fn opening_what_is_in_order_writes_nothing() {
        let mut db = TestDb::new();
        db.add("/a.md", &["words"], &[]);
        let path = db.path();
        db.store.close().unwrap();
        let before = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
        let store = Store::open(&path).unwrap();
        store.reader().unwrap().documents(&Filter::default()).unwrap();
        store.close().unwrap();
        let after = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
        assert!(before == after);
    }

    #[test]
    fn foreign_keys_are_enforced_on_every_connection() {
        let db = TestDb::new();
        for store in [&db.store, &db.store.reader().unwrap(), &Store::open(&db.path()).unwrap()] {
            let is_on: bool = store
                .connection
                .pragma_query_value(None, "foreign_keys", |row| row.get(0))
                .unwrap();
            assert!(is_on);
        }
    }

    #[test]
    fn a_reader_sees_the_old_document_until_the_new_one_is_whole() {
        let mut db = TestDb::new();
        db.add("/a.md", &["old"], &[]);
        let reader = db.store.reader().unwrap();
        let words = |it| reader.occurrences(it).unwrap().len();
        db.store
            .write(|it| {
                it.execute("UPDATE chunks SET text = 'new'", [])?;
                assert_eq!((words("old"), words("new")), (1, 0));
                Ok(())
            })
            .unwrap();
        assert_eq!((words("old"), words("new")), (0, 1));
    }

    #[test]
    fn a_reader_cannot_write() {
        let db = TestDb::new();
        let mut reader = db.store.reader().unwrap();
        assert!(reader.remove(1).is_err());
    }

    #[test]
    fn a_writer_that_waits_in_vain_says_locked() {
        let mut db = TestDb::new();
        let other = Connection::open(db.path()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        db.store.connection.busy_timeout(Duration::from_millis(20)).unwrap();
        let outcome = db.store.remove(1);
        assert!(matches!(outcome, Err(Error::Locked { .. })), "{outcome:?}");
        assert!(db.store.documents(&Filter::default()).unwrap().is_empty());
        other.execute_batch("ROLLBACK").unwrap();
        db.store.remove(1).unwrap();
    }

    #[test]
    fn many_that_open_a_new_database_at_once_agree() {
        for _ in 0..10 {
            let (_directory, path) = scratch();
            thread::scope(|scope| {
                for number in 0..6 {
                    let path = &path;
                    scope.spawn(move || {
                        let mut store = Store::open(path).unwrap();
                        store.bind(&binding("small")).unwrap();
                        let text = format!("words {number}");
                        let new = document(&format!("/{number}.md"), &[&text], &["all"]);
                        let vectors = [vector(&text)];
                        store.replace(&new, &[chunk(&text)], &vectors, &|_| true).unwrap();
                    });
                }
            });
            let store = Store::open(&path).unwrap();
            assert_eq!(store.documents(&Filter::default()).unwrap().len(), 6);
            assert!(store.check().unwrap().is_empty());
        }
    }
}
