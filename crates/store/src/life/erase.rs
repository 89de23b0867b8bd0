//! Erases removed content from the pages of the database, its keyword indexes and its log.
//!
//! A removal overwrites its rows, terms and vectors in place (`PRAGMA secure_delete`, FTS5's
//! `secure-delete`, vec0). Leftovers are cleared once, when the command ends: copies of rows in the
//! gaps of pages, words by which FTS5 finds its leaves, checksums of vectors, and the log, which
//! has the earlier pages. If many documents are removed at once, their terms are only marked, and
//! the indexes are merged. A mark, set by the removal itself, records that clearing is pending, so
//! that a killed process leaves it to the next one that removes something.

use std::time::Duration;

use rusqlite::Connection;

use crate::Store;
use crate::db::connection::{BUSY_TIMEOUT, on_pages};
use crate::db::erasing::{is_in_place, marked};
use crate::db::fault::{DatabaseFault, Step};
use crate::db::{config, pages, sql};
use crate::error::Result;
use crate::keyword::layout::knows_fts5;
use crate::keyword::{derived, fts, separators};
use crate::vectors::sums;

/// How long to wait for a reader: by then most queries are answered.
const PATIENCE: Duration = Duration::from_secs(1);

/// The values of the mark for pending work.
const PAGES: &str = "pages";
const LOG: &str = "log";

const MARK_LOG: &str = "
    INSERT INTO config (key, value)
    VALUES ('erasing', 'log')
    ON CONFLICT (key) DO NOTHING";

const UNMARK: &str = "DELETE FROM config WHERE key IN ('erasing', 'erased_chunks')";

const MERGE: &str = "
    INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('secure-delete', 1);
    INSERT INTO chunks_grams (chunks_grams, rank) VALUES ('secure-delete', 1);
    INSERT INTO chunks_exact (chunks_exact, rank) VALUES ('secure-delete', 1);
    INSERT INTO chunks_fts (chunks_fts) VALUES ('optimize');
    INSERT INTO chunks_grams (chunks_grams) VALUES ('optimize');
    INSERT INTO chunks_exact (chunks_exact) VALUES ('optimize');
    INSERT INTO document_names_fts (document_names_fts) VALUES ('optimize');";

const HAS_LEFTOVERS: &str =
    "SELECT EXISTS (SELECT 1 FROM config WHERE key IN ('leftovers', 'erasing'))";

/// Whether removed content has been erased from the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Erasure {
    /// It has been erased, or nothing was removed.
    Done,
    /// It is still in the log, because another process is reading; it is erased when that one ends.
    WaitsForReader,
}

impl Store {
    /// Clears the leftovers of removals in the files, if anything was removed since the last time.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Locked`], [`crate::error::Error::DiskFull`] and other errors of the
    /// database; the mark stays, and the next call tries again.
    pub fn finish_erasing(&mut self) -> Result<Erasure> {
        let Some(mark) = self.read(marked)? else { return Ok(Erasure::Done) };
        let is_rewritten = mark != PAGES || self.write(|db| on_pages(db, clear))?;
        if !is_rewritten {
            self.vacuum()?;
        }
        self.write(|db| sql::run(db, UNMARK, []))?;
        self.truncate_log(PATIENCE)
    }

    /// Empties the log if a reader blocked that and has ended since; otherwise a later call tries
    /// again.
    pub(crate) fn empty_log_left(&mut self) {
        if self.read(marked).is_ok_and(|mark| mark.as_deref() == Some(LOG)) {
            let unmarked = self.write(|db| sql::run(db, UNMARK, []));
            let _ = unmarked.and_then(|()| self.truncate_log(Duration::ZERO));
        }
    }

    /// Whether content removed by an older or a killed kb can still be read in the file.
    pub fn has_leftovers(&self) -> Result<bool> {
        self.read(|db| sql::value(db, HAS_LEFTOVERS, []))
    }

    /// Rebuilds the keyword indexes and rewrites the file, so that no content removed by any
    /// version is left.
    pub fn clean_leftovers(&mut self) -> Result<Erasure> {
        self.write(|db| {
            if !is_in_place(db)? {
                db.execute_batch(MERGE)?;
            }
            fts::rebuild(db)?;
            derived::rebuild(db)?;
            sums::clear_empty(db)
        })?;
        self.vacuum()?;
        self.write(|db| {
            sql::run(db, UNMARK, [])?;
            config::remove(db, "leftovers")
        })?;
        self.truncate_log(PATIENCE)
    }

    /// Checkpoints the log and empties it.
    fn truncate_log(&mut self, patience: Duration) -> Result<Erasure> {
        let is_busy = match self.checkpoint(patience) {
            Err(error) if DatabaseFault::is_busy(&error) => true,
            other => other.map_err(|error| DatabaseFault::from(error).at(&self.path))?,
        };
        if !is_busy {
            return Ok(Erasure::Done);
        }
        self.write(|db| sql::run(db, MARK_LOG, []))?;
        Ok(Erasure::WaitsForReader)
    }

    /// Checkpoints the log; returns whether it was in use.
    fn checkpoint(&self, patience: Duration) -> rusqlite::Result<bool> {
        self.connection.busy_timeout(patience)?;
        let is_busy =
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
        self.connection.busy_timeout(BUSY_TIMEOUT)?;
        is_busy
    }

    pub(crate) fn vacuum(&self) -> Result<()> {
        let vacuumed = self.connection.execute_batch("VACUUM");
        vacuumed.map_err(|error| DatabaseFault::from(error).at(&self.path))
    }
}

/// Clears pages and indexes; returns whether that was possible in place.
fn clear(db: &Connection) -> Step<bool> {
    if !is_in_place(db)? {
        db.execute_batch(MERGE)?;
    }
    if knows_fts5(db)? {
        separators::replace(db)?;
    } else {
        fts::rebuild(db)?;
        derived::rebuild(db)?;
    }
    sums::clear_empty(db)?;
    Ok(pages::clear_gaps(db)?.is_some())
}

#[cfg(test)]
mod tests;
