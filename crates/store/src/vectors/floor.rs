//! Measures the cosine that vectors of unrelated passages have: the model's floor.
//!
//! Models differ: unrelated passages have a cosine of about 0.1 in one and 0.8 in another, so that a
//! cosine says something only by how far it is above this floor. The floor is measured on a sample
//! of the stored vectors, and measured again whenever the number of vectors has doubled.

use rusqlite::{Connection, OptionalExtension, named_params};

use crate::Store;
use crate::db::row::StoredRow;
use crate::db::{config, fault::Step};
use crate::error::Result;
use crate::ids::{ChunkId, DocumentId};

use super::{VECTOR, from_row};

/// Vectors compared with each other. On fifteen collections the means of two samples differ by less
/// than 0.01.
const SAMPLE: i64 = 128;

/// Fewer documents may all be about one thing: then the floor is taken to be 0.
const MIN_DOCUMENTS: usize = 16;

/// Two queries, because SQLite reads the whole table to answer both in one.
const RANGE: &str = "SELECT (SELECT min(id) FROM chunks), (SELECT max(id) FROM chunks)";

const NEXT: &str = "SELECT id, document_id FROM chunks WHERE id >= :at ORDER BY id LIMIT 1";

/// Where `config` has the floor.
pub(super) const KEY: &str = "cosine_floor";

impl Store {
    /// Returns the mean cosine of unrelated passages, in 0..1. A small database, or one written by an
    /// older kb, has none stored: it is measured now, without writing anything.
    pub fn cosine_floor(&self) -> Result<f64> {
        self.read(|db| {
            let stored: Option<String> = config::value(db, KEY)?;
            let floor = stored.and_then(|text| text.parse().ok());
            match floor.filter(|floor| (0.0..1.0).contains(floor)) {
                Some(floor) => Ok(floor),
                None if self.check_bound(db)?.is_some() => measure(db),
                None => Ok(0.0),
            }
        })
    }
}

/// Whether the floor is to be measured again after the number of blocks has grown: when it reaches
/// twice the one of the last time.
pub(crate) fn is_due(before: i64, now: i64) -> bool {
    now.max(1).ilog2() > before.max(1).ilog2()
}

/// Measures the floor and stores it.
pub(crate) fn save(db: &Connection) -> Step<()> {
    config::set(db, KEY, measure(db)?.to_string())
}

/// Returns the mean cosine of passages of different documents, at least 0.
fn measure(db: &Connection) -> Step<f64> {
    let range: (Option<i64>, Option<i64>) = db.query_row(RANGE, [], |row| row.try_into())?;
    let (Some(first), Some(last)) = range else { return Ok(0.0) };
    let mut next = db.prepare_cached(NEXT)?;
    let mut vector = db.prepare_cached(VECTOR)?;
    let mut sums = VectorSums::default();
    let mut at = first;
    for step in 1..=SAMPLE {
        let found: Option<(ChunkId, DocumentId)> =
            next.query_row(named_params! { ":at": at }, |row| row.try_into()).optional()?;
        let Some((chunk_id, document_id)) = found else { break };
        let params = named_params! { ":chunk_id": chunk_id };
        if let Some(vector) =
            vector.query_row(params, |row| from_row(&StoredRow::of(row))).optional()?
        {
            sums.add(document_id, &vector);
        }
        at = (chunk_id.0 + 1).max(first + (last - first) * step / SAMPLE);
    }
    Ok(sums.mean_cosine())
}

/// Sums of vectors, from which the cosines of all pairs follow at once.
#[derive(Default)]
struct VectorSums {
    all: Vec<f64>,
    by_document: Vec<(DocumentId, f64, Vec<f64>)>,
}

impl VectorSums {
    /// Adds a vector; those of one document follow each other.
    fn add(&mut self, document_id: DocumentId, vector: &[f32]) {
        if self.by_document.last().is_none_or(|(last, ..)| *last != document_id) {
            self.by_document.push((document_id, 0.0, Vec::new()));
        }
        let (_, count, sum) = self.by_document.last_mut().expect("one was just added");
        *count += 1.0;
        for sum in [sum, &mut self.all] {
            sum.resize(vector.len(), 0.0);
            sum.iter_mut().zip(vector).for_each(|(sum, number)| *sum += f64::from(*number));
        }
    }

