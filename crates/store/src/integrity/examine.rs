//! Examines the whole database and groups faults by their repair.
//!
//! Compares all redundant data: the keyword index with the text, sizes and codes with their
//! sources, hashes with the passages, vectors with the chunks.

use std::collections::{BTreeMap, HashSet};

use rusqlite::{Connection, named_params};

use crate::document::Chunk;
use crate::error::{Error, Result};
use crate::ids::ChunkId;

use super::finding::{Damage, DatabaseFinding};
use super::{examine_vectors, values};
use crate::Store;
use crate::db::fault::{DatabaseFault, Step};
use crate::db::recheck::is_unreadable;
use crate::db::row::StoredRow;
use crate::db::{binding, sql};
use crate::documents::chunks::PassageHash;
use crate::keyword::words::WordCounts;
use crate::keyword::{derived, grams, names, sizes};
use crate::life::known_schema::{SchemaEntry, migrated};
use crate::vectors::layout::has_vector_table;
use crate::vectors::tokens;

/// With 1, FTS5 compares its index with the text in `chunks`, and fails if they differ.
const CHECK_FTS: &str = "INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1)";

const CHECK_GRAMS: &str = "INSERT INTO chunks_grams (chunks_grams) VALUES ('integrity-check')";

const CHECK_EXACT: &str = "INSERT INTO chunks_exact (chunks_exact) VALUES ('integrity-check')";

const CHECK_NAMES: &str =
    "INSERT INTO document_names_fts (document_names_fts, rank) VALUES ('integrity-check', 1)";

/// Queries that count faults, each with the sentence that reports them.
const CLAIMS: &[(Damage, &str, &str)] = &[
    (
        Damage::References,
        "SELECT count(*) FROM pragma_foreign_key_check",
        "row with a reference to a missing row",
    ),
    (
        Damage::Tags,
        "SELECT count(*) FROM tags WHERE id NOT IN (SELECT tag_id FROM document_tags)",
        "tag that no document has",
    ),
    (
        Damage::Paths,
        "SELECT count(*)
        FROM documents
        LEFT JOIN document_paths
            ON document_paths.path = documents.source_path
            AND document_paths.document_id = documents.id
        WHERE documents.source_path IS NOT NULL AND document_paths.path IS NULL",
        "document whose path is not stored",
    ),
    (
        Damage::Paths,
        "SELECT count(*)
        FROM documents
        WHERE documents.source_path IS NULL
            AND documents.id IN (SELECT document_id FROM document_paths)",
        "document without a primary path",
    ),
    (
        Damage::Grams,
        "SELECT count(*) FROM chunks_grams_docsize WHERE id NOT IN (SELECT id FROM chunks)",
        "entry of a missing chunk in the index of letters and other forms",
    ),
    (
        Damage::Grams,
        "SELECT count(*) FROM chunks_exact_docsize WHERE id NOT IN (SELECT id FROM chunks)",
        "entry of a missing chunk in the index of exact terms",
    ),
    (
        Damage::Gaps,
        "SELECT count(*) FROM (
            SELECT 1 FROM chunks GROUP BY document_id HAVING max(chunk_index) + 1 <> count(*)
        )",
        "document with gaps between chunks",
    ),
];

const NO_VECTOR: &str = "chunk without a vector";

/// As [`CLAIMS`], for a database with a table of vectors.
const VECTOR_CLAIMS: &[(Damage, &str, &str)] = &[
    (
        Damage::MissingVectors,
        "SELECT count(*) FROM chunks WHERE id NOT IN (SELECT chunk_id FROM chunks_vec)",
        NO_VECTOR,
    ),
    (
        Damage::LooseVectors,
        "SELECT count(*) FROM chunks_vec WHERE chunk_id NOT IN (SELECT id FROM chunks)",
        "vector without a chunk",
    ),
];

const COUNT_CHUNKS: &str = "SELECT count(*) FROM chunks";

const CHUNKS: &str = "SELECT id, context, text, passage_hash FROM chunks";

const GRAMS: &str = "SELECT id FROM chunks_grams_docsize";

const EXACT: &str = "SELECT id FROM chunks_exact_docsize";

const HAS_OBJECT: &str =
    "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = :kind AND name = :name)";

