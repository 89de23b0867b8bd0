//! Defines the keys of documents and chunks, and the entry of a ranking.

use std::cmp::Ordering;
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};

use crate::text::fields;

/// Database key of a document; stable for as long as the document exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DocumentId(pub i64);

/// Database key of a chunk; changes when its document is ingested again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ChunkId(pub i64);

/// Implements display, parsing and SQL for an id.
macro_rules! key {
    ($($id:ident),+) => {$(
        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $id {
            type Err = ParseIntError;

            fn from_str(typed: &str) -> Result<Self, ParseIntError> {
                typed.parse().map(Self)
            }
        }

        impl ToSql for $id {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl FromSql for $id {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }
    )+};
}

key!(DocumentId, ChunkId);
fields::like!(i64: DocumentId, ChunkId);

/// One entry of a ranking. The entry's rank is its 1-based position in the list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedChunk {
    /// The chunk.
    pub chunk_id: ChunkId,
    /// Raw relevance in the ranking's own scale (BM25, cosine); larger is better.
    pub score: f64,
}

impl RankedChunk {
    /// Compares entries, the better one first; equal scores by chunk id.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then(self.chunk_id.cmp(&other.chunk_id))
    }
}
