//! Answers questions about stored documents: searches, lists and reads them, here or in a pushed copy.

pub mod choose;
pub mod eval;
pub mod facets;
pub mod files;
pub mod freshness;
pub mod grep;
pub mod push;
pub mod read;
pub mod search;
