//! Reads [`ModelSpec`] and [`RuntimePlatform`] rows from `models.toml`.
//!
//! A model is data: adding one means adding a row. This module knows nothing of files or network.

use std::sync::{LazyLock, OnceLock};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The default model.
pub const DEFAULT_MODEL: &str = "all-MiniLM-L6-v2";

/// The organisation whose models may be given without it, as in sentence-transformers.
const DEFAULT_ORGANISATION: &str = "sentence-transformers/";

fn one() -> u32 {
    1
}

/// `models.toml` at the header of its last table: the rows of models, and the runtime.
static PARTS: LazyLock<(&str, &str)> = LazyLock::new(|| {
    include_str!(env!("KB_MODELS")).split_once(RUNTIME).expect("the runtime is the last table")
});

/// The text of each row of a model, and what it says. A row is parsed when it is first asked for: a search needs one,
/// and parsing the whole file would be a quarter of loading its model.
static MODELS: LazyLock<Vec<(&str, OnceLock<ModelSpec>)>> =
    LazyLock::new(|| PARTS.0.split(MODEL).skip(1).map(|text| (text, OnceLock::new())).collect());

const MODEL: &str = "[[model]]";
const RUNTIME: &str = "[runtime]";

fn spec_of((text, spec): &'static (&str, OnceLock<ModelSpec>)) -> &'static ModelSpec {
    spec.get_or_init(|| parsed(MODEL, text).model.pop().expect("the header begins a row"))
}

/// A part of `models.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RegistryContent {
    #[serde(default)]
    model: Vec<ModelSpec>,
    runtime: Option<RuntimeSpec>,
}

fn parsed(header: &str, text: &str) -> RegistryContent {
    toml::from_str(&format!("{header}{text}")).expect("models.toml is part of the program")
}

/// How the vectors of a passage's tokens are combined into the passage's vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The mean over all tokens, including special ones.
    Mean,
    /// The first token's vector.
    Cls,
    /// The last token's vector, which is a special token in most models.
    LastToken,
    /// The largest number of all tokens in each dimension.
    Max,
    /// The mean over all tokens, each weighted by its position, from 1.
    WeightedMean,
}

/// One embedding model: a row of `models.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// The name that users type and databases are bound to.
    pub name: String,
    /// `organisation/model` on the hub.
    pub hub_id: String,
    /// Width of its vectors.
    pub dim: u32,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: u32,
    /// How token vectors are combined into one; `None` if its own files say.
    pub pooling: Option<Pooling>,
    /// Prefix of every query; may be empty.
    #[serde(default)]
    pub query_prefix: String,
    /// Prefix of every passage; may be empty.
    #[serde(default)]
    pub passage_prefix: String,
    /// Number of languages that it knows; one is English.
    #[serde(default = "one")]
    pub languages: u32,
    /// Licence of its weights.
    pub licence: String,
    /// Size of the download from the hub, in megabytes, if known.
    pub download_mb: Option<u64>,
    /// Time per passage in proportion to the default model, if it was measured.
    pub cost: Option<f64>,
    /// A score that others have measured.
    pub published: Option<PublishedScore>,
    /// nDCG@10 of kb's whole search with it, if it was measured.
    pub measured: Option<f64>,
    /// Whether it is a table without layers, so that it needs no runtime.
    #[serde(default)]
    pub is_static: bool,
    /// Whether kb has loaded its real weights, not only random ones of its shape.
    #[serde(default)]
    pub is_tested: bool,
    /// Requirement of the Python package with the same files.
    pub python_package: Option<String>,
    /// Their path in the package.
    pub python_path: Option<String>,
    /// Size of the package, in megabytes.
    pub python_mb: Option<u64>,
    /// Its files in the order of fetching; empty means [`default_files`].
    #[serde(default, rename = "file")]
    files: Vec<FileSpec>,
}

/// A published score of a model's vectors alone.
#[derive(Debug, Clone, Serialize, JsonSchema, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedScore {
    /// Mean nDCG@10, in percent.
    pub score: f64,
    /// The benchmark.
    pub benchmark: String,
    /// The source.
    pub source: String,
}

/// One file of a model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// Path relative to the model's directory, with `/`.
    pub name: String,
    /// Whether the model works without it.
    #[serde(default)]
    pub optional: bool,
    /// Its length, if known.
    pub size_bytes: Option<u64>,
    /// Its SHA-256 in lower-case hexadecimal, if known.
    pub sha256: Option<String>,
}

/// The ONNX Runtime to fetch.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuntimeSpec {
    /// Its version.
    pub version: String,
    /// Requirement of its Python package.
    pub python_package: String,
    /// Libraries that are accepted if found, and never fetched; newest first.
    #[serde(default)]
    known: Vec<KnownLibrary>,
    #[serde(rename = "platform")]
    platforms: Vec<RuntimePlatform>,
}

