//! Reads [`ModelSpec`] and [`RuntimePlatform`] rows from `models.toml`.
//!
//! A model is data: adding one is adding a row. Knows nothing of files or network.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::error::{Error, Result};

/// The model used where nothing else is asked for.
pub const DEFAULT_MODEL: &str = "all-MiniLM-L6-v2";

/// The organisation whose models may be named without it, as sentence-transformers allows.
const DEFAULT_ORGANISATION: &str = "sentence-transformers/";

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    toml::from_str(include_str!("../../models.toml")).expect("models.toml is part of the program")
});

/// All of `models.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Registry {
    #[serde(rename = "model")]
    models: Vec<ModelSpec>,
    runtime: Runtime,
}

/// How the vectors of a passage's tokens become the passage's vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The mean over all tokens, special ones included.
    Mean,
    /// The first token's vector.
    Cls,
}

/// One embedding model: a row of `models.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// What users type and databases are bound to.
    pub name: String,
    /// `organisation/model` on the hub.
    pub hub_id: String,
    /// Width of its vectors.
    pub dim: u32,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: u32,
    /// How token vectors become one.
    pub pooling: Pooling,
    /// Whether its vectors are brought to unit length. kb does so for every model.
    pub normalize: bool,
    /// Put before every query; may be empty.
    #[serde(default)]
    pub query_prefix: String,
    /// Put before every passage; may be empty.
    #[serde(default)]
    pub passage_prefix: String,
    /// Size of the download from the hub, in megabytes.
    pub download_mb: u64,
    /// Requirement of the Python package that carries the same files.
    pub python_package: Option<String>,
    /// Where in the package they are.
    pub python_path: Option<String>,
    /// Size of the package, in megabytes.
    pub python_mb: Option<u64>,
    /// Its files in order of fetching; empty means [`default_files`].
    #[serde(default, rename = "file")]
    files: Vec<FileSpec>,
}

/// One file of a model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// Path below the model's directory, with `/`.
    pub name: String,
    /// Whether the model works without it.
    #[serde(default)]
    pub optional: bool,
    /// Its length, where the file was seen.
    pub size_bytes: Option<u64>,
    /// Lower-case hexadecimal SHA-256, where the file was seen.
    pub sha256: Option<String>,
}

/// Which ONNX Runtime is fetched.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Runtime {
    /// Its version.
    pub version: String,
    /// Requirement of the Python package that carries it.
    pub python_package: String,
    /// Libraries that are accepted where they are found, and never fetched; newest first.
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
    /// As `pip download --platform` wants it.
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

/// An ONNX Runtime library that kb accepts without having fetched it.
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

/// An ONNX Runtime library for this machine, told by its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Library {
    /// Its version.
    pub version: &'static str,
    /// Its length.
    pub size_bytes: u64,
    /// Its SHA-256, lower-case hexadecimal.
    pub sha256: &'static str,
}

impl Library {
    /// Returns its file name, as the Python package has it.
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
    /// Returns its files in the order they are fetched, the weights last.
    pub fn files(&self) -> &[FileSpec] {
        if self.files.is_empty() { default_files() } else { &self.files }
    }
}

/// Returns the rows of all models, in the order of `models.toml`.
pub fn models() -> &'static [ModelSpec] {
    &REGISTRY.models
}

/// Returns the names of all models, in the order of `models.toml`.
pub fn model_names() -> Vec<String> {
    models().iter().map(|it| it.name.clone()).collect()
}

/// Returns which ONNX Runtime is fetched.
pub(super) fn runtime() -> &'static Runtime {
    &REGISTRY.runtime
}

/// Returns the library for the machine this runs on; `None` where there is none to fetch.
pub(super) fn runtime_platform() -> Option<&'static RuntimePlatform> {
    use std::env::consts::{ARCH, OS};
    runtime().platforms.iter().find(|it| it.os == OS && it.arch == ARCH)
}

/// Returns the libraries for the machine this runs on whose bytes are known: the one kb fetches, then
/// others, newest first. A version has several where its packages differ from one Python to another.
pub(super) fn libraries() -> impl Iterator<Item = Library> {
    use std::env::consts::{ARCH, OS};
    let runtime = runtime();
    let fetched = runtime_platform().map(|platform| Library {
        version: &runtime.version,
        size_bytes: platform.size_bytes,
        sha256: &platform.sha256,
    });
    let is_for_this = |known: &&KnownLibrary| known.os == OS && known.arch == ARCH;
    let known = runtime.known.iter().filter(is_for_this).map(|known| Library {
        version: &known.version,
        size_bytes: known.size_bytes,
        sha256: &known.sha256,
    });
    fetched.into_iter().chain(known)
}

