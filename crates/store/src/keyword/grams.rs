//! Indexes what FTS5's tokenizer cannot divide or stem: the second keyword index.
//!
//! FTS5's tokenizer treats a run of letters in a script without spaces as one word, so a question
//! never matches its answer. The second index therefore has the pairs of characters and the single
//! characters of these runs: on Chinese questions and paragraphs (XQuAD) that raised nDCG@10 of keyword search from
//! 0.13 to 0.98. Korean, which uses spaces, also gains, because its words change their endings.
//!
//! FTS5 stems English only. For a document in another language with a stemmer, the second index has
//! the stem of each word, marked with the language. It also has the other forms of words: forms.rs.

use rusqlite::{Connection, named_params};

use crate::ids::DocumentId;

use super::{expr, forms, postings};
use crate::db::fault::Step;
use crate::db::layout::DirectReadSupport;
use crate::db::{columns, sql};
use crate::text::forms::{seen, with_whole_letters};
use crate::text::language::NaturalLanguage;
use crate::text::scripts::{grams, is_unspaced, pairs, parts};

/// Surrounds the language of a stem in the index. A private letter is in no word, because words are
/// divided at it, but FTS5 counts it as a letter.
const MARK: char = '\u{e000}';

/// The first letter after [`MARK`].
const AFTER_MARK: char = '\u{e001}';

const LANGUAGE: &str =
    "SELECT metadata ->> '$.natural_language' FROM documents WHERE id = :document_id";

/// Chunks of documents in these languages that have no entry.
const COUNT_MISSING_STEMS: &str = "
    SELECT count(*)
    FROM documents
    JOIN chunks ON chunks.document_id = documents.id
    WHERE documents.metadata ->> '$.natural_language' IN (SELECT value FROM json_each(:codes))
        AND chunks.id NOT IN (SELECT id FROM chunks_grams_docsize)";

/// Returns a text as stored in the second index: the grams of each run of letters of scripts without spaces; other forms of
/// words; the stems. Empty if the text has none of these, and its language no stemmer.
pub(crate) fn indexed(text: &str, language: Option<NaturalLanguage>) -> String {
    let seen = seen(text);
    let whole = with_whole_letters(&seen);
    let mut found = Vec::new();
    // Most texts have no letters of scripts without spaces, and need not be split.
    if whole.contains(is_unspaced) {
        let runs = whole.split(|c| !is_unspaced(c)).filter(|run| !run.is_empty());
        found.extend(runs.flat_map(grams));
    }
    let others = forms::indexed(text);
    let stems = language.map(|language| stem_terms(language, &seen)).unwrap_or_default();
    found.extend(others.iter().chain(&stems).map(String::as_str));
    found.join(" ")
}

/// Returns the terms of the stems of a text, in order.
pub(crate) fn stem_terms(language: NaturalLanguage, text: &str) -> Vec<String> {
    let code = language.code();
    language.stems(text).into_iter().map(|stem| format!("{MARK}{code}{MARK}{stem}")).collect()
}

/// Returns the languages whose stems the index has, and perhaps others whose stems were removed.
pub(crate) fn languages(db: &Connection, layout: DirectReadSupport) -> Step<Vec<NaturalLanguage>> {
    if !layout.knows_fts5 {
        return Ok(NaturalLanguage::stemmed().collect());
    }
    let mut from = MARK.to_string();
    let mut found = Vec::new();
    loop {
        let term = postings::GRAMS.first_term_from(db, &from)?;
        let term = term.filter(|term| term.starts_with(MARK));
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

/// Returns the expression for a text in the second index.
pub(crate) fn expr(text: &str) -> Option<String> {
    if !text.contains(is_unspaced) {
        return any_form(text);
    }
    let words = text.split(|c: char| !c.is_alphanumeric() && !is_unspaced(c));
    let parts = words.flat_map(parts).flat_map(|part| {
        if !part.starts_with(is_unspaced) {
            return vec![format!("({})", forms_of(part).join(" OR "))];
        }
        let pairs = pairs(part);
        if pairs.is_empty() { vec![expr::quote(part)] } else { vec![expr::quote(&pairs.join(" "))] }
    });
    Some(format!("({})", parts.collect::<Vec<_>>().join(" AND ")))
}

/// Returns the expressions for the other forms of a word, and for itself, as a database of schema 15 has it next to such letters.
fn forms_of(word: &str) -> Vec<String> {
    forms::terms(word).iter().map(String::as_str).chain([word]).map(expr::expr).collect()
}

/// Returns the expression for a text without such letters: its other forms, or its stems in any language. A prefix has no
/// stem.
fn any_form(text: &str) -> Option<String> {
    let mut any = forms_of(text);
    if !text.ends_with('*') {
        let stems = NaturalLanguage::stemmed().map(|language| stem_terms(language, text));
        let stems = stems.filter(|terms| !terms.is_empty());
        any.extend(stems.map(|terms| expr::quote(&terms.join(" "))));
    }
    Some(any.join(" OR "))
}

/// Returns context and text of a chunk's entry; `None` if it has none.
pub(crate) fn entry(
    context: &str,
    text: &str,
    language: Option<NaturalLanguage>,
) -> Option<(String, String)> {
    let entry = (indexed(context, language), indexed(text, language));
    (!entry.0.is_empty() || !entry.1.is_empty()).then_some(entry)
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
        check("GPU加速, fast", "加速 加 速 \u{e002}gpu");
        check("第3章", "第 章 \u{e002}3");
    }

    #[test]
    fn letters_in_parts_are_whole() {
        check("ｶﾞｽ", "ガス ガ ス");
        check("\u{1112}\u{1161}\u{11ab}국", "한국 한 국");
    }

    #[test]
    fn a_text_with_spaces_gets_no_grams() {
        check("naïve and Москва", "");
        check("", "");
    }
}
