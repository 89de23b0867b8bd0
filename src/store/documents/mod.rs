//! Stores documents with their chunks, tags and paths.

pub(in crate::store) mod chunks;
pub(in crate::store) mod edit;
pub(in crate::store) mod edits;
pub(in crate::store) mod filter;
pub(in crate::store) mod ledger;
pub(in crate::store) mod making;
pub(in crate::store) mod merge;
pub(in crate::store) mod mirror;
mod path_rows;
pub(in crate::store) mod paths;
pub(in crate::store) mod queries;
mod record;
pub(in crate::store) mod relocate;
pub(in crate::store) mod remembered;
mod remove;
pub(in crate::store) mod replace;
pub(in crate::store) mod roots;
pub(in crate::store) mod rows;
pub(in crate::store) mod stamps;
pub(in crate::store) mod stored;
pub(in crate::store) mod tags;
pub(in crate::store) mod texts;
pub(in crate::store) mod transfer;
pub(in crate::store) mod unfollowed;
pub(in crate::store) mod write;
