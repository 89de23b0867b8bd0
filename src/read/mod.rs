//! Reads a document in increasing detail: its outline, then a part, then the file.
//!
//! ```text
//! find ──► chunks ──► join ──► parts ──► outline, show ;  open reads the file itself
//! hits ──► neighbours ──► join ──► evidence within a budget
//! documents ──► chunks ──► join ──► grep: all matching lines; links: forwards and backwards
//! ```
//!
//! The text comes from the database, so that a document can be read even after its file has moved.
//! Only `open` reads the file, and reports whether it has changed since it was stored.

mod cut;
mod find;
pub mod grep;
mod links;
pub mod markdown;
mod marks;
mod open;
mod parts;
mod show;
#[cfg(test)]
mod testing;

pub use find::find;
pub use links::{DocumentLinks, LinkedDocument, dangling, links};
pub use open::{OpenOptions, OpenedDocument, TextOrigin, Unpack, no_file, open, reach, unchanged};
pub use parts::{DocumentOutline, DocumentPart, PartKind, outline};
pub use show::{PartSelection, ShowOptions, ShownPart, show};
