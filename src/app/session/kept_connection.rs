//! Holds the connection that a search leaves to the next one.

#[cfg(feature = "postgres")]
use crate::store::remote::RemoteLink;

/// A connection that is kept for the next search of the same copy.
#[cfg(feature = "postgres")]
pub(crate) struct KeptConnection {
    pub(crate) typed: String,
    pub(crate) link: RemoteLink,
}

/// Without a client of PostgreSQL there is none.
#[cfg(not(feature = "postgres"))]
pub(crate) enum KeptConnection {}
