//! Says why a connection is given up.

use std::fmt;

use crate::wording::Wording;

/// Why a connection was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Breach {
    pub(super) reason: String,
    pub(super) hint: Wording,
}

impl Breach {
    pub(super) fn new(reason: impl Into<String>, hint: impl Into<Wording>) -> Self {
        Self { reason: reason.into(), hint: hint.into() }
    }

    /// The error of a server that speaks something else.
    pub(super) fn not_postgres() -> Self {
        Self::new("the server there is not PostgreSQL", "check host and port of the URL")
    }

    pub(super) fn too_much(what: impl fmt::Display) -> Self {
        Self::new(
            format!("the server sends {what}"),
            "a copy made by kb never sends this; check which server that is",
        )
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.reason)
    }
}

impl std::error::Error for Breach {}
