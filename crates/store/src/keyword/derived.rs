//! Keeps the indexes whose terms kb makes from the text itself: pairs of characters and stems
//! (`chunks_grams`), and exact terms (`chunks_exact`), and the words as they are written. FTS5 stores the terms and not the text they
//! are made from, so an entry is removed by making them again.

use rusqlite::{Connection, Rows, named_params};

use super::grams;
use super::words::{self, WordCounts};
use crate::db::row::StoredRow;
use crate::db::{fault::Step, sql};
use crate::ids::{ChunkId, DocumentId};
use crate::text::exact;
use crate::text::forms::seen;
use crate::text::language::NaturalLanguage;

/// An index and how its entries are made.
struct DerivedIndex {
    insert: &'static str,
    remove: &'static str,
    indexed_chunks: &'static str,
    forget: &'static str,
    entry: MakeEntry,
}

/// Makes context and text of an entry from those of a chunk; `None` if it has none.
type MakeEntry = fn(&str, &str, Option<NaturalLanguage>) -> Option<(String, String)>;

macro_rules! derived {
    ($table:literal, $entry:expr) => {
        DerivedIndex {
            insert: concat!(
                "INSERT INTO ",
                $table,
                " (rowid, context, text) VALUES (:chunk_id, :context, :text)"
            ),
            remove: concat!(
                "INSERT INTO ",
                $table,
                " (",
                $table,
                ", rowid, context, text)
                VALUES ('delete', :chunk_id, :context, :text)"
            ),
            indexed_chunks: concat!(
                "SELECT chunks.id, chunks.context, chunks.text,
                    documents.metadata ->> '$.natural_language'
                FROM chunks
                JOIN documents ON documents.id = chunks.document_id
                JOIN ",
                $table,
                "_docsize AS indexed ON indexed.id = chunks.id
                WHERE chunks.document_id = :document_id"
            ),
            forget: concat!("INSERT INTO ", $table, " (", $table, ") VALUES ('delete-all')"),
            entry: $entry,
        }
    };
}

const INDEXES: [DerivedIndex; 2] =
    [derived!("chunks_grams", grams::entry), derived!("chunks_exact", exact_entry)];

const CHUNKS_OF_DOCUMENT: &str =
    "SELECT context, text FROM chunks WHERE document_id = :document_id";

const CHUNKS_AFTER: &str = "
    SELECT chunks.id, chunks.context, chunks.text, documents.metadata ->> '$.natural_language'
    FROM chunks
    JOIN documents ON documents.id = chunks.document_id
    WHERE chunks.id > :after
    ORDER BY chunks.id
    LIMIT :most";

/// Returns the exact terms of a chunk; its language does not matter.
pub(crate) fn exact_entry(
    context: &str,
    text: &str,
    _: Option<NaturalLanguage>,
) -> Option<(String, String)> {
    let [context, text] = [context, text].map(|text| exact::terms(&seen(text)).join(" "));
    (!context.is_empty() || !text.is_empty()).then_some((context, text))
}

/// Adds a new chunk's context and text; `language` is that of its document. The words of all chunks of a document are added
/// together: [`WordCounts`].
pub(crate) fn insert(
    db: &Connection,
    chunk_id: ChunkId,
    context: &str,
    text: &str,
    language: Option<NaturalLanguage>,
) -> Step<()> {
    for index in INDEXES {
        if let Some((context, text)) = (index.entry)(context, text, language) {
            put(db, index.insert, chunk_id, &context, &text)?;
        }
    }
    Ok(())
}

/// Runs a statement with the context and the text of an entry.
pub(super) fn put(
    db: &Connection,
    sql: &str,
    chunk_id: ChunkId,
    context: &str,
    text: &str,
) -> Step<()> {
    let params = named_params! { ":chunk_id": chunk_id, ":context": context, ":text": text };
    sql::run(db, sql, params)
}

/// Removes the chunks of a document from the indexes; must run before the chunks are deleted.
pub(crate) fn remove(db: &Connection, document_id: DocumentId) -> Step<()> {
    let params = named_params! { ":document_id": document_id };
    counted(&mut db.prepare_cached(CHUNKS_OF_DOCUMENT)?.query(params)?)?.subtract(db)?;
    for index in INDEXES {
        let mut chunks = db.prepare_cached(index.indexed_chunks)?;
        let mut chunks = chunks.query(named_params! { ":document_id": document_id })?;
        while let Some(chunk) = chunks.next()? {
            let (chunk_id, context, text): (ChunkId, String, String) =
                (chunk.get(0)?, chunk.get(1)?, chunk.get(2)?);
            let entry = (index.entry)(&context, &text, grams::of_code(chunk.get(3)?));
            let (context, text) = entry.unwrap_or_default();
            put(db, index.remove, chunk_id, &context, &text)?;
        }
    }
    Ok(())
}

pub(crate) fn rebuild(db: &Connection) -> Step<()> {
    forget(db)?;
    make_after(db, ChunkId(0), u32::MAX).map(|_| ())
}

/// Empties the indexes.
pub(crate) fn forget(db: &Connection) -> Step<()> {
    for index in INDEXES {
        sql::run(db, index.forget, [])?;
    }
    words::forget(db)
}

/// Adds the entries of the next chunks after one, at most so many. Returns the last of them; `None` if there were none.
pub(crate) fn make_after(db: &Connection, after: ChunkId, most: u32) -> Step<Option<ChunkId>> {
    let mut statement = db.prepare(CHUNKS_AFTER)?;
    let mut rows = statement.query(named_params! { ":after": after, ":most": most })?;
    let (mut words, mut last) = (WordCounts::default(), None);
    while let Some(row) = rows.next()? {
        let row = StoredRow::of(row);
        let chunk_id: ChunkId = row.get(0)?;
        let (context, text): (String, String) = (row.get(1)?, row.get(2)?);
        let language = grams::of_code(row.get(3)?);
        insert(db, chunk_id, &context, &text, language)?;
        words.count(&context, &text);
        last = Some(chunk_id);
    }
    words.add(db)?;
    Ok(last)
}

/// Counts the words of contexts and texts.
fn counted(rows: &mut Rows<'_>) -> Step<WordCounts> {
    let mut words = WordCounts::default();
    while let Some(row) = rows.next()? {
        let row = StoredRow::of(row);
        words.count(&row.lossy(0)?, &row.lossy(1)?);
    }
    Ok(words)
}
