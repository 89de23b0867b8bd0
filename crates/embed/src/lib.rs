//! Turns text into unit vectors.
//!
//! ```text
//! once:    install: find or fetch (hub, Python package) → export (weights → optimised graph)
//! always:  locate (files only) → tokenizer ∥ session → passages and queries to vectors
//! ```
//!
//! Only [`install`] uses the network. Settings are passed as values: [`Locations`],
//! [`OpenOptions`].

use kb_base::{document, error, files, hash, text};

mod cache;
mod facts;
mod fetch;
mod graph;
mod locations;
mod names;
mod registry;
pub(crate) mod runtime;
pub(crate) mod single;
mod token_codes;
mod tokenize;
mod tokenized;
mod trust;
mod upkeep;

use std::path::{Path, PathBuf};

use cache::Manifest;

use crate::document::{Binding, Precision};
use crate::error::{Error, Result};

pub use kb_base::embedder::{Embedder, QueryEmbedding, Side, TokenMatcher};

pub use cache::{FileState, ManifestState};
pub use facts::Facts;
pub use fetch::{OPTIMISING, install, locate, locate_model};
pub use locations::Locations;
pub use registry::{DEFAULT_MODEL, ModelSpec, Pooling, model, model_names, models};
pub use runtime::OnnxEmbedder;
pub use token_codes::QueryTokens;
pub use tokenize::Tokenizer;
pub use tokenized::{Encoded, TokenModel};
pub use upkeep::{
    Cached, CachedKind, Examination, Examined, Recorded, cached, examine, remove_cached,
    remove_wrong,
};

/// The chosen model.
#[derive(Debug, Clone)]
pub enum ModelChoice {
    /// A row of `models.toml`.
    Known(&'static ModelSpec),
    /// Any other model of the hub, by its full id.
    Hub(String),
    /// A directory given by the user, with the layout of sentence-transformers.
    Directory {
        /// The directory.
        path: PathBuf,
        /// The model's name, if the user gave one; else the directory's.
        name: Option<String>,
    },
}

impl ModelChoice {
    /// Finds the model called `name`; a full hub id need not be in `models.toml`.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownModel`] for a short name without a row.
    pub fn named(name: &str) -> Result<Self> {
        match registry::model(name) {
            Ok(spec) => Ok(Self::Known(spec)),
            Err(_) if is_hub_id(name) => Ok(Self::Hub(name.to_owned())),
            Err(error) => Err(error),
        }
    }

    /// Chooses a directory given by the user, under its own name.
    pub fn directory(path: impl Into<PathBuf>) -> Self {
        Self::Directory { path: path.into(), name: None }
    }

    /// Returns the name that databases are bound to: of the row, of the hub's model, or of the
    /// directory.
    pub fn name(&self) -> String {
        match self {
            Self::Known(spec) => spec.name.clone(),
            Self::Hub(id) => id.clone(),
            Self::Directory { path, name } => name.clone().unwrap_or_else(|| directory_name(path)),
        }
    }

    /// Returns the row of `models.toml`, if there is one.
    pub fn spec(&self) -> Option<&'static ModelSpec> {
        match self {
            Self::Known(spec) => Some(spec),
            Self::Hub(_) | Self::Directory { .. } => None,
        }
    }
}

/// Whether `name` has the form `organisation/model` with the characters that the hub allows.
fn is_hub_id(name: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && !word.starts_with('.')
            && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    name.split_once('/').is_some_and(|(organisation, name)| is_word(organisation) && is_word(name))
}

/// Returns the last component of a directory; for a hub snapshot, the model's own name.
fn directory_name(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let snapshots = path.parent().filter(|folder| folder.ends_with("snapshots"));
    let named = snapshots.and_then(Path::parent).unwrap_or(&path);
    let name = named.file_name().unwrap_or_default().to_string_lossy();
    name.rsplit("--").next().unwrap_or_default().to_owned()
}

/// A model and a runtime library that are on this machine.
#[derive(Debug, Clone)]
pub struct Installed {
    /// The name that databases are bound to.
    pub name: String,
    /// The directory with `config.json`, `tokenizer.json` and the weights.
    pub model_dir: PathBuf,
    /// The properties of the model.
    pub facts: Facts,
    /// Its row of `models.toml`, if it has one.
    pub spec: Option<&'static ModelSpec>,
    /// The ONNX Runtime library.
    pub runtime: PathBuf,
    /// kb's cache, for files derived from the model.
    pub cache_dir: PathBuf,
    /// Whether the user gave the model's directory, which is then used unchecked.
    pub is_model_given: bool,
    /// Whether the user gave the library, or it is linked in; it is then used unchecked.
    pub is_runtime_given: bool,
}

/// Options of using a model.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// The precision of passages and queries.
    pub precision: Precision,
    /// Threads within one run: 1 if several workers embed in parallel, 2 for a single text.
    pub num_threads: usize,
    /// Replaces the model's own query prefix.
    pub query_prefix: Option<String>,
    /// Replaces the model's own passage prefix.
    pub passage_prefix: Option<String>,
    /// Whether passages are embedded with the codes of their tokens.
    pub keeps_tokens: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            precision: Precision::Int8,
            num_threads: 1,
            query_prefix: None,
            passage_prefix: None,
            keeps_tokens: true,
        }
    }
}

