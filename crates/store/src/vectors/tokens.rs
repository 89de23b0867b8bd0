//! Stores the codes of a passage's tokens, a row per chunk; foreign keys remove it with the chunk.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, named_params};

use crate::Store;
use crate::db::{fault::Step, sql};
use crate::error::Result;
use crate::ids::ChunkId;
use crate::token_codes;

use super::sums;

const INSERT: &str =
    "INSERT OR REPLACE INTO chunks_tokens (chunk_id, codes, sum) VALUES (:chunk_id, :codes, :sum)";

/// Longer codes are not what kb writes: the widest models need half of it for the longest passages.
const CODES: &str = "
    SELECT codes FROM chunks_tokens WHERE chunk_id = :chunk_id AND length(codes) <= 1048576";

const ALL: &str = "SELECT chunk_id, codes, sum FROM chunks_tokens";

/// In rows that kb alone wrote, as in [`CODES`], with the number of codes that an older kb made.
const NEXT: &str = "
    SELECT chunks_tokens.chunk_id, codes, sum, (chunks.token_count + 3) / 4
    FROM chunks_tokens
    JOIN chunks ON chunks.id = chunks_tokens.chunk_id
    WHERE chunks_tokens.chunk_id > :after AND length(codes) <= 1048576
    ORDER BY chunks_tokens.chunk_id
    LIMIT 1";

const REMOVE: &str = "DELETE FROM chunks_tokens WHERE chunk_id = :chunk_id";

impl Store {
    /// Returns the codes of the tokens of chunks; chunks without any are left out.
    pub fn token_codes(&self, ids: &[ChunkId]) -> Result<HashMap<ChunkId, Vec<u8>>> {
        self.read(|db| {
            self.check_bound(db)?;
            let mut statement = db.prepare_cached(CODES)?;
            let mut found = HashMap::with_capacity(ids.len());
            for id in ids {
                let params = named_params! { ":chunk_id": id };
                let codes = statement.query_row(params, |row| row.get(0)).optional()?;
                found.extend(codes.map(|codes| (*id, codes)));
            }
            Ok(found)
        })
    }
}

pub(crate) fn insert(db: &Connection, chunk_id: ChunkId, codes: &[u8]) -> Step<()> {
    let sum = sums::sum(chunk_id, codes);
    sql::run(db, INSERT, named_params! { ":chunk_id": chunk_id, ":codes": codes, ":sum": sum })
}

/// Packs codes of an older kb, which made one of every four tokens. Changed ones stay, to be reported.
pub(crate) fn pack(db: &Connection) -> Step<()> {
    let mut next = db.prepare(NEXT)?;
    let mut after = ChunkId(0);
    loop {
        let row = next.query_row(named_params! { ":after": after }, |row| {
            let (codes, sum): (Vec<u8>, Vec<u8>) = (row.get(1)?, row.get(2)?);
            Ok((row.get(0)?, codes, sum, row.get::<_, Option<i64>>(3)?))
        });
        let Some((chunk_id, codes, sum, num_codes)) = row.optional()? else { return Ok(()) };
        let len = codes.len();
        let num_codes = num_codes.and_then(|count| usize::try_from(count).ok());
        let code_len = num_codes.filter(|count| *count > 0 && len.is_multiple_of(*count));
        if let Some(code_len) = code_len.map(|count| len / count)
            && sums::sum(chunk_id, &codes).as_slice() == sum
        {
            let packed = token_codes::pack(codes, code_len);
            if packed.len() < len {
                insert(db, chunk_id, &packed)?;
            }
        }
        after = chunk_id;
    }
}

/// Returns the chunks whose codes are not the ones that were stored.
pub(crate) fn changed(db: &Connection) -> Step<Vec<ChunkId>> {
    let mut statement = db.prepare(ALL)?;
    let mut rows = statement.query([])?;
    let mut changed = Vec::new();
    while let Some(row) = rows.next()? {
        let chunk_id = row.get(0)?;
        let (codes, sum): (Vec<u8>, Vec<u8>) = (row.get(1)?, row.get(2)?);
        if sums::sum(chunk_id, &codes).as_slice() != sum {
            changed.push(chunk_id);
        }
    }
    Ok(changed)
}