    /// Returns the mean cosine of all pairs that are not of one document.
    fn mean_cosine(&self) -> f64 {
        let (mut cosines, mut count) = (square(&self.all), 0.0);
        let mut pairs = 0.0;
        for (_, own, sum) in &self.by_document {
            cosines -= square(sum);
            count += own;
            pairs -= own * own;
        }
        pairs += count * count;
        if self.by_document.len() < MIN_DOCUMENTS {
            0.0
        } else {
            // Below 1, because cosines are divided by their distance to 1 (`confidence::stretch`).
            (cosines / pairs).clamp(0.0, 0.99)
        }
    }
}

/// Returns the square of the length of a vector.
fn square(vector: &[f64]) -> f64 {
    vector.iter().map(|number| number * number).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Embedding;
    use crate::testing::{TestDb, binding, chunk, document};

    /// Stores a document with some vectors.
    fn put(db: &mut TestDb, path: &str, vectors: &[[f32; 4]]) {
        let texts: Vec<String> = (0..vectors.len()).map(|n| format!("{path} {n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let chunks: Vec<_> = texts.iter().map(|text| chunk(text)).collect();
        let embed = |vector: &[f32; 4]| Embedding { vector: vector.to_vec(), codes: None };
        let embeddings: Vec<Embedding> = vectors.iter().map(embed).collect();
        let new = document(path, &texts, &[]);
        db.store.replace(&new, &chunks, &embeddings, &|_| false).unwrap();
    }

    fn stored(db: &TestDb) -> Option<String> {
        config::value(&db.store.connection, KEY).unwrap()
    }

    #[test]
    fn the_floor_is_the_mean_cosine_of_different_documents() {
        let mut db = TestDb::new();
        // Every pair of documents has the cosine 0.36; chunks of one document are the same.
        for number in 0..20 {
            let mut vector = [0.6, 0.0, 0.0, 0.0];
            vector[1 + number % 3] = if number % 2 == 0 { 0.8 } else { -0.8 };
            put(&mut db, &format!("/{number}.md"), &[vector, vector]);
        }
        let mut expected = 0.0;
        for (a, b) in (0..20).flat_map(|a| (0..20).map(move |b| (a, b))).filter(|(a, b)| a != b) {
            let sign = if a % 2 == b % 2 { 1.0 } else { -1.0 };
            expected += (0.36 + if a % 3 == b % 3 { 0.64 * sign } else { 0.0 }) / 380.0;
        }
        let found = db.store.cosine_floor().unwrap();
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        assert_eq!(stored(&db), None, "a search writes nothing");
    }

    #[test]
    fn few_documents_have_no_floor() {
        let mut db = TestDb::new();
        assert!(db.store.cosine_floor().unwrap().abs() < 1e-9);
        for number in 0..15 {
            put(&mut db, &format!("/{number}.md"), &[[1.0, 0.0, 0.0, 0.0]; 3]);
        }
        assert!(db.store.cosine_floor().unwrap().abs() < 1e-9);
        put(&mut db, "/15.md", &[[1.0, 0.0, 0.0, 0.0]]);
        assert!(db.store.cosine_floor().unwrap() > 0.9);
        assert!(TestDb::unbound().store.cosine_floor().unwrap().abs() < 1e-9);
    }

    #[test]
    fn the_floor_is_stored_when_the_vectors_have_doubled_and_forgotten_with_them() {
        let mut db = TestDb::new();
        for number in 0..40 {
            put(&mut db, &format!("/{number}.md"), &[[0.6, 0.8, 0.0, 0.0]; 10]);
        }
        let floor: f64 = stored(&db).unwrap().parse().unwrap();
        assert!((floor - 0.99).abs() < 1e-9, "{floor}");
        assert!(is_due(1, 2) && !is_due(2, 3) && is_due(3, 4) && !is_due(0, 1));
        db.store.begin_reindex(&binding("other")).unwrap();
        let renew = |found: &crate::UnembeddedChunk| {
            let embedding = Embedding { vector: vec![0.0, 1.0, 0.0, 0.0], codes: None };
            crate::RenewedChunk::kept(found, embedding)
        };
        let chunks = db.store.unembedded(ChunkId(0), 1000).unwrap();
        db.store.store_reindexed(&chunks.iter().map(renew).collect::<Vec<_>>()).unwrap();
        db.store.finish_reindex().unwrap();
        assert!(stored(&db).is_some());
        db.store
            .connection
            .execute("UPDATE config SET value = 'x' WHERE key = 'cosine_floor'", [])
            .unwrap();
        assert!((db.store.cosine_floor().unwrap() - 0.99).abs() < 1e-9, "measured again");
    }
}
