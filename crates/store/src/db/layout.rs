//! States which table layouts are known: those of FTS5 and vec0, and of an older schema.
//!
//! kb reads the tables of both directly (`keyword/postings.rs`, `vectors/scan.rs`), because their SQL takes several
//! times as long. The layout of these tables is part of the file formats, but kb's tests can only
//! vouch for the versions they ran with. A database made by another version is queried through SQL
//! instead (`vectors/by_sql.rs`): the answers are the same, only slower.

/// The tables of a database that kb reads directly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DirectReadSupport {
    /// Whether it reads those of FTS5.
    pub(crate) knows_fts5: bool,
    /// Whether it reads those of vec0.
    pub(crate) knows_vec0: bool,
    /// Whether there are words in all their forms, as they are written, and tags: not in a database of an older schema, which
    /// is only read where it cannot be written.
    pub(crate) has_letters: bool,
}
