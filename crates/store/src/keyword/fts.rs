//! Finds the chunks in which a word or phrase occurs: the keyword index.
//!
//! The index finds and counts; `search` scores the counts.

use rusqlite::{Connection, named_params};

use super::expr::{expr, quote};
use super::names::NamedChunks;
use super::occurrence::Occurrence;
use super::{forms, grams, names, postings};
use crate::Store;
use crate::db::fault::Step;
use crate::db::sql;
use crate::error::Result;
use crate::ids::DocumentId;
use crate::text::scripts;
use crate::text::stem::stem;

/// A table of one row that is tokenized by the index's own tokenizer; it is in memory.
const MAKE_TOKENIZER: &str = "
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.typed USING fts5 (
        text,
        tokenize = 'porter unicode61'
    );
    CREATE VIRTUAL TABLE IF NOT EXISTS temp.typed_terms USING fts5vocab (typed, instance);";

const TYPE: &str = "INSERT OR REPLACE INTO temp.typed (rowid, text) VALUES (1, :text)";

const TYPED_TERMS: &str = "SELECT term FROM temp.typed_terms ORDER BY offset";

/// One row per occurrence of a term, ordered by chunk id; for databases with an unknown layout.
const OCCURRENCES: &str = "
    SELECT doc AS chunk_id, col = 'context' AS is_context
    FROM chunks_terms
    WHERE term = :wanted";

/// The same for the second index.
const GRAM_OCCURRENCES: &str = "
    SELECT doc AS chunk_id, col = 'context' AS is_context
    FROM chunks_grams_terms
    WHERE term = :wanted";

/// One row per chunk.
const PHRASE_OCCURRENCES: &str = "
    SELECT rowid AS chunk_id, 0 AS is_context
    FROM chunks_fts
    WHERE chunks_fts MATCH :wanted
    ORDER BY rowid";

const GRAM_PHRASE_OCCURRENCES: &str = "
    SELECT rowid AS chunk_id, 0 AS is_context
    FROM chunks_grams
    WHERE chunks_grams MATCH :wanted
    ORDER BY rowid";

const EXACT_OCCURRENCES: &str = "
    SELECT doc AS chunk_id, col = 'context' AS is_context
    FROM chunks_exact_terms
    WHERE term = :wanted";

const REBUILD: &str = "INSERT INTO chunks_fts (chunks_fts) VALUES ('rebuild')";

impl Store {
    /// Returns where a text occurs, ignoring case, accents and endings; several words are a phrase. A word also occurs in its
    /// other forms (`forms`), of which the most frequent counts. Ordered by chunk id, each chunk once; empty for a text
    /// without letters and digits.
    pub fn occurrences(&self, text: &str) -> Result<Vec<Occurrence>> {
        self.read(|db| {
            if text.starts_with(scripts::is_unspaced) && text.chars().all(scripts::is_unspaced) {
                let pairs = scripts::pairs(text);
                return match pairs.len() {
                    0 | 1 => self.gram_occurrences(db, text),
                    _ => read_occurrences(db, GRAM_PHRASE_OCCURRENCES, &quote(&pairs.join(" "))),
                };
            }
            let mut found = self.plain_occurrences(db, text)?;
            for form in forms::plain(text) {
                let others = Occurrence::of_other_form(self.plain_occurrences(db, &form)?);
                found = Occurrence::merged(found, others, u32::max);
            }
            let touching = (!self.layout(db)?.has_letters).then(|| text.to_lowercase());
            for term in forms::terms(text).into_iter().chain(touching) {
                let others = Occurrence::of_other_form(self.gram_occurrences(db, &term)?);
                found = Occurrence::merged(found, others, u32::max);
            }
            self.with_stems(db, found, text)
        })
    }

    /// Returns where a text occurs in the index of words.
    fn plain_occurrences(&self, db: &Connection, text: &str) -> Step<Vec<Occurrence>> {
        match terms(db, text)?.as_slice() {
            [] => Ok(Vec::new()),
            [term] if self.layout(db)?.knows_fts5 => postings::WORDS.occurrences(db, term),
            [term] => read_occurrences(db, OCCURRENCES, term),
            _ => read_occurrences(db, PHRASE_OCCURRENCES, &quote(text)),
        }
    }

