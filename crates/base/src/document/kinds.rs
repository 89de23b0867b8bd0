//! Lists the types of documents, the precisions and the outcomes of files, and reads all such words.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

use crate::text::fields;

use super::Language;

fields::words! {
    /// The four types of documents in the contract, in the order in which `kb status` lists them.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum DocType {
        /// Documents with pages, and images read by OCR.
        Pdf = "pdf",
        /// Text with headings: Markdown, other markup, plain text, HTML, DOCX, EPUB, notebooks, office documents, data.
        Markdown = "markdown",
        /// Source code of a known [`Language`].
        Code = "code",
        /// A short text that is one chunk if the model can read all of it.
        Note = "note",
    }

    /// The numeric precision of embeddings; part of a database's [`Binding`](super::Binding).
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Precision {
        /// 8-bit integer weights and activations, 32-bit accumulation.
        Int8 = "int8",
        /// 32-bit floating point throughout.
        Fp32 = "fp32",
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

fields::words! {
    /// The outcome of a file that was seen and not indexed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum FileOutcome {
        /// A rule left it out.
        Ignored = "ignored",
        /// It could not be read.
        Failed = "failed",
        /// It could not be read, and the user does not want to hear of it again.
        Waived = "waived",
    }
}

/// Implements `Display` and `FromStr` for a fieldless enum through its `as_str`.
macro_rules! named {
    ($type:ty) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(given: &str) -> Result<Self, UnknownName> {
                Self::ALL.into_iter().find(|value| value.as_str() == given).ok_or_else(|| {
                    UnknownName {
                        given: given.to_owned(),
                        known: Self::ALL.iter().map(|value| value.as_str()).collect(),
                    }
                })
            }
        }
    };
}

pub(super) use named;

named!(DocType);
named!(Language);
named!(Precision);
named!(FileOutcome);
