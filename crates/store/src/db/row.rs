//! Reads the columns of a row, whatever values they have.
//!
//! A value that kb never writes (bytes that are not UTF-8, a negative count) concerns its row alone: it is read as the nearest value that
//! kb writes, so that one bad row does not hide all others. `kb doctor` finds and repairs such values
//! ([`crate::integrity`]); the types of columns are kept by SQLite, since all tables are strict.

use std::borrow::Cow;

use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{Result, RowIndex};

use crate::ids::{ChunkId, DocumentId};

/// A row of a result.
pub(crate) struct StoredRow<'row>(&'row rusqlite::Row<'row>);

impl<'row> StoredRow<'row> {
    pub(crate) fn of(row: &'row rusqlite::Row<'row>) -> Self {
        Self(row)
    }

    /// Returns the value of a column, or the nearest one if kb never writes it.
    ///
    /// # Errors
    ///
    /// Those of a column that does not exist.
    pub(crate) fn get<I: RowIndex + Copy, T: ColumnValue>(&self, column: I) -> Result<T> {
        let found = self.0.get_ref(column)?;
        Ok(T::column_result(found).unwrap_or_else(|_| T::nearest(found)))
    }

    /// Returns the value of a column as it is stored.
    pub(crate) fn get_ref(&self, column: impl RowIndex) -> Result<ValueRef<'row>> {
        self.0.get_ref(column)
    }

    /// Returns the first columns, as many as the tuple has.
    pub(crate) fn columns<T: ColumnTuple>(&self) -> Result<T> {
        T::read(self)
    }

    /// Returns a text, in place if it is UTF-8.
    pub(crate) fn lossy(&self, column: impl RowIndex) -> Result<Cow<'row, str>> {
        let bytes = self.0.get_ref(column)?.as_bytes_or_null().unwrap_or_default();
        Ok(String::from_utf8_lossy(bytes.unwrap_or_default()))
    }

    /// Returns a text in place; an empty one if it is not UTF-8.
    pub(crate) fn text(&self, column: impl RowIndex) -> Result<&'row str> {
        Ok(self.0.get_ref(column)?.as_str().unwrap_or_default())
    }
}

/// The first columns of a row as a tuple.
pub(crate) trait ColumnTuple: Sized {
    fn read(row: &StoredRow<'_>) -> Result<Self>;
}

macro_rules! tuples {
    ($(($($column:ident $index:literal),+)),+) => {$(
        impl<$($column: ColumnValue),+> ColumnTuple for ($($column,)+) {
            fn read(row: &StoredRow<'_>) -> Result<Self> {
                Ok(($(row.get($index)?,)+))
            }
        }
    )+};
}

tuples!((A 0, B 1), (A 0, B 1, C 2), (A 0, B 1, C 2, D 3));

/// A type of columns of which a row can always be read.
pub(crate) trait ColumnValue: FromSql {
    /// Returns the nearest value to one that [`FromSql`] refuses.
    fn nearest(found: ValueRef<'_>) -> Self;
}

impl ColumnValue for String {
    fn nearest(found: ValueRef<'_>) -> Self {
        match found {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                Self::from_utf8_lossy(bytes).into_owned()
            }
            _ => Self::new(),
        }
    }
}

impl ColumnValue for Vec<u8> {
    fn nearest(found: ValueRef<'_>) -> Self {
        found.as_bytes().map(<[u8]>::to_vec).unwrap_or_default()
    }
}

impl<T: ColumnValue> ColumnValue for Option<T> {
    fn nearest(found: ValueRef<'_>) -> Self {
        Some(T::nearest(found))
    }
}

impl ColumnValue for bool {
    fn nearest(_: ValueRef<'_>) -> Self {
        false
    }
}

impl ColumnValue for f64 {
    fn nearest(_: ValueRef<'_>) -> Self {
        0.0
    }
}

impl ColumnValue for i64 {
    fn nearest(_: ValueRef<'_>) -> Self {
        0
    }
}

/// Reads numbers of a smaller range: the nearest end of the range.
macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl ColumnValue for $number {
            fn nearest(found: ValueRef<'_>) -> Self {
                let number = found.as_i64().unwrap_or_default();
                Self::try_from(number).unwrap_or(if number < 0 { 0 } else { Self::MAX })
            }
        }
    )+};
}

numbers!(u8, u32);

impl ColumnValue for DocumentId {
    fn nearest(_: ValueRef<'_>) -> Self {
        Self(0)
    }
}

impl ColumnValue for ChunkId {
    fn nearest(_: ValueRef<'_>) -> Self {
        Self(0)
    }
}
