//! Adds, edits and updates documents, and keeps their stored data up to date with files, settings and model.

pub mod add;
pub mod edit;
pub(crate) mod ingestion;
mod languages;
pub mod last_update;
pub mod ocr;
pub(crate) mod refresh;
pub mod reindex;
pub mod relocate;
pub mod reread;
pub mod scope;
pub mod update;
pub(crate) mod vectors;
pub mod watch;
