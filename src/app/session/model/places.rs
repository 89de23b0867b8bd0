//! Finds the directories of models and the runtime library from the environment.

use std::path::{self, PathBuf};

use crate::config::Environment;
use crate::document::ModelFiles;
use crate::embed::Locations;
use crate::text::paths::canonical;

/// Returns the directories that may hold models and the runtime library.
pub(crate) fn locations(environment: &Environment) -> Locations {
    let cache_dir = environment
        .path("KB_CACHE_DIR")
        .unwrap_or_else(|| environment.local_dir(CACHE_VARIABLE, CACHE).join("kb"));
    // The hub's own library uses this folder on every system.
    let usual = environment.path(CACHE_VARIABLE).unwrap_or_else(|| environment.home().join(CACHE));
    let hf_home = environment.path("HF_HOME").unwrap_or_else(|| usual.join("huggingface"));
    let text = |name: &str| environment.get(name).map(|value| value.to_string_lossy().into_owned());
    Locations {
        // Python is started in another directory and must find the same folder.
        cache_dir: path::absolute(&cache_dir).unwrap_or(cache_dir),
        hf_cache_dir: environment.path("HF_HUB_CACHE").unwrap_or_else(|| hf_home.join("hub")),
        hf_endpoint: text("HF_ENDPOINT"),
        files: ModelFiles::default(),
        hf_token: text("HF_TOKEN"),
        runtime_path: environment.path("ORT_DYLIB_PATH"),
        library_dirs: Locations::system_library_dirs(),
        pythons: pythons(environment),
    }
}

/// The variable with the folder of caches, and that folder in the home directory.
const CACHE_VARIABLE: &str = "XDG_CACHE_HOME";
const CACHE: &str = ".cache";

/// Names of Python, best first. The installer for Windows adds `python` and the launcher `py`; there, `python3` may be a
/// program that only opens the shop.
const PYTHONS: [&str; 3] =
    if cfg!(windows) { ["python", "py", "python3"] } else { ["python3", "python", "py"] };

/// Returns the Python of the environment in which kb was installed as a Python package, because that
/// has an ONNX Runtime; then those in absolute folders of `PATH`.
fn pythons(environment: &Environment) -> Vec<PathBuf> {
    let program = std::env::current_exe().and_then(|program| canonical(&program));
    let name = format!("{}{}", PYTHONS[0], std::env::consts::EXE_SUFFIX);
    let sibling = program.map(|program| program.with_file_name(name));
    let sibling = sibling.ok().filter(|program| program.is_file());
    sibling.into_iter().chain(PYTHONS.iter().filter_map(|name| environment.program(name))).collect()
}
