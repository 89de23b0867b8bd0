//! Provides functions that tests of files share.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::path::Path;

/// Makes a pipe. `rustix` can do that on some systems only.
#[cfg(unix)]
pub fn pipe(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
}

/// Returns the names in a folder, sorted.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
