//! Remembers which schema a connection has compared with what kb makes, and notices when another process changes it.

use std::cell::{Cell, RefCell};

use rusqlite::Connection;

use super::fault::Step;
use super::schema::version_in_transaction;
use super::sql;

/// The schema cookie: SQLite changes it with the schema.
const COOKIE: &str = "PRAGMA schema_version";

/// Compares the objects of a database with those of a version. Returns the indexes that are added; anything else that
/// kb did not make is an error.
type Compare = fn(&Connection, i64) -> Step<Vec<String>>;

/// The state of the schema that was compared last.
#[derive(Debug)]
pub(crate) struct SeenSchema {
    compare: Compare,
    /// Whether the next transaction need not ask whether it has changed.
    is_confirmed: Cell<bool>,
    /// Schema cookie and version; `None` before the first comparison.
    state: Cell<Option<(i64, i64)>>,
    /// Indexes that kb did not make.
    added_indexes: RefCell<Vec<String>>,
}

impl SeenSchema {
    /// Nothing is compared yet.
    pub(crate) fn new(compare: Compare) -> Self {
        let (is_confirmed, state) = (Cell::new(false), Cell::new(None));
        Self { compare, is_confirmed, state, added_indexes: RefCell::default() }
    }

    /// Returns that of a new connection: what it reads of the schema may differ from what this one has read.
    pub(crate) fn of_reader(&self) -> Self {
        Self::new(self.compare)
    }

    /// Compares the schema if it may have changed: in the first transaction of a connection, in the first of a request
    /// ([`Self::doubt`]), and in each that writes. Must run in the transaction that then uses the database.
    pub(crate) fn confirm(&self, db: &Connection) -> Step<()> {
        if !self.is_confirmed.get() {
            self.compare_again(db)?;
        }
        Ok(())
    }

    /// Lets the next transaction ask whether another process has changed the schema.
    pub(crate) fn doubt(&self) {
        self.is_confirmed.set(false);
    }

    /// Compares the schema, unless cookie and version are those of the last time. Returns the version.
    pub(crate) fn compare_again(&self, db: &Connection) -> Step<i64> {
        let version = version_in_transaction(db)?;
        let state = (sql::value(db, COOKIE, [])?, version);
        if self.state.get() != Some(state) {
            self.added_indexes.replace((self.compare)(db, version)?);
            self.state.set(Some(state));
        }
        self.is_confirmed.set(true);
        Ok(version)
    }

    /// Returns the indexes that kb did not make.
    pub(crate) fn added_indexes(&self) -> Vec<String> {
        self.added_indexes.borrow().clone()
    }
}
