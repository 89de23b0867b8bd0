//! Opens, migrates, copies and erases the whole database: the roof of the store.

pub(in crate::store) mod backup;
pub(in crate::store) mod erase;
mod layout;
pub(in crate::store) mod migrate;
pub(in crate::store) mod open;
pub(in crate::store) mod stats;
