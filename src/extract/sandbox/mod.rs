//! Starts, limits, feeds and replaces the reading child, which runs every library that reads a
//! risky format.
//!
//! ```text
//! parent ═ pipe ═ reader ─► head, pages, tail
//! ```
//!
//! Such code never runs in the process that holds the database: `catch_unwind` catches neither a
//! stack overflow nor a failed allocation, and both happen with real files.

mod options;
pub(super) mod parent;
mod workers;

pub use options::ReadOptions;
