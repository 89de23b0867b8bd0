//! Indexes what FTS5's tokenizer cannot divide or stem: the second keyword index.
//!
//! FTS5's tokenizer treats a run of letters in a script without spaces as one word, so a question
//! never matches its answer. The second index therefore has the pairs and single letters of these
//! runs: on Chinese questions and paragraphs (XQuAD) that raised nDCG@10 of keyword search from
//! 0.13 to 0.98. Korean, which uses spaces, also gains, because its words change their endings.
//!
//! FTS5 stems English only. Of a document in another language with a stemmer, the second index has
//! the stem of each word, marked with the language.

use std::iter;

use rusqlite::{Connection, OptionalExtension, named_params};

use crate::ids::{ChunkId, DocumentId};

use super::expr;
use crate::db::columns;
use crate::db::fault::Step;
use crate::text::language::NaturalLanguage;
use crate::text::scripts::{grams, is_unspaced, pairs, parts};

/// Surrounds the language of a stem in the index. A private letter is in no word, because words are
/// divided at it, but FTS5 counts it as a letter.
const MARK: char = '\u{e000}';

/// The first letter after [`MARK`].
const AFTER_MARK: char = '\u{e001}';

const INSERT_GRAMS: &str =
    "INSERT INTO chunks_grams (rowid, context, text) VALUES (:chunk_id, :context, :text)";

/// A contentless index removes an entry by its text, which is computed again from the chunk's text.
const REMOVE_GRAMS: &str = "
    INSERT INTO chunks_grams (chunks_grams, rowid, context, text)
    VALUES ('delete', :chunk_id, :context, :text)";

const INDEXED_CHUNKS: &str = "
    SELECT
        chunks.id,
        chunks.context,
        chunks.text,
        documents.metadata ->> '$.natural_language'
    FROM chunks
    JOIN documents ON documents.id = chunks.document_id
    JOIN chunks_grams_docsize ON chunks_grams_docsize.id = chunks.id
    WHERE chunks.document_id = :document_id";

const HAS_ENTRIES: &str = "SELECT EXISTS (SELECT 1 FROM chunks_grams_docsize)";

const CHUNKS: &str = "
    SELECT
        chunks.id,
        chunks.context,
        chunks.text,
        documents.metadata ->> '$.natural_language'
    FROM chunks
    JOIN documents ON documents.id = chunks.document_id
    ORDER BY chunks.id";

const LANGUAGE: &str =
    "SELECT metadata ->> '$.natural_language' FROM documents WHERE id = :document_id";

const NEXT_TERM: &str = "
    SELECT term
    FROM chunks_grams_terms
    WHERE term >= :from AND term < :beyond
    ORDER BY term
    LIMIT 1";

/// Chunks of documents in these languages that have no entry.
const COUNT_MISSING_STEMS: &str = "
    SELECT count(*)
    FROM documents
    JOIN chunks ON chunks.document_id = documents.id
    WHERE documents.metadata ->> '$.natural_language' IN (SELECT value FROM json_each(:codes))
        AND chunks.id NOT IN (SELECT id FROM chunks_grams_docsize)";

const FORGET: &str = "INSERT INTO chunks_grams (chunks_grams) VALUES ('delete-all')";

/// Returns a text as stored in the second index: the grams of each run, and each word that touches
/// one, separately; then the stems. Empty if the text has no such letter and its language no
/// stemmer.
pub(crate) fn indexed(text: &str, language: Option<NaturalLanguage>) -> String {
    let mut found = Vec::new();
    // Such letters are far beyond Latin, and most texts have none.
    if text.chars().any(is_unspaced) {
        for word in text.split(|c: char| !c.is_alphanumeric() && !is_unspaced(c)) {
            if word.chars().any(is_unspaced) {
                for part in parts(word) {
                    if part.starts_with(is_unspaced) {
                        found.extend(grams(part));
                    } else {
                        found.push(part);
                    }
                }
            }
        }
    }
    let stems = language.map(|language| stem_terms(language, text)).unwrap_or_default();
    found.extend(stems.iter().map(String::as_str));
    found.join(" ")
}

/// Returns the terms of the stems of a text, in order.
pub(crate) fn stem_terms(language: NaturalLanguage, text: &str) -> Vec<String> {
    let code = language.code();
    language.stems(text).into_iter().map(|stem| format!("{MARK}{code}{MARK}{stem}")).collect()
}

/// Returns the languages of the stems in the index.
pub(crate) fn languages(db: &Connection) -> Step<Vec<NaturalLanguage>> {
    let mut statement = db.prepare_cached(NEXT_TERM)?;
    let (mut from, beyond) = (MARK.to_string(), AFTER_MARK.to_string());
    let mut found = Vec::new();
    loop {
        let params = named_params! { ":from": from, ":beyond": beyond };
        let term: Option<String> = statement.query_row(params, |row| row.get(0)).optional()?;
        let Some(code) = term.as_ref().and_then(|term| term.split(MARK).nth(1)) else {
            return Ok(found);
        };
        found.extend(NaturalLanguage::from_code(code));
        from = format!("{MARK}{code}{AFTER_MARK}");
    }
}

