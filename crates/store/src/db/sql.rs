//! Runs statements and reads their rows; each statement is prepared once per connection.

use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension, Params};

use super::fault::Step;
use super::row::StoredRow;

/// Runs a statement that returns no rows.
pub(crate) fn run(db: &Connection, sql: &str, params: impl Params) -> Step<()> {
    db.prepare_cached(sql)?.execute(params)?;
    Ok(())
}

/// Reads the first column of the first row, which must exist.
pub(crate) fn value<T: FromSql>(db: &Connection, sql: &str, params: impl Params) -> Step<T> {
    Ok(db.prepare_cached(sql)?.query_row(params, |row| row.get(0))?)
}

/// Reads the first row; `None` if there is none.
pub(crate) fn first_row<T>(
    db: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&StoredRow<'_>) -> rusqlite::Result<T>,
) -> Step<Option<T>> {
    Ok(db.prepare_cached(sql)?.query_row(params, |row| read(&StoredRow::of(row))).optional()?)
}

/// Reads all rows, in their order.
pub(crate) fn rows<T, C: FromIterator<T>>(
    db: &Connection,
    sql: &str,
    params: impl Params,
    mut read: impl FnMut(&StoredRow<'_>) -> rusqlite::Result<T>,
) -> Step<C> {
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map(params, |row| read(&StoredRow::of(row)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
