//! Opens files and makes them: the one place in kb that uses the file system.
//!
//! [`open`] reads what a user, a database or a folder names and trusts none of it. [`mod@write`] makes a
//! file next to another, and [`tree`] a folder, so that a reader sees the old content or the new one
//! and nothing between. [`private`] sets who may read what kb makes. [`folder`] keeps kb's own folders
//! in order, and [`stamp`] tells whether a file has changed.

pub use std::fs::{File, Metadata};

pub mod folder;
pub mod open;
pub mod private;
pub mod scratch;
pub mod stamp;
pub mod tree;
pub mod write;

#[cfg(test)]
mod testing {
    use std::path::Path;

    /// Returns the names in a folder, in order.
    pub(super) fn names(folder: &Path) -> Vec<String> {
        let entries = folder.read_dir().unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}
