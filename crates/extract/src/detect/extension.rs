//! Returns the extension of a file.

use std::path::Path;

/// Returns the extension in lower case. `python3.11-config` and `notes.2024` have none.
pub(super) fn extension(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let is_word = extension.starts_with(|first: char| first.is_ascii_lowercase())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word.then_some(extension)
}
