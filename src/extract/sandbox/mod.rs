//! Starts, limits, feeds and replaces the reading child: every library that reads a risky format runs there.
//!
//! ```text
//! parent ═ pipe ═ reader ─► head, pages, tail
//! ```
//!
//! Such code is never loaded into the process that holds the database: `catch_unwind` holds neither
//! a stack overflow nor a failed allocation, and both happen on real files.

mod options;
pub(super) mod parent;
mod workers;

pub use options::ReadOptions;
