//! Reports hits whose files have changed or are missing since they were indexed.

use std::collections::BTreeSet;

use crate::app::query::grep::GrepResults;
use crate::document::StaleReason;
use crate::search::Hit;
use crate::store::DocumentId;
use crate::text::printable::clean_name;
use crate::wording::{Wording, kb, wording};

/// Returns the mark of a stale hit in a citation.
pub(super) fn mark(stale: StaleReason) -> &'static str {
    match stale {
        StaleReason::Changed => "changed since it was indexed",
        StaleReason::Missing => "its file is missing",
    }
}

/// Returns one line of advice about the stale hits; `None` if there are none.
pub fn advice<'a>(hits: impl IntoIterator<Item = &'a Hit>) -> Option<Wording> {
    advice_about(hits.into_iter().map(|hit| (hit.stored.document_id, hit.stale)))
}

/// Returns one line of advice about the stale documents with matching lines; `None` if there are none.
pub fn advice_of(results: &GrepResults) -> Option<Wording> {
    advice_about(results.documents.iter().map(|found| (found.document.id, found.stale)))
}

/// Returns one line of advice about the stale ones of some documents; `None` if there are none.
fn advice_about(
    documents: impl IntoIterator<Item = (DocumentId, Option<StaleReason>)>,
) -> Option<Wording> {
    let (mut changed, mut missing) = (BTreeSet::new(), BTreeSet::new());
    for (id, stale) in documents {
        let ids: Option<&mut BTreeSet<DocumentId>> = match stale {
            Some(StaleReason::Changed) => Some(&mut changed),
            Some(StaleReason::Missing) => Some(&mut missing),
            None => None,
        };
        ids.into_iter().for_each(|ids| _ = ids.insert(id));
    }
    let update = kb("update");
    Some(match (changed.len(), missing.len()) {
        (0, 0) => return None,
        (0, 1) => {
            wording!("1 of these files is missing; `{}` finds out whether it was moved", update)
        }
        (0, missing) => wording!(
            "{} of these files are missing; `{}` finds out whether they were moved",
            missing.to_string(),
            update
        ),
        (1, 0) => wording!(
            "1 of these files has changed since it was indexed; `{}` reads it again",
            update
        ),
        (changed, 0) => wording!(
            "{} of these files have changed since they were indexed; `{}` reads them again",
            changed.to_string(),
            update
        ),
        (changed, missing) => wording!(
            "{} of these files have changed since they were indexed or are missing; `{}` reads or finds them again",
            (changed + missing).to_string(),
            update
        ),
    })
}

/// Returns advice about the file of a document, which is the subject of the sentence.
pub fn advice_for(stale: StaleReason) -> Wording {
    let update = kb("update");
    match stale {
        StaleReason::Changed => {
            wording!("has changed since it was indexed; `{}` reads it again", update)
        }
        StaleReason::Missing => {
            wording!("is missing; `{}` finds out whether it was moved", update)
        }
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
