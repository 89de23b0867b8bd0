//! Splits texts into the terms of the keyword indexes, with the same tokenizers, in memory.
//!
//! A copy of the index elsewhere needs the terms and positions of passages, and a search there the
//! terms of the query. FTS5 itself makes both, so that they are those of a database.

use rusqlite::Connection;

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
    /// Words of the tags of documents.
    Tags,
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

/// The tokenizers are those of `chunks_fts` and `document_names_fts`, and of `chunks_grams` and
/// `chunks_exact`.
const MAKE: &str = "
    CREATE VIRTUAL TABLE stemmed USING fts5 (
        context,
        text,
        content = '',
        tokenize = 'porter unicode61'
    );
    CREATE VIRTUAL TABLE stemmed_terms USING fts5vocab (stemmed, instance);
    CREATE VIRTUAL TABLE plain USING fts5 (
        context,
        text,
        content = '',
        tokenize = \"unicode61 remove_diacritics 0 categories 'L* N* Co M*'\"
    );
    CREATE VIRTUAL TABLE plain_terms USING fts5vocab (plain, instance);";

const INSERT_STEMMED: &str =
    "INSERT INTO stemmed (rowid, context, text) VALUES (:chunk_id, :context, :text)";

const INSERT_PLAIN: &str =
    "INSERT INTO plain (rowid, context, text) VALUES (:chunk_id, :context, :text)";

const STEMMED_PLACES: &str = "SELECT term, doc, col = 'context', offset FROM stemmed_terms";

const PLAIN_PLACES: &str = "SELECT term, doc, col = 'context', offset FROM plain_terms";

const STEMMED_TERMS: &str = "SELECT term FROM stemmed_terms ORDER BY offset";

const PLAIN_TERMS: &str = "SELECT term FROM plain_terms ORDER BY offset";

const EMPTY: &str = "
    INSERT INTO stemmed (stemmed) VALUES ('delete-all');
    INSERT INTO plain (plain) VALUES ('delete-all');";

/// Splits texts into terms.
#[derive(Debug)]
pub struct Splitter {
    connection: Connection,
}

impl Splitter {
    /// Makes the tokenizers.
    pub fn new() -> Result<Self> {
        Self::make().map_err(|error| Error::Store(error.into()))
    }

    fn make() -> rusqlite::Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(MAKE)?;
        Ok(Self { connection })
    }

    /// Returns the terms of a text, in order.
    pub fn terms(&self, index: TermIndex, text: &str) -> Result<Vec<String>> {
        let (insert, query) = match index {
            TermIndex::Words | TermIndex::Names | TermIndex::Tags => {
                (INSERT_STEMMED, STEMMED_TERMS)
            }
            TermIndex::Pairs | TermIndex::Exact => (INSERT_PLAIN, PLAIN_TERMS),
        };
        self.emptied(|db| {
            derived::put(db, insert, ChunkId(1), "", text)?;
            sql::rows(db, query, [], |row| row.get(0))
        })
    }

    /// Passes every place of every term of some chunks to `on_place`, ordered by
    /// index, term, chunk, and position in the context and then in the text.
    pub fn places(
        &self,
        chunks: &[MirroredChunk],
        mut on_place: impl FnMut(TermIndex, &str, TermPlace),
    ) -> Result<()> {
        for (index, insert, query) in [
            (TermIndex::Words, INSERT_STEMMED, STEMMED_PLACES),
            (TermIndex::Pairs, INSERT_PLAIN, PLAIN_PLACES),
            (TermIndex::Exact, INSERT_PLAIN, PLAIN_PLACES),
            (TermIndex::Names, INSERT_STEMMED, STEMMED_PLACES),
            (TermIndex::Tags, INSERT_STEMMED, STEMMED_PLACES),
        ] {
            self.emptied(|db| {
                for chunk in chunks {
                    if let Some((context, text)) = entry(index, chunk) {
                        derived::put(db, insert, chunk.id, &context, &text)?;
                    }
                }
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
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Runs `work` on empty tables.
    fn emptied<T>(&self, work: impl FnOnce(&Connection) -> Step<T>) -> Result<T> {
        self.run_emptied(work).map_err(|fault| fault.at("memory".as_ref()))
    }

    fn run_emptied<T>(&self, work: impl FnOnce(&Connection) -> Step<T>) -> Step<T> {
        let transaction = self.connection.unchecked_transaction()?;
        transaction.execute_batch(EMPTY)?;
        let value = work(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }
}

/// Returns context and text of a chunk's entry in an index; `None` if it has none.
fn entry(index: TermIndex, chunk: &MirroredChunk) -> Option<(String, String)> {
    let MirroredChunk { context, text, names, tags, natural_language, .. } = chunk;
    match index {
        TermIndex::Words => Some((context.clone(), text.clone())),
        TermIndex::Pairs => grams::entry(context, text, *natural_language),
        TermIndex::Exact => derived::exact_entry(context, text, *natural_language),
        TermIndex::Names => Some((names.clone(), String::new())),
        TermIndex::Tags => (!tags.is_empty()).then(|| (tags.clone(), String::new())),
    }
}
