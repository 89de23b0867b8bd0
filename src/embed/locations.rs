//! Says where models and the runtime library may be, and how to reach what is elsewhere.

use std::path::{Path, PathBuf};

/// Where systems keep their Python.
const PYTHONS: [&str; 3] =
    ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"];

/// Where models and the runtime library may be, and how to reach what is elsewhere.
#[derive(Debug, Clone)]
pub struct Locations {
    /// kb's own cache: the runtime library, models from Python packages, derived graphs.
    pub cache_dir: PathBuf,
    /// The cache Hugging Face's tools share (`HF_HUB_CACHE`, `$HF_HOME/hub`).
    pub hf_cache_dir: PathBuf,
    /// Another address for the hub (`HF_ENDPOINT`).
    pub hf_endpoint: Option<String>,
    /// The user's hub token (`HF_TOKEN`); a stored one is found without it.
    pub hf_token: Option<String>,
    /// The ONNX Runtime library the user names (`ORT_DYLIB_PATH`).
    pub runtime_path: Option<PathBuf>,
    /// Where the system keeps its libraries, to copy one that kb knows; see [`Locations::system_library_dirs`].
    pub library_dirs: Vec<PathBuf>,
    /// The Python that is asked to fetch packages, with its full path; without one none is asked.
    pub python: Option<PathBuf>,
}

impl Locations {
    /// Returns the places below a home directory where kb looks if nothing says otherwise.
    pub fn below(home: &Path) -> Self {
        let cache = home.join(".cache");
        Self {
            cache_dir: cache.join("kb"),
            hf_cache_dir: cache.join("huggingface/hub"),
            hf_endpoint: None,
            hf_token: None,
            runtime_path: None,
            library_dirs: Self::system_library_dirs(),
            python: PYTHONS.iter().map(PathBuf::from).find(|program| program.is_file()),
        }
    }

    /// Returns where systems of this kind keep shared libraries.
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
