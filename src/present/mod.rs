//! Presents results: one face for programs, one for people.
//!
//! Knows the result types of the pipelines and the store; computes nothing.

pub mod json;
pub mod schema;
pub mod terminal;
pub mod text;
