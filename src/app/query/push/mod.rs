//! Pushes a knowledge base to a copy in PostgreSQL, and opens such a copy for a search.
//!
//! The feature `postgres` chooses one of two modules with the same functions.

#[cfg(feature = "postgres")]
mod copy;
#[cfg(not(feature = "postgres"))]
mod left_out;

use schemars::JsonSchema;
use serde::Serialize;

#[cfg(feature = "postgres")]
use copy as chosen;
#[cfg(not(feature = "postgres"))]
use left_out as chosen;

pub use chosen::push;
pub(super) use chosen::{keep, open};

/// The report of `kb push`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PushReport {
    /// Host and database, without password.
    pub target: String,
    /// Whether the copy was made from nothing.
    #[serde(rename = "fresh")]
    pub is_fresh: bool,
    /// Documents of the database.
    #[serde(rename = "documents")]
    pub num_documents: u64,
    /// Documents that were new or changed there.
    #[serde(rename = "sent")]
    pub num_sent: u64,
    /// Documents that were removed there.
    #[serde(rename = "removed")]
    pub num_removed: u64,
    /// Chunks that were sent, with unchanged neighbours.
    #[serde(rename = "chunks_sent")]
    pub num_chunks_sent: u64,
}
