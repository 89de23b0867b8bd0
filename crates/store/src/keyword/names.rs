//! Keeps the index of the names of documents: file name, aliases and nearest folder.
//!
//! Triggers mark a document whose path or aliases change, and the transaction that changed it makes
//! the words before it ends.

use rusqlite::{Connection, named_params};

use super::expr::{expr, quote};
use crate::db::fault::Step;
use crate::db::sql;
use crate::ids::{ChunkId, DocumentId};
use crate::text::names;

/// The document, its path, its aliases as a JSON array, and the words that are stored.
const NAMED: &str = "
    SELECT document_id, source_path, documents.metadata ->> '$.aliases', words
    FROM document_names
    JOIN documents ON documents.id = document_id";

const SET_WORDS: &str = "UPDATE document_names SET words = :words WHERE document_id = :id";

const REBUILD: &str = "
    INSERT OR IGNORE INTO document_names (document_id) SELECT id FROM documents;
    DELETE FROM document_names WHERE document_id NOT IN (SELECT id FROM documents);
    UPDATE document_names SET words = NULL;";

const REBUILD_INDEX: &str =
    "INSERT INTO document_names_fts (document_names_fts) VALUES ('rebuild')";

const COUNT_UNNAMED: &str =
    "SELECT count(*) FROM documents WHERE id NOT IN (SELECT document_id FROM document_names)";

/// The chunks of documents with these words in their names. A name that most of many documents
/// have, such as that of their folder, distinguishes none of them.
const CHUNKS: &str = "
    WITH named AS MATERIALIZED (
        SELECT rowid AS id FROM document_names_fts WHERE document_names_fts MATCH :wanted
    )
    SELECT chunks.id
    FROM named
    JOIN chunks ON chunks.document_id = named.id
    WHERE (SELECT count(*) FROM named) <= 1000
        OR (SELECT count(*) FROM named) * 4 <= (SELECT count(*) FROM documents)
    ORDER BY chunks.id";

/// The paths of documents with these words in their names. Names that more documents have say nothing.
const PATHS: &str = "
    WITH named AS MATERIALIZED (
        SELECT rowid AS id FROM document_names_fts WHERE document_names_fts MATCH :wanted LIMIT 10000
    )
    SELECT documents.id, documents.source_path
    FROM named
    JOIN documents ON documents.id = named.id
    WHERE documents.source_path IS NOT NULL
    UNION
    SELECT document_paths.document_id, document_paths.path
    FROM named
    JOIN document_paths ON document_paths.document_id = named.id";

/// Makes the words of all documents that are marked.
pub(crate) fn settle(db: &Connection) -> Step<()> {
    let mut changed = Vec::new();
    each(db, " WHERE words IS NULL", |id, words, _| changed.push((id, words)))?;
    changed.iter().try_for_each(|(id, words)| {
        sql::run(db, SET_WORDS, named_params! { ":id": id, ":words": words })
    })
}

/// Returns the chunks of documents that have a word, phrase or prefix in their names.
pub(crate) fn chunks(db: &Connection, text: &str) -> Step<Vec<ChunkId>> {
    sql::rows(db, CHUNKS, named_params! { ":wanted": expr(text) }, |row| row.get(0))
}

/// Returns the paths of documents that have all of some words and phrases in their names, ordered by document.
pub(crate) fn paths(db: &Connection, texts: &[String]) -> Step<Vec<(DocumentId, String)>> {
    let all: Vec<String> = texts.iter().map(|text| quote(text)).collect();
    let wanted = named_params! { ":wanted": all.join(" AND ") };
    sql::rows(db, PATHS, wanted, |row| row.try_into())
}

/// Counts documents whose words are missing or wrong.
pub(crate) fn num_wrong(db: &Connection) -> Step<i64> {
    let mut num_wrong: i64 = sql::value(db, COUNT_UNNAMED, [])?;
    each(db, "", |_, words, stored| num_wrong += i64::from(stored != Some(words)))?;
    Ok(num_wrong)
}

/// Makes the words of all documents again.
pub(crate) fn rebuild(db: &Connection) -> Step<()> {
    // First, because triggers remove stored words from the index.
    db.execute_batch(REBUILD_INDEX)?;
    db.execute_batch(REBUILD)?;
    settle(db)
}

/// Calls `look` with a document, the words of its name and the stored ones.
fn each(
    db: &Connection,
    filter: &str,
    mut look: impl FnMut(DocumentId, String, Option<String>),
) -> Step<()> {
    let mut statement = db.prepare_cached(&format!("{NAMED}{filter}"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let path: Option<String> = row.get(1)?;
        let aliases: Option<String> = row.get(2)?;
        let aliases: Vec<String> =
            aliases.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
        let words = names::words(path.as_deref(), aliases.iter().map(String::as_str));
        look(row.get(0)?, words, row.get(3)?);
    }
    Ok(())
}
