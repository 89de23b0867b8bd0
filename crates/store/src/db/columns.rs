//! Reads and writes columns with a name, a text or JSON.

use std::str::FromStr;

use rusqlite::RowIndex;
use serde::{Deserialize, Serialize};

use super::row::StoredRow;

/// Reads a column with one of a fixed set of names; `otherwise` for any other name.
pub(crate) fn named_column<T: FromStr>(
    row: &StoredRow<'_>,
    column: impl RowIndex,
    otherwise: T,
) -> rusqlite::Result<T> {
    Ok(row.text(column)?.parse().unwrap_or(otherwise))
}

/// Reads JSON; the default if it does not have the shape that kb writes.
pub(crate) fn json_column<T: for<'de> Deserialize<'de> + Default>(
    row: &StoredRow<'_>,
    column: impl RowIndex,
) -> rusqlite::Result<T> {
    Ok(serde_json::from_str(row.text(column)?).unwrap_or_default())
}

/// Writes a list as JSON for `json_each()`.
pub(crate) fn to_json<T: Serialize + ?Sized>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
}
