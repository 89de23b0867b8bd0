//! Defines every failure, by what the user would do about it.
//!
//! A variant exists if the remedy differs, not because another library can fail. Messages are
//! lower case without a full stop; advice is separate, in [`Error::hint`]. No library type appears
//! here: causes are boxed where they come from.

mod remedy;

use std::error::Error as StdError;
use std::io;
use std::path::PathBuf;

use crate::diagnostic::Diagnostic;

pub use remedy::Fixer;

/// `Result` with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A cause from a library, kept for the message's tail.
pub type Cause = Box<dyn StdError + Send + Sync>;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line does not make sense.
    #[error("{message}")]
    Usage {
        /// What is wrong with it.
        message: String,
        /// What to type instead.
        hint: Option<String>,
    },
    /// The configuration file cannot be used.
    #[error("invalid configuration in {}: {message}", path.display())]
    Config {
        /// The file, or the name of an environment variable.
        path: PathBuf,
        /// What and where.
        message: String,
        /// What to give instead; `None` if the file must be changed.
        hint: Option<String>,
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
        /// What the system said.
        source: io::Error,
    },
    /// Nothing reads files of this kind.
    #[error("unsupported file type: {}{}", path.display(), found.as_ref().map(|found| format!(" ({found})")).unwrap_or_default())]
    UnsupportedFormat {
        /// Which file.
        path: PathBuf,
        /// What it looks like, where that is known.
        found: Option<String>,
    },
    /// A pipe, a device or a socket is no document.
    #[error("unsupported file type: {} (neither a file nor a directory)", path.display())]
    NotAFile {
        /// What was named.
        path: PathBuf,
    },
    /// A symbolic link replaced a file or a folder, and following it is not allowed.
    #[error("{} is a symbolic link or below one, and links are not followed", path.display())]
    LinkRefused {
        /// Which file.
        path: PathBuf,
    },
    /// The rules of an ignore file are not used.
    #[error("the rules in {} are not used: {reason}", path.display())]
    IgnoreFile {
        /// The ignore file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A file is longer than anything of its kind may be.
    #[error("{} is longer than {limit_bytes} bytes", path.display())]
    OverLimit {
        /// Which file.
        path: PathBuf,
        /// The limit, in bytes.
        limit_bytes: u64,
    },
    /// A file has nothing in it.
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
        /// The class of failure.
        failure: Failure,
        /// What the reader said; may be empty.
        detail: String,
    },
    /// A document takes more processor time than the configuration allows.
    #[error("it takes more than ingestion.max_cpu_seconds ({limit_seconds} s) of processor time")]
    TooSlow {
        /// The limit in force, in seconds.
        limit_seconds: u64,
    },
    /// What one file is at fault for, where the cause does not name it.
    #[error("cannot read {}: {cause}", path.display())]
    InFile {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        cause: Box<Self>,
    },
    /// The query has nothing to look for.
    #[error("the query is empty")]
    EmptyQuery,
    /// No document has this id.
    #[error("document not found: {id}")]
    UnknownDocument {
        /// The id that was given.
        id: String,
    },
    /// A document is to be replaced by a note, and its text comes from a file.
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
    /// Several documents are meant by what was typed.
    #[error("`{typed}` means {num_candidates} documents")]
    AmbiguousDocument {
        /// As typed.
        typed: String,
        /// How many there are.
        num_candidates: usize,
        /// The first few: id and title.
        candidates: Vec<String>,
    },
    /// A document has no such section, page, symbol or chunk.
    #[error("document {document} has no {what}")]
    UnknownPart {
        /// Whose part it would be.
        document: i64,
        /// What was looked for.
        what: String,
        /// Names that are like it.
        similar: Vec<String>,
    },
    /// `models.toml` has no model of this name.
    #[error("unknown model `{name}`")]
    UnknownModel {
        /// The name that was given.
        name: String,
        /// All names there are.
        known: Vec<String>,
    },
    /// The database was built with another model.
    #[error("model mismatch: DB uses '{bound}' ({bound_dim} dim) but config specifies '{wanted}'")]
    ModelMismatch {
        /// What the database was built with; precision or prefix added where those differ.
        bound: String,
        /// Width of its vectors.
        bound_dim: u32,
        /// What the configuration asks for.
        wanted: String,
    },
    /// Nothing says where the files of a model are that kb cannot fetch by its name.
    #[error("{}", match path {
        Some(path) => format!("the model directory {} is not there", path.display()),
        None => format!("the database uses model `{name}`, and nothing says where its files are"),
    })]
    NoModelFiles {
        /// What the database is bound to, or would be.
        name: String,
        /// Where the files were said to be.
        path: Option<PathBuf>,
    },
    /// The model or the runtime library is not on this machine.
    #[error("{what} is not installed")]
    NotInstalled {
        /// `model all-MiniLM-L6-v2` or `ONNX Runtime`.
        what: String,
    },
    /// A file asks for a model that is not on this machine, and the user did not.
    #[error("the model `{name}` is not installed, and only a file asks for it")]
    UntrustedModel {
        /// Its name, as the file has it.
        name: String,
    },
    /// Something could not be fetched.
    #[error("cannot fetch {what}: {reason}")]
    Fetch {
        /// What was wanted.
        what: String,
        /// One clause for each source that was tried.
        reason: String,
    },
    /// A model file or the runtime library is there but cannot be used.
    #[error("cannot use {}: {reason}", path.display())]
    Model {
        /// The file or directory at fault.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file that kb fetched or made is not as it was.
    #[error("{} has changed since kb put it there: {reason}", path.display())]
    CacheChanged {
        /// Which file.
        path: PathBuf,
        /// How it differs.
        reason: String,
    },
    /// The model failed while running.
    #[error("embedding failed: {0}")]
    Inference(Cause),
    /// The database file is not a database any more.
    #[error("the database {} is corrupt: {detail}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// The disk fails to read the database, which may be sound.
    #[error("the disk failed to read {}: {detail}", path.display())]
    DiskFailed {
        /// The file.
        path: PathBuf,
        /// What the system or SQLite said.
        detail: String,
    },
    /// The file is a database, but not one of kb's.
    #[error("{} is not a kb database", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The database was written by a newer kb.
    #[error("{} has schema version {found}; this kb knows versions up to {supported}", path.display())]
    SchemaTooNew {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The newest this program can read.
        supported: i64,
    },
    /// Another process holds the database.
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
    /// The database refused something it should not have.
    #[error("database error: {0}")]
    Store(Cause),
    /// The answer could not be written.
    #[error("cannot write the answer: {0}")]
    Output(io::Error),
    /// A skill command failed as the table of its protocol says.
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

/// Why a file could not be turned into text, by what the user could do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Failure {
    /// Only the password opens it.
    #[error("a password is needed to open it")]
    PasswordNeeded,
    /// A cipher or handler no reader knows.
    #[error("its encryption is not supported")]
    EncryptionNotSupported,
    /// Extension or option says one thing, the bytes another.
    #[error("it is not what its name says")]
    WrongFormat,
    /// Damaged beyond what could be rebuilt.
    #[error("it is damaged")]
    Damaged,
    /// A paged document without pages.
    #[error("it has no pages")]
    NoPages,
    /// The reader crashed; nothing else was harmed.
    #[error("the reader crashed on it")]
    Crashed,
    /// The reader hit its limit of memory.
    #[error("reading it takes more memory than is allowed")]
    OutOfMemory,
    /// The reader hit its limit of time.
    #[error("reading it takes longer than is allowed")]
    TimedOut,
    /// Binary data, or an encoding that is not known.
    #[error("it is not text")]
    NotText,
}

impl Failure {
    /// Returns the stable word for JSON and logs.
    pub fn code(self) -> &'static str {
        match self {
            Self::PasswordNeeded => "password_needed",
            Self::EncryptionNotSupported => "encryption_not_supported",
            Self::WrongFormat => "wrong_format",
            Self::Damaged => "damaged",
            Self::NoPages => "no_pages",
            Self::Crashed => "crashed",
            Self::OutOfMemory => "out_of_memory",
            Self::TimedOut => "timed_out",
            Self::NotText => "not_text",
        }
    }
}
