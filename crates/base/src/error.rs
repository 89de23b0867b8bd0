//! Defines the errors of the crate, one variant per remedy.
//!
//! Messages are lower case without a full stop; [`Error::hint`] holds the advice. No type of another
//! library appears here: causes are boxed where they arise.

mod failure;
mod remedy;

use std::error::Error as StdError;
use std::io;
use std::path::PathBuf;

use crate::diagnostic::Diagnostic;
use crate::wording::Wording;

pub use failure::FailureKind;
pub use remedy::Fixer;

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a library, shown at the end of the message.
pub type Cause = Box<dyn StdError + Send + Sync>;

/// An error, with what the message needs.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line or a request is invalid.
    #[error("{message}")]
    Usage {
        /// The problem.
        message: Wording,
        /// The input to type instead.
        hint: Option<Wording>,
    },
    /// The configuration is invalid.
    #[error("invalid configuration in {}: {message}", path.display())]
    Config {
        /// The file, or the name of an environment variable.
        path: PathBuf,
        /// The problem and its place.
        message: String,
        /// A valid alternative; `None` if the file must be changed.
        hint: Option<Wording>,
    },
    /// There is no such file or directory.
    #[error("no such file or directory: {}", path.display())]
    PathNotFound {
        /// As the user gave it.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("cannot access {}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The type of the file is not supported.
    #[error("unsupported file type: {}{}", path.display(), found.as_ref().map(|found| format!(" ({found})")).unwrap_or_default())]
    UnsupportedFormat {
        /// Which file.
        path: PathBuf,
        /// The detected type, if known.
        found: Option<String>,
        /// Whether it can be read as text.
        is_text: bool,
    },
    /// A pipe, a device or a socket was given as a document.
    #[error("unsupported file type: {} (neither a file nor a directory)", path.display())]
    NotAFile {
        /// Which file.
        path: PathBuf,
    },
    /// A symbolic link replaced a file or a folder, and following it is not allowed.
    #[error("{} is a symbolic link or below one, and links are not followed", path.display())]
    LinkRefused {
        /// Which file.
        path: PathBuf,
    },
    /// The rules of an ignore file are invalid and not used.
    #[error("the rules in {} are not used: {reason}", path.display())]
    IgnoreFile {
        /// The ignore file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file is longer than the limit for its kind.
    #[error("{} is longer than {limit_bytes} bytes", path.display())]
    OverLimit {
        /// Which file.
        path: PathBuf,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// A file is empty.
    #[error("nothing to index: {} is empty", path.display())]
    EmptyFile {
        /// Which file.
        path: PathBuf,
    },
    /// A file is larger than the configuration allows.
    #[error("{} is larger than ingestion.max_file_mb ({limit_mb} MB)", path.display())]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// The limit in force, in megabytes.
        limit_mb: u64,
    },
    /// A file could not be turned into text.
    #[error("{failure}{}", if detail.is_empty() { String::new() } else { format!(": {detail}") })]
    Extract {
        /// The kind of failure.
        failure: FailureKind,
        /// The reader's message; may be empty.
        detail: String,
    },
    /// A document takes more processor time than the configuration allows.
    #[error("it takes more than ingestion.max_cpu_seconds ({limit_seconds} s) of processor time")]
    TooSlow {
        /// The limit in force, in seconds.
        limit_seconds: u64,
    },
    /// An error of one file, if the cause does not name the file.
    #[error("cannot read {}: {cause}", path.display())]
    InFile {
        /// Which file.
        path: PathBuf,
        /// The error that occurred with the file.
        cause: Box<Self>,
    },
    /// The query has no words.
    #[error("the query is empty")]
    EmptyQuery,
    /// The query excludes words and looks for none.
    #[error("the query only excludes words")]
    OnlyExclusions,
    /// No document has this id.
    #[error("document not found: {id}")]
    UnknownDocument {
        /// The id that was given.
        id: String,
    },
    /// A note should replace a document whose text comes from a file.
    #[error("document {id} is not a note: its text comes from a file")]
    NotANote {
        /// Its id.
        id: String,
    },
    /// No chunk has this id.
    #[error("chunk not found: {id}")]
    UnknownChunk {
        /// The id that was given.
        id: i64,
    },
    /// The typed text matches several documents.
    #[error("`{typed}` matches {num_candidates} documents")]
    AmbiguousDocument {
        /// As typed.
        typed: String,
        /// Number of matching documents.
        num_candidates: usize,
        /// The first few: id and title.
        candidates: Vec<String>,
    },
    /// A document has no such section, page, symbol or chunk.
    #[error("document {document} has no {what}")]
    UnknownPart {
        /// The document.
        document: i64,
        /// The requested part.
        what: String,
        /// Similar names.
        similar: Vec<String>,
    },
    /// `models.toml` has no model with this name.
    #[error("unknown model `{name}`")]
    UnknownModel {
        /// The name that was given.
        name: String,
        /// All known names.
        known: Vec<String>,
    },
    /// The database was built with another model.
    #[error("model mismatch: DB uses '{bound}' ({bound_dim} dim) but config specifies '{wanted}'")]
    ModelMismatch {
        /// The model of the database, with precision or prefix if these differ.
        bound: String,
        /// Width of its vectors.
        bound_dim: u32,
        /// The configured model.
        wanted: String,
    },
    /// The files of a model were not found, and kb cannot fetch it by its name.
    #[error("{}", match path {
        Some(path) => format!("the model directory {} does not exist", path.display()),
        None => format!("the files of the database's model `{name}` were not found"),
    })]
    NoModelFiles {
        /// Name of the model.
        name: String,
        /// The configured directory of the files.
        path: Option<PathBuf>,
    },
    /// The model or the runtime library is not on this machine.
    #[error("{what} is not installed")]
    NotInstalled {
        /// `model all-MiniLM-L6-v2` or `ONNX Runtime`.
        what: String,
    },
    /// A file names a model that is not on this machine and that the user has not named.
    #[error(
        "the model `{name}` is not installed, and only the imported file or the database names it"
    )]
    UntrustedModel {
        /// Its name in the file.
        name: String,
    },
    /// Something could not be fetched.
    #[error("cannot fetch {what}: {reason}")]
    Fetch {
        /// The name of the download that failed.
        what: String,
        /// One clause for each source that was tried.
        reason: String,
        /// The remedy.
        hint: Wording,
    },
    /// A model file or the runtime library exists but cannot be used.
    #[error("cannot use {}: {reason}", path.display())]
    Model {
        /// The file or directory at fault.
        path: PathBuf,
        /// The problem with it.
        reason: String,
        /// The remedy.
        hint: Wording,
    },
    /// A copy in PostgreSQL cannot be reached or used.
    #[error("cannot use {target}: {reason}")]
    Target {
        /// Host and database, without password.
        target: String,
        /// The message of the server or the system.
        reason: String,
        /// The remedy; `None` if the reason is sufficient.
        hint: Option<Wording>,
    },
    /// A file that kb fetched or built has changed.
    #[error("{} has changed since kb installed it: {reason}", path.display())]
    CacheChanged {
        /// Which file.
        path: PathBuf,
        /// How it differs.
        reason: String,
    },
    /// The model failed while running.
    #[error("embedding failed: {0}")]
    Inference(Cause),
    /// The database file is corrupt.
    #[error("the database {} is corrupt: {detail}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The message of SQLite.
        detail: String,
    },
    /// The disk failed to read the database, which may be intact.
    #[error("the disk failed to read {}: {detail}", path.display())]
    DiskFailed {
        /// The file.
        path: PathBuf,
        /// The message of the system or SQLite.
        detail: String,
    },
    /// The file is a database of another program.
    #[error("{} is not a kb database", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The database was written by a newer kb.
    #[error("{} has schema version {found}; this kb supports versions up to {supported}", path.display())]
    SchemaTooNew {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest version this program can read.
        supported: i64,
    },
    /// The database has tables, views, triggers or indexes that kb did not make, or not with these statements.
    #[error("the database {} was changed outside kb: {}", path.display(), objects.join("; "))]
    AlteredSchema {
        /// The file.
        path: PathBuf,
        /// The differences, one phrase each, such as "trigger `log` on `documents`"; clean of control characters.
        objects: Vec<String>,
    },
    /// The user has not allowed that the files and folders which the database names are followed.
    #[error("the files that {} names are not followed, because you have not allowed it", path.display())]
    UntrustedBase {
        /// The database.
        path: PathBuf,
    },
    /// There is no knowledge base with this name.
    #[error("there is no knowledge base `{name}`")]
    UnknownBase {
        /// As typed.
        name: String,
        /// All names.
        known: Vec<String>,
    },
    /// The database cannot be written: the file, its folder or the medium does not allow it.
    #[error("the database {} is read-only here", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The database cannot even be read without writing next to it, which is not possible.
    #[error("cannot read the database {} without writing to its folder: {reason}", path.display())]
    NeedsWriting {
        /// The file.
        path: PathBuf,
        /// The reason why kb would have to write.
        reason: String,
    },
    /// The database was read without a lock, because none can be taken where it is, and has
    /// changed meanwhile.
    #[error("the database {} changed while it was read", path.display())]
    ChangedMeanwhile {
        /// The file.
        path: PathBuf,
    },
    /// Another process has locked the database.
    #[error("the database {} is locked by another process", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The disk, or the user's share of it, is full.
    #[error("no space left to write {}", path.display())]
    DiskFull {
        /// The file that could not grow.
        path: PathBuf,
    },
    /// An unexpected error of the database.
    #[error("database error: {0}")]
    Store(Cause),
    /// The output could not be written.
    #[error("cannot write the answer: {0}")]
    Output(io::Error),
    /// A skill command failed with an error of the skill protocol.
    #[error(transparent)]
    Skill(#[from] Diagnostic),
    /// The caller cancelled it.
    #[error("cancelled")]
    Cancelled,
    /// The user pressed Ctrl-C or the system asked the program to end.
    #[error("interrupted")]
    Interrupted {
        /// The signal's number: 2 or 15.
        signal: i32,
    },
}
