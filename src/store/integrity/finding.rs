//! Names what can be wrong with a database, by what repairs it.

/// What a part of the database can suffer, by what repairs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Damage {
    /// The file's own structure: only a copy helps.
    Structure,
    /// A table is missing or of another shape: only a copy helps.
    Tables,
    /// Triggers, indexes or views are missing or changed.
    Schema,
    /// An index of SQLite's does not match its table.
    Indexes,
    /// Rows refer to what does not exist.
    References,
    /// A path is remembered for no document, or the other way round.
    Paths,
    /// Tags that no document has.
    Tags,
    /// Chunks are missing from the middle of documents.
    Gaps,
    /// Hashes of passages are not those of the text.
    Passages,
    /// The keyword index does not match the text.
    Keywords,
    /// The index for scripts without spaces does not match the text.
    Grams,
    /// The sizes kept next to the chunks are not theirs.
    Sizes,
    /// The table of vectors contradicts itself or the binding.
    VectorTable,
    /// Vectors that are no unit vectors.
    BadVectors,
    /// Vectors that are not those that were stored.
    ChangedVectors,
    /// Vectors without a checksum.
    Checksums,
    /// Vectors without a chunk.
    LooseVectors,
    /// Chunks without a vector.
    MissingVectors,
    /// Coarse codes that are not those of the vectors.
    Codes,
}

impl Damage {
    /// Whether [`crate::store::Store::repair`] repairs it, with a model at hand for missing vectors.
    pub fn is_repairable(self) -> bool {
        !matches!(self, Self::Structure | Self::Tables)
    }

    /// Returns the stable word for it.
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
        }
    }
}

/// Something that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What is damaged.
    pub damage: Damage,
    /// A sentence that says what and how much.
    pub message: String,
}

impl Finding {
    pub(in crate::store) fn new(damage: Damage, message: impl Into<String>) -> Self {
        Self { damage, message: message.into() }
    }

    /// `None` where there are none.
    pub(in crate::store) fn counted(
        damage: Damage,
        count: impl Into<i64>,
        what: &str,
    ) -> Option<Self> {
        let count: i64 = count.into();
        (count > 0).then(|| Self::new(damage, format!("{count} {what}")))
    }
}
