//! Creates the errors of what cannot be fetched, or was changed since.

use std::path::Path;

use crate::error::Error;

/// Creates the error that names every tried source.
pub(super) fn fetch_error(what: String, failures: &[(String, String)]) -> Error {
    let clauses: Vec<String> =
        failures.iter().map(|(source, reason)| format!("{source}: {reason}")).collect();
    Error::Fetch { what, reason: clauses.join("; ") }
}

/// Returns only the reason of an error that also names what was wanted.
pub(super) fn reason_of(error: Error) -> String {
    match error {
        Error::Fetch { reason, .. } => reason,
        other => other.to_string(),
    }
}

/// Creates the error for a file whose length has changed since it was fetched.
pub(super) fn changed_length(path: &Path, found: u64, expected: u64) -> Error {
    let reason = format!("it has {found} bytes, expected {expected}");
    Error::CacheChanged { path: path.to_owned(), reason }
}
