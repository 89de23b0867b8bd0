//! Bytes and the name of a reader in, pages and blocks out: every library that reads a risky format
//! runs in a child process.
//!
//! ```text
//! parent ═ pipe ═ serve ─► reader ─► head, pages, tail
//! ```
//!
//! Such code is never loaded into the process that holds the database: `catch_unwind` holds neither
//! a stack overflow nor a failed allocation, and both happen on real files.

pub(super) mod protocol;

pub(super) mod parent;
mod workers;

pub(super) mod readers;
pub(super) mod serve;

mod options;

pub use options::ReadOptions;
pub use serve::{CHILD_COMMAND, run_child};
