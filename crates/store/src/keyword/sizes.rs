//! Stores the document and length of every chunk, as needed by BM25.
//!
//! The values are stored together in blocks, because reading one row per chunk takes longer than
//! the rest of a search. Triggers keep the blocks up to date.

use rusqlite::{Connection, named_params};

use crate::error::Result;
use crate::ids::{ChunkId, DocumentId};

use crate::Store;
use crate::db::fault::{DatabaseFault, Step};
use crate::db::sql;

/// Number of chunk ids in a block, in bits. A change of one chunk writes its block again, a search reads all blocks:
/// larger ones would slow down the former, smaller ones the latter.
pub const BLOCK_BITS: u32 = 8;

/// The bits of an id that give its place in a block.
const BLOCK_MASK: i64 = (1 << BLOCK_BITS) - 1;

/// Number of chunk ids in a block.
const BLOCK_LEN: usize = 1 << BLOCK_BITS;

const BLOCKS: &str = "SELECT block, sizes FROM chunks_sizes_blocks ORDER BY block";

const CHUNKS: &str = "SELECT id, document_id, ifnull(token_count, 0) FROM chunks ORDER BY id";

const FORGET: &str = "DELETE FROM chunks_sizes_blocks";

const INSERT_BLOCK: &str = "INSERT INTO chunks_sizes_blocks (block, sizes) VALUES (:block, :sizes)";

/// The sizes of all chunks. A chunk is identified by its place here; places are ordered by id, and
/// some places have no chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChunkSizes {
    /// Numbers of the blocks, in order.
    blocks: Vec<i64>,
    /// The document (0 if there is no chunk) and the tokens of each place.
    places: Vec<(u32, u32)>,
}

impl ChunkSizes {
    /// Returns the number of places.
    pub fn num_places(&self) -> usize {
        self.places.len()
    }

    /// Returns the number of chunks, and that of all their tokens.
    pub fn totals(&self) -> (u64, u64) {
        self.places.iter().fold((0, 0), |(num_chunks, all), (document_id, num_tokens)| {
            (num_chunks + u64::from(*document_id != 0), all + u64::from(*num_tokens))
        })
    }

    /// Returns the document of the chunk at a place; `None` if there is no chunk.
    pub fn document_id(&self, place: usize) -> Option<DocumentId> {
        let id = self.places.get(place).map(|place| place.0).filter(|id| *id != 0)?;
        Some(DocumentId(id.into()))
    }

    /// Returns the tokens of the chunk at a place, including its context.
    pub fn num_tokens(&self, place: usize) -> u32 {
        self.places.get(place).map_or(0, |place| place.1)
    }

    /// Returns the id of the chunk at a place.
    pub fn chunk_id(&self, place: usize) -> ChunkId {
        let block = self.blocks.get(place / BLOCK_LEN).copied().unwrap_or_default();
        let within = i64::try_from(place % BLOCK_LEN).unwrap_or_default();
        ChunkId(block << BLOCK_BITS | within)
    }

    /// Returns the places of chunks given in the order of their ids; `None` for a chunk that is
    /// missing, for example because another process has removed it.
    pub fn places(
        &self,
        chunk_ids: impl Iterator<Item = ChunkId>,
    ) -> impl Iterator<Item = Option<usize>> {
        let mut block_idx = 0;
        chunk_ids.map(move |ChunkId(chunk_id)| {
            let block = chunk_id >> BLOCK_BITS;
            if self.blocks.get(block_idx).is_none_or(|known| *known != block) {
                block_idx += self.blocks[block_idx..].partition_point(|known| *known < block);
            }
            let within = usize::try_from(chunk_id & BLOCK_MASK).ok()?;
            let place = block_idx * BLOCK_LEN + within;
            let is_here = self.blocks.get(block_idx) == Some(&block);
            (is_here && self.document_id(place).is_some()).then_some(place)
        })
    }

    fn read(db: &Connection) -> Step<Self> {
        let mut sizes = Self::default();
        let mut statement = db.prepare_cached(BLOCKS)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let bytes = row.get_ref(1)?.as_blob().map_err(|_| damaged())?;
            sizes.add_block(row.get(0)?, bytes).ok_or_else(damaged)?;
        }
        Ok(sizes)
    }

    /// Adds a block in its stored form; blocks come in order. Returns `None` if it is not one.
    pub fn add_block(&mut self, block: i64, bytes: &[u8]) -> Option<()> {
        let (numbers, rest) = bytes.as_chunks::<8>();
        let is_next = self.blocks.last().is_none_or(|last| *last < block);
        if numbers.len() != BLOCK_LEN || !rest.is_empty() || !is_next {
            return None;
        }
        self.blocks.push(block);
        self.places.extend(numbers.iter().map(|[a, b, c, d, e, f, g, h]| {
            (u32::from_be_bytes([*a, *b, *c, *d]), u32::from_be_bytes([*e, *f, *g, *h]))
        }));
        Some(())
    }

    /// Returns the blocks in their stored form, in order.
    pub fn to_blocks(&self) -> impl Iterator<Item = (i64, Vec<u8>)> {
        self.blocks.iter().zip(self.places.chunks(BLOCK_LEN)).map(|(block, places)| {
            let numbers = places.iter().flat_map(|(document, tokens)| {
                document.to_be_bytes().into_iter().chain(tokens.to_be_bytes())
            });
            (*block, numbers.collect())
        })
    }
}

/// Returns the sizes computed from the chunks.
fn of_chunks(db: &Connection) -> Step<ChunkSizes> {
    sql::rows::<(ChunkId, DocumentId, u32), _>(db, CHUNKS, [], |row| row.columns())
}

