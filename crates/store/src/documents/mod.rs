//! Stores documents with their chunks, tags and paths.

pub(crate) mod chunks;
mod cut;
pub(crate) mod edit;
pub(crate) mod edits;
pub(crate) mod filter;
pub(crate) mod ledger;
pub(crate) mod links;
pub(crate) mod making;
pub(crate) mod merge;
pub(crate) mod mirror;
mod path_rows;
pub(crate) mod paths;
pub(crate) mod queries;
pub(crate) mod relocate;
pub(crate) mod remembered;
mod remove;
pub(crate) mod replace;
pub(crate) mod roots;
pub(crate) mod rows;
pub(crate) mod stamps;
pub(crate) mod stored;
pub(crate) mod tags;
pub(crate) mod texts;
pub(crate) mod transfer;
pub(crate) mod unfollowed;
pub(crate) mod write;
