//! The database: the only SQL.
