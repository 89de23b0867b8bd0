//! Reports hits whose files have changed or are missing since they were indexed.

use std::collections::BTreeSet;

use crate::app::query::grep::GrepResults;
use crate::document::StaleReason;
use crate::search::Hit;
use crate::store::DocumentId;
use crate::text::printable::clean_name;

/// Returns the mark of a stale hit in a citation.
pub(super) fn mark(stale: StaleReason) -> &'static str {
    match stale {
        StaleReason::Changed => "changed since it was indexed",
        StaleReason::Missing => "its file is missing",
    }
}

/// Returns one line of advice about the stale hits; `None` if there are none.
pub fn advice<'a>(hits: impl IntoIterator<Item = &'a Hit>) -> Option<String> {
    advice_about(hits.into_iter().map(|hit| (hit.stored.document_id, hit.stale)))
}

/// Returns one line of advice about the stale documents with matching lines; `None` if there are none.
pub fn advice_of(results: &GrepResults) -> Option<String> {
    advice_about(results.documents.iter().map(|found| (found.document.id, found.stale)))
}

/// Returns one line of advice about the stale ones of some documents; `None` if there are none.
fn advice_about(
    documents: impl IntoIterator<Item = (DocumentId, Option<StaleReason>)>,
) -> Option<String> {
    let (mut changed, mut missing) = (BTreeSet::new(), BTreeSet::new());
    for (id, stale) in documents {
        let ids: Option<&mut BTreeSet<DocumentId>> = match stale {
            Some(StaleReason::Changed) => Some(&mut changed),
            Some(StaleReason::Missing) => Some(&mut missing),
            None => None,
        };
        ids.into_iter().for_each(|ids| _ = ids.insert(id));
    }
    Some(match (changed.len(), missing.len()) {
        (0, 0) => return None,
        (0, 1) => "1 of these files is missing; `kb update` finds out whether it was moved".into(),
        (0, missing) => format!(
            "{missing} of these files are missing; `kb update` finds out whether they were moved"
        ),
        (1, 0) => {
            "1 of these files has changed since it was indexed; `kb update` reads it again".into()
        }
        (changed, 0) => format!(
            "{changed} of these files have changed since they were indexed; `kb update` reads \
             them again"
        ),
        (changed, missing) => format!(
            "{} of these files have changed since they were indexed or are missing; `kb update` \
             reads or finds them again",
            changed + missing
        ),
    })
}

/// Returns advice about the file of a document, which is the subject of the sentence.
pub fn advice_for(stale: StaleReason) -> &'static str {
    match stale {
        StaleReason::Changed => "has changed since it was indexed; `kb update` reads it again",
        StaleReason::Missing => "is missing; `kb update` finds out whether it was moved",
    }
}

/// Returns a line for each stale file, for output that has only paths.
pub fn notes<'a>(hits: impl IntoIterator<Item = &'a Hit>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut notes = Vec::new();
    for hit in hits {
        let (Some(stale), Some(path)) = (hit.stale, &hit.stored.path) else { continue };
        if seen.insert(path) {
            let verdict = match stale {
                StaleReason::Changed => "has changed since it was indexed",
                StaleReason::Missing => "is missing",
            };
            notes.push(format!("{} {verdict}", clean_name(path)));
        }
    }
    notes
}
