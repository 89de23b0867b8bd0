//! Creates the errors of files and of models.

use std::path::Path;

use crate::error::Error;

/// Creates the error of a file operation; a full disk has a separate error.
pub(crate) fn io_error(path: &Path, source: std::io::Error) -> Error {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    match source.kind() {
        StorageFull | QuotaExceeded => Error::DiskFull { path: path.to_owned() },
        _ => Error::of_file(path, source),
    }
}

/// Creates the error for an unusable model file.
#[expect(clippy::needless_pass_by_value, reason = "errors arrive by value in `map_err`")]
pub(crate) fn model_error(path: &Path, reason: impl ToString) -> Error {
    Error::Model { path: path.to_owned(), reason: reason.to_string() }
}
