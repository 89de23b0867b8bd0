//! Finds contradictions in the table of vectors, and with the binding and the codes.
//!
//! Reads the tables of `vec0`, one block at a time; see `scan.rs`.

use std::collections::HashMap;

use rusqlite::{Connection, named_params};

use super::finding::{Damage, DatabaseFinding};
use crate::db::binding::{self, BindingSlot};
use crate::db::fault::Step;
use crate::db::{columns, sql};
use crate::ids::ChunkId;
use crate::vectors::blocks::{each_block, is_unit};
use crate::vectors::layout::knows_vec0;
use crate::vectors::{codes, sums};

/// The place where `vec0` looks for a vector.
const PLACES: &str = "SELECT rowid, chunk_id, chunk_offset FROM chunks_vec_rowids";

const DOCUMENTS: &str = "
    SELECT DISTINCT document_id
    FROM chunks
    WHERE id IN (SELECT value FROM json_each(:chunk_ids))
    ORDER BY document_id";

/// Maximum number of documents with damaged vectors to name; the others are counted.
const MAX_NAMED: usize = 10;

const TABLE_SQL: &str = "SELECT sql FROM sqlite_schema WHERE name = 'chunks_vec'";

const HAS_TRIGGER: &str = "
    SELECT
        EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = 'chunks_vec_codes_bd')
        OR NOT EXISTS (SELECT 1 FROM chunks_vec_codes)";

const LOOSE_CODES: &str = "
    SELECT count(*)
    FROM chunks_vec_codes
    WHERE block NOT IN (SELECT chunk_id FROM chunks_vec_chunks)";

/// Compares the table of vectors with the binding and with itself, and the codes with the vectors.
pub(crate) fn examine(db: &Connection, found: &mut Vec<DatabaseFinding>) -> Step<()> {
    let sql: Option<String> = sql::first_row(db, TABLE_SQL, [], |row| row.get(0))?;
    let binding = binding::load(db, BindingSlot::Current)?;
    let (Some(sql), Some(binding)) = (&sql, &binding) else {
        if sql.is_some() != binding.is_some() {
            let message = "there are vectors without a model, or a model without vectors";
            found.push(DatabaseFinding::new(Damage::VectorTable, message));
        }
        return Ok(());
    };
    if !sql.contains(&format!("FLOAT[{}]", binding.dim)) {
        let message =
            format!("the vectors do not have {} dimensions, as the model's do", binding.dim);
        found.push(DatabaseFinding::new(Damage::VectorTable, message));
        return Ok(());
    }
    // Another version of sqlite-vec lays out its tables differently, so their parts cannot be compared.
    if !knows_vec0(db)? {
        return Ok(());
    }
    if !sql::value::<bool>(db, HAS_TRIGGER, [])? {
        let message = "the trigger that removes the codes of a block is missing";
        found.push(DatabaseFinding::new(Damage::VectorTable, message));
    }
    let dim = usize::try_from(binding.dim).unwrap_or(usize::MAX);
    let mut places = places(db)?;
    let (mut num_unreadable, mut num_bad, mut num_astray, mut num_codes) = (0, 0, 0, 0);
    let (mut num_unsummed, mut changed) = (0, Vec::new());
    each_block(db, |block| {
        let Some(block) = block else {
            num_unreadable += 1;
            return;
        };
        for (place, chunk_id) in &block.places {
            num_astray += i64::from(places.remove(chunk_id) != Some((block.number, *place)));
            let vector = block.vector(*place, dim);
            num_bad += i64::from(!vector.is_some_and(|vector| is_unit(vector, dim)));
            match (block.sum(*place), vector) {
                (None, _) => num_unsummed += 1,
                (Some(sum), Some(vector)) if sum != sums::sum(*chunk_id, vector) => {
                    changed.push(*chunk_id);
                }
                _ => {}
            }
        }
        let codes = block.codes.as_ref();
        let is_right = codes.is_none_or(|codes| *codes == codes::encode(&block.vectors, dim));
        num_codes += i64::from(!is_right);
    })?;
    // Places that no block has confirmed are left.
    num_astray += i64::try_from(places.len()).unwrap_or(i64::MAX);
    num_codes += sql::value::<i64>(db, LOOSE_CODES, [])?;
    let counts = [
        (Damage::VectorTable, num_unreadable, "block of vectors that cannot be read"),
        (Damage::VectorTable, num_astray, "vector in the wrong place"),
        (Damage::BadVectors, num_bad, "vector without unit length"),
        (Damage::Checksums, num_unsummed, "vector without a checksum"),
        (Damage::Codes, num_codes, "block with codes that do not match the vectors"),
    ];
    for (damage, count, what) in counts {
        found.extend(DatabaseFinding::counted(damage, count, what));
    }
    if !changed.is_empty() {
        let (count, documents) = (changed.len(), documents_of(db, &changed)?);
        let what = if count == 1 { "vector has" } else { "vectors have" };
        let message = format!("{count} {what} changed since being stored ({documents})");
        found.push(DatabaseFinding::new(Damage::ChangedVectors, message));
    }
    Ok(())
}

