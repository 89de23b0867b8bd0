//! Writes results as JSON for programs and as text for people.
//!
//! Depends on the result types of the pipelines and the store; computes nothing. Its only errors are those of
//! writing.

pub mod find;
pub mod json;
pub mod schema;
pub mod terminal;
pub mod text;
