//! Presents results: one face for programs, one for people.
//!
//! Knows the result types of the pipelines and the store; computes nothing and asks nobody.

pub mod cache;
pub mod eval;
pub mod json;
pub mod schema;
pub mod terminal;
pub mod text;
pub mod update;
pub mod why;

/// A setting with its value and where that comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Dotted name.
    pub key: String,
    /// As YAML writes it.
    pub value: String,
    /// `default`, a file, a variable or a flag.
    pub origin: String,
}
