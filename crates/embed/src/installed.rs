//! Describes a model and a runtime library that are on this machine, where they may be, and how they are
//! opened.

use std::path::{Path, PathBuf};

use crate::document::{ModelFiles, Precision};
use crate::facts::ModelProperties;
use crate::processor;
use crate::registry::ModelSpec;

/// A model and a runtime library that are on this machine.
#[derive(Debug, Clone)]
pub struct InstalledModel {
    /// The name that databases are bound to.
    pub name: String,
    /// The directory with `config.json`, `tokenizer.json` and the weights.
    pub model_dir: PathBuf,
    /// The properties of the model.
    pub facts: ModelProperties,
    /// Its row of `models.toml`, if it has one.
    pub spec: Option<&'static ModelSpec>,
    /// The ONNX Runtime library; empty if there is none and the model needs none.
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
pub struct ModelOptions {
    /// The precision of passages and queries.
    pub precision: Precision,
    /// Threads within one run: 1 if several workers embed in parallel, 2 for a single text.
    pub num_threads: usize,
    /// Replaces the model's own query prefix.
    pub query_prefix: Option<String>,
    /// Replaces the model's own passage prefix.
    pub passage_prefix: Option<String>,
    /// Numbers of a vector that are kept; `None` keeps all.
    pub dim: Option<u32>,
    /// Whether passages are embedded with the codes of their tokens.
    pub keeps_tokens: bool,
    /// Whether kb itself computes the passages of a model whose family it knows, in 8 bits, instead of
    /// ONNX Runtime; by default where that is faster.
    pub computes_passages: bool,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            precision: Precision::Int8,
            num_threads: 1,
            query_prefix: None,
            passage_prefix: None,
            dim: None,
            keeps_tokens: true,
            computes_passages: processor::is_kb_faster(),
        }
    }
}

/// Paths of Python on common systems.
const PYTHONS: [&str; 3] =
    ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"];

/// The possible locations of models and the runtime library, and how to reach remote ones.
#[derive(Debug, Clone)]
pub struct Locations {
    /// kb's own cache: the runtime library, models from Python packages, derived graphs.
    pub cache_dir: PathBuf,
    /// The cache shared by Hugging Face's tools (`HF_HUB_CACHE`, `$HF_HOME/hub`).
    pub hf_cache_dir: PathBuf,
    /// Another address for the hub (`HF_ENDPOINT`).
    pub hf_endpoint: Option<String>,
    /// The files of the model that a database was made with: they come before others, and are fetched.
    pub files: ModelFiles,
    /// The user's hub token (`HF_TOKEN`); a stored token is found without it.
    pub hf_token: Option<String>,
    /// The ONNX Runtime library given by the user (`ORT_DYLIB_PATH`).
    pub runtime_path: Option<PathBuf>,
    /// The system's library folders, from which a known library is copied; see
    /// [`Locations::system_library_dirs`].
    pub library_dirs: Vec<PathBuf>,
    /// Full paths of the Pythons that may fetch packages, best first: the first that has pip does.
    pub pythons: Vec<PathBuf>,
}

impl Locations {
    /// Returns the default locations below a home directory.
    pub fn below(home: &Path) -> Self {
        let cache = home.join(".cache");
        Self {
            cache_dir: cache.join("kb"),
            hf_cache_dir: cache.join("huggingface/hub"),
            hf_endpoint: None,
            files: ModelFiles::default(),
            hf_token: None,
            runtime_path: None,
            library_dirs: Self::system_library_dirs(),
            pythons: PYTHONS
                .iter()
                .map(PathBuf::from)
                .filter(|program| program.is_file())
                .collect(),
        }
    }

    /// Returns the folders with shared libraries on this kind of system.
    pub fn system_library_dirs() -> Vec<PathBuf> {
        use std::env::consts::{ARCH, OS};
        match OS {
            "linux" => vec![
                format!("/usr/lib/{ARCH}-linux-gnu").into(),
                "/usr/lib64".into(),
                "/usr/lib".into(),
                "/usr/local/lib".into(),
            ],
            "macos" => vec!["/opt/homebrew/lib".into(), "/usr/local/lib".into()],
            _ => Vec::new(),
        }
    }
}
