//! A [`Filter`] in, a condition in SQL out.

use std::collections::BTreeSet;
use std::path::MAIN_SEPARATOR;

use rusqlite::ToSql;

use crate::document::Filter;

use super::rows;

/// The condition on `documents` that a [`Filter`] sets; [`FilterValues`] has its parameters.
///
/// A path is compared as a range, so that no character of it is special.
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
        AND (:path IS NULL
            OR documents.source_path = :path
            OR (documents.source_path >= :path_below AND documents.source_path < :path_beyond))"
    };
}
pub(super) use passes_filter;

/// The ids of the chunks that pass a [`Filter`]; drives from documents to chunks, so that the cost
/// is that of what passes.
macro_rules! passing_chunks {
    () => {
        concat!(
            "SELECT chunks.id
            FROM documents
            CROSS JOIN chunks ON chunks.document_id = documents.id
            WHERE ",
            $crate::store::filter::passes_filter!(),
            " AND (:excluded_expr IS NULL OR chunks.id NOT IN (
                SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH :excluded_expr
            ))"
        )
    };
}
pub(super) use passing_chunks;

/// What the parameters of the condition are bound to.
#[derive(Debug)]
pub(super) struct FilterValues {
    doc_type: Option<&'static str>,
    /// JSON array.
    tags: String,
    num_tags: u32,
    path: Option<String>,
    /// The path and a separator: what lies below begins with it.
    path_below: Option<String>,
    /// The first string after all that begin with `path_below`.
    path_beyond: Option<String>,
    excluded_expr: Option<String>,
}

impl FilterValues {
    pub(super) fn new(filter: &Filter) -> rusqlite::Result<Self> {
        let tags: BTreeSet<&str> = filter.tags.iter().map(String::as_str).collect();
        let path = filter.path_prefix.as_deref().map(|it| it.trim_end_matches(MAIN_SEPARATOR));
        let after_separator = char::from_u32(u32::from(MAIN_SEPARATOR) + 1).unwrap_or(char::MAX);
        Ok(Self {
            doc_type: filter.doc_type.map(|it| it.as_str()),
            tags: rows::to_json(&tags)?,
            num_tags: u32::try_from(tags.len()).unwrap_or(u32::MAX),
            path: path.map(str::to_owned),
            path_below: path.map(|it| format!("{it}{MAIN_SEPARATOR}")),
            path_beyond: path.map(|it| format!("{it}{after_separator}")),
            excluded_expr: filter.excluded_expr.clone(),
        })
    }

    /// Returns the parameters of the condition on documents.
    pub(super) fn of_documents(&self) -> Vec<(&str, &dyn ToSql)> {
        vec![
            (":doc_type", &self.doc_type),
            (":tags", &self.tags),
            (":num_tags", &self.num_tags),
            (":path", &self.path),
            (":path_below", &self.path_below),
            (":path_beyond", &self.path_beyond),
        ]
    }

    /// Returns the parameters of the condition on chunks, and `further` ones.
    pub(super) fn of_chunks<'a>(
        &'a self,
        further: &[(&'a str, &'a dyn ToSql)],
    ) -> Vec<(&'a str, &'a dyn ToSql)> {
        let mut params = self.of_documents();
        params.push((":excluded_expr", &self.excluded_expr));
        params.extend_from_slice(further);
        params
    }
}
