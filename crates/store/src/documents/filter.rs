//! Writes a [`Filter`] as an SQL condition, and finds the chunks that have a text as it leaves them out.

use std::collections::BTreeSet;

use rusqlite::{Connection, ToSql, named_params};

use crate::db::{columns, sql};
use crate::document::{DocumentKind, Filter, NumberedPath};
use crate::error::Result;
use crate::ids::{ChunkId, DocumentId};

use super::ledger::PathRange;
use crate::Store;
use crate::keyword::{expr, forms, grams};
use crate::text::paths::SEPARATOR;
use crate::text::{exact, paths};

/// The SQL condition of a [`Filter`] on `documents`; [`values`] returns its parameters.
///
/// A path is compared as a range, so that it has no special characters; the paths of copies also
/// match. Each path of a document has a row.
macro_rules! passes_filter {
    () => {
        "(:doc_type IS NULL OR documents.doc_type = :doc_type)
        AND (:formats = '[]'
            OR documents.metadata ->> '$.format' IN (SELECT value FROM json_each(:formats)))
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
        AND (:paths = '[]' AND :ids = '[]' OR documents.id IN (SELECT value FROM json_each(:ids))
            OR documents.id IN (
            SELECT document_paths.document_id
            FROM json_each(:paths) AS wanted
            JOIN document_paths ON document_paths.path = wanted.value ->> 0
                OR (document_paths.path >= wanted.value ->> 1 AND document_paths.path < wanted.value ->> 2)
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

const IS_DOCUMENT: &str = "SELECT 1 FROM documents WHERE id = ?1";

const PATHS: &str = "SELECT path FROM document_paths";

const HAS_DOCUMENT: &str =
    concat!("SELECT EXISTS (SELECT 1 FROM documents WHERE ", passes_filter!(), ")");

impl Store {
    /// Whether any document passes a filter; words that are excluded are ignored.
    pub fn has_document(&self, filter: &Filter) -> Result<bool> {
        self.read(|db| sql::value(db, HAS_DOCUMENT, values(db, filter)?.as_slice()))
    }

    /// Returns the ids and the paths that are meant by the paths of a filter.
    pub fn meant_by_paths(&self, filter: &Filter) -> Result<(Vec<DocumentId>, Vec<String>)> {
        let (ids, places) = self.read(|db| {
            let (ids, places) = meant(db, filter)?;
            Ok((ids, places.into_iter().map(str::to_owned).collect()))
        })?;
        Ok((ids.into_iter().map(DocumentId).collect(), places))
    }

    /// Returns the ids of the chunks that pass a filter, in order.
    pub fn passing_chunks(&self, filter: &Filter) -> Result<Vec<ChunkId>> {
        self.read(|db| {
            let mut values = values(db, filter)?;
            let excluded = &filter.excluded;
            values.push((":words", Box::new(any_of(excluded, |text| by_words(text, words)))));
            values.push((":grams", Box::new(any_of(excluded, |text| by_words(text, grams::expr)))));
            values.push((":exact", Box::new(any_of(excluded, exactly))));
            sql::rows(db, PASSING_CHUNKS, values.as_slice(), |row| row.get(0))
        })
    }

    /// Returns the ids of the chunks in which a text occurs, in order: those that it would leave out as an excluded
    /// text.
    pub fn chunks_with(&self, text: &str) -> Result<Vec<ChunkId>> {
        self.read(|db| {
            let params = named_params! {
                ":words": by_words(text, words),
                ":grams": by_words(text, grams::expr),
                ":exact": exactly(text),
            };
            sql::rows(db, CHUNKS_WITH, params, |row| row.get(0))
        })
    }
}

/// Returns the parameters of the condition, by name.
pub(crate) fn values(
    db: &Connection,
    filter: &Filter,
) -> rusqlite::Result<Vec<(&'static str, Box<dyn ToSql>)>> {
    let tags: BTreeSet<&str> = filter.tags.iter().map(String::as_str).collect();
    let (ids, places) = meant(db, filter)?;
    let mut paths = BTreeSet::new();
    for path in places {
        paths.extend(spellings(db, path)?);
    }
    let below = paths.iter().map(|path| PathRange::of(path));
    let ranges: Vec<[String; 3]> =
        below.map(|below| [below.folder.to_owned(), below.first, below.end]).collect();
    let doc_type = filter.kind.map(|kind| kind.doc_type().as_str());
    let formats = filter.kind.map(DocumentKind::format_words).unwrap_or_default();
    let values: [(_, Box<dyn ToSql>); 11] = [
        (":doc_type", Box::new(doc_type)),
        (":formats", Box::new(columns::to_json(&formats)?)),
        (":num_tags", Box::new(u32::try_from(tags.len()).unwrap_or(u32::MAX))),
        (":tags", Box::new(columns::to_json(&tags)?)),
        (":excluded_tags", Box::new(columns::to_json(&filter.excluded_tags)?)),
        (":language", Box::new(filter.language.map(|language| language.as_str()))),
        (":since", Box::new(filter.since.clone())),
        (":until", Box::new(filter.until.clone())),
        (":added_since", Box::new(filter.added_since.clone())),
        (":paths", Box::new(columns::to_json(&ranges)?)),
        (":ids", Box::new(columns::to_json(&ids)?)),
    ];
    Ok(values.into())
}

/// Returns the ids and the paths that are meant by the paths of a filter: a number is the id of a document if there is one.
fn meant<'a>(db: &Connection, filter: &'a Filter) -> rusqlite::Result<(Vec<i64>, Vec<&'a str>)> {
    let mut ids = Vec::new();
    let mut places: Vec<&str> = filter.paths.iter().map(String::as_str).collect();
    for NumberedPath { id, path } in &filter.numbered {
        if db.prepare_cached(IS_DOCUMENT)?.exists([id])? {
            ids.push(*id);
        } else {
            places.push(path);
        }
    }
    Ok((ids, places))
}

/// Returns the spellings of a path at the beginning of stored ones: names from macOS are decomposed. A path in ASCII has
/// one spelling.
fn spellings(db: &Connection, path: &str) -> rusqlite::Result<BTreeSet<String>> {
    let mut found = BTreeSet::from([path.to_owned()]);
    if path.is_ascii() {
        return Ok(found);
    }
    let folder = path.trim_end_matches(SEPARATOR);
    let num_separators = folder.matches(SEPARATOR).count();
    let mut statement = db.prepare_cached(PATHS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let stored = row.get_ref(0)?.as_str().unwrap_or_default();
        if !stored.is_ascii() && paths::is_within(stored, folder) {
            let end = stored.match_indices(SEPARATOR).nth(num_separators);
            found.insert(stored[..end.map_or(stored.len(), |end| end.0)].to_owned());
        }
    }
    Ok(found)
}

/// Returns the expression for the words of a text; `None` if they say less than its exact term: the
/// word of `C++` is `c`.
fn by_words(text: &str, expr: impl Fn(&str) -> Option<String>) -> Option<String> {
    if exact::ends_in_symbol(text) { None } else { expr(text) }
}

/// Returns the expression for a text and its other forms in the index of words.
fn words(text: &str) -> Option<String> {
    let others = forms::plain(text.trim_end_matches('*'));
    let any = [expr::expr(text)].into_iter().chain(others.iter().map(|form| expr::quote(form)));
    Some(any.collect::<Vec<_>>().join(" OR "))
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
