//! Erases what was removed: from the pages of the database, its keyword indexes and its log.
//!
//! A removal overwrites its rows, terms and vectors where they stand (`PRAGMA secure_delete`, FTS5's
//! `secure-delete`, vec0). What these leave is cleared once, when the command ends: copies of rows in the gaps
//! of pages, words by which FTS5 finds its leaves, sums of vectors, and the log, which holds the pages as
//! they were. A mark, set with the removal itself, says that this is still to be done, so that a process
//! killed in between leaves it to the next that removes something.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, named_params};

use crate::error::Result;

use super::fault::{Fault, Step};
use super::open::BUSY_TIMEOUT;
use super::{Store, fts, grams, layout, pages, separators, sums};

/// How long a reader is waited for: by then most questions are answered.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is still to be cleared.
const PAGES: &str = "pages";
const LOG: &str = "log";

const MARK: &str = "
    INSERT INTO config (key, value)
    VALUES ('erasing', :what)
    ON CONFLICT (key) DO NOTHING";

const MARKED: &str = "SELECT value FROM config WHERE key = 'erasing'";

const UNMARK: &str = "DELETE FROM config WHERE key = 'erasing'";

const HAS_LEFTOVERS: &str =
    "SELECT EXISTS (SELECT 1 FROM config WHERE key IN ('leftovers', 'erasing'))";

const FORGET_LEFTOVERS: &str = "DELETE FROM config WHERE key = 'leftovers'";

/// Whether what was removed is gone from the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Erasure {
    /// It is, or nothing was removed.
    Done,
    /// Not from the log yet, because another process is reading: it goes when that one ends.
    WaitsForReader,
}

/// Marks that something was removed, in the transaction that removes it.
pub(super) fn mark(db: &Connection) -> Step<()> {
    db.prepare_cached(MARK)?.execute(named_params! { ":what": PAGES })?;
    Ok(())
}

fn marked(db: &Connection) -> Step<Option<String>> {
    Ok(db.prepare_cached(MARKED)?.query_row([], |row| row.get(0)).optional()?)
}

impl Store {
    /// Clears what removals leave in the files, if anything was removed since this was last done.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Locked`], [`crate::error::Error::DiskFull`] and what else the database
    /// refuses; the mark stays, and the next call tries again.
    pub fn finish_erasing(&mut self) -> Result<Erasure> {
        let Some(mark) = self.read(marked)? else { return Ok(Erasure::Done) };
        let is_rewritten = mark != PAGES || self.write(clear)?;
        if !is_rewritten {
            self.vacuum()?;
        }
        self.write(|db| Ok(db.prepare_cached(UNMARK)?.execute([])?))?;
        self.truncate_log(PATIENCE)
    }

    /// Empties the log if a reader was in the way of that and has ended since; failing that, a later call
    /// tries again.
    pub(super) fn empty_log_left(&mut self) {
        if self.read(marked).is_ok_and(|mark| mark.as_deref() == Some(LOG)) {
            let unmarked = self.write(|db| Ok(db.prepare_cached(UNMARK)?.execute([])?));
            let _ = unmarked.and_then(|_| self.truncate_log(Duration::ZERO));
        }
    }

    /// Whether something that was removed can still be read in the file: by an older kb, or by one that
    /// was killed.
    ///
    /// # Errors
    ///
    /// What the database refuses.
    pub fn has_leftovers(&self) -> Result<bool> {
        self.read(|db| Ok(db.query_row(HAS_LEFTOVERS, [], |row| row.get(0))?))
    }

    /// Makes the keyword indexes again and rewrites the file, so that nothing is left of what was
    /// removed by whatever version.
    ///
    /// # Errors
    ///
    /// As [`Store::finish_erasing`].
    pub fn clean_leftovers(&mut self) -> Result<Erasure> {
        self.write(|db| {
            fts::rebuild(db)?;
            grams::rebuild(db)?;
            sums::clear_empty(db)
        })?;
        self.vacuum()?;
        self.write(|db| {
            db.execute(UNMARK, [])?;
            Ok(db.execute(FORGET_LEFTOVERS, [])?)
        })?;
        self.truncate_log(PATIENCE)
    }

    /// Writes the log back into the database and empties it.
    fn truncate_log(&mut self, patience: Duration) -> Result<Erasure> {
        let is_busy: bool = {
            let truncate = || {
                self.connection.busy_timeout(patience)?;
                let is_busy =
                    self.connection
                        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
                self.connection.busy_timeout(BUSY_TIMEOUT)?;
                is_busy
            };
            match truncate() {
                Err(error) if Fault::is_busy(&error) => true,
                other => other.map_err(|error| Fault::from(error).at(&self.path))?,
            }
        };
        if !is_busy {
            return Ok(Erasure::Done);
        }
        self.write(|db| Ok(db.prepare_cached(MARK)?.execute(named_params! { ":what": LOG })?))?;
        Ok(Erasure::WaitsForReader)
    }

    pub(super) fn vacuum(&self) -> Result<()> {
        let vacuumed = self.connection.execute_batch("VACUUM");
        vacuumed.map_err(|error| Fault::from(error).at(&self.path))
    }
}

/// Clears pages and indexes; returns whether that was possible in place.
fn clear(db: &Connection) -> Step<bool> {
    if layout::knows_fts5(db)? {
        separators::replace(db)?;
    } else {
        fts::rebuild(db)?;
        grams::rebuild(db)?;
    }
    sums::clear_empty(db)?;
    Ok(pages::clear_gaps(db)?.is_some())
}

#[cfg(test)]
mod tests;
