//! Names the files of a model.

use std::path::{Path, PathBuf};

use crate::registry::FileSpec;

/// Files with the weights; the first existing one is used.
pub(crate) const WEIGHTS: [&str; 3] = ["model.safetensors", "onnx/model.onnx", "model.onnx"];

/// Whether a file never changes: a configuration may be edited on the hub without harm, weights and
/// vocabulary never are.
pub(crate) fn is_pinned(file: &FileSpec) -> bool {
    file.name == "tokenizer.json" || file.name == WEIGHTS[0]
}

/// Returns the file with the weights in a model's directory.
pub(crate) fn weights(dir: &Path) -> Option<PathBuf> {
    WEIGHTS.iter().map(|name| dir.join(name)).find(|path| path.is_file())
}
