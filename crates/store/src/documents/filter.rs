//! Writes a [`Filter`] as an SQL condition, and finds the chunks that have a text as it leaves them out.

use std::collections::BTreeSet;
use std::path::MAIN_SEPARATOR;

use rusqlite::{ToSql, named_params};

use crate::db::{columns, sql};
use crate::document::Filter;
use crate::error::Result;
use crate::ids::ChunkId;

use crate::Store;
use crate::keyword::{expr, grams};
use crate::text::exact;

/// The SQL condition of a [`Filter`] on `documents`; [`FilterValues`] has its parameters.
///
/// A path is compared as a range, so that it has no special characters; the paths of copies also
/// match.
macro_rules! passes_filter {
    () => {
        "(:doc_type IS NULL OR documents.doc_type = :doc_type)
        AND (:num_tags = 0 OR documents.id IN (
            SELECT document_tags.document_id
            FROM tags
            JOIN document_tags ON document_tags.tag_id = tags.id
            WHERE tags.name IN (SELECT value FROM json_each(:tags))
            GROUP BY document_tags.document_id
            HAVING count(*) = :num_tags
        ))
        AND (:excluded_tags = '[]' OR documents.id NOT IN (
            SELECT document_tags.document_id
            FROM tags
            JOIN document_tags ON document_tags.tag_id = tags.id
            WHERE tags.name IN (SELECT value FROM json_each(:excluded_tags))
        ))
        AND (:language IS NULL OR documents.language = :language)
        AND (:since IS NULL AND :until IS NULL OR documents.id IN (
            SELECT document_id
            FROM document_dates
            WHERE (:since IS NULL OR date >= :since)
                AND (:until IS NULL OR substr(date, 1, length(:until)) <= :until)
        ))
        AND (:added_since IS NULL OR documents.created_at >= :added_since)
        AND (:path IS NULL
            OR documents.source_path = :path
            OR (documents.source_path >= :path_below AND documents.source_path < :path_beyond)
            OR documents.id IN (
                SELECT document_id
                FROM document_paths
                WHERE path = :path OR (path >= :path_below AND path < :path_beyond)
            ))"
    };
}
pub(crate) use passes_filter;

/// The chunks in which a text occurs, in any index.
macro_rules! chunks_with {
    () => {
        "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ifnull(:words, '\"\"')
        UNION ALL
        SELECT rowid FROM chunks_grams WHERE chunks_grams MATCH ifnull(:grams, '\"\"')
        UNION ALL
        SELECT rowid FROM chunks_exact WHERE chunks_exact MATCH ifnull(:exact, '\"\"')"
    };
}

const CHUNKS_WITH: &str =
    concat!("SELECT DISTINCT rowid FROM (", chunks_with!(), ") ORDER BY rowid");

/// Joins from documents to chunks, so that the cost depends on the number of matches.
const PASSING_CHUNKS: &str = concat!(
    "SELECT chunks.id
    FROM documents
    CROSS JOIN chunks ON chunks.document_id = documents.id
    WHERE ",
    passes_filter!(),
    " AND (:words IS NULL AND :exact IS NULL OR chunks.id NOT IN (",
    chunks_with!(),
    "))
    ORDER BY chunks.id"
);

const HAS_DOCUMENT: &str =
    concat!("SELECT EXISTS (SELECT 1 FROM documents WHERE ", passes_filter!(), ")");

impl Store {
    /// Whether any document passes a filter; words that are excluded are ignored.
    pub fn has_document(&self, filter: &Filter) -> Result<bool> {
        self.read(|db| {
            let values = FilterValues::new(filter)?;
            let mut statement = db.prepare_cached(HAS_DOCUMENT)?;
            Ok(statement.query_row(values.of_documents().as_slice(), |row| row.get(0))?)
        })
    }

    /// Returns the ids of the chunks that pass a filter, in order.
    pub fn passing_chunks(&self, filter: &Filter) -> Result<Vec<ChunkId>> {
        self.read(|db| {
            let values = FilterValues::new(filter)?;
            sql::rows(db, PASSING_CHUNKS, values.of_chunks().as_slice(), |row| row.get(0))
        })
    }

