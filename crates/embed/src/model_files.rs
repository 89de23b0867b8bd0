//! Names the files of a model, and reads those with its configuration.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::fault::model_error;
use crate::files::open;
use crate::registry::FileSpec;

/// Far more than a configuration needs.
const MAX_JSON_BYTES: u64 = 16 << 20;

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

/// Returns the names that a file with the numbers of an ONNX file may have, beside it: what `optimum` and `torch` write.
pub(crate) fn data_names(onnx: &str) -> [String; 2] {
    ["_data", ".data"].map(|end| format!("{onnx}{end}"))
}

/// Returns the file with the numbers of an ONNX file, if they are not in the file itself.
pub(crate) fn data_of(onnx: &Path) -> Option<PathBuf> {
    let name = onnx.file_name()?.to_str().filter(|name| name.ends_with(".onnx"))?;
    data_names(name).iter().map(|name| onnx.with_file_name(name)).find(|path| path.is_file())
}

/// Reads a JSON file; `None` if there is none.
pub(crate) fn read_json(path: &Path) -> Result<Option<Value>> {
    let bytes = match open::read(path, open::Links::Follow, MAX_JSON_BYTES) {
        Ok(bytes) => bytes,
        Err(Error::PathNotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let value = serde_json::from_slice(&bytes).map_err(|error| model_error(path, error))?;
    Ok(Some(value))
}
