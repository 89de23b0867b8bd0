//! Bytes in, a [`crate::document::Document`] out: the only code that knows formats.

pub mod code;
pub mod markdown;
pub mod pdf;
pub mod text;