/// The ONNX Runtime library for one operating system and processor.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuntimePlatform {
    /// As in [`std::env::consts::OS`].
    pub os: String,
    /// As in [`std::env::consts::ARCH`].
    pub arch: String,
    /// The platform for `pip download --platform`.
    pub python_platform: String,
    /// Path of the library inside the Python package.
    pub member: String,
    /// Length of the library.
    pub size_bytes: u64,
    /// Lower-case hexadecimal SHA-256 of the library.
    pub sha256: String,
    /// Size of the Python package, in megabytes.
    pub download_mb: u64,
}

/// An ONNX Runtime library that kb accepts although it has not fetched it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownLibrary {
    /// Its version.
    version: String,
    /// As in [`std::env::consts::OS`].
    os: String,
    /// As in [`std::env::consts::ARCH`].
    arch: String,
    /// Length of the library.
    size_bytes: u64,
    /// Lower-case hexadecimal SHA-256 of the library.
    sha256: String,
}

/// An ONNX Runtime library for this machine, identified by its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LibrarySpec {
    /// Its version.
    pub version: &'static str,
    /// Its length.
    pub size_bytes: u64,
    /// Its SHA-256, lower-case hexadecimal.
    pub sha256: &'static str,
}

impl FileSpec {
    /// A file of which only the name is known, and that the model needs.
    pub(crate) fn named(name: &str) -> Self {
        Self { name: name.to_owned(), optional: false, size_bytes: None, sha256: None }
    }
}

impl LibrarySpec {
    /// Returns its file name in the Python package.
    pub(super) fn file_name(&self) -> String {
        use std::env::consts::OS;
        match OS {
            "windows" => "onnxruntime.dll".to_owned(),
            "macos" => format!("libonnxruntime.{}.dylib", self.version),
            _ => format!("libonnxruntime.so.{}", self.version),
        }
    }
}

impl ModelSpec {
    /// Whether it knows other languages than English.
    pub fn is_multilingual(&self) -> bool {
        self.languages > 1
    }

    /// Returns its files in the order of fetching, the weights last.
    pub fn files(&self) -> &[FileSpec] {
        if self.files.is_empty() { default_files() } else { &self.files }
    }
}

/// Returns the rows of all models, in the order of `models.toml`.
pub fn models() -> impl Iterator<Item = &'static ModelSpec> {
    MODELS.iter().map(spec_of)
}

/// Returns the names of all models, in the order of `models.toml`.
pub fn model_names() -> Vec<String> {
    models().map(|spec| spec.name.clone()).collect()
}

/// Returns the ONNX Runtime to fetch.
pub(super) fn runtime() -> &'static RuntimeSpec {
    static PARSED: LazyLock<RuntimeSpec> =
        LazyLock::new(|| parsed(RUNTIME, PARTS.1).runtime.expect("the header begins the table"));
    &PARSED
}

/// Returns the library for this machine; `None` if there is none to fetch.
pub(super) fn runtime_platform() -> Option<&'static RuntimePlatform> {
    use std::env::consts::{ARCH, OS};
    runtime().platforms.iter().find(|platform| platform.os == OS && platform.arch == ARCH)
}

/// Returns the known libraries for this machine: the one that kb fetches, then others, newest
/// first. A version has several if its packages differ between Python versions.
pub(super) fn libraries() -> impl Iterator<Item = LibrarySpec> {
    use std::env::consts::{ARCH, OS};
    let runtime = runtime();
    let fetched = runtime_platform().map(|platform| LibrarySpec {
        version: &runtime.version,
        size_bytes: platform.size_bytes,
        sha256: &platform.sha256,
    });
    let known = runtime.known.iter().filter(|known| known.os == OS && known.arch == ARCH);
    let known = known.map(|known| LibrarySpec {
        version: &known.version,
        size_bytes: known.size_bytes,
        sha256: &known.sha256,
    });
    fetched.into_iter().chain(known)
}

/// Finds a model by its short name or its hub id, ignoring case.
pub fn model(name: &str) -> Result<&'static ModelSpec> {
    let short = name.strip_prefix(DEFAULT_ORGANISATION).unwrap_or(name);
    models()
        .find(|spec| {
            spec.name.eq_ignore_ascii_case(name)
                || spec.hub_id.eq_ignore_ascii_case(name)
                || (spec.hub_id.starts_with(DEFAULT_ORGANISATION)
                    && spec.name.eq_ignore_ascii_case(short))
        })
        .ok_or_else(|| Error::UnknownModel { name: name.to_owned(), known: model_names() })
}

/// Returns the files of an unknown model.
///
/// Configuration files precede the weights, so that a directory with weights is complete.
pub(super) fn default_files() -> &'static [FileSpec] {
    static FILES: LazyLock<Vec<FileSpec>> = LazyLock::new(|| {
        [
            ("config.json", false),
            ("modules.json", true),
            ("1_Pooling/config.json", true),
            ("sentence_bert_config.json", true),
            ("config_sentence_transformers.json", true),
            ("tokenizer_config.json", true),
            ("tokenizer.json", false),
            ("model.safetensors", false),
        ]
        .into_iter()
        .map(|(name, optional)| FileSpec { optional, ..FileSpec::named(name) })
        .collect()
    });
    &FILES
}

#[cfg(test)]
mod tests;
