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

use rusqlite::{Connection, named_params};

use crate::ids::DocumentId;

use super::expr;
use crate::db::fault::Step;
use crate::db::{columns, sql};
use crate::text::language::NaturalLanguage;
use crate::text::scripts::{grams, is_unspaced, pairs, parts};

/// Surrounds the language of a stem in the index. A private letter is in no word, because words are
/// divided at it, but FTS5 counts it as a letter.
const MARK: char = '\u{e000}';

/// The first letter after [`MARK`].
const AFTER_MARK: char = '\u{e001}';

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
    let (mut from, beyond) = (MARK.to_string(), AFTER_MARK.to_string());
    let mut found = Vec::new();
    loop {
        let params = named_params! { ":from": from, ":beyond": beyond };
        let term: Option<String> = sql::first_row(db, NEXT_TERM, params, |row| row.get(0))?;
        let Some(code) = term.as_ref().and_then(|term| term.split(MARK).nth(1)) else {
            return Ok(found);
        };
        found.extend(NaturalLanguage::from_code(code));
        from = format!("{MARK}{code}{AFTER_MARK}");
    }
}

pub(crate) fn language(db: &Connection, document_id: DocumentId) -> Step<Option<NaturalLanguage>> {
    Ok(of_code(sql::value(db, LANGUAGE, named_params! { ":document_id": document_id })?))
}

/// Returns the language of a document from its metadata.
pub(crate) fn of_code(code: Option<String>) -> Option<NaturalLanguage> {
    NaturalLanguage::from_code(&code?)
}

/// Counts chunks whose stems are missing from the index.
pub(crate) fn num_missing_stems(db: &Connection) -> Step<i64> {
    let codes: Vec<&str> = NaturalLanguage::stemmed().map(NaturalLanguage::code).collect();
    let params = named_params! { ":codes": columns::to_json(&codes)? };
    sql::value(db, COUNT_MISSING_STEMS, params)
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

/// Returns context and text of a chunk's entry; `None` if it has none.
pub(crate) fn entry(
    context: &str,
    text: &str,
    language: Option<NaturalLanguage>,
) -> Option<(String, String)> {
    let is_indexed = has_some(context, text) || language.is_some_and(NaturalLanguage::has_stemmer);
    is_indexed.then(|| (indexed(context, language), indexed(text, language)))
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
