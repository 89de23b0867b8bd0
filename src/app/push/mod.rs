//! Pushes a knowledge base to a copy in PostgreSQL, and opens such a copy for a search.
//!
//! The feature `postgres` chooses one of two modules with the same functions.

#[cfg(feature = "postgres")]
mod copy;
#[cfg(feature = "postgres")]
use copy as chosen;

#[cfg(not(feature = "postgres"))]
mod left_out;
#[cfg(not(feature = "postgres"))]
use left_out as chosen;

pub use chosen::push;
pub(super) use chosen::{Kept, keep, open};

/// What a push has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushReport {
    /// Host and database, without password.
    pub target: String,
    /// Whether the copy was made from nothing.
    pub is_fresh: bool,
    /// Documents of the database.
    pub num_documents: u64,
    /// Documents that were new or changed.
    pub num_sent: u64,
    /// Documents that the database no longer has.
    pub num_removed: u64,
    /// Chunks that were sent, with unchanged neighbours.
    pub num_chunks_sent: u64,
}