    /// Returns where a term of the second index occurs.
    fn gram_occurrences(&self, db: &Connection, term: &str) -> Step<Vec<Occurrence>> {
        if self.layout(db)?.knows_fts5 {
            return postings::GRAMS.occurrences(db, term);
        }
        read_occurrences(db, GRAM_OCCURRENCES, term)
    }

    /// Adds the occurrences in documents whose language has a stemmer. A word that occurs as typed also occurs by its stem,
    /// so the larger number counts.
    fn with_stems(
        &self,
        db: &Connection,
        mut found: Vec<Occurrence>,
        text: &str,
    ) -> Step<Vec<Occurrence>> {
        for language in grams::languages(db, self.layout(db)?)? {
            let terms = grams::stem_terms(language, text);
            let stemmed = match terms.as_slice() {
                [] => Vec::new(),
                [term] => self.gram_occurrences(db, term)?,
                _ => read_occurrences(db, GRAM_PHRASE_OCCURRENCES, &quote(&terms.join(" ")))?,
            };
            found = Occurrence::merged(found, stemmed, u32::max);
        }
        Ok(found)
    }

    /// Returns where an exact term occurs, written as [`crate::text::exact`] does; ordered by chunk
    /// id, each chunk once.
    pub fn exact_occurrences(&self, term: &str) -> Result<Vec<Occurrence>> {
        self.read(|db| read_occurrences(db, EXACT_OCCURRENCES, term))
    }

    /// Returns the chunks of documents that have a word, a phrase, or a prefix that ends in `*` in
    /// the name of their file, an alias or the name of their folder, or in a tag.
    pub fn named_chunks(&self, text: &str) -> Result<NamedChunks> {
        self.read(|db| names::chunks(db, text, self.layout(db)?))
    }

    /// Returns the paths of documents that have all of these words and phrases in the name of their file, an alias or the
    /// name of their folder, ordered by document; of a name that very many have, those of some.
    pub fn named_paths(&self, texts: &[String]) -> Result<Vec<(DocumentId, String)>> {
        self.read(|db| names::paths(db, texts))
    }

    /// Returns where words with this prefix occur, each chunk once, however many of the words it
    /// has; ordered by chunk id.
    pub fn occurrences_of_prefix(&self, prefix: &str) -> Result<Vec<Occurrence>> {
        let expr = expr(&format!("{prefix}*"));
        self.read(|db| read_occurrences(db, PHRASE_OCCURRENCES, &expr))
    }
}

/// Rebuilds the index of words from the chunks.
pub(crate) fn rebuild(db: &Connection) -> Step<()> {
    db.execute(REBUILD, [])?;
    Ok(())
}

/// Counts the rows of each chunk.
fn read_occurrences(db: &Connection, sql: &str, wanted: &str) -> Step<Vec<Occurrence>> {
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(named_params! { ":wanted": wanted })?;
    let mut found: Vec<Occurrence> = Vec::new();
    while let Some(row) = rows.next()? {
        let chunk_id = row.get(0)?;
        let is_context: bool = row.get(1)?;
        if found.last().is_none_or(|occurrence| occurrence.chunk_id != chunk_id) {
            found.push(Occurrence { chunk_id, in_context: 0, in_text: 0, is_other_form: false });
        }
        if let Some(occurrence) = found.last_mut() {
            let count =
                if is_context { &mut occurrence.in_context } else { &mut occurrence.in_text };
            *count += 1;
        }
    }
    Ok(found)
}

/// Returns the terms of a text in the index, in order.
fn terms(db: &Connection, text: &str) -> Step<Vec<String>> {
    // A plain word, as nearly every one of a query, is one term. SQLite would take fifty times as long for it.
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(vec![stem(&text.to_ascii_lowercase())]);
    }
    tokenized(db, text)
}

/// Returns the terms of a text as the index's own tokenizer finds them.
fn tokenized(db: &Connection, text: &str) -> Step<Vec<String>> {
    let type_in = match db.prepare_cached(TYPE) {
        Ok(statement) => Ok(statement),
        // The table is missing for the first text on a connection. Asking for it each time would take as long as the
        // rest.
        Err(_) => db.execute_batch(MAKE_TOKENIZER).and_then(|()| db.prepare_cached(TYPE)),
    };
    type_in?.execute(named_params! { ":text": text })?;
    sql::rows(db, TYPED_TERMS, [], |row| row.get(0))
}

#[cfg(test)]
mod tests;
