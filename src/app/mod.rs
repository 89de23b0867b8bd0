//! Implements the use cases, one file per use case. Each takes a typed request and returns a typed result.
//!
//! They are in six wings. [`session`] is the base of all; [`indexing`] changes what is stored of documents,
//! [`query`] reads it, [`agents`] serves agents, [`maintenance`] maintains the database, and [`convert`] works without one.
//! The test `layers` says which wing may use which.
//!
//! Does not know arguments, terminals or protocols. The command line, the server and any program that
//! uses the library call these functions. They report events to an [`Observer`].

pub mod agents;
pub mod convert;
pub mod indexing;
pub mod maintenance;
pub mod query;
pub mod session;
#[cfg(test)]
pub(crate) mod testing;

use crate::diagnostic::Program;
use crate::text::fields;

pub use session::Session;
pub use session::observer::Observer;

fields::words! {
    /// A set of tools.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ToolSet {
        /// Those of documents.
        Kb = "kb",
        /// Those of skills.
        Skills = "skills",
        /// All.
        All = "all",
    }
}

/// Options of a server.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// The name the server was started under.
    pub program: Program,
    /// The tools to offer; `None` for those of documents, and those of skills if there is a skill. Under the other
    /// program's name they are always those of skills.
    pub tools: Option<ToolSet>,
    /// The knowledge bases that agents may name; `None` for all that the user has.
    pub bases: Option<Vec<String>>,
    /// Whether agents may change stored data.
    pub allows_writing: bool,
    /// Whether the server follows the added folders.
    pub watches: bool,
    /// A file that records every call.
    pub audit_log: Option<std::path::PathBuf>,
}