fn documents_of(db: &Connection, chunk_ids: &[ChunkId]) -> Step<String> {
    let params = named_params! { ":chunk_ids": columns::to_json(chunk_ids)? };
    let ids: Vec<String> =
        sql::rows(db, DOCUMENTS, params, |row| Ok(row.get::<_, i64>(0)?.to_string()))?;
    let (first, further) = ids.split_at(ids.len().min(MAX_NAMED));
    let more =
        if further.is_empty() { String::new() } else { format!(" and {} more", further.len()) };
    let noun = if ids.len() == 1 { "document" } else { "documents" };
    Ok(format!("{noun} {}{more}", first.join(", ")))
}

/// Returns the block and place of each chunk's vector.
fn places(db: &Connection) -> Step<HashMap<ChunkId, (i64, usize)>> {
    sql::rows(db, PLACES, [], |row| {
        let place: i64 = row.get(2)?;
        Ok((row.get(0)?, (row.get(1)?, usize::try_from(place).unwrap_or(usize::MAX))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestDb, vector};

    #[track_caller]
    fn check(damage: &str, expected: Damage) {
        let mut db = TestDb::new();
        db.add("/a.md", &["one", "two", "three"], &[]);
        db.damage(damage);
        let found = db.store.examine().unwrap();
        assert!(found.iter().any(|finding| finding.damage == expected), "{damage}: {found:?}");
    }

    #[test]
    fn a_contradicting_table_is_reported() {
        for damage in [
            "UPDATE chunks_vec_rowids SET chunk_offset = 7 WHERE rowid = 1",
            "UPDATE chunks_vec_chunks SET rowids = zeroblob(1024)",
            "UPDATE chunks_vec_chunks SET rowids = x'00'",
            "UPDATE chunks_vec_vector_chunks00 SET _rowid_ = 9",
            "DELETE FROM chunks_vec_vector_chunks00",
            "INSERT INTO chunks_vec_codes VALUES (1, x'00')",
            "UPDATE config SET value = '5' WHERE key = 'embedding_dim'",
            "DELETE FROM config WHERE key = 'model_name'",
        ] {
            check(damage, Damage::VectorTable);
        }
    }

    #[test]
    fn an_invalid_vector_is_reported() {
        for damage in [
            "UPDATE chunks_vec_vector_chunks00 SET vectors = zeroblob(2048)",
            "UPDATE chunks_vec_vector_chunks00 SET vectors = zeroblob(16)",
            "UPDATE chunks_vec_vector_chunks00 SET vectors = CAST(
                unhex('ffffffff') || substr(vectors, 5) AS BLOB)",
        ] {
            check(damage, Damage::BadVectors);
        }
        assert!(is_unit(&crate::vectors::to_blob(&vector("x")), 4));
    }

    #[test]
    fn codes_of_other_vectors_are_reported() {
        check("INSERT INTO chunks_vec_codes VALUES (1, x'00')", Damage::Codes);
        check("INSERT INTO chunks_vec_codes VALUES (5, x'00')", Damage::Codes);
    }
}
