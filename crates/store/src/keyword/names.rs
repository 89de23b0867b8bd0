//! Keeps the index of the names of documents: file name, aliases and nearest folder, and apart from these the tags.
//!
//! Triggers mark a document whose path, aliases or tags change, and the transaction that changed it makes
//! the words before it ends.

use rusqlite::{Connection, named_params};

use super::expr::{expr, quote};
use crate::db::fault::Step;
use crate::db::layout::DirectReadSupport;
use crate::db::row::StoredRow;
use crate::db::sql;
use crate::ids::{ChunkId, DocumentId};
use crate::text::names;

/// The document, its path, its aliases and its tags as JSON arrays, and the words that are stored.
const NAMED: &str = "
    SELECT
        document_id,
        source_path,
        documents.metadata ->> '$.aliases',
        (
            SELECT json_group_array(tags.name ORDER BY tags.name)
            FROM document_tags
            JOIN tags ON tags.id = document_tags.tag_id
            WHERE document_tags.document_id = documents.id
        ),
        words,
        document_names.tags
    FROM document_names
    JOIN documents ON documents.id = document_id";

const SET_WORDS: &str =
    "UPDATE document_names SET words = :words, tags = :tags WHERE document_id = :id";

const REBUILD: &str = "
    INSERT OR IGNORE INTO document_names (document_id) SELECT id FROM documents;
    DELETE FROM document_names WHERE document_id NOT IN (SELECT id FROM documents);
    UPDATE document_names SET words = NULL, tags = NULL;";

const REBUILD_INDEX: &str =
    "INSERT INTO document_names_fts (document_names_fts) VALUES ('rebuild')";

const COUNT_UNNAMED: &str =
    "SELECT count(*) FROM documents WHERE id NOT IN (SELECT document_id FROM document_names)";

/// Most words of queries are in no name and no tag.
const IS_NAMED: &str =
    "SELECT 1 FROM document_names_fts WHERE document_names_fts MATCH :wanted LIMIT 1";

/// The chunks of documents with these words in their names or tags. Words that more than 1,000 documents and a quarter
/// of all have, such as the name of their folder, distinguish none of them.
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

/// In most databases no document has a tag.
const HAS_TAGS: &str = "SELECT EXISTS (SELECT 1 FROM document_tags)";

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

/// Chunks of documents that are named by a text, each ordered by id.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedChunks {
    /// By the name of their file, an alias or the name of their folder.
    pub by_name: Vec<ChunkId>,
    /// By a tag.
    pub by_tag: Vec<ChunkId>,
}

impl NamedChunks {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty() && self.by_tag.is_empty()
    }
}

/// The words of the name of a document, and of its tags.
#[derive(Debug, PartialEq, Eq)]
struct NameWords {
    words: Option<String>,
    tags: Option<String>,
}

/// Makes the words of all documents that are marked.
pub(crate) fn settle(db: &Connection) -> Step<()> {
    let mut changed = Vec::new();
    each(db, " WHERE words IS NULL", |id, made, _| changed.push((id, made)))?;
    changed.iter().try_for_each(|(id, NameWords { words, tags })| {
        sql::run(db, SET_WORDS, named_params! { ":id": id, ":words": words, ":tags": tags })
    })
}

/// Returns the chunks of documents that have a word, phrase or prefix in their names or tags.
pub(crate) fn chunks(db: &Connection, text: &str, layout: DirectReadSupport) -> Step<NamedChunks> {
    let wanted = expr(text);
    let is_named: Option<bool> =
        sql::first_row(db, IS_NAMED, named_params! { ":wanted": wanted }, |row| row.get(0))?;
    if is_named.is_none() {
        return Ok(NamedChunks::default());
    }
    let has_tags = layout.has_letters && sql::value(db, HAS_TAGS, [])?;
    let by_tag = if has_tags { chunks_within(db, "tags", &wanted)? } else { Vec::new() };
    Ok(NamedChunks { by_name: chunks_within(db, "words", &wanted)?, by_tag })
}