impl Store {
    /// Examines everything: the file's structure, references, the keyword index against the text,
    /// hashes against passages, and that each chunk has one vector and no other vectors exist.
    /// Returns the faults, confirmed by a second examination, so that concurrent writes are not
    /// reported; empty if the database is intact. Reads all of the database.
    ///
    /// # Errors
    ///
    /// [`Error::Corrupt`] if the file cannot be read to the end, [`Error::DiskFailed`] if the disk
    /// fails, and other errors of the database.
    pub fn examine(&self) -> Result<Vec<DatabaseFinding>> {
        self.require_newest_schema()?;
        let found = self.examine_once()?;
        if found.is_empty() {
            return Ok(found);
        }
        // Only faults found twice are reported, because the advice may be to restore a backup.
        let mut again = self.examine_once()?;
        again.retain(|finding| found.iter().any(|earlier| earlier.damage == finding.damage));
        Ok(again)
    }

    /// Examines everything, as [`Store::examine`] does; returns one sentence per fault, none if the
    /// database is intact.
    pub fn check(&self) -> Result<Vec<String>> {
        Ok(self.examine()?.into_iter().map(|finding| finding.message).collect())
    }

    fn examine_once(&self) -> Result<Vec<DatabaseFinding>> {
        let mut found = Vec::new();
        // These checks are separate, because for SQLite they write, and may have to wait for a lock. Where nothing
        // can be written, only the check of the whole file looks at the indexes.
        let checks = [
            (Damage::Keywords, CHECK_FTS),
            (Damage::Grams, CHECK_GRAMS),
            (Damage::Grams, CHECK_EXACT),
            (Damage::Grams, CHECK_NAMES),
        ];
        for (damage, sql) in checks.into_iter().filter(|_| !self.is_read_only()) {
            match self
                .connection
                .execute(sql, [])
                .map_err(|error| DatabaseFault::from(error).at(&self.path))
            {
                Ok(_) => {}
                Err(Error::Corrupt { detail, .. }) => {
                    let message = format!("the keyword index does not match the text: {detail}");
                    found.push(DatabaseFinding::new(damage, message));
                }
                Err(error) => return Err(error),
            }
        }
        self.examine_snapshot(&mut found)?;
        Ok(found)
    }

    /// Examines one state of the database on a new connection that knows no earlier state. When
    /// `integrity_check` asks FTS5, FTS5 uses the index structure that the connection read last,
    /// and misses segments that other processes have merged since (`xIntegrity` in `fts5.c` does
    /// not invalidate it, unlike every query).
    fn examine_snapshot(&self, found: &mut Vec<DatabaseFinding>) -> Result<()> {
        let reader = self.reader()?;
        reader.read(|db| {
            integrity(db, found)?;
            let has_vectors = has_vector_table(db)?;
            let vector_claims = if has_vectors { VECTOR_CLAIMS } else { &[] };
            for (damage, count_sql, what) in CLAIMS.iter().chain(vector_claims) {
                let count = sql::value(db, count_sql, [])?;
                found.extend(DatabaseFinding::counted(*damage, count, what));
            }
            // Documents may have been added without a model.
            if !has_vectors && binding::model_name(db)?.is_some() {
                let num_chunks = sql::value(db, COUNT_CHUNKS, [])?;
                let damage = Damage::MissingVectors;
                found.extend(DatabaseFinding::counted(damage, num_chunks, NO_VECTOR));
            }
            values::examine(db, found)?;
            texts(db, found)?;
            let what = "chunk whose stored size is wrong";
            found.extend(DatabaseFinding::counted(Damage::Sizes, sizes::num_wrong(db)?, what));
            match binding::fault(db)? {
                Some(detail) => found.push(DatabaseFinding::new(Damage::Binding, detail)),
                None => examine_vectors::examine(db, found)?,
            }
            let num_changed = i64::try_from(tokens::changed(db)?.len()).unwrap_or(i64::MAX);
            let what = "chunk whose token codes have changed since being stored";
            found.extend(DatabaseFinding::counted(Damage::TokenCodes, num_changed, what));
            schema(db, found)
        })?;
        let unreadable = found.iter().find(|finding| is_unreadable(&finding.message));
        match unreadable {
            Some(finding) => {
                let (path, detail) = (self.path.clone(), finding.message.clone());
                Err(Error::DiskFailed { path, detail })
            }
            None => Ok(()),
        }
    }
}

