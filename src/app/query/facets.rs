//! Lists the values by which a search can be narrowed, with the number of documents that have each.

use std::collections::BTreeMap;

use crate::app::Session;
use crate::app::query::read::{ListRequest, list};
use crate::app::session::observer::SilentObserver;
use crate::document::Filter;
use crate::error::Result;
use crate::store::ListedDocument;
use crate::text::paths::{self, SEPARATOR};

/// A property of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Facet {
    /// The type, or the format.
    Type,
    /// A tag.
    Tag,
    /// A folder at any depth.
    Folder,
    /// The programming language.
    Language,
}

/// A value and the number of documents that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacetValue {
    /// As [`Filter`] takes it.
    pub name: String,
    /// Number of documents.
    pub num_documents: usize,
}

/// Lists the values of the documents that pass the rest of `filter`: folders by path, others by number
/// of documents, then alphabetically.
pub fn values(session: &Session, facet: Facet, filter: &Filter) -> Result<Vec<FacetValue>> {
    let mut filter = filter.clone();
    match facet {
        Facet::Type => filter.kind = None,
        // A document may have several tags, so those that are chosen narrow the others.
        Facet::Tag => {}
        Facet::Folder => (filter.paths, filter.numbered) = (Vec::new(), Vec::new()),
        Facet::Language => filter.language = None,
    }
    let documents =
        list(session, &ListRequest { filter, ..ListRequest::default() }, &SilentObserver)?;
    Ok(of_documents(facet, &documents))
}

fn of_documents(facet: Facet, documents: &[ListedDocument]) -> Vec<FacetValue> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |name: String| *counts.entry(name).or_default() += 1;
    for document in documents {
        match facet {
            Facet::Type => {
                let doc_type = document.doc_type.as_str();
                count(doc_type.to_owned());
                // Source code is left out: it is narrowed by its language.
                if document.format != doc_type && document.language.is_none() {
                    count(document.format.clone());
                }
            }
            Facet::Tag => document.tags.iter().cloned().for_each(&mut count),
            Facet::Folder => folders(document).into_iter().for_each(&mut count),
            Facet::Language => document.language.iter().cloned().for_each(&mut count),
        }
    }
    let mut values: Vec<FacetValue> = counts
        .into_iter()
        .map(|(name, num_documents)| FacetValue { name, num_documents })
        .collect();
    if facet == Facet::Folder {
        // Folders above the one that holds everything would not narrow anything.
        let common = values.iter().rposition(|value| value.num_documents == documents.len());
        let common = common.map(|at| values[at].name.clone()).unwrap_or_default();
        values.retain(|value| value.name.starts_with(&common));
    } else {
        values.sort_by(|a, b| b.num_documents.cmp(&a.num_documents).then(a.name.cmp(&b.name)));
    }
    values
}

/// Returns the folders that a document's file is in, in the database's notation.
fn folders(document: &ListedDocument) -> Vec<String> {
    let file = document.path.as_deref().map_or("", |path| paths::split_member(path).0);
    let ends = file.rmatch_indices(SEPARATOR).map(|(at, _)| at).filter(|at| *at > 0);
    ends.map(|end| file[..end].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::DocType;
    use crate::store::DocumentId;

    fn document(path: Option<&str>, tags: &[&str]) -> ListedDocument {
        ListedDocument {
            id: DocumentId(1),
            title: String::new(),
            path: path.map(str::to_owned),
            doc_type: if path.is_some() { DocType::Markdown } else { DocType::Note },
            format: if path.is_some() { "html" } else { "note" }.to_owned(),
            language: None,
            created_at: String::new(),
            updated_at: String::new(),
            date: None,
            date_origin: None,
            quality: None,
            words_json: None,
            num_unread_parts: 0,
            encoding: None,
            tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
            chunk_count: 1,
        }
    }

    #[track_caller]
    fn check(facet: Facet, documents: &[ListedDocument], expected: &[(&str, usize)]) {
        let found = of_documents(facet, documents);
        let found: Vec<(&str, usize)> =
            found.iter().map(|value| (value.name.as_str(), value.num_documents)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn tags_and_types_are_counted_and_the_most_frequent_come_first() {
        let documents =
            [document(None, &["a", "b"]), document(Some("/x/1.md"), &["b"]), document(None, &[])];
        check(Facet::Tag, &documents, &[("b", 2), ("a", 1)]);
        check(Facet::Type, &documents, &[("note", 2), ("html", 1), ("markdown", 1)]);
        check(Facet::Language, &documents, &[]);
    }

    #[test]
    fn folders_begin_at_the_one_that_holds_everything() {
        let documents = ["/home/ada/a/1.md", "/home/ada/a/2.md", "/home/ada/b.zip//in/3.md"]
            .map(|path| document(Some(path), &[]));
        check(Facet::Folder, &documents, &[("/home/ada", 3), ("/home/ada/a", 2)]);
        check(Facet::Folder, &[document(None, &[])], &[]);
    }
}
