//! Creates the errors of models and of the runtime.

use std::path::Path;

use crate::error::Error;

/// Creates the error for an unusable model file.
pub(crate) fn model_error(path: &Path, reason: impl ToString) -> Error {
    let hint = "if `kb init` fetched it, remove it and run `kb init` again; else name another with \
                `--model-dir`";
    unusable(path, reason, hint)
}

/// Creates the error for an intact model that kb cannot compute.
pub(crate) fn unsupported(path: &Path, reason: impl ToString) -> Error {
    unusable(path, reason, "name another model with `--model` or `--model-dir`")
}

/// Creates the error for an unusable runtime library.
pub(crate) fn library_error(path: &Path, reason: impl ToString) -> Error {
    let hint = "if `kb init` fetched it, remove it and run `kb init` again; else name another with \
                ORT_DYLIB_PATH";
    unusable(path, reason, hint)
}

#[expect(clippy::needless_pass_by_value, reason = "errors arrive by value in `map_err`")]
fn unusable(path: &Path, reason: impl ToString, hint: &'static str) -> Error {
    Error::Model { path: path.to_owned(), reason: reason.to_string(), hint }
}
