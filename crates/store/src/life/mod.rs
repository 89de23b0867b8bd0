//! Opens, migrates, copies and erases the whole database: the roof of the store.

pub(crate) mod backup;
pub(crate) mod erase;
mod layout;
pub(crate) mod migrate;
pub(crate) mod open;
pub(crate) mod stats;
