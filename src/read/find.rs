//! Finds a document by what the user typed.

use crate::error::{Error, Result};
use crate::store::{DocumentId, DocumentName, Store, StoredDocument};
use crate::text::fold::fold;
use crate::text::paths::SEPARATOR;

/// How many candidates an ambiguous name lists.
const MAX_CANDIDATES: usize = 5;

/// Finds a document by its id, its path, or a unique part of its title or path.
///
/// `path` is the typed text as an absolute path. The order of precedence is: an id, the path of a
/// file, a complete title or file name, a part of either; the last two ignore case. A number is
/// never matched as a part: the id of a removed document would find a different one.
pub fn find(store: &Store, typed: &str, path: &str) -> Result<StoredDocument> {
    let id: Option<DocumentId> = typed.parse().ok();
    if let Some(id) = id
        && let Some(document) = store.document(id)?
    {
        return Ok(document);
    }
    if let Some(known) = store.known_path(path)? {
        return store.document(known.document_id)?.ok_or_else(|| unknown(typed));
    }
    let wanted = fold(typed.trim());
    let names = if wanted.is_empty() { Vec::new() } else { store.document_names()? };
    let exact: Vec<&DocumentName> = names
        .iter()
        .filter(|name| fold(&name.title) == wanted || file_name(name).as_ref() == Some(&wanted))
        .collect();
    let candidates = if !exact.is_empty() {
        exact
    } else if id.is_some() {
        Vec::new()
    } else {
        names.iter().filter(|name| contains(name, &wanted)).collect()
    };
    match candidates.as_slice() {
        [] => Err(unknown(typed)),
        [one] => store.document(one.id)?.ok_or_else(|| unknown(typed)),
        _ => Err(Error::AmbiguousDocument {
            typed: typed.to_owned(),
            num_candidates: candidates.len(),
            candidates: candidates
                .iter()
                .take(MAX_CANDIDATES)
                .map(|name| {
                    // Equal titles do not distinguish the candidates.
                    let is_title_shared = candidates
                        .iter()
                        .any(|other| other.id != name.id && other.title == name.title);
                    let shown = name.path.as_ref().filter(|_| is_title_shared);
                    format!("{} ({})", name.id, shown.unwrap_or(&name.title))
                })
                .collect(),
        }),
    }
}

fn unknown(typed: &str) -> Error {
    Error::UnknownDocument { id: typed.to_owned() }
}

/// Returns the name of a document's file for comparison without case.
fn file_name(name: &DocumentName) -> Option<String> {
    name.path.as_deref().and_then(|path| path.rsplit(SEPARATOR).next()).map(fold)
}

/// Whether the title or the path of a document contains the wanted text.
fn contains(name: &DocumentName, wanted: &str) -> bool {
    let path = name.path.as_deref().map(fold);
    fold(&name.title).contains(wanted) || path.is_some_and(|path| path.contains(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::testing::{TestDb, document};

    /// Returns a library of two files and a note whose title is in no path.
    fn library() -> (TestDb, [i64; 3]) {
        let mut db = TestDb::new();
        let ids = [("/sea/Tides.md", "High water"), ("/sea/gauges.md", "Old gauges")].map(
            |(path, title)| {
                let mut new = document(path, &[title], &[]);
                title.clone_into(&mut new.title);
                db.put(&new, &[title], &[]).document_id().0
            },
        );
        let mut note = document("", &["note"], &[]);
        note.stamp = None;
        "Gauges".clone_into(&mut note.title);
        let note = db.put(&note, &["note"], &[]).document_id().0;
        (db, [ids[0], ids[1], note])
    }

    #[test]
    fn a_document_is_found_by_id_path_title_or_a_part_of_them() {
        let (db, [tides, gauges, note]) = library();
        for (typed, path, expected) in [
            (tides.to_string().as_str(), "", Some(tides)),
            ("anything", "/sea/gauges.md", Some(gauges)),
            ("HIGH water", "", Some(tides)),
            ("tides.MD", "", Some(tides)),
            // A whole title precedes a part of another.
            ("gauges", "", Some(note)),
            ("igh wat", "", Some(tides)),
            ("ea/tid", "", Some(tides)),
            ("gauges.m", "", Some(gauges)),
            ("currents", "", None),
            (" ", "", None),
            ("999", "", None),
        ] {
            let found = find(&db.store, typed, path).ok().map(|document| document.id.0);
            assert_eq!(found, expected, "{typed}");
        }
    }

    #[test]
    fn several_candidates_are_named() {
        let (db, [tides, gauges, note]) = library();
        let candidates = |typed| match find(&db.store, typed, "") {
            Err(Error::AmbiguousDocument { candidates, num_candidates, .. }) => {
                assert_eq!(candidates.len(), num_candidates);
                candidates
            }
            other => panic!("{other:?}"),
        };
        let named = [(tides, "High water"), (gauges, "Old gauges")];
        assert_eq!(candidates("/sea/"), named.map(|(id, title)| format!("{id} ({title})")));
        let named = [(gauges, "Old gauges"), (note, "Gauges")];
        assert_eq!(candidates("auge"), named.map(|(id, title)| format!("{id} ({title})")));
    }

    #[test]
    fn at_most_five_candidates_are_named_and_equal_titles_by_their_paths() {
        let mut db = TestDb::new();
        for number in 1..=6 {
            let path = format!("/sea/{number}.md");
            let mut new = document(&path, &[&path], &[]);
            "Tides".clone_into(&mut new.title);
            if number == 2 {
                "Tides and gauges".clone_into(&mut new.title);
            }
            db.put(&new, &[&path], &[]);
        }
        let candidates = |typed| match find(&db.store, typed, "") {
            Err(Error::AmbiguousDocument { candidates, num_candidates, .. }) => {
                (candidates, num_candidates)
            }
            other => panic!("{other:?}"),
        };
        let (named, num_candidates) = candidates("sea");
        assert_eq!(num_candidates, 6);
        assert_eq!(
            named,
            [
                "1 (/sea/1.md)", "2 (Tides and gauges)", "3 (/sea/3.md)", "4 (/sea/4.md)",
                "5 (/sea/5.md)"
            ]
        );
        assert_eq!(candidates("TIDES").1, 5, "a part of a title is not a title");
    }
}
