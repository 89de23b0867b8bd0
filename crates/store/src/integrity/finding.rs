//! Names the kinds of damage in a database, by their repair.

use crate::text::number::counted;

/// A kind of damage, by its repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Damage {
    /// The file's own structure: only a backup helps.
    Structure,
    /// A table is missing or has another shape: only a backup helps.
    Tables,
    /// Triggers, indexes or views are missing or changed.
    Schema,
    /// An SQLite index does not match its table.
    Indexes,
    /// Rows refer to missing rows.
    References,
    /// A path without a document, or a document without a path.
    Paths,
    /// Tags without documents.
    Tags,
    /// Chunks are missing from the middle of documents.
    Gaps,
    /// Hashes of passages do not match the text.
    Passages,
    /// The keyword index does not match the text.
    Keywords,
    /// The index for scripts without spaces does not match the text.
    Grams,
    /// The stored sizes do not match the chunks.
    Sizes,
    /// The table of vectors contradicts itself or the binding.
    VectorTable,
    /// Vectors without unit length.
    BadVectors,
    /// Vectors that differ from the stored ones by their checksums.
    ChangedVectors,
    /// Vectors without a checksum.
    Checksums,
    /// Vectors without a chunk.
    LooseVectors,
    /// Chunks without a vector.
    MissingVectors,
    /// Codes that do not match the vectors.
    Codes,
    /// Codes of tokens that differ from the stored ones by their checksums.
    TokenCodes,
}

impl Damage {
    /// Whether [`crate::Store::repair`] repairs it, given a model for missing vectors.
    pub fn is_repairable(self) -> bool {
        !matches!(self, Self::Structure | Self::Tables)
    }

    /// Returns the stable word for output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Structure => "structure",
            Self::Tables => "tables",
            Self::Schema => "schema",
            Self::Indexes => "indexes",
            Self::References => "references",
            Self::Paths => "paths",
            Self::Tags => "tags",
            Self::Gaps => "gaps",
            Self::Passages => "passages",
            Self::Keywords => "keywords",
            Self::Grams => "grams",
            Self::Sizes => "sizes",
            Self::VectorTable => "vector_table",
            Self::BadVectors => "bad_vectors",
            Self::ChangedVectors => "changed_vectors",
            Self::Checksums => "checksums",
            Self::LooseVectors => "loose_vectors",
            Self::MissingVectors => "missing_vectors",
            Self::Codes => "codes",
            Self::TokenCodes => "token_codes",
        }
    }
}

/// A fault in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The kind of damage.
    pub damage: Damage,
    /// A sentence with the fault and its extent.
    pub message: String,
}

impl Finding {
    pub(crate) fn new(damage: Damage, message: impl Into<String>) -> Self {
        Self { damage, message: message.into() }
    }

    /// Returns a finding about `count` objects, or `None` for a count of zero. `what` begins with the
    /// noun in the singular.
    pub(crate) fn counted(damage: Damage, count: impl Into<i64>, what: &str) -> Option<Self> {
        let count: i64 = count.into();
        let (noun, rest) = what.split_once(' ').unwrap_or((what, ""));
        let count = usize::try_from(count).ok().filter(|count| *count > 0)?;
        Some(Self::new(damage, format!("{} {rest}", counted(count, noun))))
    }
}
