//! Finds the processes of this user by a variable in their environment.

use std::fs;
use std::path::Path;

use super::folder;

/// Returns the ids of the processes that were started with `variable`, as `NAME=VALUE`, in their environment.
/// Those of other users cannot be read. Systems without Linux's `/proc` have none.
pub fn with_variable(variable: &str) -> Vec<i32> {
    let numbered = folder::entries(Path::new("/proc")).into_iter().filter_map(|process| {
        let id = process.file_name()?.to_str()?.parse().ok()?;
        has_variable(&process, variable).then_some(id)
    });
    numbered.collect()
}

/// Whether a process, by its folder, was started with a variable.
fn has_variable(process: &Path, variable: &str) -> bool {
    let environment = fs::read(process.join("environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|found| found == variable.as_bytes())
}
