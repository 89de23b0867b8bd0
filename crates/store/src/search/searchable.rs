//! Defines what a search reads, so that it can read the database of this machine or a copy elsewhere.

use std::collections::HashMap;

use crate::document::{Binding, Filter};
use crate::error::Result;
use crate::ids::{ChunkId, DocumentId, RankedChunk};
use crate::{
    ChunkOrigin, ChunkSizes, NamedChunks, NearWord, Occurrence, Store, StoredChunk, StoredHit,
};

/// Chunks that can be searched. The methods are those of [`Store`], which describes them.
#[expect(missing_docs, reason = "each method is that of `Store` with the same name")]
#[expect(clippy::missing_errors_doc, reason = "each method is that of `Store` with the same name")]
pub trait Searchable: Sized + Send {
    fn binding(&self) -> Result<Option<Binding>>;
    fn take_reader(&self) -> Result<Self>;
    fn return_reader(&self, reader: Self);
    /// Prepares a ranking by cosine until `is_enough`; a copy elsewhere does nothing.
    fn read_ahead(&self, _is_enough: &dyn Fn() -> bool) -> Result<()> {
        Ok(())
    }
    fn passing_chunks(&self, filter: &Filter) -> Result<Vec<ChunkId>>;
    fn has_document(&self, filter: &Filter) -> Result<bool> {
        Ok(!self.passing_chunks(filter)?.is_empty())
    }
    fn chunks_with(&self, text: &str) -> Result<Vec<ChunkId>>;
    fn occurrences(&self, text: &str) -> Result<Vec<Occurrence>>;
    fn occurrences_of_prefix(&self, prefix: &str) -> Result<Vec<Occurrence>>;
    fn exact_occurrences(&self, term: &str) -> Result<Vec<Occurrence>>;
    fn named_chunks(&self, text: &str) -> Result<NamedChunks>;
    fn near_words(&self, word: &str, most_wrong: usize) -> Result<Vec<NearWord>>;
    fn named_paths(&self, texts: &[String]) -> Result<Vec<(DocumentId, String)>>;
    fn chunk_sizes(&self) -> Result<ChunkSizes>;
    fn rank_by_cosine(
        &self,
        vector: &[f32],
        passing: Option<&[ChunkId]>,
        depth: u32,
    ) -> Result<Vec<RankedChunk>>;
    fn cosine_floor(&self) -> Result<f64>;
    fn vectors(&self, ids: &[ChunkId]) -> Result<Vec<Vec<f32>>>;
    fn token_codes(&self, ids: &[ChunkId]) -> Result<HashMap<ChunkId, Vec<u8>>>;
    fn hits(&self, ids: &[ChunkId]) -> Result<Vec<StoredHit>>;
    fn origins(&self, ids: &[ChunkId]) -> Result<HashMap<ChunkId, ChunkOrigin>>;
    fn passages(&self, ids: &[ChunkId]) -> Result<HashMap<ChunkId, String>>;
    fn newest(&self, filter: &Filter) -> Result<Option<String>>;
    fn chunks_between(&self, id: DocumentId, first: u32, last: u32) -> Result<Vec<StoredChunk>>;
    fn other_paths(&self, ids: &[DocumentId]) -> Result<HashMap<DocumentId, Vec<String>>>;
}

/// Calls the method of the same name.
macro_rules! delegate {
    ($($name:ident(&self $(, $argument:ident: $kind:ty)*) -> $result:ty;)*) => {
        $(
            fn $name(&self $(, $argument: $kind)*) -> $result {
                Self::$name(self $(, $argument)*)
            }
        )*
    };
}

impl Searchable for Store {
    delegate! {
        binding(&self) -> Result<Option<Binding>>;
        take_reader(&self) -> Result<Self>;
        return_reader(&self, reader: Self) -> ();
        read_ahead(&self, is_enough: &dyn Fn() -> bool) -> Result<()>;
        passing_chunks(&self, filter: &Filter) -> Result<Vec<ChunkId>>;
        has_document(&self, filter: &Filter) -> Result<bool>;
        chunks_with(&self, text: &str) -> Result<Vec<ChunkId>>;
        occurrences(&self, text: &str) -> Result<Vec<Occurrence>>;
        occurrences_of_prefix(&self, prefix: &str) -> Result<Vec<Occurrence>>;
        exact_occurrences(&self, term: &str) -> Result<Vec<Occurrence>>;
        named_chunks(&self, text: &str) -> Result<NamedChunks>;
        near_words(&self, word: &str, most_wrong: usize) -> Result<Vec<NearWord>>;
        named_paths(&self, texts: &[String]) -> Result<Vec<(DocumentId, String)>>;
        chunk_sizes(&self) -> Result<ChunkSizes>;
        rank_by_cosine(&self, vector: &[f32], passing: Option<&[ChunkId]>, depth: u32) -> Result<Vec<RankedChunk>>;
        cosine_floor(&self) -> Result<f64>;
        vectors(&self, ids: &[ChunkId]) -> Result<Vec<Vec<f32>>>;
        token_codes(&self, ids: &[ChunkId]) -> Result<HashMap<ChunkId, Vec<u8>>>;
        hits(&self, ids: &[ChunkId]) -> Result<Vec<StoredHit>>;
        origins(&self, ids: &[ChunkId]) -> Result<HashMap<ChunkId, ChunkOrigin>>;
        passages(&self, ids: &[ChunkId]) -> Result<HashMap<ChunkId, String>>;
        newest(&self, filter: &Filter) -> Result<Option<String>>;
        chunks_between(&self, id: DocumentId, first: u32, last: u32) -> Result<Vec<StoredChunk>>;
        other_paths(&self, ids: &[DocumentId]) -> Result<HashMap<DocumentId, Vec<String>>>;
    }
}
