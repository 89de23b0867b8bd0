//! Reads and writes columns with a name, a text or JSON.

use std::str::FromStr;

use rusqlite::types::Type;
use rusqlite::{Row, RowIndex};
use serde::{Deserialize, Serialize};

/// Reads a column with one of a fixed set of names.
pub(crate) fn named_column<T>(row: &Row<'_>, column: impl RowIndex) -> rusqlite::Result<T>
where
    T: FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    row.get_ref(column)?.as_str()?.parse().map_err(|error: T::Err| unreadable(error.into()))
}

/// Reads a text column in place, without a copy.
pub(crate) fn text_column<'row>(
    row: &'row Row<'_>,
    column: impl RowIndex,
) -> rusqlite::Result<&'row str> {
    Ok(row.get_ref(column)?.as_str()?)
}

pub(crate) fn json_column<T: for<'de> Deserialize<'de>>(
    row: &Row<'_>,
    column: impl RowIndex,
) -> rusqlite::Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?).map_err(|error| unreadable(error.into()))
}

/// Writes a list as JSON for `json_each()`.
pub(crate) fn to_json<T: Serialize + ?Sized>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}

pub(crate) fn unreadable(cause: Box<dyn std::error::Error + Send + Sync>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(0, Type::Text, cause)
}
