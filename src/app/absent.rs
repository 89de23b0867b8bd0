//! Reports the path or tags of a filter that no document has, and the phrases that no passage has, so that the user
//! sees why an answer is empty.

use crate::app::Observer;
use crate::document::Filter;
use crate::error::Result;
use crate::search::{Answer, Unmet};
use crate::store::Store;
use crate::text::paths;

/// Reported for an empty answer if the database is empty.
pub(super) const NOTHING_ADDED: &str =
    "Nothing has been added yet. `kb add DIRECTORY` adds documents.";

/// Reports why an answer is empty, if the reason is that there are no documents or none for the filter.
pub(super) fn explain(store: &Store, filter: &Filter, observer: &dyn Observer) -> Result<()> {
    if store.has_document(&Filter::default())? {
        return note(store, filter, observer);
    }
    observer.note(NOTHING_ADDED);
    Ok(())
}

/// Reports the path and the tags of a filter that no document has. Only needed after an empty answer:
/// otherwise documents have the path and every tag.
pub(super) fn note(store: &Store, filter: &Filter, observer: &dyn Observer) -> Result<()> {
    if let Some(path) = &filter.path_prefix {
        let below = Filter { path_prefix: Some(path.clone()), ..Filter::default() };
        if !store.has_document(&below)? {
            let path = paths::path_of(path);
            observer.note(&format!("note: there is no document at or below {}", path.display()));
        }
    }
    for tag in &filter.tags {
        let tagged = Filter { tags: vec![tag.clone()], ..Filter::default() };
        if !store.has_document(&tagged)? {
            observer.note(&format!("note: no document has the tag `{tag}`"));
        }
    }
    Ok(())
}

/// Reports the phrases in quotes that no passage has, and adds that to the notes of the answer.
pub(super) fn phrases(answer: &mut Answer, observer: &dyn Observer) {
    let notes: Vec<String> = answer.unmet.iter().map(without_passage).collect();
    notes.iter().for_each(|note| observer.note(&format!("note: {note}")));
    answer.notes.extend(notes);
}

fn without_passage(unmet: &Unmet) -> String {
    let (passage, phrases, and) = match unmet.nowhere.as_slice() {
        [] => ("no searched passage", unmet.phrases.as_slice(), " and "),
        nowhere => ("no passage", nowhere, " or "),
    };
    let quoted: Vec<String> = phrases.iter().map(|phrase| format!("\"{phrase}\"")).collect();
    let plain = quoted
        .iter()
        .zip(phrases)
        .fold(unmet.typed.clone(), |typed, (quoted, phrase)| typed.replace(quoted, phrase));
    format!("{passage} has {}; without quotes: {plain}", quoted.join(and))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::testing::World;

    #[test]
    fn an_empty_answer_is_explained_by_what_no_document_has() {
        let world = World::new();
        let filter = |path: Option<&str>, tags: &[&str]| Filter {
            path_prefix: path.map(|path| world.path(path).display().to_string()),
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
            ..Filter::default()
        };
        explain(&world.store(), &filter(Some("docs"), &[]), &world).unwrap();
        assert!(world.heard(NOTHING_ADDED));
        let id = world.add_named("docs/a.md", "ebb");
        world.store().add_tags(id, &["tide".into()]).unwrap();
        for (path, tags, expected) in [
            (None, &[][..], ""),
            (Some("docs"), &["tide"], ""),
            (Some("notes"), &["tide"], "notes"),
            (Some("docs"), &["tide", "moon"], "no document has the tag `moon`"),
        ] {
            explain(&world.store(), &filter(path, tags), &world).unwrap();
            assert_eq!(world.heard(expected), !expected.is_empty(), "{path:?} {tags:?}");
        }
    }

    #[test]
    fn phrases_are_named_with_the_query_without_their_quotes() {
        let check = |typed: &str, phrases: &[&str], nowhere: &[&str], expected: &str| {
            let owned =
                |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
            let (phrases, nowhere) = (owned(phrases), owned(nowhere));
            let unmet = vec![Unmet { typed: typed.to_owned(), phrases, nowhere }];
            let mut answer = Answer { unmet, ..Answer::empty(&[]) };
            let world = World::new();
            super::phrases(&mut answer, &world);
            assert_eq!(answer.notes, [expected]);
            assert!(world.heard(&format!("note: {expected}")));
        };
        check(r#""a b" c"#, &["a b"], &["a b"], r#"no passage has "a b"; without quotes: a b c"#);
        let expected = r#"no passage has "a" or " b "; without quotes: a  b  "c" -"d""#;
        check(r#""a" " b " "c" -"d""#, &["a", " b ", "c"], &["a", " b "], expected);
        let expected = r#"no searched passage has "a" and "b"; without quotes: a b"#;
        check(r#""a" "b""#, &["a", "b"], &[], expected);
    }

    #[test]
    fn an_answer_without_missing_phrases_has_no_note_on_them() {
        let (world, mut answer) = (World::new(), Answer::empty(&[]));
        super::phrases(&mut answer, &world);
        assert!(answer.notes.is_empty());
    }
}
