//! States which model a database was built with, and whether vectors of two may be compared. Pure.

use std::fmt;

use super::kinds::Precision;

/// The model a database was built with. Vectors of two bindings are never mixed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// Model name as in `models.toml`, or the name of the user's model directory.
    pub model_name: String,
    /// Width of its vectors.
    pub dim: u32,
    /// Longest input in tokens, including special tokens.
    pub max_tokens: u32,
    /// The precision of the embedded passages.
    pub precision: Precision,
    /// The prefix of every passage.
    pub passage_prefix: String,
    /// The files of the model.
    pub files: ModelFiles,
}

/// The files of a model, as far as they are known: those of a directory that the user named are not, and databases of
/// before do not know them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelFiles {
    /// The hub's revision of them.
    pub revision: Option<String>,
    /// SHA-256 of the weights, in hexadecimal; of the list of their checksums if there are several.
    pub sha256: Option<String>,
}

impl ModelFiles {
    /// Whether both may have the same weights. Another revision with the same weights is the same model.
    pub fn fits(&self, other: &Self) -> bool {
        self.sha256.is_none() || other.sha256.is_none() || self.sha256 == other.sha256
    }
}

impl fmt::Display for ModelFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sha256 = self
            .sha256
            .as_ref()
            .map_or("unknown weights".into(), |sha256| format!("weights {}", shorten(sha256)));
        match &self.revision {
            Some(revision) => write!(f, "{sha256}, revision {}", shorten(revision)),
            None => f.write_str(&sha256),
        }
    }
}

/// Returns the beginning of a revision or of a checksum.
fn shorten(id: &str) -> String {
    /// As many letters distinguish any two files.
    const SHOWN: usize = 12;
    id.chars().take(SHOWN).collect()
}

impl Binding {
    /// Whether vectors of both may be compared.
    pub fn fits(&self, other: &Self) -> bool {
        let files = other.files.clone();
        self.files.fits(&files) && Self { files, ..self.clone() } == *other
    }
}
