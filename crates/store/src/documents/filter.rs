//! Writes a [`Filter`] as an SQL condition, and finds the chunks that have a text as it leaves them out.

use std::collections::BTreeSet;
use std::path::MAIN_SEPARATOR;

use rusqlite::{ToSql, named_params};

use crate::document::Filter;
use crate::error::Result;
use crate::ids::ChunkId;

use crate::Store;
use crate::db::columns;
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
    ///
    /// # Errors
    ///
    /// Errors of the database.
    pub fn has_document(&self, filter: &Filter) -> Result<bool> {
        self.read(|db| {
            let values = FilterValues::new(filter)?;
            let mut statement = db.prepare_cached(HAS_DOCUMENT)?;
            Ok(statement.query_row(values.of_documents().as_slice(), |row| row.get(0))?)
        })
    }

    /// Returns the ids of the chunks that pass a filter, in order.
    ///
    /// # Errors
    ///
    /// Errors of the database.
    pub fn passing_chunks(&self, filter: &Filter) -> Result<Vec<ChunkId>> {
        self.read(|db| {
            let values = FilterValues::new(filter)?;
            let mut statement = db.prepare_cached(PASSING_CHUNKS)?;
            let ids = statement.query_map(values.of_chunks().as_slice(), |row| row.get(0))?;
            Ok(ids.collect::<Result<_, _>>()?)
        })
    }

    /// Returns the ids of the chunks in which a text occurs, in order: those that it would leave out as an excluded
    /// text.
    ///
    /// # Errors
    ///
    /// Errors of the database.
    pub fn chunks_with(&self, text: &str) -> Result<Vec<ChunkId>> {
        self.read(|db| {
            let params = named_params! {
                ":words": by_words(text, expr::expr),
                ":grams": by_words(text, grams::expr),
                ":exact": exactly(text),
            };
            let mut statement = db.prepare_cached(CHUNKS_WITH)?;
            let ids = statement.query_map(params, |row| row.get(0))?;
            Ok(ids.collect::<Result<_, _>>()?)
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
mod tests {
    use super::*;
    use crate::document::{DocType, Format, Language};
    use crate::ids::{ChunkId, DocumentId};
    use crate::testing::{TestDb, document, vector};

    fn db() -> TestDb {
        let mut db = TestDb::new();
        db.add("/data/notes/a.md", &["apple one"], &["fruit", "red"]);
        db.add("/data/notes/b.md", &["apple two"], &["fruit"]);
        db.add("/data/notes.md", &["apple three"], &["red"]);
        db.add("/data/100%_done/c.md", &["apple four"], &[]);
        db.add("/data/100x_done/d.md", &["apple five"], &[]);
        let mut code = document("/data/e.py", &["apple six"], &["red"]);
        code.format = Format::Code(Language::Python);
        db.put(&code, &["apple six"], &[]);
        db.assert_intact();
        db
    }

    /// Checks that both rankings and the list pass the same documents.
    #[track_caller]
    fn check(filter: &Filter, expected: &[i64]) {
        let db = db();
        let passing = db.store.passing_chunks(filter).unwrap();
        assert_eq!(passing.iter().map(|chunk_id| chunk_id.0).collect::<Vec<_>>(), expected);
        for depth in [100, 5000] {
            let ranked = db.store.rank_by_cosine(&vector("apple"), Some(&passing), depth).unwrap();
            let mut by_vector: Vec<i64> = ranked.iter().map(|hit| hit.chunk_id.0).collect();
            by_vector.sort_unstable();
            assert_eq!(by_vector, expected, "by vector, depth {depth}");
        }
        if filter.excluded.is_empty() {
            let listed = db.store.documents(filter).unwrap();
            assert_eq!(
                listed.iter().map(|document| document.id.0).collect::<Vec<_>>(),
                expected,
                "listed"
            );
            assert_eq!(db.store.has_document(filter).unwrap(), !expected.is_empty());
        }
    }

    fn tags(tags: &[&str]) -> Filter {
        Filter { tags: tags.iter().map(|&tag| tag.to_owned()).collect(), ..Filter::default() }
    }

    fn below(path: &str) -> Filter {
        Filter { path_prefix: Some(path.to_owned()), ..Filter::default() }
    }

    #[test]
    fn an_empty_filter_passes_all_documents() {
        check(&Filter::default(), &[1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_type_restricts_both_rankings() {
        check(&Filter { doc_type: Some(DocType::Code), ..Filter::default() }, &[6]);
        check(&Filter { doc_type: Some(DocType::Pdf), ..Filter::default() }, &[]);
    }

    #[test]
    fn all_given_tags_must_be_present() {
        check(&tags(&["red"]), &[1, 3, 6]);
        check(&tags(&["fruit", "red"]), &[1]);
        check(&tags(&["fruit", "fruit"]), &[1, 2]);
        check(&tags(&["fruit", "unknown"]), &[]);
    }

    #[test]
    fn a_path_matches_complete_components() {
        check(&below("/data/notes"), &[1, 2]);
        check(&below("/data/notes/"), &[1, 2]);
        check(&below("/data/notes.md"), &[3]);
        check(&below("/data/note"), &[]);
        check(&below("/data"), &[1, 2, 3, 4, 5, 6]);
        check(&below("/"), &[1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn paths_have_no_special_characters() {
        check(&below("/data/100%_done"), &[4]);
        check(&below("/data/%"), &[]);
    }

    #[test]
    fn excluded_words_are_left_out_of_both_rankings() {
        let excluded = |words: &[&str]| {
            let excluded = words.iter().map(|&word| word.to_owned()).collect();
            Filter { excluded, ..Filter::default() }
        };
        check(&excluded(&["three", "five"]), &[1, 2, 4, 6]);
        check(&excluded(&["t*", "apple fi*"]), &[1, 4, 6]);
    }

    #[test]
    fn exclusions_in_scripts_without_spaces_match_inside_runs() {
        let mut db = TestDb::new();
        let texts = ["東京都の水族館", "京都へ行くGPU加速", "water", "gpu"];
        let id = db.add("/a.md", &texts, &[]);
        let ids: Vec<ChunkId> = db.store.chunks(id).unwrap().iter().map(|chunk| chunk.id).collect();
        let passing = |text: &str| {
            let filter = Filter { excluded: vec![text.to_owned()], ..Filter::default() };
            let passing = db.store.passing_chunks(&filter).unwrap();
            let with = db.store.chunks_with(text).unwrap();
            assert!(with.is_sorted_by(|a, b| a < b));
            assert!(ids.iter().all(|id| with.contains(id) != passing.contains(id)), "{text}");
            (0..ids.len()).filter(|idx| passing.contains(&ids[*idx])).collect::<Vec<_>>()
        };
        assert_eq!(passing("水族"), [1, 2, 3]);
        assert_eq!(passing("水"), [1, 2, 3]);
        assert_eq!(passing("京都"), [2, 3]);
        assert_eq!(passing("gpu"), [0, 2]);
        assert_eq!(passing("GPU加速"), [0, 2, 3]);
        assert_eq!(passing("東京水"), [0, 1, 2, 3]);
    }

    #[test]
    fn languages_excluded_tags_and_days_restrict() {
        let mut db = db();
        let python = Filter { language: Some(Language::Python), ..Filter::default() };
        check(&python, &[6]);
        check(&Filter { excluded_tags: vec!["red".into()], ..Filter::default() }, &[2, 4, 5]);
        let mut dated = document("/data/f.md", &["apple seven"], &[]);
        dated.metadata.created = Some("2001-09-09T10:00:00Z".into());
        let id = db.put(&dated, &["apple seven"], &[]).document_id();
        let mut undated = document("/data/g.md", &["apple eight"], &[]);
        undated.metadata.created = Some("last spring".into());
        let other = db.put(&undated, &["apple eight"], &[]).document_id();
        let days = |since: &str, until: &str| {
            let day = |day: &str| Some(day.to_owned()).filter(|day| !day.is_empty());
            let filter = Filter { since: day(since), until: day(until), ..Filter::default() };
            let listed = db.store.documents(&filter).unwrap();
            listed
                .iter()
                .map(|document| document.id)
                .filter(|found| [id, other].contains(found))
                .collect::<Vec<_>>()
        };
        assert_eq!(days("2001", "2001"), [id]);
        assert_eq!(days("2001-09-09", "2001-09-09"), [id]);
        assert_eq!(days("2001-09-10", "2001-12"), [] as [DocumentId; 0]);
        assert_eq!(days("", "2001-09-08"), days("2001-10", "2002"));
        assert_eq!(days("2001-08", ""), [id, other]);
        // The day of its file.
        assert_eq!(days("2023-11-14", "2023-11"), [other]);
    }

    #[test]
    fn the_day_of_adding_restricts_both_rankings() {
        let mut db = TestDb::new();
        for (path, text, added) in [
            ("/a.md", "apple one", "2026-05-16T23:59:59Z"),
            ("/b.md", "apple two", "2026-05-17T00:00:00Z"),
        ] {
            let id = db.add(path, &[text], &[]);
            let sql = "UPDATE documents SET created_at = ?1 WHERE id = ?2";
            db.store.connection.execute(sql, (added, id.0)).unwrap();
        }
        let passing = |day: &str| {
            let filter = Filter { added_since: Some(day.to_owned()), ..Filter::default() };
            let listed = db.store.documents(&filter).unwrap();
            let chunks = db.store.passing_chunks(&filter).unwrap();
            assert_eq!(chunks.len(), listed.len(), "{day}");
            listed.iter().map(|document| document.title.clone()).collect::<Vec<_>>()
        };
        assert_eq!(passing("2026-05").len(), 2);
        assert_eq!(passing("2026-05-16").len(), 2);
        assert_eq!(passing("2026-05-17"), ["Title of /b.md"]);
        assert_eq!(passing("2026-05-18"), [] as [&str; 0]);
        assert_eq!(passing("2027"), [] as [&str; 0]);
    }

    #[test]
    fn all_conditions_must_hold() {
        let filter = Filter {
            doc_type: Some(DocType::Markdown),
            path_prefix: Some("/data".into()),
            excluded: vec!["one".into()],
            ..tags(&["red"])
        };
        check(&filter, &[3]);
    }
}
