//! Lists the possible locations of models and the runtime library, and how to reach remote ones.

use std::path::{Path, PathBuf};

use crate::document::ModelFiles;

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
    /// Full path of the Python used to fetch packages; `None` to use no Python.
    pub python: Option<PathBuf>,
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
            python: PYTHONS.iter().map(PathBuf::from).find(|program| program.is_file()),
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