/// Returns the language of a document, if it is known.
pub(crate) fn language(db: &Connection, document_id: DocumentId) -> Step<Option<NaturalLanguage>> {
    let params = named_params! { ":document_id": document_id };
    let code: Option<String> = db.prepare_cached(LANGUAGE)?.query_row(params, |row| row.get(0))?;
    Ok(of_code(code))
}

fn of_code(code: Option<String>) -> Option<NaturalLanguage> {
    NaturalLanguage::from_code(&code?)
}

/// Counts chunks whose stems are missing from the index.
pub(crate) fn num_missing_stems(db: &Connection) -> Step<i64> {
    let codes: Vec<&str> = NaturalLanguage::stemmed().map(NaturalLanguage::code).collect();
    let params = named_params! { ":codes": columns::to_json(&codes)? };
    Ok(db.query_row(COUNT_MISSING_STEMS, params, |row| row.get(0))?)
}

/// Whether a chunk with this context and text is in the second index, whatever its language.
pub(crate) fn has_some(context: &str, text: &str) -> bool {
    context.chars().chain(text.chars()).any(is_unspaced)
}

/// Returns the expression for a text in the second index.
pub(crate) fn expr(text: &str) -> String {
    if !text.chars().any(is_unspaced) {
        return any_stem(text);
    }
    let words = text.split(|c: char| !c.is_alphanumeric() && !is_unspaced(c));
    let parts = words.flat_map(parts).map(|part| match pairs(part) {
        pairs if part.starts_with(is_unspaced) && !pairs.is_empty() => {
            expr::quote(&pairs.join(" "))
        }
        _ => expr::quote(part),
    });
    format!("({})", parts.collect::<Vec<_>>().join(" AND "))
}

/// Returns the expression for a text without such letters: itself, which touches them, or its
/// stems in any language. A prefix has no stem.
fn any_stem(text: &str) -> String {
    let plain = expr::expr(text);
    if text.ends_with('*') {
        return plain;
    }
    let stems = NaturalLanguage::stemmed().map(|language| stem_terms(language, text));
    let stems = stems.filter(|terms| !terms.is_empty()).map(|terms| expr::quote(&terms.join(" ")));
    iter::once(plain).chain(stems).collect::<Vec<_>>().join(" OR ")
}

/// Adds a new chunk's context and text; `language` is that of its document.
pub(crate) fn insert(
    db: &Connection,
    chunk_id: ChunkId,
    context: &str,
    text: &str,
    language: Option<NaturalLanguage>,
) -> Step<()> {
    if has_some(context, text) || language.is_some_and(NaturalLanguage::has_stemmer) {
        let (context, text) = (indexed(context, language), indexed(text, language));
        db.prepare_cached(INSERT_GRAMS)?
            .execute(named_params! { ":chunk_id": chunk_id, ":context": context, ":text": text })?;
    }
    Ok(())
}

/// Removes the chunks of a document from the index; must run before the chunks are deleted.
pub(crate) fn remove(db: &Connection, document_id: DocumentId) -> Step<()> {
    let mut chunks = db.prepare_cached(INDEXED_CHUNKS)?;
    let mut chunks = chunks.query(named_params! { ":document_id": document_id })?;
    while let Some(chunk) = chunks.next()? {
        let (chunk_id, context, text): (ChunkId, String, String) =
            (chunk.get(0)?, chunk.get(1)?, chunk.get(2)?);
        let language = of_code(chunk.get(3)?);
        let (context, text) = (indexed(&context, language), indexed(&text, language));
        db.prepare_cached(REMOVE_GRAMS)?
            .execute(named_params! { ":chunk_id": chunk_id, ":context": context, ":text": text })?;
    }
    Ok(())
}

/// Whether any chunk is in the index.
pub(crate) fn has_entries(db: &Connection) -> Step<bool> {
    Ok(db.query_row(HAS_ENTRIES, [], |row| row.get(0))?)
}

/// Rebuilds the index from the chunks.
pub(crate) fn rebuild(db: &Connection) -> Step<()> {
    db.execute(FORGET, [])?;
    let mut statement = db.prepare(CHUNKS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (context, text): (String, String) = (row.get(1)?, row.get(2)?);
        insert(db, row.get(0)?, &context, &text, of_code(row.get(3)?))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(indexed(text, None), expected);
    }

    #[test]
    fn runs_are_split_into_pairs_and_letters() {
        check("東京都", "東京 京都 東 京 都");
        check("水。木", "水 木");
        check("ไทย", "ไท ทย ไ ท ย");
    }

    #[test]
    fn words_that_touch_a_run_are_separate() {
        check("GPU加速, fast", "GPU 加速 加 速");
        check("第3章", "第 3 章");
    }

    #[test]
    fn a_text_with_spaces_gets_no_grams() {
        check("Größe, naïve and Москва", "");
        check("", "");
    }
}
