//! Defines what every other crate of kb speaks of: documents and their parts, text, files, limits, wordings and errors.

#![expect(
    clippy::missing_errors_doc,
    reason = "its functions return one `Error`, whose variants say what happened"
)]

pub mod cancel;
pub mod diagnostic;
pub mod document;
pub mod embedder;
pub mod error;
pub mod files;
pub mod hash;
pub mod limits;
pub mod numeric;
pub mod text;
pub mod token_codes;
pub mod trace;
pub mod wording;
