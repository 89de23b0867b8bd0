//! Describes a model and a runtime library that are on this machine.

use std::path::PathBuf;

use crate::facts::Facts;
use crate::registry::ModelSpec;

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
    /// The ONNX Runtime library; empty if there is none and the model needs none.
    pub runtime: PathBuf,
    /// kb's cache, for files derived from the model.
    pub cache_dir: PathBuf,
    /// Whether the user gave the model's directory, which is then used unchecked.
    pub is_model_given: bool,
    /// Whether the user gave the library, or it is linked in; it is then used unchecked.
    pub is_runtime_given: bool,
}