/// Returns the chunks of documents that have what is wanted in a column.
fn chunks_within(db: &Connection, column: &str, wanted: &str) -> Step<Vec<ChunkId>> {
    let wanted = format!("{column} : {wanted}");
    sql::rows(db, CHUNKS, named_params! { ":wanted": wanted }, |row| row.get(0))
}

/// Returns the paths of documents that have all of some words and phrases in their names, ordered by document.
pub(crate) fn paths(db: &Connection, texts: &[String]) -> Step<Vec<(DocumentId, String)>> {
    let all: Vec<String> = texts.iter().map(|text| quote(text)).collect();
    let wanted = format!("words : ({})", all.join(" AND "));
    let wanted = named_params! { ":wanted": wanted };
    sql::rows(db, PATHS, wanted, |row| row.columns())
}

/// Counts documents whose words are missing or wrong.
pub(crate) fn num_wrong(db: &Connection) -> Step<i64> {
    let mut num_wrong: i64 = sql::value(db, COUNT_UNNAMED, [])?;
    each(db, "", |_, made, stored| num_wrong += i64::from(stored != made))?;
    Ok(num_wrong)
}

/// Makes the words of all documents again.
pub(crate) fn rebuild(db: &Connection) -> Step<()> {
    // The index comes first, because triggers remove the words of changed rows from it.
    db.execute_batch(REBUILD_INDEX)?;
    db.execute_batch(REBUILD)?;
    settle(db)
}

/// Calls `look` with a document, the words of its name and tags and the stored ones.
fn each(
    db: &Connection,
    filter: &str,
    mut look: impl FnMut(DocumentId, NameWords, NameWords),
) -> Step<()> {
    let mut statement = db.prepare_cached(&format!("{NAMED}{filter}"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let row = StoredRow::of(row);
        let path: Option<String> = row.get(1)?;
        let (aliases, tags) = (list(&row, 2)?, list(&row, 3)?);
        let made = NameWords {
            words: Some(names::words(path.as_deref(), aliases.iter().map(String::as_str))),
            tags: Some(names::words(None, tags.iter().map(String::as_str)))
                .filter(|words| !words.is_empty()),
        };
        look(row.get(0)?, made, NameWords { words: row.get(4)?, tags: row.get(5)? });
    }
    Ok(())
}

/// Reads a list of texts; empty if there is none.
fn list(row: &StoredRow<'_>, column: usize) -> rusqlite::Result<Vec<String>> {
    let json: Option<String> = row.get(column)?;
    Ok(json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestDb;

    fn named(db: &TestDb, text: &str) -> (Vec<i64>, Vec<i64>) {
        let found = db.store.named_chunks(text).unwrap();
        let numbers = |ids: &[ChunkId]| ids.iter().map(|id| id.0).collect();
        (numbers(&found.by_name), numbers(&found.by_tag))
    }

    #[test]
    fn tags_are_found_apart_from_names_and_follow_every_change() {
        let mut db = TestDb::new();
        let one = db.add("/gardening.md", &["a"], &["to-do"]);
        let two = db.add("/b.md", &["b"], &["Gardening", "projectAlpha"]);
        assert_eq!(named(&db, "gardening"), (vec![1], vec![2]));
        assert_eq!(named(&db, "alpha"), (vec![], vec![2]));
        assert_eq!(named(&db, "to do"), (vec![], vec![1]));
        db.store.add_tags(one, &["gardening".into()]).unwrap();
        assert_eq!(named(&db, "gardening"), (vec![1], vec![1, 2]));
        db.store.change_tags(&[two], &[], &["Gardening".into()]).unwrap();
        assert_eq!(named(&db, "gardening"), (vec![1], vec![1]));
        db.store.rename_tag("gardening", "yard").unwrap();
        assert_eq!(named(&db, "gardening"), (vec![1], vec![]));
        assert_eq!(named(&db, "yard"), (vec![], vec![1]));
        db.assert_intact();
        db.store.remove(one).unwrap();
        assert_eq!(named(&db, "yard"), (vec![], vec![]));
        db.assert_intact();
    }
}
