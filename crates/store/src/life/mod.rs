//! Opens, migrates, copies and erases the whole database. The top layer of the store.

pub(crate) mod backup;
pub(crate) mod erase;
pub(crate) mod known_schema;
mod layout;
pub(crate) mod migrate;
pub(crate) mod open;
mod peek;
mod statements;
pub(crate) mod stats;