/// Finds a model by its short name or its hub id, letter case aside.
///
/// # Errors
///
/// [`Error::UnknownModel`] with the names there are.
pub fn model(name: &str) -> Result<&'static ModelSpec> {
    let short = name.strip_prefix(DEFAULT_ORGANISATION).unwrap_or(name);
    models()
        .iter()
        .find(|it| {
            it.name.eq_ignore_ascii_case(name)
                || it.hub_id.eq_ignore_ascii_case(name)
                || (it.hub_id.starts_with(DEFAULT_ORGANISATION)
                    && it.name.eq_ignore_ascii_case(short))
        })
        .ok_or_else(|| Error::UnknownModel { name: name.to_owned(), known: model_names() })
}

/// Returns the files of a model of which nothing is known.
///
/// What states its facts comes before the weights: a directory with weights is then complete.
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
        .map(|(name, optional)| FileSpec {
            name: name.to_owned(),
            optional,
            size_bytes: None,
            sha256: None,
        })
        .collect()
    });
    &FILES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_model_is_known() {
        let spec = model(DEFAULT_MODEL).unwrap();
        assert_eq!((spec.dim, spec.max_tokens, spec.pooling), (384, 256, Pooling::Mean));
        assert!(spec.files().iter().all(|it| it.sha256.is_some()));
    }

    #[test]
    fn a_model_is_found_by_either_name() {
        for name in [
            "all-MiniLM-L6-v2",
            "all-minilm-l6-v2",
            "sentence-transformers/all-MiniLM-L6-v2",
            "BAAI/bge-small-en-v1.5",
            "bge-small-en-v1.5",
        ] {
            assert!(name.to_lowercase().contains(&model(name).unwrap().name.to_lowercase()));
        }
        let spec = model("sentence-transformers/bge-small-en-v1.5");
        assert!(spec.is_err(), "another organisation's model is not sentence-transformers'");
    }

    #[test]
    fn an_unknown_model_is_answered_with_the_known_ones() {
        let Err(Error::UnknownModel { name, known }) = model("bge-smal") else { panic!() };
        assert_eq!(name, "bge-smal");
        assert!(known.contains(&"multilingual-e5-small".to_owned()));
    }

    #[test]
    fn rows_are_sound() {
        for spec in models() {
            assert!(spec.hub_id.split_once('/').is_some_and(|(_, it)| it == spec.name));
            assert_eq!(spec.files().last().unwrap().name, "model.safetensors");
            assert_eq!(spec.python_package.is_some(), spec.python_path.is_some());
            assert!(spec.query_prefix.is_empty() || spec.query_prefix.ends_with(' '));
            for file in spec.files() {
                assert!(file.sha256.as_ref().is_none_or(|it| it.len() == 64));
                assert!(!file.name.split('/').any(|it| it.is_empty() || it == ".."));
            }
        }
        assert!(runtime().platforms.iter().all(|it| it.sha256.len() == 64));
        assert!(runtime().python_package.ends_with(&runtime().version));
        for known in &runtime().known {
            assert!(known.sha256.len() == 64 && known.size_bytes > 10_000_000, "{known:?}");
            assert!(
                runtime().platforms.iter().any(|it| it.os == known.os && it.arch == known.arch)
            );
        }
    }

    /// The Python package of kb brings the library with it; one of another version would not be used.
    #[test]
    fn the_python_package_depends_on_libraries_that_are_known() {
        let manifest = include_str!("../../packaging/python/pyproject.toml");
        let versions: Vec<&str> = manifest
            .split("\"onnxruntime==")
            .skip(1)
            .filter_map(|rest| rest.split_once(';').map(|(version, _)| version))
            .collect();
        assert_eq!(versions[0], runtime().version);
        for version in &versions {
            assert!(libraries().any(|library| library.version == *version), "{version}");
        }
        assert_eq!(versions.len(), manifest.matches("onnxruntime").count());
    }

    #[test]
    fn the_library_that_is_fetched_comes_first_and_no_checksum_is_listed_twice() {
        let libraries: Vec<Library> = libraries().collect();
        let (first, platform) = (libraries[0], runtime_platform().unwrap());
        assert_eq!((first.version, first.sha256), (&*runtime().version, &*platform.sha256));
        assert!(platform.member.ends_with(&format!("/{}", first.file_name())));
        let mut checksums: Vec<&str> = libraries.iter().map(|library| library.sha256).collect();
        checksums.sort_unstable();
        checksums.dedup();
        assert_eq!(checksums.len(), libraries.len());
    }
}
