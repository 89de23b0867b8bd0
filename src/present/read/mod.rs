//! Parts of documents in, bytes out: text for people, JSON for programs.

pub mod json;
pub mod text;
