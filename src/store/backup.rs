//! A database in, a whole copy of it out, page by page: while others read and write, and only after
//! the copy has been examined.
//!
//! Not by `VACUUM INTO`: that may number the rows of a table without an integer key anew, and
//! `vec0` finds its vectors by such numbers.

use std::path::{Path, PathBuf};
use std::{fs, io};

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use crate::error::{Error, Result};

use super::{Stats, Store, fault::Fault, open};

impl Store {
    /// Copies the database as it stands at one instant to `target`, which is replaced. The copy has
    /// its name only when it is complete and sound; until then it lies beside it as `*.partial`.
    /// Returns what it holds.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the copy is not sound, [`Error::DiskFull`], [`Error::Locked`] and
    /// [`Error::Io`]; what was at `target` is then still there.
    pub fn back_up(&self, target: &Path) -> Result<Stats> {
        let partial = Partial::beside(target)?;
        self.copy_to(&partial.0)?;
        let stats = examine(&partial.0, &self.path)?;
        let io = |source| Error::Io { path: target.to_owned(), source };
        fs::File::open(&partial.0).and_then(|it| it.sync_all()).map_err(io)?;
        fs::rename(&partial.0, target).map_err(io)?;
        Ok(stats)
    }

    /// Examines a copy without changing it, by a copy of the copy in `scratch`. Returns what it
    /// holds.
    ///
    /// # Errors
    ///
    /// [`Error::PathNotFound`] without a file, [`Error::Corrupt`] if it is not sound,
    /// [`Error::Foreign`] and [`Error::SchemaTooNew`] if it is none of ours.
    pub fn verify(backup: &Path, scratch: &Path) -> Result<Stats> {
        if !backup.is_file() {
            return Err(Error::PathNotFound { path: backup.to_owned() });
        }
        let partial = Partial::beside(&scratch.join("verify.db"))?;
        let io = |source| Error::Io { path: backup.to_owned(), source };
        // Not `fs::copy`, which would give the copy the rights of the backup.
        open::create_private(&partial.0).map_err(io)?;
        let mut copy = fs::File::options().write(true).open(&partial.0).map_err(io)?;
        fs::File::open(backup).and_then(|mut it| io::copy(&mut it, &mut copy)).map_err(io)?;
        drop(copy);
        examine(&partial.0, backup)
    }

    fn copy_to(&self, partial: &Path) -> Result<()> {
        open::create_private(partial)
            .map_err(|source| Error::Io { path: partial.to_owned(), source })?;
        let copied = Connection::open(partial).and_then(|mut copy| {
            // All pages in one step: a reader of a write-ahead log is in nobody's way.
            let outcome = Backup::new(&self.connection, &mut copy)?.step(-1)?;
            Ok(matches!(outcome, StepResult::Done))
        });
        match copied {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::Locked { path: self.path.clone() }),
            Err(error) => Err(Fault::from(error).at(&self.path)),
        }
    }
}

/// Opens a copy, examines it and counts what it holds; errors name what it is a copy of.
fn examine(copy: &Path, original: &Path) -> Result<Stats> {
    let examined = Store::open(copy).and_then(|store| {
        let faults = store.check()?;
        if !faults.is_empty() {
            return Err(Error::Corrupt { path: copy.to_owned(), detail: faults.join("; ") });
        }
        let stats = store.stats()?;
        store.close()?;
        Ok(stats)
    });
    let path = original.to_owned();
    examined.map_err(|error| match error {
        Error::Corrupt { detail, .. } => Error::Corrupt { path, detail },
        Error::Foreign { .. } => Error::Foreign { path },
        Error::SchemaTooNew { found, supported, .. } => {
            Error::SchemaTooNew { path, found, supported }
        }
        other => other,
    })
}

/// A file that is removed unless it is renamed.
struct Partial(PathBuf);

impl Partial {
    /// Names a file in the directory of `target`; one that a killed process left is removed.
    fn beside(target: &Path) -> Result<Self> {
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(".partial");
        let partial = Self(target.with_file_name(name));
        partial.remove().map_err(|source| Error::Io { path: partial.0.clone(), source })?;
        Ok(partial)
    }

    fn remove(&self) -> io::Result<()> {
        for end in ["", "-wal", "-shm", "-journal"] {
            let mut path = self.0.clone().into_os_string();
            path.push(end);
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // Where it cannot be removed the next backup tries again.
        let _ = self.remove();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestDb, vector};
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> =
            entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_copy_answers_as_the_original_does() {
        let mut db = TestDb::new();
        db.add("/a.md", &["one", "two"], &["tag"]);
        db.add("/b.md", &["three"], &[]);
        db.store.remove(1).unwrap();
        db.add("/c.md", &["four"], &[]);
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("copy.db");
        fs::write(&target, "an older one").unwrap();
        let stats = db.store.back_up(&target).unwrap();
        assert_eq!((stats.total_chunks, stats.total_vectors), (2, 2));
        assert_eq!(names(dir.path()), ["copy.db"]);
        assert_eq!(Store::verify(&target, dir.path()).unwrap(), stats);
        assert_eq!(names(dir.path()), ["copy.db"]);
        let copy = Store::open_existing(&target).unwrap().unwrap();
        let nearest = |it: &Store| it.rank_by_cosine(&vector("four"), None, 9).unwrap();
        assert_eq!(nearest(&copy), nearest(&db.store));
    }

    #[test]
    fn a_database_with_faults_leaves_no_copy_and_an_older_one_stays() {
        let mut db = TestDb::new();
        db.add("/a.md", &["one"], &[]);
        db.store.connection.execute_batch("DELETE FROM chunks_vec").unwrap();
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("copy.db");
        fs::write(&target, "an older one").unwrap();
        let error = db.store.back_up(&target).unwrap_err();
        assert!(matches!(error, Error::Corrupt { .. }), "{error}");
        assert_eq!(fs::read(&target).unwrap(), b"an older one");
        assert_eq!(names(dir.path()), ["copy.db"]);
    }

    #[test]
    fn what_is_no_copy_is_told_and_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("copy.db");
        let verify = || Store::verify(&path, dir.path()).unwrap_err();
        assert!(matches!(verify(), Error::PathNotFound { .. }));
        fs::write(&path, "x".repeat(5000)).unwrap();
        assert!(matches!(verify(), Error::Corrupt { .. }));
        let mut db = TestDb::new();
        db.add("/a.md", &["one"], &[]);
        db.store.back_up(&path).unwrap();
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        assert!(matches!(verify(), Error::Corrupt { .. }));
        assert_eq!(fs::read(&path).unwrap(), bytes[..bytes.len() / 2]);
        assert_eq!(names(dir.path()), ["copy.db"]);
    }
}