/// Runs SQLite's own check. Its reports on virtual tables are ignored, because those are checked
/// separately.
fn integrity(db: &Connection, found: &mut Vec<DatabaseFinding>) -> Step<()> {
    let mut messages: Vec<String> = Vec::new();
    db.pragma_query(None, "integrity_check", |row| {
        messages.push(row.get(0)?);
        Ok(())
    })?;
    for message in messages {
        // The tables of FTS5 are examined apart, where the kind of damage is known.
        let damage = if message == "ok" || message.contains("FTS5 table") {
            continue;
        } else if message.contains(" index ") {
            Damage::Indexes
        } else {
            Damage::Structure
        };
        found.push(DatabaseFinding::new(damage, message));
    }
    Ok(())
}

/// Compares hashes and the index for scripts without spaces with the texts.
fn texts(db: &Connection, found: &mut Vec<DatabaseFinding>) -> Step<()> {
    let indexed: HashSet<ChunkId> = sql::rows(db, GRAMS, [], |row| row.get(0))?;
    let exact: HashSet<ChunkId> = sql::rows(db, EXACT, [], |row| row.get(0))?;
    let (mut num_other, mut num_missing, mut num_inexact) = (0, 0, 0);
    let mut words = WordCounts::default();
    each_text(db, |chunk_id, context, text, hash| {
        let passage = Chunk::passage(context, text);
        num_other += i64::from(PassageHash::of(&passage).bytes().as_slice() != hash);
        let has_second = grams::entry(context, text, None).is_some();
        num_missing += i64::from(!indexed.contains(&chunk_id) && has_second);
        words.count(context, text);
        let has_exact = derived::exact_entry(context, text, None).is_some();
        num_inexact += i64::from(exact.contains(&chunk_id) != has_exact);
    })?;
    let (num_names, num_stems) = (names::num_wrong(db)?, grams::num_missing_stems(db)?);
    let in_exact = "chunk whose entry in the index of exact terms is missing or left over";
    let counts = [
        (Damage::Passages, num_other, "chunk whose text has changed since it was embedded"),
        (Damage::Grams, num_missing, "chunk missing from the index of letters and other forms"),
        (Damage::Grams, num_inexact, in_exact),
        (Damage::Grams, num_names, "document whose name is not indexed as it is"),
        (Damage::Grams, num_stems, "chunk missing from the index of stems"),
        (
            Damage::Grams,
            words.num_wrong(db)?,
            "word with another number of passages than are stored",
        ),
    ];
    for (damage, count, what) in counts {
        found.extend(DatabaseFinding::counted(damage, count, what));
    }
    Ok(())
}

/// Calls `look` with id, context, text and hash of every chunk.
pub(crate) fn each_text(
    db: &Connection,
    mut look: impl FnMut(ChunkId, &str, &str, &[u8]),
) -> Step<()> {
    let mut statement = db.prepare(CHUNKS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let row = StoredRow::of(row);
        let (context, text): (String, String) = (row.get(1)?, row.get(2)?);
        let hash: Vec<u8> = row.get(3)?;
        look(row.get(0)?, &context, &text, &hash);
    }
    Ok(())
}

/// Reports the objects made by the migrations that are missing.
fn schema(db: &Connection, found: &mut Vec<DatabaseFinding>) -> Step<()> {
    let mut by_damage: BTreeMap<Damage, Vec<&str>> = BTreeMap::new();
    for entry in missing_schema(db)? {
        let damage = if entry.kind == "table" { Damage::Tables } else { Damage::Schema };
        by_damage.entry(damage).or_default().push(entry.name);
    }
    found.extend(by_damage.into_iter().map(|(damage, names)| {
        DatabaseFinding::new(damage, format!("missing in the schema: {}", names.join(", ")))
    }));
    Ok(())
}

/// Returns the objects of the migrations that are missing. Others are refused on opening.
pub(crate) fn missing_schema(db: &Connection) -> Step<Vec<SchemaEntry<'static>>> {
    let mut missing = Vec::new();
    for entry in migrated() {
        let params = named_params! { ":kind": entry.kind, ":name": entry.name };
        if !sql::value::<bool>(db, HAS_OBJECT, params)? {
            missing.push(entry);
        }
    }
    Ok(missing)
}

#[cfg(test)]
mod tests;
