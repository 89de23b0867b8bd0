//! Names the kinds of damage in a database, by their repair.

use crate::text::fields;
use crate::text::number::counted;

fields::words! {
    /// A kind of damage, by its repair.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Damage {
        /// The file's own structure: only a backup helps.
        Structure = "structure",
        /// A table is missing or has another shape: only a backup helps.
        Tables = "tables",
        /// Triggers, indexes or views are missing or changed.
        Schema = "schema",
        /// An SQLite index does not match its table.
        Indexes = "indexes",
        /// A value that kb never writes: the next reading of its file has the right one.
        Values = "values",
        /// The model that made the vectors is not known.
        Binding = "binding",
        /// Rows refer to missing rows.
        References = "references",
        /// A path without a document, or a document without a path.
        Paths = "paths",
        /// Tags without documents.
        Tags = "tags",
        /// Chunks are missing from the middle of documents.
        Gaps = "gaps",
        /// Hashes of passages do not match the text.
        Passages = "passages",
        /// The keyword index does not match the text.
        Keywords = "keywords",
        /// The index for scripts without spaces does not match the text.
        Grams = "grams",
        /// The stored sizes do not match the chunks.
        Sizes = "sizes",
        /// The table of vectors contradicts itself or the binding.
        VectorTable = "vector_table",
        /// Vectors without unit length.
        BadVectors = "bad_vectors",
        /// Vectors that differ from the stored ones by their checksums.
        ChangedVectors = "changed_vectors",
        /// Vectors without a checksum.
        Checksums = "checksums",
        /// Vectors without a chunk.
        LooseVectors = "loose_vectors",
        /// Chunks without a vector.
        MissingVectors = "missing_vectors",
        /// Codes that do not match the vectors.
        Codes = "codes",
        /// Codes of tokens that differ from the stored ones by their checksums.
        TokenCodes = "token_codes",
    }
}

impl Damage {
    /// Whether [`crate::Store::repair`] repairs it, given a model for missing vectors.
    pub fn is_repairable(self) -> bool {
        !matches!(self, Self::Structure | Self::Tables)
    }
}

/// A fault in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseFinding {
    /// The kind of damage.
    pub damage: Damage,
    /// A sentence with the fault and its extent.
    pub message: String,
}

impl DatabaseFinding {
    pub(crate) fn new(damage: Damage, message: impl Into<String>) -> Self {
        Self { damage, message: message.into() }
    }

    /// Returns a finding about a number of objects, or `None` for zero. `what` begins with the noun in
    /// the singular.
    pub(crate) fn counted(damage: Damage, count: i64, what: &str) -> Option<Self> {
        let (noun, rest) = what.split_once(' ').unwrap_or((what, ""));
        let count = usize::try_from(count).ok().filter(|count| *count > 0)?;
        Some(Self::new(damage, format!("{} {rest}", counted(count, noun))))
    }
}
