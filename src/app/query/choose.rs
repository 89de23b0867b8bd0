//! Selects the documents of a use case, by name, or by filters and a query.

use crate::app::query::search::{self, SearchRequest};
use crate::app::session::absent;
use crate::app::session::lookup::find_in;
use crate::app::{Observer, Session};
use crate::document::Filter;
use crate::error::{Error, Result};
use crate::store::{DocumentId, Store};

/// A selection of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentChoice {
    /// By name: ids, paths, or unique parts of titles or paths.
    Named(Vec<String>),
    /// By criteria.
    Matching(Box<SelectionCriteria>),
}

/// The criteria for selecting documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SelectionCriteria {
    /// A filter on their properties.
    pub filter: Filter,
    /// A query; only documents among its hits are selected.
    pub query: Option<String>,
    /// Number of hits to use; by default `search.default_top`.
    pub limit: Option<u32>,
}

/// Returns the database and the ids of the selected documents, each once; ordered by id unless they were
/// named. `None` if there is no database and no document was named.
pub(crate) fn choose(
    session: &Session,
    choice: &DocumentChoice,
    observer: &dyn Observer,
) -> Result<Option<(Store, Vec<DocumentId>)>> {
    match choice {
        DocumentChoice::Named(names) => {
            let Some(store) = session.open_existing()? else {
                let id = names.first().cloned().unwrap_or_default();
                return Err(Error::UnknownDocument { id });
            };
            let mut ids: Vec<DocumentId> = Vec::new();
            for name in names {
                let id = find_in(&store, name)?.id;
                if !ids.contains(&id) {
                    ids.push(id);
                }
            }
            Ok(Some((store, ids)))
        }
        DocumentChoice::Matching(criteria) => {
            let of_hits = of_hits(session, criteria, observer)?;
            let Some(store) = session.open_existing()? else { return Ok(None) };
            let ids = matching(&store, criteria, of_hits.as_deref(), observer)?;
            Ok(Some((store, ids)))
        }
    }
}

/// Returns the documents of the hits of the query, best first; `None` without a query.
pub(crate) fn of_hits(
    session: &Session,
    criteria: &SelectionCriteria,
    observer: &dyn Observer,
) -> Result<Option<Vec<DocumentId>>> {
    let Some(query) = &criteria.query else { return Ok(None) };
    let request = SearchRequest {
        query: query.clone(),
        limit: criteria.limit,
        filter: criteria.filter.clone(),
        ..SearchRequest::default()
    };
    let found = search::search(session, &request, observer)?;
    // The connection of the search is closed: it could keep documents that are removed next in the log.
    session.close()?;
    Ok(Some(found.hits.iter().map(|hit| hit.stored.document_id).collect()))
}

/// Returns the documents that pass the filter and, if there is a query, have a hit; ordered by id. Reports
/// why there are none.
pub(crate) fn matching(
    store: &Store,
    criteria: &SelectionCriteria,
    of_hits: Option<&[DocumentId]>,
    observer: &dyn Observer,
) -> Result<Vec<DocumentId>> {
    // The search has already reported what concerns both.
    if of_hits.is_none() {
        absent::dates(&criteria.filter, observer);
    }
    let documents = store.documents(&criteria.filter)?;
    let ids = documents.iter().map(|document| document.id);
    let ids: Vec<DocumentId> =
        ids.filter(|id| of_hits.is_none_or(|of_hits| of_hits.contains(id))).collect();
    if ids.is_empty() && of_hits.is_none() {
        absent::note(store, &criteria.filter, observer)?;
    }
    Ok(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::World;

    fn chosen(world: &World, choice: &DocumentChoice) -> Vec<i64> {
        let (_, ids) = choose(&world.session, choice, world).unwrap().unwrap();
        ids.into_iter().map(|id| id.0).collect()
    }

    #[test]
    fn named_documents_keep_their_order_and_are_chosen_once() {
        let world = World::new();
        for name in ["a.md", "b.md", "c.md"] {
            world.add_named(name, name);
        }
        let named = |names: &[&str]| {
            DocumentChoice::Named(names.iter().map(|&name| name.to_owned()).collect())
        };
        assert_eq!(chosen(&world, &named(&["3", "a.md", "c.md", "3"])), [3, 1]);
        let unknown = choose(&world.session, &named(&["1", "9"]), &world);
        assert!(matches!(unknown, Err(Error::UnknownDocument { id }) if id == "9"));
        let empty = World::new();
        let unknown = choose(&empty.session, &named(&["7", "8"]), &empty);
        assert!(matches!(unknown, Err(Error::UnknownDocument { id }) if id == "7"));
    }

    #[test]
    fn matching_documents_are_ordered_by_id() {
        let world = World::new();
        let ids = ["a.md", "b.md"].map(|name| world.add_named(name, name));
        let all = DocumentChoice::Matching(Box::default());
        assert_eq!(chosen(&world, &all), [1, 2]);
        let filter = Filter { tags: vec!["x".into()], ..Filter::default() };
        let tagged = SelectionCriteria { filter, ..SelectionCriteria::default() };
        assert_eq!(
            chosen(&world, &DocumentChoice::Matching(Box::new(tagged.clone()))),
            Vec::<i64>::new()
        );
        assert!(world.heard("no document has the tag `x`"));
        let store = world.store();
        let of_hits =
            matching(&store, &SelectionCriteria::default(), Some(&[ids[1]]), &world).unwrap();
        assert_eq!(of_hits, [ids[1]]);
        assert_eq!(matching(&store, &tagged, Some(&[ids[1]]), &world).unwrap(), []);
        assert!(!world.heard("no document"), "the search has said so");
        assert!(choose(&World::new().session, &all, &world).unwrap().is_none());
    }
}
