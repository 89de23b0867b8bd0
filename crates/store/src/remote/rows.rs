//! Reads the values of rows of a copy, of which kb made the tables.

use serde::de::DeserializeOwned;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use super::link::MAKE_AGAIN;
use super::read::Remote;
use crate::StoredChunk;
use crate::document::Chunk;
use crate::error::{Error, Result};
use crate::ids::ChunkId;

impl Remote {
    /// Returns the error of a row that kb would not have written.
    pub(super) fn damaged(&self, what: &str) -> Error {
        self.link().refuse(format!("{what} cannot be read"), MAKE_AGAIN)
    }

    /// Returns a value of a row; its type is known only if kb made the tables.
    pub(super) fn get<'a, T: FromSql<'a>>(&self, row: &'a Row, column: usize) -> Result<T> {
        row.try_get(column).map_err(|_| self.damaged("a value"))
    }

    pub(super) fn unsigned(&self, row: &Row, column: usize) -> Result<u32> {
        u32::try_from(self.get::<i32>(row, column)?).map_err(|_| self.damaged("a number"))
    }

    pub(super) fn id(&self, row: &Row, column: usize) -> Result<ChunkId> {
        self.get(row, column).map(ChunkId)
    }

    pub(super) fn stored_chunk(&self, row: &Row) -> Result<StoredChunk> {
        let chunk = Chunk {
            text: self.get(row, 2)?,
            context: self.get(row, 3)?,
            token_count: self.unsigned(row, 4)?,
            ..Chunk::default()
        };
        let (id, chunk_index) = (self.id(row, 0)?, self.unsigned(row, 1)?);
        StoredChunk::of_copy(id, chunk_index, chunk, self.get(row, 5)?)
            .map_err(|_| self.damaged("the metadata of a chunk"))
    }

    /// Returns a value of the metadata of a document.
    pub(super) fn stated<T: DeserializeOwned>(&self, row: &Row, column: usize) -> Result<T> {
        let json: &str = self.get(row, column)?;
        serde_json::from_str(json).map_err(|_| self.damaged("the metadata of a document"))
    }
}
