//! Reads and sets the values of `config`, a table of keys and values.

use rusqlite::{Connection, ToSql, named_params};

use super::fault::Step;
use super::row::ColumnValue;
use super::sql;

const VALUE: &str = "SELECT value FROM config WHERE key = :key";

const SET: &str = "
    INSERT INTO config (key, value) VALUES (:key, :value)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value";

const REMOVE: &str = "DELETE FROM config WHERE key = :key";

pub(crate) fn value<T: ColumnValue>(db: &Connection, key: &str) -> Step<Option<T>> {
    sql::first_row(db, VALUE, named_params! { ":key": key }, |row| row.get(0))
}

pub(crate) fn set(db: &Connection, key: &str, value: impl ToSql) -> Step<()> {
    sql::run(db, SET, named_params! { ":key": key, ":value": value })
}

pub(crate) fn remove(db: &Connection, key: &str) -> Step<()> {
    sql::run(db, REMOVE, named_params! { ":key": key })
}