/// Removes changed codes; their chunks keep the place that both rankings give them.
pub(crate) fn remove_changed(db: &Connection) -> Step<()> {
    let mut changed = changed(db)?.into_iter();
    changed.try_for_each(|id| sql::run(db, REMOVE, named_params! { ":chunk_id": id }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Damage;
    use crate::testing::{TestDb, WITHOUT_LETTERS, binding, embedding};

    fn ids(db: &TestDb) -> Vec<ChunkId> {
        let mut statement = db.store.connection.prepare("SELECT id FROM chunks").unwrap();
        let ids = statement.query_map([], |row| row.get(0)).unwrap();
        ids.collect::<rusqlite::Result<_>>().unwrap()
    }

    fn count(db: &TestDb) -> i64 {
        let sql = "SELECT count(*) FROM chunks_tokens";
        db.store.connection.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn codes_are_stored_and_removed_with_their_chunks() {
        let mut db = TestDb::new();
        let first = db.add("/a.md", &["one", "two"], &[]);
        db.add("/b.md", &["three"], &[]);
        let found = db.store.token_codes(&ids(&db)).unwrap();
        assert_eq!(found[&ids(&db)[1]], embedding("two").codes.unwrap());
        assert_eq!(found.len(), 3);
        db.store.remove(first).unwrap();
        assert_eq!(count(&db), 1);
        db.assert_intact();
    }

    #[test]
    fn chunks_without_codes_are_left_out() {
        let mut db = TestDb::new();
        db.add("/a.md", &["one", "two"], &[]);
        db.store.connection.execute("DELETE FROM chunks_tokens WHERE chunk_id = 1", []).unwrap();
        let found = db.store.token_codes(&[ChunkId(1), ChunkId(2), ChunkId(99)]).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>(), [&ChunkId(2)]);
        db.assert_intact();
        let sql = "UPDATE chunks_tokens SET codes = zeroblob(1048577)";
        db.store.connection.execute(sql, []).unwrap();
        assert!(db.store.token_codes(&[ChunkId(2)]).unwrap().is_empty());
    }

    #[test]
    fn codes_of_another_model_are_not_returned() {
        let mut db = TestDb::new();
        db.add("/a.md", &["one"], &[]);
        let reader = db.store.reader().unwrap();
        db.store.begin_reindex(&binding("other")).unwrap();
        let chunks = db.store.unembedded(ChunkId(0), 10).unwrap();
        let kept = |found| crate::RenewedChunk::kept(found, embedding("eins"));
        db.store.store_reindexed(&chunks.iter().map(kept).collect::<Vec<_>>()).unwrap();
        db.store.finish_reindex().unwrap();
        assert!(reader.token_codes(&ids(&db)).is_err());
        let found = db.store.token_codes(&ids(&db)).unwrap();
        assert_eq!(found[&ids(&db)[0]], embedding("eins").codes.unwrap());
        db.assert_intact();
    }

    #[test]
    fn codes_of_an_older_kb_are_packed_and_what_they_took_is_given_back() {
        let mut db = TestDb::new();
        let texts: Vec<String> = (0..700).map(|number| format!("text {number}")).collect();
        db.add("/a.md", &texts.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
        // An older kb made 55 codes of 219 tokens; the last row is not as it wrote it.
        let codes = |id: ChunkId| -> Vec<u8> {
            (0..55 * 48).map(|at: i64| (at * at + id.0 % 7).to_le_bytes()[0]).collect()
        };
        let ids = ids(&db);
        ids.iter().for_each(|id| insert(&db.store.connection, *id, &codes(*id)).unwrap());
        let back = "
            UPDATE chunks SET token_count = 219;
            UPDATE chunks_tokens SET codes = zeroblob(2640) WHERE chunk_id = 700;
            UPDATE config SET value = '14' WHERE key = 'schema_version';
            PRAGMA user_version = 14";
        db.store.connection.execute_batch(WITHOUT_LETTERS).unwrap();
        db.store.connection.execute_batch(back).unwrap();
        let before = db.store.stats().unwrap().db_size_bytes;
        let path = db.path();
        db.store.close().unwrap();
        db.store = Store::open(&path).unwrap();
        let found = db.store.token_codes(&ids).unwrap();
        assert_eq!(found[&ids[3]], token_codes::pack(codes(ids[3]), 48));
        assert_eq!((found[&ids[3]].len(), found[&ids[699]].len()), (20 * 48, 55 * 48));
        assert_eq!(changed(&db.store.connection).unwrap(), [ids[699]]);
        let room = db.store.room().unwrap();
        let size = db.store.stats().unwrap().db_size_bytes;
        assert!(size < before - 400 * 4096, "{before} {size}");
        assert_eq!(room.texts + room.keywords + room.vectors + room.token_codes + room.free, size);
        assert!(room.token_codes < 200 * 4096 && room.vectors > 0 && room.keywords > 0, "{room:?}");
        remove_changed(&db.store.connection).unwrap();
        db.assert_intact();
    }

    #[test]
    fn changed_codes_are_noticed_and_removed() {
        let mut db = TestDb::new();
        db.add("/a.md", &["one", "two"], &[]);
        let sql = "UPDATE chunks_tokens SET codes = x'00ff' WHERE chunk_id = 2";
        db.store.connection.execute(sql, []).unwrap();
        let damages: Vec<Damage> =
            db.store.examine().unwrap().into_iter().map(|finding| finding.damage).collect();
        assert_eq!(damages, [Damage::TokenCodes]);
        db.store.repair(&damages).unwrap();
        assert_eq!(count(&db), 1);
        db.assert_intact();
    }
}
