//! Keeps the files that were seen and not indexed, each with its reason.

use rusqlite::{Connection, ToSql, named_params};

use crate::db::row::StoredRow;
use crate::document::FileOutcome;
use crate::error::Result;
use crate::files::stamp::Stamp;

use crate::Store;
use crate::db::fault::Step;
use crate::db::{columns, sql};
use crate::text::paths::{SEPARATOR, split_member};

/// A file that was seen and not indexed, or a folder that was not entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerRow {
    /// Absolute path.
    pub path: String,
    /// The outcome for the file.
    pub outcome: FileOutcome,
    /// The rule that left it out, or the code of the error.
    pub reason: String,
    /// The error message, for people; `None` for an ignored file.
    pub message: Option<String>,
    /// The version and the settings that failed; `None` for an ignored file.
    pub reader: Option<String>,
    /// The file as it was seen; `None` for a folder.
    pub stamp: Option<Stamp>,
    /// Since when it is so, RFC 3339, UTC. Storing a row sets it.
    pub seen_at: String,
}

/// The reason of a container whose files are indexed, or were not to be, instead of it.
pub const CONTAINER: &str = "container";

/// The columns of a [`LedgerRow`].
macro_rules! select_ledger {
    () => {
        "SELECT
            path,
            outcome,
            reason,
            message,
            reader,
            size_bytes,
            mtime_ns,
            strftime('%Y-%m-%dT%H:%M:%SZ', seen_at, 'unixepoch') AS seen_at
        FROM ledger
        WHERE "
    };
}

const WITHOUT_TEXT: &str = concat!(
    select_ledger!(),
    "outcome <> 'ignored' OR reason IN ('empty', 'container') ORDER BY path"
);

const LEDGER_AT: &str = concat!(
    select_ledger!(),
    "path = :path OR (path >= :first AND path < :end)
    ORDER BY path"
);

/// A file that is indexed under an earlier rule stays indexed, and is not ignored.
const SET: &str = "
    INSERT OR REPLACE INTO ledger (path, outcome, reason, message, reader, size_bytes, mtime_ns)
    SELECT :path, :outcome, :reason, :message, :reader, :size_bytes, :mtime_ns
    WHERE :outcome <> 'ignored'
        OR NOT EXISTS (SELECT 1 FROM document_paths WHERE document_paths.path = :path)";

const FORGET: &str = "DELETE FROM ledger WHERE path = :path";

const FORGET_AT: &str = "
    DELETE FROM ledger
    WHERE path = :path OR (path >= :first AND path < :end)";

const REOPEN: &str = "
    DELETE FROM ledger
    WHERE path = :path AND reason = 'container'";

const WAIVE: &str = "
    UPDATE ledger
    SET outcome = 'waived'
    WHERE outcome = 'failed' AND (path = :path OR (path >= :first AND path < :end))
    RETURNING path";

/// A path and the range of the paths below it.
pub(super) struct PathRange<'a> {
    path: &'a str,
    /// The path without a separator at its end.
    pub(super) folder: &'a str,
    /// The first possible path below it.
    pub(super) first: String,
    /// Greater than every path below it.
    pub(super) end: String,
}

impl<'a> PathRange<'a> {
    pub(super) fn of(path: &'a str) -> Self {
        let folder = path.trim_end_matches(SEPARATOR);
        // The character after the separator: no path below the folder is greater.
        let after = char::from_u32(u32::from(SEPARATOR) + 1).unwrap_or(char::MAX);
        // Every path is below the root, also that of a drive of Windows.
        let (first, end) = if folder.is_empty() {
            (String::new(), char::MAX.to_string())
        } else {
            (format!("{folder}{SEPARATOR}"), format!("{folder}{after}"))
        };
        Self { path, folder, first, end }
    }

    fn params(&self) -> [(&'static str, &dyn ToSql); 3] {
        [(":path", &self.path), (":first", &self.first), (":end", &self.end)]
    }
}

impl Store {
    /// Returns the files that could not be read, waived ones included, and those that have no text,
    /// ordered by path.
    pub fn files_without_text(&self) -> Result<Vec<LedgerRow>> {
        let sieve = self.sieve()?;
        let mut rows: Vec<LedgerRow> = self.read(|db| sql::rows(db, WITHOUT_TEXT, [], row))?;
        rows.retain(|row| sieve.has(&row.path));
        Ok(rows)
    }

    /// Returns the files at or below a path that were seen and not indexed, ordered by path.
    pub fn ledger_at(&self, path: &str) -> Result<Vec<LedgerRow>> {
        let sieve = self.sieve()?;
        let below = PathRange::of(path);
        let mut rows: Vec<LedgerRow> =
            self.read(|db| sql::rows(db, LEDGER_AT, &below.params(), row))?;
        rows.retain(|row| sieve.has(&row.path));
        Ok(rows)
    }

    /// Adds or replaces rows, and forgets the paths in `gone`; does nothing if there are none.
    pub fn update_ledger(&mut self, rows: &[LedgerRow], gone: &[String]) -> Result<()> {
        if rows.is_empty() && gone.is_empty() {
            return Ok(());
        }
        self.write(|db| {
            for path in gone {
                sql::run(db, FORGET, named_params! { ":path": path })?;
            }
            rows.iter().try_for_each(|row| {
                let params = named_params! {
                    ":path": row.path,
                    ":outcome": row.outcome.as_str(),
                    ":reason": row.reason,
                    ":message": row.message,
                    ":reader": row.reader,
                    ":size_bytes": row.stamp.map(|stamp| stamp.size_bytes.cast_signed()),
                    ":mtime_ns": row.stamp.map(|stamp| stamp.mtime_ns),
                };
                sql::run(db, SET, params)
            })
        })
    }