    /// Returns the ids of the chunks in which a text occurs, in order: those that it would leave out as an excluded
    /// text.
    pub fn chunks_with(&self, text: &str) -> Result<Vec<ChunkId>> {
        self.read(|db| {
            let params = named_params! {
                ":words": by_words(text, expr::expr),
                ":grams": by_words(text, grams::expr),
                ":exact": exactly(text),
            };
            sql::rows(db, CHUNKS_WITH, params, |row| row.get(0))
        })
    }
}

/// The parameters of the condition.
#[derive(Debug)]
pub(crate) struct FilterValues {
    doc_type: Option<&'static str>,
    /// JSON array.
    tags: String,
    num_tags: u32,
    path: Option<String>,
    /// The path and a separator: the prefix of all paths below it.
    path_below: Option<String>,
    /// The first string after all that begin with `path_below`.
    path_beyond: Option<String>,
    /// JSON array.
    excluded_tags: String,
    language: Option<&'static str>,
    since: Option<String>,
    until: Option<String>,
    added_since: Option<String>,
    /// Expression for the keyword index.
    excluded: Option<String>,
    /// Expression for the index of scripts without spaces.
    excluded_grams: Option<String>,
    /// Expression for the index of exact terms.
    excluded_exact: Option<String>,
}

impl FilterValues {
    pub(crate) fn new(filter: &Filter) -> rusqlite::Result<Self> {
        let tags: BTreeSet<&str> = filter.tags.iter().map(String::as_str).collect();
        let path = filter.path_prefix.as_deref().map(|path| path.trim_end_matches(MAIN_SEPARATOR));
        let after_separator = char::from_u32(u32::from(MAIN_SEPARATOR) + 1).unwrap_or(char::MAX);
        Ok(Self {
            doc_type: filter.doc_type.map(|doc_type| doc_type.as_str()),
            tags: columns::to_json(&tags)?,
            num_tags: u32::try_from(tags.len()).unwrap_or(u32::MAX),
            path: path.map(str::to_owned),
            path_below: path.map(|path| format!("{path}{MAIN_SEPARATOR}")),
            path_beyond: path.map(|path| format!("{path}{after_separator}")),
            excluded_tags: columns::to_json(&filter.excluded_tags)?,
            language: filter.language.map(|language| language.as_str()),
            since: filter.since.clone(),
            until: filter.until.clone(),
            added_since: filter.added_since.clone(),
            excluded: any_of(&filter.excluded, |text| by_words(text, expr::expr)),
            excluded_grams: any_of(&filter.excluded, |text| by_words(text, grams::expr)),
            excluded_exact: any_of(&filter.excluded, exactly),
        })
    }

    /// Returns the parameters of the condition on documents.
    pub(crate) fn of_documents(&self) -> Vec<(&str, &dyn ToSql)> {
        vec![
            (":doc_type", &self.doc_type),
            (":tags", &self.tags),
            (":num_tags", &self.num_tags),
            (":excluded_tags", &self.excluded_tags),
            (":language", &self.language),
            (":since", &self.since),
            (":until", &self.until),
            (":added_since", &self.added_since),
            (":path", &self.path),
            (":path_below", &self.path_below),
            (":path_beyond", &self.path_beyond),
        ]
    }

    /// Returns the parameters of the condition on chunks.
    pub(crate) fn of_chunks(&self) -> Vec<(&str, &dyn ToSql)> {
        let mut params = self.of_documents();
        params.push((":words", &self.excluded));
        params.push((":grams", &self.excluded_grams));
        params.push((":exact", &self.excluded_exact));
        params
    }
}

/// Returns the expression for the words of a text; `None` if they say less than its exact term: the
/// word of `C++` is `c`.
fn by_words(text: &str, expr: impl Fn(&str) -> String) -> Option<String> {
    (!exact::ends_in_symbol(text)).then(|| expr(text))
}

/// Returns the expression for the exact term that a text is, if it is one.
fn exactly(text: &str) -> Option<String> {
    exact::term(text).map(|term| expr::quote(&term))
}

/// Joins the expressions of texts; `None` if there are none.
fn any_of(texts: &[String], expr: impl Fn(&str) -> Option<String>) -> Option<String> {
    let exprs: Vec<String> = texts.iter().filter_map(|text| expr(text)).collect();
    if exprs.is_empty() { None } else { Some(exprs.join(" OR ")) }
}

#[cfg(test)]
mod tests;
