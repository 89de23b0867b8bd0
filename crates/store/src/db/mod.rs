//! Opens the file, and reads and sets what concerns all of it: the ground floor of the store.

pub(crate) mod access;
pub(crate) mod binding;
pub(crate) mod columns;
pub(crate) mod config;
pub(crate) mod connection;
pub(crate) mod erasing;
pub(crate) mod fault;
pub(crate) mod identity;
pub(crate) mod last_update;
pub(crate) mod layout;
pub(crate) mod pages;
mod read_only;
mod readers;
pub(crate) mod recheck;
pub(crate) mod room;
pub(crate) mod row;
pub(crate) mod schema;
pub(crate) mod seen_schema;
pub(crate) mod sql;
