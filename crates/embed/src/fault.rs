//! Creates the errors of models and of the runtime.

use std::path::Path;

use crate::error::Error;
use crate::wording::{Wording, kb, option, wording};

/// Creates the error for an unusable model file.
pub(crate) fn model_error(path: &Path, reason: impl ToString) -> Error {
    unusable(path, reason, fetched_or_named(wording!("`{}`", option("--model-dir"))))
}

/// Creates the error for an intact model that kb cannot compute.
pub(crate) fn unsupported(path: &Path, reason: impl ToString) -> Error {
    let hint =
        wording!("name another model with `{}` or `{}`", option("--model"), option("--model-dir"));
    unusable(path, reason, hint)
}

/// Creates the error for an unusable runtime library.
pub(crate) fn library_error(path: &Path, reason: impl ToString) -> Error {
    unusable(path, reason, fetched_or_named("ORT_DYLIB_PATH"))
}

/// Says what to do with a file that was fetched, or which `place` names.
fn fetched_or_named(place: impl Into<Wording>) -> Wording {
    let fetched = wording!(
        "if `{}` fetched it, remove it and run `{}` again; otherwise name another with ",
        kb("init"),
        kb("init")
    );
    fetched.then(place)
}

#[expect(clippy::needless_pass_by_value, reason = "errors arrive by value in `map_err`")]
fn unusable(path: &Path, reason: impl ToString, hint: Wording) -> Error {
    Error::Model { path: path.to_owned(), reason: reason.to_string(), hint }
}
