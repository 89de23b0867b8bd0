//! Names the files of a model, and reads those with its configuration.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::fault::model_error;
use crate::files::open;
use crate::registry::FileSpec;

/// Far more than a configuration needs.
const MAX_JSON_BYTES: u64 = 16 << 20;

/// The file with all weights, or with all of a module.
pub(crate) const PLAIN: &str = "model.safetensors";

/// The list of the files that the weights of a large model are in.
pub(crate) const INDEX: &str = "model.safetensors.index.json";

/// The ONNX file of a model on the hub.
pub(crate) const ONNX: &str = "onnx/model.onnx";

/// Files with the weights; the first existing one is used.
pub(crate) const WEIGHTS: [&str; 4] = [PLAIN, INDEX, ONNX, "model.onnx"];

/// Whether a file never changes: a configuration may be edited on the hub without harm, weights and
/// vocabulary never are.
pub(crate) fn is_pinned(file: &FileSpec) -> bool {
    file.name == "tokenizer.json" || file.name == PLAIN
}

/// Returns the file with the weights in a model's directory.
pub(crate) fn weights(dir: &Path) -> Option<PathBuf> {
    WEIGHTS.iter().map(|name| dir.join(name)).find(|path| is_complete(path))
}

/// Whether a file with weights exists, and all files that it names.
fn is_complete(path: &Path) -> bool {
    path.is_file() && parts(path).is_ok_and(|parts| parts.iter().all(|part| part.is_file()))
}

/// Returns the files that a list of files names; none for a file with the weights themselves.
pub(crate) fn parts(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.ends_with(INDEX) {
        return Ok(Vec::new());
    }
    let index = read_json(path)?.unwrap_or_default();
    let map = index["weight_map"].as_object();
    let names =
        map.into_iter().flat_map(|map| map.values()).map(|name| name.as_str().unwrap_or_default());
    let names: BTreeSet<&str> = names.collect();
    if let Some(name) = names.iter().find(|name| !is_plain_name(name)) {
        return Err(model_error(path, format!("`{name}` is not a file next to it")));
    }
    if names.is_empty() {
        return Err(model_error(path, "it lists no files"));
    }
    Ok(names.into_iter().map(|name| path.with_file_name(name)).collect())
}

/// Whether a name has no separators, so that it leads nowhere else.
pub(crate) fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Returns the names that the separate file with the numbers of an ONNX file may have: those of `optimum` and `torch`.
pub(crate) fn data_names(onnx: &str) -> [String; 2] {
    ["_data", ".data"].map(|end| format!("{onnx}{end}"))
}

/// Returns the files with the numbers of `weights`, if they are not in that file itself.
pub(crate) fn data_of(weights: &Path) -> Vec<PathBuf> {
    let name = weights.file_name().and_then(OsStr::to_str).unwrap_or_default();
    if !name.ends_with(".onnx") {
        return parts(weights).unwrap_or_default();
    }
    let names = data_names(name);
    let mut beside = names.iter().map(|name| weights.with_file_name(name));
    beside.find(|path| path.is_file()).into_iter().collect()
}

/// Reads a JSON file; `None` if there is none.
pub(crate) fn read_json(path: &Path) -> Result<Option<Value>> {
    let bytes = match open::read(path, open::SymlinkPolicy::Follow, MAX_JSON_BYTES) {
        Ok(bytes) => bytes,
        Err(Error::PathNotFound { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    let value = serde_json::from_slice(&bytes).map_err(|error| model_error(path, error))?;
    Ok(Some(value))
}
