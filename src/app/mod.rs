//! Runs the use cases: one file each, from a typed request to a typed result.
//!
//! Knows no argv, no terminal and no protocol. Both faces, the command line and the server, call these functions,
//! and so can any program that uses the library. What happens on the way goes to an [`observer::Observer`].

mod absent;
pub mod add;
pub mod backup;
pub mod cache;
mod chunking;
pub mod doctor;
pub mod embed;
pub mod erase;
pub mod error_log;
pub mod eval;
pub mod init;
pub mod model;
pub mod observer;
pub mod ocr;
pub mod read;
pub mod reindex;
pub mod remove;
pub mod scope;
pub mod search;
pub mod session;
pub mod settings;
pub mod skills;
pub mod status;
pub mod tag;
pub mod transfer;
pub mod update;
pub mod values;

pub use observer::Observer;
pub use session::Session;

/// What a server offers, and where it keeps a record.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// Whether agents may change what is stored.
    pub allows_writing: bool,
    /// A file that records every call.
    pub audit_log: Option<std::path::PathBuf>,
}