    /// Closes the cases of the failed files at and below a path; returns their paths.
    pub fn waive(&mut self, path: &str) -> Result<Vec<String>> {
        self.write(|db| {
            let below = PathRange::of(path);
            let mut paths: Vec<String> = sql::rows(db, WAIVE, &below.params(), |row| row.get(0))?;
            paths.sort_unstable();
            Ok(paths)
        })
    }
}

/// Forgets that the container of a file was read, so that the next run reads it again; does nothing for
/// the path of any other file.
pub(super) fn reopen(db: &Connection, path: &str) -> Step<()> {
    match split_member(path) {
        (container, Some(_)) => sql::run(db, REOPEN, named_params! { ":path": container }),
        _ => Ok(()),
    }
}

/// Forgets everything at and below a path.
pub(super) fn forget(db: &Connection, path: &str) -> Step<()> {
    sql::run(db, FORGET_AT, &PathRange::of(path).params())
}

fn row(row: &StoredRow<'_>) -> rusqlite::Result<LedgerRow> {
    let size_bytes: Option<i64> = row.get("size_bytes")?;
    let mtime_ns: Option<i64> = row.get("mtime_ns")?;
    Ok(LedgerRow {
        path: row.get("path")?,
        outcome: columns::named_column(row, "outcome", FileOutcome::Failed)?,
        reason: row.get("reason")?,
        message: row.get("message")?,
        reader: row.get("reader")?,
        stamp: size_bytes.zip(mtime_ns).map(|(size_bytes, mtime_ns)| Stamp {
            size_bytes: size_bytes.cast_unsigned(),
            mtime_ns,
        }),
        seen_at: row.get("seen_at")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AddedFolder;
    use crate::testing::TestDb;

    fn ledger_row(path: &str, outcome: FileOutcome) -> LedgerRow {
        let is_ignored = outcome == FileOutcome::Ignored;
        LedgerRow {
            path: path.to_owned(),
            outcome,
            reason: if is_ignored { "type" } else { "not_text" }.into(),
            message: (!is_ignored).then(|| "it is not text".into()),
            reader: (!is_ignored).then(|| "1".into()),
            stamp: Some(Stamp { size_bytes: u64::MAX, mtime_ns: -3 }),
            seen_at: String::new(),
        }
    }

    fn paths(rows: &[LedgerRow]) -> Vec<&str> {
        rows.iter().map(|row| row.path.as_str()).collect()
    }

    #[test]
    fn rows_are_read_back_replaced_and_forgotten() {
        let mut db = TestDb::new();
        let row = ledger_row("/a/b.csv", FileOutcome::Ignored);
        let folder = LedgerRow { stamp: None, ..ledger_row("/a/.git", FileOutcome::Ignored) };
        db.store.update_ledger(&[row.clone(), folder.clone()], &[]).unwrap();
        let found = db.store.ledger_at("/").unwrap();
        assert!(found[0].seen_at.starts_with("20") && found[0].seen_at.ends_with('Z'));
        let seen_at = &found[0].seen_at;
        let expected =
            [folder, row.clone()].map(|row| LedgerRow { seen_at: seen_at.clone(), ..row });
        assert_eq!(found.iter().map(|row| &row.path).collect::<Vec<_>>(), ["/a/.git", "/a/b.csv"]);
        assert_eq!(found[0], expected[0]);
        let failed = ledger_row("/a/b.csv", FileOutcome::Failed);
        db.store.update_ledger(&[failed], &["/a/.git".into()]).unwrap();
        let found = db.store.ledger_at("/").unwrap();
        assert_eq!((found.len(), found[0].outcome), (1, FileOutcome::Failed));
        assert_eq!(found[0].message.as_deref(), Some("it is not text"));
    }

    #[test]
    fn a_path_means_what_is_at_and_below_it() {
        let mut db = TestDb::new();
        let all = ["/a", "/a/b", "/a/b/c", "/a b", "/a.md", "/ab"];
        let rows = all.map(|path| ledger_row(path, FileOutcome::Failed));
        db.store.update_ledger(&rows, &[]).unwrap();
        assert_eq!(paths(&db.store.ledger_at("/a").unwrap()), ["/a", "/a/b", "/a/b/c"]);
        assert_eq!(PathRange::of("/").first, "", "a drive is below the root, too");
        assert_eq!(db.store.ledger_at("/").unwrap().len(), all.len());
        assert_eq!(db.store.waive("/a/b").unwrap(), ["/a/b", "/a/b/c"]);
        assert_eq!(db.store.waive("/a/b").unwrap(), [""; 0]);
    }

    #[test]
    fn rows_go_with_their_folder_unless_another_one_contains_them() {
        let mut db = TestDb::new();
        let root = |path: &str| AddedFolder {
            path: path.to_owned(),
            tags: Vec::new(),
            doc_type: None,
            language: None,
            follows_links: false,
            real_path: None,
        };
        for path in ["/a", "/a/b"] {
            db.store.remember_root(&root(path)).unwrap();
        }
        let rows = ["/a/b/x", "/a/y", "/z"].map(|path| ledger_row(path, FileOutcome::Ignored));
        db.store.update_ledger(&rows, &[]).unwrap();
        db.store.forget_root("/a/b").unwrap();
        assert_eq!(db.store.ledger_at("/").unwrap().len(), 3);
        db.store.forget_root("/a").unwrap();
        assert_eq!(paths(&db.store.ledger_at("/").unwrap()), ["/z"]);
    }
}
