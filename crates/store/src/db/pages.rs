//! Clears the copies of rows that SQLite leaves between the rows of its pages.
//!
//! `PRAGMA secure_delete` overwrites a row where it is deleted. But SQLite also moves rows between
//! pages, to keep them evenly filled, and leaves the earlier bytes in the gap between a page's list
//! of rows and the rows themselves (`rebuildPage` in btree.c). Such a copy outlives its row: 4 of
//! 230 removed documents could still be read. Pages are read and written through `sqlite_dbpage`,
//! so everything is part of the transaction.

use std::ops::Range;

use rusqlite::{Connection, OptionalExtension, named_params};

use super::fault::{DatabaseFault, Step};

/// SQLite may have been built without this table; see `.cargo/config.toml`.
const HAS_PAGES: &str =
    "SELECT EXISTS (SELECT 1 FROM pragma_module_list WHERE name = 'sqlite_dbpage')";

const ROOTS: &str = "SELECT 1 UNION SELECT rootpage FROM sqlite_schema WHERE rootpage > 0";

const PAGE: &str = "SELECT data FROM sqlite_dbpage WHERE pgno = :page";

const WRITE_PAGE: &str = "UPDATE sqlite_dbpage SET data = :data WHERE pgno = :page";

/// Bytes of the file header, which precede the tree in the first page (sqlite.org/fileformat2.html, 1.3).
const FILE_HEADER: usize = 100;

/// Bytes of a page's header; that of an inner page also has the number of its last child page (section 1.6 there).
const LEAF_HEADER: usize = 8;
const INNER_HEADER: usize = 12;

/// A page of a table or an index, as the file format describes it (sqlite.org/fileformat2.html, 1.6).
#[derive(Debug, PartialEq, Eq)]
struct DatabasePage {
    /// The gap between the list of rows and the first row; it must be empty.
    gap: Range<usize>,
    /// Child pages; none for a leaf.
    below: Vec<i64>,
}

/// Overwrites the gaps of all tables and indexes with zeros. Returns the number of changed pages;
/// `None`, without any change, if SQLite was built without access to pages.
pub(crate) fn clear_gaps(db: &Connection) -> Step<Option<usize>> {
    if !db.query_row(HAS_PAGES, [], |row| row.get::<_, bool>(0))? {
        return Ok(None);
    }
    let mut roots = db.prepare(ROOTS)?;
    let mut waiting: Vec<i64> = roots.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let num_pages: usize = db
        .pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0))?
        .try_into()
        .unwrap_or(0);
    let (mut num_read, mut num_cleared) = (0, 0);
    let mut read = db.prepare(PAGE)?;
    let mut write = db.prepare(WRITE_PAGE)?;
    while let Some(number) = waiting.pop() {
        // Pages of a damaged file may point to each other in a circle, so no more are read than the file has.
        num_read += 1;
        if num_read > num_pages {
            return Err(damaged(number));
        }
        let cleared = read
            .query_row(named_params! { ":page": number }, |row| {
                let Ok(data) = row.get_ref(0)?.as_blob() else { return Ok(None) };
                let Some(page) = page(data, number == 1) else { return Ok(None) };
                waiting.extend(page.below);
                Ok(Some(without_gap(data, page.gap)))
            })
            .optional()?
            .flatten()
            .ok_or_else(|| damaged(number))?;
        if let Some(data) = cleared {
            write.execute(named_params! { ":page": number, ":data": data })?;
            num_cleared += 1;
        }
    }
    Ok(Some(num_cleared))
}

fn damaged(page: i64) -> DatabaseFault {
    DatabaseFault::Corrupt(format!("page {page} cannot be read"))
}

/// Parses a page; `None` if it is not a page of a table or an index.
fn page(data: &[u8], is_first: bool) -> Option<DatabasePage> {
    let start = if is_first { FILE_HEADER } else { 0 };
    let header = match data.get(start)? {
        // The types of inner pages and leaves, of an index and of a table (fileformat2.html, 1.6).
        2 | 5 => INNER_HEADER,
        10 | 13 => LEAF_HEADER,
        _ => return None,
    };
    let num_rows = number(data, start + 3)?;
    let list = start + header;
    let first_row = match number(data, start + 5)? {
        // 65,536 does not fit into two bytes, and is written as 0.
        0 => 1 << 16,
        first_row => first_row,
    };
    let gap = list + 2 * num_rows..first_row;
    data.get(gap.clone())?;
    let mut below = Vec::new();
    if header == INNER_HEADER {
        for idx in 0..num_rows {
            below.push(page_number(data, number(data, list + 2 * idx)?)?);
        }
        below.push(page_number(data, start + LEAF_HEADER)?);
    }
    Some(DatabasePage { gap, below })
}

/// Reads a number of two bytes.
fn number(data: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_be_bytes([*data.get(at)?, *data.get(at + 1)?])))
}

/// Reads the number of a page, of four bytes.
fn page_number(data: &[u8], at: usize) -> Option<i64> {
    Some(i64::from(u32::from_be_bytes(*data.get(at..)?.first_chunk()?)))
}

/// Returns the page with an empty gap; `None` if the gap is empty already.
fn without_gap(data: &[u8], gap: Range<usize>) -> Option<Vec<u8>> {
    if data.get(gap.clone())?.iter().all(|byte| *byte == 0) {
        return None;
    }
    let mut data = data.to_vec();
    data[gap].fill(0);
    Some(data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::connection::on_pages;
    use crate::testing::TestDb;

    #[test]
    fn the_library_gives_access_to_pages() {
        // A build without the flag in `.cargo/config.toml` works, but rewrites the file for each
        // removal.
        let db = TestDb::new();
        assert!(on_pages(&db.store.connection, clear_gaps).unwrap().is_some());
    }

    #[test]
    fn gaps_between_rows_are_cleared_and_the_rows_stay() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("PRAGMA secure_delete = ON; CREATE TABLE t (a PRIMARY KEY, b)").unwrap();
        // This order moves rows between pages.
        for number in (0..4000).map(|number| number * 7919 % 4000) {
            let row = (format!("key {number:05}"), "x".repeat(number % 90));
            db.execute("INSERT INTO t VALUES (?, ?)", row).unwrap();
        }
        db.execute("DELETE FROM t WHERE a LIKE '%7'", []).unwrap();
        let sum = "SELECT count(*), sum(length(a) + length(b)) FROM t";
        let rows = || db.query_row(sum, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        let before: (i64, i64) = rows();
        assert!(clear_gaps(&db).unwrap().unwrap() > 0, "the test shows nothing");
        assert_eq!(clear_gaps(&db).unwrap(), Some(0));
        assert_eq!(rows(), before);
        let mut pages = db.prepare("SELECT data FROM sqlite_dbpage").unwrap();
        let pages = pages.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
        for data in pages.map(Result::unwrap) {
            let left =
                data.windows(9).filter(|bytes| bytes.starts_with(b"key ") && bytes[8] == b'7');
            assert_eq!(left.count(), 0);
        }
        let verdict: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(verdict, "ok");
    }

    #[test]
    fn bytes_that_are_not_a_page_are_recognised() {
        assert_eq!(page(&[0; 512], false), None);
        assert_eq!(page(&[13], false), None);
        let mut empty = vec![0; 512];
        empty[0] = 13;
        empty[5..7].copy_from_slice(&512_u16.to_be_bytes());
        assert_eq!(page(&empty, false), Some(DatabasePage { gap: 8..512, below: Vec::new() }));
        empty[3..5].copy_from_slice(&400_u16.to_be_bytes());
        assert_eq!(page(&empty, false), None);
    }
}
