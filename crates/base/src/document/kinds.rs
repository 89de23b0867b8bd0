//! Lists the types of documents, the precisions and the outcomes of files, and reads all such words.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::text::fields;

use super::Language;

/// The four types of documents in the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocType {
    /// Documents with pages, and images read by OCR.
    Pdf,
    /// Text with headings: Markdown, other markup, plain text, HTML, DOCX, EPUB, notebooks, office documents, data.
    Markdown,
    /// Source code of a known [`Language`].
    Code,
    /// A short text that is one chunk if the model can read all of it.
    Note,
}

impl DocType {
    /// All types, in the order `kb status` lists them.
    pub const ALL: [Self; 4] = [Self::Pdf, Self::Markdown, Self::Code, Self::Note];

    /// Returns the word used in the database, in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Markdown => "markdown",
            Self::Code => "code",
            Self::Note => "note",
        }
    }
}

fields::words!(DocType);

/// The numeric precision of embeddings; part of a database's [`Binding`](super::Binding).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 8-bit integer weights and activations, 32-bit accumulation.
    Int8,
    /// 32-bit floating point throughout.
    Fp32,
}

impl Precision {
    /// Returns the word used in the database and in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::Fp32 => "fp32",
        }
    }
}

/// A word that is not one of a fixed set of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// The given word.
    pub given: String,
    /// The accepted names.
    pub known: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not one of {}", self.given, self.known.join(", "))
    }
}

impl std::error::Error for UnknownName {}

/// What became of a file that was seen and not indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileOutcome {
    /// A rule left it out.
    Ignored,
    /// It could not be read.
    Failed,
    /// It could not be read, and the user does not want to hear of it again.
    Waived,
}

impl FileOutcome {
    /// Returns the word used in the database, in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ignored => "ignored",
            Self::Failed => "failed",
            Self::Waived => "waived",
        }
    }
}

/// Implements `Display` and `FromStr` for a fieldless enum through its `as_str`.
macro_rules! named {
    ($type:ty, $all:expr) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(given: &str) -> Result<Self, UnknownName> {
                $all.into_iter().find(|value| value.as_str() == given).ok_or_else(|| UnknownName {
                    given: given.to_owned(),
                    known: $all.iter().map(|value| value.as_str()).collect(),
                })
            }
        }
    };
}

pub(super) use named;

named!(DocType, DocType::ALL);
named!(Language, Language::ALL);
named!(Precision, [Precision::Int8, Precision::Fp32]);
named!(FileOutcome, [FileOutcome::Ignored, FileOutcome::Failed, FileOutcome::Waived]);
