//! Opens the file, and reads and sets what concerns all of it: the ground floor of the store.

pub(in crate::store) mod access;
pub(in crate::store) mod binding;
pub(in crate::store) mod columns;
pub(in crate::store) mod connection;
pub(in crate::store) mod erasing;
pub(in crate::store) mod fault;
pub(in crate::store) mod file_id;
mod identity;
mod ids;
pub(in crate::store) mod last_update;
pub(in crate::store) mod layout;
pub(in crate::store) mod pages;
mod place;
mod read_only;
mod readers;
pub(in crate::store) mod recheck;
pub(in crate::store) mod schema;