impl Installed {
    /// Whether the SHA-256 of at least one file of the model is known.
    pub fn has_checksums(&self) -> bool {
        trust::has_checksums(self)
    }

    /// Returns the binding of a database embedded with these options, without loading the model.
    pub fn binding(&self, options: &OpenOptions) -> Binding {
        let prefix = options.passage_prefix.as_ref().unwrap_or(&self.facts.passage_prefix);
        Binding {
            model_name: self.name.clone(),
            dim: self.facts.dim,
            max_tokens: self.facts.max_tokens,
            precision: graph::usable_precision(self, options.precision),
            passage_prefix: prefix.clone(),
        }
    }
}

/// A step of finding, fetching and preparing a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// It already exists.
    Found {
        /// `model all-MiniLM-L6-v2` or `ONNX Runtime`.
        what: String,
        /// Its path.
        path: PathBuf,
    },
    /// A download begins.
    Fetching {
        /// `model all-MiniLM-L6-v2` or `ONNX Runtime 1.31.1`.
        what: String,
        /// The source.
        source: String,
        /// The size in megabytes, if known.
        size_mb: Option<u64>,
        /// The target path.
        destination: PathBuf,
    },
    /// The progress of one file of a download.
    Progress {
        /// The file.
        file: String,
        /// Bytes fetched so far.
        done_bytes: u64,
        /// Total bytes.
        total_bytes: u64,
    },
    /// A download is complete and verified.
    Fetched {
        /// As in [`Event::Fetching`].
        what: String,
        /// Its path.
        path: PathBuf,
    },
    /// A library was found, but kb does not know its content and does not use it.
    NotAdopted {
        /// `ONNX Runtime`.
        what: String,
        /// Its path.
        path: PathBuf,
        /// Its SHA-256, lower-case hexadecimal.
        sha256: String,
    },
    /// A source failed; the next one is tried.
    SourceFailed {
        /// As in [`Event::Fetching`].
        what: String,
        /// The source.
        source: String,
        /// The reason.
        reason: String,
    },
    /// Another process is fetching or preparing; this one waits for it.
    Waiting,
    /// A file of a graph is not as kb wrote it; the graph is built again.
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The graph is being built from the weights; show [`OPTIMISING`].
    Optimising,
}

/// Loads only the tokenizer: enough for a chunker, without ONNX Runtime.
///
/// # Errors
///
/// [`Error::CacheChanged`] if a file of the model has changed, [`Error::Model`] if `tokenizer.json`
/// cannot be used.
pub fn tokenizer(installed: &Installed, options: &OpenOptions) -> Result<Tokenizer> {
    let mut manifest = Manifest::read(&installed.cache_dir);
    manifest.require(&trust::model(installed))?;
    manifest.keep();
    Tokenizer::load(installed, options)
}

/// Opens the model. Builds its graph first if there is none on this machine.
///
/// A model with only an ONNX file runs that file unchanged, whatever precision is requested; the
/// binding has the actual precision.
///
/// # Errors
///
/// [`Error::CacheChanged`] if a file or the runtime library is not as kb wrote it, [`Error::Model`]
/// if it cannot be used.
pub fn open(
    installed: &Installed,
    options: &OpenOptions,
    on_event: &mut dyn FnMut(Event),
) -> Result<OnnxEmbedder> {
    OnnxEmbedder::open(installed, options, on_event)
}

/// Opens the model for one or a few texts: optimised for a fast start, not for throughput.
///
/// # Errors
///
/// As [`open`].
pub fn open_single(
    installed: &Installed,
    options: &OpenOptions,
    on_event: &mut dyn FnMut(Event),
) -> Result<Box<dyn Embedder>> {
    single::open(installed, options, on_event)
}

/// Creates the error of a file operation; a full disk has a separate error.
fn io_error(path: &Path, source: std::io::Error) -> Error {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    match source.kind() {
        StorageFull | QuotaExceeded => Error::DiskFull { path: path.to_owned() },
        _ => Error::Io { path: path.to_owned(), source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hub_id_need_not_be_in_the_registry() {
        assert!(matches!(ModelChoice::named("all-MiniLM-L6-v2"), Ok(ModelChoice::Known(_))));
        assert!(matches!(ModelChoice::named("BAAI/bge-small-en-v1.5"), Ok(ModelChoice::Known(_))));
        assert!(matches!(ModelChoice::named("someone/some-model"), Ok(ModelChoice::Hub(_))));
        for name in ["some-model", "", "/", "a/", "../a", "a/../b", "a/b/c", "a/b c", "a/.b"] {
            assert!(matches!(ModelChoice::named(name), Err(Error::UnknownModel { .. })), "{name}");
        }
    }

    #[test]
    fn a_directory_is_called_by_its_last_component() {
        for (path, name) in [
            ("/models/my-model", "my-model"),
            ("/models/my-model/", "my-model"),
            ("/hub/models--a--all-MiniLM-L6-v2/snapshots/0123abc", "all-MiniLM-L6-v2"),
        ] {
            let choice = |name| ModelChoice::Directory { path: path.into(), name };
            assert_eq!(choice(None).name(), name);
            assert_eq!(choice(Some("given".into())).name(), "given");
        }
    }
}