/// Counts chunks whose stored size is wrong, and stored sizes without a chunk.
pub(crate) fn num_wrong(db: &Connection) -> Step<i64> {
    let right = of_chunks(db)?;
    let num_chunks = right.places.iter().filter(|place| place.0 != 0).count();
    let num_wrong = match ChunkSizes::read(db) {
        Ok(found) if found.blocks == right.blocks => {
            found.places.iter().zip(&right.places).filter(|(a, b)| a != b).count()
        }
        Ok(_) | Err(DatabaseFault::Corrupt(_)) => num_chunks.max(1),
        Err(fault) => return Err(fault),
    };
    Ok(i64::try_from(num_wrong).unwrap_or(i64::MAX))
}

/// Stores the sizes of all chunks again.
pub(crate) fn rebuild(db: &Connection) -> Step<()> {
    sql::run(db, FORGET, [])?;
    of_chunks(db)?.to_blocks().try_for_each(|(block, bytes)| {
        sql::run(db, INSERT_BLOCK, named_params! { ":block": block, ":sizes": bytes })
    })
}

impl FromIterator<(ChunkId, DocumentId, u32)> for ChunkSizes {
    /// Creates sizes from ids, documents and tokens, ordered by id.
    fn from_iter<I: IntoIterator<Item = (ChunkId, DocumentId, u32)>>(chunks: I) -> Self {
        let mut sizes = Self::default();
        for (ChunkId(chunk_id), DocumentId(document_id), num_tokens) in chunks {
            let block = chunk_id >> BLOCK_BITS;
            if sizes.blocks.last() != Some(&block) {
                sizes.blocks.push(block);
                sizes.places.resize(sizes.blocks.len() * BLOCK_LEN, (0, 0));
            }
            let within = usize::try_from(chunk_id & BLOCK_MASK).unwrap_or_default();
            let place = (sizes.blocks.len() - 1) * BLOCK_LEN + within;
            sizes.places[place] = (u32::try_from(document_id).unwrap_or(u32::MAX), num_tokens);
        }
        sizes
    }
}

impl Store {
    /// Returns the sizes of all chunks.
    pub fn chunk_sizes(&self) -> Result<ChunkSizes> {
        self.read(ChunkSizes::read)
    }
}

fn damaged() -> DatabaseFault {
    DatabaseFault::Corrupt("the sizes of the chunks cannot be read".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::schema;
    use crate::testing::TestDb;

    /// The sizes read directly from the chunks.
    const CHUNKS: &str = "SELECT id, document_id, token_count FROM chunks ORDER BY id";

    fn sizes(chunks: &[(i64, i64, u32)]) -> ChunkSizes {
        let chunk =
            |&(id, document_id, num_tokens)| (ChunkId(id), DocumentId(document_id), num_tokens);
        chunks.iter().map(chunk).collect()
    }

    #[track_caller]
    fn check(db: &TestDb) {
        let mut statement = db.store.connection.prepare(CHUNKS).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        let expected: Vec<(ChunkId, DocumentId, u32)> =
            rows.unwrap().collect::<Result<_, _>>().unwrap();
        let sizes = db.store.chunk_sizes().unwrap();
        assert_eq!(sizes, expected.iter().copied().collect());
        let ids = expected.iter().map(|row| row.0);
        for (place, (id, document_id, num_tokens)) in sizes.places(ids).zip(&expected) {
            let place = place.unwrap();
            let found = (sizes.chunk_id(place), sizes.document_id(place), sizes.num_tokens(place));
            assert_eq!(found, (*id, Some(*document_id), *num_tokens));
        }
        db.assert_intact();
    }

    #[test]
    fn sizes_follow_the_chunks() {
        let mut db = TestDb::new();
        check(&db);
        let texts = ["one two", "three"].repeat(300);
        let first = db.add("/a.md", &texts, &[]);
        let second = db.add("/b.md", &["four"], &[]);
        check(&db);
        db.store.connection.execute("UPDATE chunks SET token_count = 9 WHERE id = 3", []).unwrap();
        check(&db);
        db.add("/b.md", &["five", "six"], &[]);
        db.store.remove(first).unwrap();
        check(&db);
        db.store.remove(second).unwrap();
        check(&db);
        assert_eq!(db.store.chunk_sizes().unwrap().num_places(), 0);
    }

    #[test]
    fn a_missing_chunk_has_no_place() {
        let sizes = sizes(&[(3, 1, 10), (700, 2, 20)]);
        let places: Vec<_> =
            sizes.places([2, 3, 300, 700, 701, 9000].map(ChunkId).into_iter()).collect();
        assert_eq!(
            places.iter().map(Option::is_some).collect::<Vec<_>>(),
            [false, true, false, true, false, false]
        );
        assert_eq!(sizes.num_places(), 512);
    }

    #[test]
    fn older_databases_are_filled() {
        use crate::life::migrate;
        let mut db = rusqlite::Connection::open_in_memory().unwrap();
        let before = &schema::MIGRATIONS[..2];
        migrate::apply(&mut db, 0, before).unwrap();
        let insert =
            "INSERT INTO documents (id, title, content_hash, doc_type) VALUES (7, '', '', 'note');
            INSERT INTO chunks (id, document_id, chunk_index, text, token_count, passage_hash)
            SELECT 200 + value * 3, 7, value, 'text', value, x'00' FROM json_each('[0, 1, 2, 300]');
            UPDATE chunks SET token_count = NULL WHERE id = 203";
        db.execute_batch(insert).unwrap();
        migrate::apply(&mut db, 2, schema::MIGRATIONS).unwrap();
        let expected = sizes(&[(200, 7, 0), (203, 7, 0), (206, 7, 2), (1100, 7, 300)]);
        assert_eq!(ChunkSizes::read(&db).unwrap(), expected);
    }
}
