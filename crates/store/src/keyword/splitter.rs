//! Splits texts into the terms of the keyword indexes, with the same tokenizers, in memory.
//!
//! A copy of the index elsewhere needs the terms and positions of passages, and a search there the
//! terms of the query. FTS5 itself makes both, so that they are those of a database.

use rusqlite::{Connection, named_params};

use super::{derived, grams};
use crate::MirroredChunk;
use crate::db::fault::Step;
use crate::db::sql;
use crate::error::{Error, Result};
use crate::ids::ChunkId;

/// An index of terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TermIndex {
    /// Words without accents and endings.
    Words,
    /// Pairs and single letters of scripts without spaces, and words that touch them.
    Pairs,
    /// Terms that punctuation holds together.
    Exact,
    /// Words of the names of documents.
    Names,
}

/// A place in a chunk where a term occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermPlace {
    /// The chunk.
    pub chunk_id: ChunkId,
    /// Whether it is in the context rather than in the text.
    pub is_context: bool,
    /// Number of terms before it, there.
    pub position: u32,
}

/// The tokenizers are those of `chunks_fts`, `chunks_grams`, `chunks_exact` and
/// `document_names_fts`.
const MAKE: &str = "
    CREATE VIRTUAL TABLE words USING fts5 (
        context,
        text,
        content = '',
        tokenize = 'porter unicode61'
    );
    CREATE VIRTUAL TABLE words_terms USING fts5vocab (words, instance);
    CREATE VIRTUAL TABLE pairs USING fts5 (
        context,
        text,
        content = '',
        tokenize = \"unicode61 remove_diacritics 0 categories 'L* N* Co M*'\"
    );
    CREATE VIRTUAL TABLE pairs_terms USING fts5vocab (pairs, instance);
    CREATE VIRTUAL TABLE exact USING fts5 (
        context,
        text,
        content = '',
        tokenize = \"unicode61 remove_diacritics 0 categories 'L* N* Co M*'\"
    );
    CREATE VIRTUAL TABLE exact_terms USING fts5vocab (exact, instance);
    CREATE VIRTUAL TABLE names USING fts5 (
        context,
        content = '',
        tokenize = 'porter unicode61'
    );
    CREATE VIRTUAL TABLE names_terms USING fts5vocab (names, instance);";

const INSERT_WORDS: &str =
    "INSERT INTO words (rowid, context, text) VALUES (:chunk_id, :context, :text)";

const INSERT_PAIRS: &str =
    "INSERT INTO pairs (rowid, context, text) VALUES (:chunk_id, :context, :text)";

const INSERT_EXACT: &str =
    "INSERT INTO exact (rowid, context, text) VALUES (:chunk_id, :context, :text)";

const INSERT_NAMES: &str = "INSERT INTO names (rowid, context) VALUES (:chunk_id, :names)";

const EXACT: &str = "SELECT term, doc, col = 'context', offset FROM exact_terms";

const NAMES: &str = "SELECT term, doc, col = 'context', offset FROM names_terms";

const WORDS: &str = "SELECT term, doc, col = 'context', offset FROM words_terms";

const PAIRS: &str = "SELECT term, doc, col = 'context', offset FROM pairs_terms";

const TERMS_OF_WORDS: &str = "SELECT term FROM words_terms ORDER BY offset";

const TERMS_OF_PAIRS: &str = "SELECT term FROM pairs_terms ORDER BY offset";

const EMPTY: &str = "
    INSERT INTO words (words) VALUES ('delete-all');
    INSERT INTO pairs (pairs) VALUES ('delete-all');
    INSERT INTO exact (exact) VALUES ('delete-all');
    INSERT INTO names (names) VALUES ('delete-all');";

/// Splits texts into terms.
#[derive(Debug)]
pub struct Splitter {
    connection: Connection,
}

impl Splitter {
    /// Makes the tokenizers.
    pub fn new() -> Result<Self> {
        let make = || -> rusqlite::Result<Self> {
            let connection = Connection::open_in_memory()?;
            connection.execute_batch(MAKE)?;
            Ok(Self { connection })
        };
        make().map_err(|error| Error::Store(error.into()))
    }

    /// Returns the terms of a text, in order.
    pub fn terms(&self, index: TermIndex, text: &str) -> Result<Vec<String>> {
        let (insert, query) = match index {
            TermIndex::Words | TermIndex::Names => (INSERT_WORDS, TERMS_OF_WORDS),
            TermIndex::Pairs | TermIndex::Exact => (INSERT_PAIRS, TERMS_OF_PAIRS),
        };
        self.emptied(|db| {
            derived::put(db, insert, ChunkId(1), ("", text))?;
            sql::rows(db, query, [], |row| row.get(0))
        })
    }

    /// Passes every place of every term of some chunks to `on_place`, ordered by
    /// index, term, chunk, and position in the context and then in the text.
    pub fn places<'a>(
        &self,
        chunks: impl IntoIterator<Item = &'a MirroredChunk>,
        mut on_place: impl FnMut(TermIndex, &str, TermPlace),
    ) -> Result<()> {
        self.emptied(|db| {
            for chunk in chunks {
                let MirroredChunk { id, context, text, names, .. } = chunk;
                let language = chunk.natural_language;
                sql::run(db, INSERT_NAMES, named_params! { ":chunk_id": id, ":names": names })?;
                derived::put(db, INSERT_WORDS, *id, (context, text))?;
                if let Some((context, text)) = derived::exact_entry(context, text, language) {
                    derived::put(db, INSERT_EXACT, *id, (&context, &text))?;
                }
                if let Some((context, text)) = grams::entry(context, text, language) {
                    derived::put(db, INSERT_PAIRS, *id, (&context, &text))?;
                }
            }
            for (index, query) in [
                (TermIndex::Words, WORDS),
                (TermIndex::Pairs, PAIRS),
                (TermIndex::Exact, EXACT),
                (TermIndex::Names, NAMES),
            ] {
                let mut statement = db.prepare_cached(query)?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    let place = TermPlace {
                        chunk_id: row.get(1)?,
                        is_context: row.get(2)?,
                        position: row.get(3)?,
                    };
                    let term = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
                    on_place(index, term, place);
                }
            }
            Ok(())
        })
    }

    /// Runs `work` on empty tables.
    fn emptied<T>(&self, work: impl FnOnce(&Connection) -> Step<T>) -> Result<T> {
        let run = || {
            let transaction = self.connection.unchecked_transaction()?;
            transaction.execute_batch(EMPTY)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run().map_err(|fault: crate::db::fault::Fault| fault.at("memory".as_ref()))
    }
}
