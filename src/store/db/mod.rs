//! Opens, migrates, copies and cleans the database file, and classifies its errors.

pub(in crate::store) mod access;
pub(in crate::store) mod backup;
pub(in crate::store) mod binding;
pub(in crate::store) mod by_sql;
pub(in crate::store) mod erase;
pub(in crate::store) mod fault;
mod identity;
mod ids;
pub(in crate::store) mod last_update;
pub(in crate::store) mod layout;
pub(in crate::store) mod migrate;
pub(in crate::store) mod open;
pub(in crate::store) mod pages;
pub(in crate::store) mod place;
pub(in crate::store) mod readers;
pub(in crate::store) mod recheck;
