//! Parses the tables that are files next to the code.

use serde::de::DeserializeOwned;

/// Returns the content of a table that is part of the program; a test of each reader parses it.
///
/// # Panics
///
/// If the table has another shape than `T`.
pub fn table<T: DeserializeOwned>(toml: &str) -> T {
    toml::from_str(toml).unwrap_or_else(|error| panic!("a built-in table: {error}"))
}
