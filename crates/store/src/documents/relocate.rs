//! Moves everything that is remembered below a folder to another path, in one transaction.

use rusqlite::{Connection, named_params};

use super::ledger::PathRange;
use super::remembered::{AddedFolder, PathStamp};
use super::roots;
use crate::Store;
use crate::db::fault::Step;
use crate::db::{erasing, sql};
use crate::error::{Error, Result};
use crate::wording::{kb, wording};

/// The move of a folder: its paths before and after, and its files.
#[derive(Debug, Clone, Copy)]
pub struct Relocation<'a> {
    /// The folder's remembered path.
    pub from: &'a str,
    /// Its path now.
    pub to: &'a str,
    /// Files that have their remembered content at their new path: how they look there, and the
    /// SHA-256 of the content.
    pub found: &'a [(PathStamp, String)],
    /// The folders to remember instead of those at and below the old path.
    pub roots: &'a [AddedFolder],
}

/// A file of another document at the new path of a file.
const TAKEN: &str = "
    SELECT there.path
    FROM document_paths AS here
    JOIN document_paths AS there
        ON there.path = :to || substr(here.path, length(:from) + 1)
    WHERE here.path >= :first AND here.path < :end AND there.document_id <> here.document_id
    ORDER BY there.path
    LIMIT 1";

/// Files that are remembered at both places are the same document.
const FORGET_TWICE: &str = "
    DELETE FROM document_paths
    WHERE path >= :first AND path < :end
        AND EXISTS (
            SELECT 1
            FROM document_paths AS there
            WHERE there.path = :to || substr(document_paths.path, length(:from) + 1)
        )";

/// The resolved path of a named file is that of the old place.
const MOVE_PATHS: &str = "
    UPDATE document_paths
    SET path = :to || substr(path, length(:from) + 1), real_path = NULL, on_mount = NULL
    WHERE path >= :first AND path < :end";

const MOVE_SHOWN: &str = "
    UPDATE documents
    SET source_path = :to || substr(source_path, length(:from) + 1)
    WHERE source_path >= :first AND source_path < :end";

/// A closed case stays closed.
const FORGET_REPLACED: &str = "
    DELETE FROM ledger
    WHERE path IN (
        SELECT :to || substr(path, length(:from) + 1)
        FROM ledger
        WHERE outcome = 'waived' AND path >= :first AND path < :end
    )";

const MOVE_LEDGER: &str = "
    UPDATE OR IGNORE ledger
    SET path = :to || substr(path, length(:from) + 1)
    WHERE path >= :first AND path < :end";

const FORGET_LEDGER: &str = "DELETE FROM ledger WHERE path >= :first AND path < :end";

const FORGET_ROOTS: &str =
    "DELETE FROM roots WHERE path = :from OR (path >= :first AND path < :end)";

const SET_STAMP: &str = "
    UPDATE document_paths
    SET size_bytes = :size_bytes, mtime_ns = :mtime_ns, real_path = :real_path
    WHERE path = :path
        AND document_id IN (SELECT id FROM documents WHERE content_hash = :content_hash)";

impl Store {
    /// Moves all records below a folder to the new path; ids, tags, reasons and waived failures are kept.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if another document is remembered at a new path.
    pub fn relocate(&mut self, relocation: &Relocation<'_>) -> Result<()> {
        self.write(|db| {
            // The old paths must not stay readable in the file.
            erasing::mark(db)?;
            move_below(db, relocation)?;
            for root in relocation.roots {
                roots::remember(db, root)?;
            }
            let mut set_stamp = db.prepare_cached(SET_STAMP)?;
            for (stamp, content_hash) in relocation.found {
                set_stamp.execute(named_params! {
                    ":path": stamp.path,
                    ":size_bytes": stamp.size_bytes.cast_signed(),
                    ":mtime_ns": stamp.mtime_ns,
                    ":real_path": stamp.real_path,
                    ":content_hash": content_hash,
                })?;
            }
            Ok(())
        })
    }
}

