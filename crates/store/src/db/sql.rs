//! Reads the rows of statements, each of which is prepared once per connection.

use rusqlite::{Connection, OptionalExtension, Params, Row};

use super::fault::Step;

/// Reads the first row; `None` if there is none.
pub(crate) fn first_row<T>(
    db: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Step<Option<T>> {
    Ok(db.prepare_cached(sql)?.query_row(params, read).optional()?)
}

/// Reads all rows, in their order.
pub(crate) fn rows<T, C: FromIterator<T>>(
    db: &Connection,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Step<C> {
    Ok(db.prepare_cached(sql)?.query_map(params, read)?.collect::<rusqlite::Result<_>>()?)
}
