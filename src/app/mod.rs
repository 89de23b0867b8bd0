//! Implements the use cases, one file per use case. Each takes a typed request and returns a typed result.
//!
//! Does not know arguments, terminals or protocols. The command line, the server and any program that
//! uses the library call these functions. They report events to an [`observer::Observer`].

pub mod absent;
pub mod add;
pub mod backup;
pub mod bases;
pub mod cache;
pub mod choose;
pub mod clients;
pub mod convert;
pub mod copies;
pub mod doctor;
pub mod edit;
pub mod embed;
pub mod erase;
pub mod error_log;
pub mod eval;
mod export;
pub mod facets;
pub mod files;
pub mod freshness;
pub mod grep;
mod ingestion;
pub mod init;
mod keep_away;
mod languages;
pub mod last_update;
pub mod lookup;
pub mod losses;
pub mod model;
pub mod models;
pub mod observer;
pub mod ocr;
mod own_skill;
pub mod push;
pub mod read;
mod refresh;
pub mod reindex;
pub mod relocate;
pub mod remove;
pub mod reread;
pub mod running;
pub mod scope;
pub mod search;
pub mod session;
pub mod settings;
pub mod skills;
pub mod status;
pub mod tag;
#[cfg(test)]
pub(crate) mod testing;
pub mod transfer;
pub mod typed;
pub mod typed_dates;
pub mod update;
pub mod values;
mod vectors;
pub mod watch;
pub mod workspace;

use crate::diagnostic::Program;
use crate::text::fields;

pub use observer::Observer;
pub use session::Session;

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