fn move_below(db: &Connection, relocation: &Relocation<'_>) -> Step<()> {
    let PathRange { folder: from, first, end, .. } = PathRange::of(relocation.from);
    let to = relocation.to.trim_end_matches(crate::text::paths::SEPARATOR);
    let params = named_params! { ":from": from, ":to": to, ":first": first, ":end": end };
    let taken = sql::first_row(db, TAKEN, params, |row| row.get::<_, String>(0))?;
    if let Some(path) = taken {
        let taken = Error::usage(format!("{path} already belongs to another document"));
        let remove = kb("remove").arg("PATH");
        return Err(taken
            .with_hint(wording!("remove one of the two with `{}`, then relocate again", remove))
            .into());
    }
    for sql in [FORGET_TWICE, MOVE_PATHS, MOVE_SHOWN, FORGET_REPLACED, MOVE_LEDGER] {
        sql::run(db, sql, params)?;
    }
    sql::run(db, FORGET_LEDGER, named_params! { ":first": first, ":end": end })?;
    sql::run(db, FORGET_ROOTS, named_params! { ":from": from, ":first": first, ":end": end })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::FileOutcome;
    use crate::files::stamp::Stamp;
    use crate::testing::{TestDb, stamp};
    use crate::{LedgerRow, PathRole};

    fn relocation<'a>(from: &'a str, to: &'a str, roots: &'a [AddedFolder]) -> Relocation<'a> {
        Relocation { from, to, found: &[], roots }
    }

    fn root(path: &str, tags: &[&str]) -> AddedFolder {
        AddedFolder {
            path: path.to_owned(),
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
            doc_type: None,
            language: None,
            follows_links: false,
            real_path: None,
        }
    }

    #[test]
    fn everything_below_a_folder_moves_and_nothing_else() {
        let mut db = TestDb::new();
        let a = db.add("/ö/old/a.md", &["alpha"], &["one"]);
        let b = db.add("/ö/old/sub/b.md", &["beta"], &[]);
        let other = db.add("/ö/older/c.md", &["gamma"], &[]);
        db.store.remember_root(&root("/ö/old", &["one"])).unwrap();
        let row = |path: &str, outcome| LedgerRow {
            path: path.to_owned(),
            outcome,
            reason: "damaged".into(),
            message: Some("it is damaged".into()),
            reader: Some("1".into()),
            stamp: Some(Stamp { size_bytes: 1, mtime_ns: 2 }),
            seen_at: String::new(),
        };
        let rows = [
            row("/ö/old/bad.pdf", FileOutcome::Failed),
            row("/ö/old/closed.pdf", FileOutcome::Failed),
            row("/n/closed.pdf", FileOutcome::Failed),
            row("/ö/older/bad.pdf", FileOutcome::Failed),
        ];
        db.store.update_ledger(&rows, &[]).unwrap();
        db.store.waive("/ö/old/closed.pdf").unwrap();
        let found = [(PathStamp { mtime_ns: 77, ..stamp("/n/a.md") }, "hash of alpha".to_owned())];
        let roots = [root("/n", &["one"])];
        db.store
            .relocate(&Relocation { found: &found, ..relocation("/ö/old", "/n", &roots) })
            .unwrap();
        let shown = |db: &TestDb, id| db.store.document(id).unwrap().unwrap().path.unwrap();
        assert_eq!(
            [a, b, other].map(|id| shown(&db, id)),
            ["/n/a.md", "/n/sub/b.md", "/ö/older/c.md"]
        );
        assert_eq!(db.store.known_path("/n/a.md").unwrap().unwrap().stamp.mtime_ns, 77);
        assert_eq!(db.store.known_path("/ö/old/a.md").unwrap(), None);
        assert_eq!(db.store.roots().unwrap(), roots);
        let ledger = db.store.ledger_at("/").unwrap();
        let ledger: Vec<_> = ledger.iter().map(|row| (row.path.as_str(), row.outcome)).collect();
        let expected = [
            ("/n/bad.pdf", FileOutcome::Failed),
            ("/n/closed.pdf", FileOutcome::Waived),
            ("/ö/older/bad.pdf", FileOutcome::Failed),
        ];
        assert_eq!(ledger, expected);
        db.assert_intact();
    }

    #[test]
    fn a_file_that_is_remembered_at_both_places_is_one_file() {
        let mut db = TestDb::new();
        let id = db.add("/old/a.md", &["alpha"], &[]);
        let hash = "hash of alpha";
        db.store.remember_path(id, hash, &stamp("/new/a.md"), PathRole::Further).unwrap();
        let roots = [root("/new", &[])];
        db.store.relocate(&relocation("/old", "/new", &roots)).unwrap();
        assert_eq!(db.store.document(id).unwrap().unwrap().path.unwrap(), "/new/a.md");
        assert_eq!(db.store.known_files().unwrap().len(), 1);
        db.assert_intact();
    }

    #[test]
    fn another_document_at_a_new_path_is_never_replaced() {
        let mut db = TestDb::new();
        db.add("/old/a.md", &["alpha"], &[]);
        db.add("/new/a.md", &["other"], &[]);
        let refused = db.store.relocate(&relocation("/old", "/new", &[])).unwrap_err();
        assert!(
            refused.to_string().starts_with("/new/a.md already belongs to another document"),
            "{refused}"
        );
        assert!(db.store.known_path("/old/a.md").unwrap().is_some());
        db.assert_intact();
    }
}
