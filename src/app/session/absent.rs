//! Reports why an answer is empty or incomplete, and what a filter means. The reasons: there are no documents or no
//! vectors, no document meets a part of the filter, or no passage has a phrase.

use crate::app::{Observer, Session};
use crate::document::{Filter, NumberedPath};
use crate::error::{Error, Result};
use crate::search::{
    CompletedWord, LegSelection, NoBasis, SearchAnswer, Searchable, UnmetPhrasing,
};
use crate::text::paths;
use crate::wording::{Wording, kb, wording};

/// Returns what every command that needs documents reports if there are none.
pub fn no_documents() -> Wording {
    let add = kb("add").arg("DIRECTORY");
    wording!("Nothing has been added yet. `{}` adds documents.", add)
}

/// Whether there are no documents.
pub fn is_empty(session: &Session) -> Result<bool> {
    session.read_with_retry(|| match session.open_existing()? {
        Some(store) => Ok(!store.has_document(&Filter::default())?),
        None => Ok(true),
    })
}

/// Returns the error of a command that can do nothing without documents; `otherwise` says what else helps.
pub fn nothing_added(otherwise: &str) -> Error {
    let hint = wording!("`{}` adds documents{}", kb("add").arg("DIRECTORY"), otherwise);
    Error::usage("nothing has been added yet").with_hint(hint)
}

/// Reported where documents are added or searched without a model.
pub(crate) const WORDS_ONLY: &str =
    "until there are vectors, documents are found by keyword only, not by meaning";

/// Returns the note that documents are found by their words, with the command that changes it.
pub(crate) fn words_only() -> Wording {
    wording!("{}: ", WORDS_ONLY).then(adds_vectors())
}

/// Returns the note on a search of vectors whose model is missing.
pub(crate) fn not_installed() -> Wording {
    wording!(
        "the model is not installed on this machine, so the search used keywords only: `{}` \
         fetches it",
        kb("init")
    )
}

/// Returns the command that adds vectors.
pub(crate) fn adds_vectors() -> Wording {
    wording!("`{}` fetches the model and adds vectors", kb("init"))
}

/// Reports that there was no model for a search by both; refuses one by meaning alone.
pub(crate) fn meanings(legs: LegSelection, observer: &dyn Observer) -> Result<()> {
    if legs == LegSelection::Vector {
        return Err(Error::usage("the documents have no vectors yet").with_hint(adds_vectors()));
    }
    observer.note(words_only());
    Ok(())
}

/// Reports the meaning of the relative dates of a filter.
pub(crate) fn dates(filter: &Filter, observer: &dyn Observer) {
    filter.date_notes.iter().for_each(|note| observer.note(note));
}

/// Reports why no document passes a filter, and returns the reason; `None` if some pass.
pub(crate) fn explain(
    store: &impl Searchable,
    filter: &Filter,
    observer: &dyn Observer,
) -> Result<Option<NoBasis>> {
    if store.has_document(filter)? {
        return Ok(None);
    }
    if !store.has_document(&Filter::default())? {
        observer.info(no_documents());
        return Ok(Some(NoBasis::Nothing));
    }
    note(store, filter, observer)?;
    Ok(Some(NoBasis::Filter))
}

/// Reports the parts of a filter that no document meets; if each is met by some, that none meets all; if there are no
/// documents, only that.
pub(crate) fn note(
    store: &impl Searchable,
    filter: &Filter,
    observer: &dyn Observer,
) -> Result<()> {
    if !store.has_document(&Filter::default())? {
        observer.info(no_documents());
        return Ok(());
    }
    let mut is_explained = false;
    for (part, lack) in parts(filter) {
        if !store.has_document(&part)? {
            observer.note(lack);
            is_explained = true;
        }
    }
    if !is_explained && !filter.is_empty() {
        observer.note("no document passes all filters together");
    }
    Ok(())
}

/// Returns each part of a filter as a filter, with the note if no document passes it.
fn parts(filter: &Filter) -> Vec<(Filter, String)> {
    let of = Filter::default;
    let Filter { kind, language, .. } = *filter;
    let Filter { excluded_tags, since, until, added_since, .. } = filter.clone();
    let mut parts = Vec::new();
    for path in &filter.paths {
        let lack = format!("there is no document at or below {}", paths::path_of(path).display());
        parts.push((Filter { paths: vec![path.clone()], ..of() }, lack));
    }
    for numbered in &filter.numbered {
        let NumberedPath { id, path } = numbered;
        let path = paths::path_of(path).display().to_string();
        let lack = format!("there is no document {id}, and none at or below {path}");
        parts.push((Filter { numbered: vec![numbered.clone()], ..of() }, lack));
    }
    for tag in &filter.tags {
        let lack = format!("no document has the tag `{tag}`");
        parts.push((Filter { tags: vec![tag.clone()], ..of() }, lack));
    }
    if let Some(word) = kind {
        parts.push((Filter { kind, ..of() }, format!("no document has the type `{word}`")));
    }
    if let Some(word) = language {
        let lack = format!("no document is source code in `{}`", word.as_str());
        parts.push((Filter { language, ..of() }, lack));
    }
    if !excluded_tags.is_empty() {
        let lack = format!("every document has one of the tags `{}`", excluded_tags.join("`, `"));
        parts.push((Filter { excluded_tags, ..of() }, lack));
    }
    if let Some(day) = &since {
        let lack = format!("no document has the date {day} or a later one");
        parts.push((Filter { since, ..of() }, lack));
    }
    if let Some(day) = &until {
        let lack = format!("no document has the date {day} or an earlier one");
        parts.push((Filter { until, ..of() }, lack));
    }
    if let Some(day) = &added_since {
        let lack = format!("no document was added on {day} or later");
        parts.push((Filter { added_since, ..of() }, lack));
    }
    parts
}

/// Reports the phrases in quotes and the words that no passage has. Returns the notes, which come before all others: they
/// say what the results are.
pub(crate) fn phrases(answer: &SearchAnswer, observer: &dyn Observer) -> Vec<String> {
    let notes = notes_on(answer);
    notes.iter().for_each(|note| observer.note(note));
    notes
}

/// Returns the notes on the phrases in quotes and the words that no passage has.
pub(crate) fn notes_on(answer: &SearchAnswer) -> Vec<String> {
    let notes = answer.unmet.iter().map(|unmet| phrase(unmet, answer.is_without_quotes()));
    notes.chain(answer.completed.iter().map(completed)).collect()
}

/// Returns the note on a phrasing that no passage meets. If the results are those without its quotes, they need not be
/// asked for.
pub(crate) fn phrase(unmet: &UnmetPhrasing, is_without_quotes: bool) -> String {
    let missing = unmet.missing();
    let (passage, and) = if unmet.nowhere.is_empty() {
        ("no searched passage", " and ")
    } else {
        ("no passage", " or ")
    };
    let quoted: Vec<String> = missing.iter().map(|phrase| format!("\"{phrase}\"")).collect();
    let quoted = quoted.join(and);
    if is_without_quotes {
        return format!("{passage} has {quoted}; the results are those without quotes");
    }
    format!("{passage} has {quoted}; without quotes: {}", unmet.without_quotes(missing))
}

/// The limits of a search in a database or a copy that an older kb made.
pub(crate) const OLDER: &str = "tags, other forms of words and words similar to mistyped ones are \
    not searched";

/// Returns the note on a word that no passage has.
pub(crate) fn completed(CompletedWord { typed, words }: &CompletedWord) -> String {
    format!("no passage has \"{typed}\"; searched instead: {}", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::session::observer::NoteKeeper;
    use crate::app::testing::World;

    #[test]
    fn an_empty_answer_is_explained_by_what_no_document_has() {
        let world = World::new();
        let filter = |path: Option<&str>, tags: &[&str]| Filter {
            paths: path.iter().map(|path| world.path(path).display().to_string()).collect(),
            tags: tags.iter().map(|&tag| tag.to_owned()).collect(),
            ..Filter::default()
        };
        let found = explain(&world.store(), &filter(Some("docs"), &[]), &world).unwrap();
        assert_eq!(found, Some(NoBasis::Nothing));
        assert!(world.heard(&no_documents().to_string()));
        let id = world.add_named("docs/a.md", "ebb");
        world.store().add_tags(id, &["tide".into()]).unwrap();
        for (path, tags, expected) in [
            (None, &[][..], ""),
            (Some("docs"), &["tide"], ""),
            (Some("notes"), &["tide"], "notes"),
            (Some("docs"), &["tide", "moon"], "no document has the tag `moon`"),
        ] {
            let found = explain(&world.store(), &filter(path, tags), &world).unwrap();
            assert_eq!(found, (!expected.is_empty()).then_some(NoBasis::Filter));
            assert_eq!(world.heard(expected), !expected.is_empty(), "{path:?} {tags:?}");
        }
    }

    #[test]
    fn every_part_of_a_filter_is_named_that_no_document_meets() {
        let world = World::new();
        let id = world.add_named("docs/a.md", "ebb");
        world.store().add_tags(id, &["tide".into()]).unwrap();
        let (day, none) = (|day: &str| Some(day.to_owned()), Filter::default);
        for (filter, expected) in [
            (Filter { kind: "pdf".parse().ok(), ..none() }, "has the type `pdf`"),
            (Filter { language: "rust".parse().ok(), ..none() }, "is source code in `rust`"),
            (
                Filter { since: day("9031"), ..none() },
                "no document has the date 9031 or a later one",
            ),
            (
                Filter { until: day("1031"), ..none() },
                "no document has the date 1031 or an earlier one",
            ),
            (Filter { added_since: day("9031-02"), ..none() }, "was added on 9031-02 or later"),
            (Filter { excluded_tags: vec!["tide".into()], ..none() }, "one of the tags `tide`"),
        ] {
            explain(&world.store(), &filter, &world).unwrap();
            assert!(world.heard(expected) && !world.heard("all filters together"), "{expected}");
        }
        let other = world.add_named("docs/b.md", "flow");
        world.store().add_tags(other, &["moon".into()]).unwrap();
        let filter = Filter { tags: vec!["tide".into(), "moon".into()], ..none() };
        explain(&world.store(), &filter, &world).unwrap();
        assert!(world.heard("no document passes all filters together"));
    }

    #[test]
    fn phrases_are_named_with_the_query_without_their_quotes() {
        let check = |typed: &str, phrases: &[&str], nowhere: &[&str], expected: &str| {
            let owned =
                |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
            let (phrases, nowhere) = (owned(phrases), owned(nowhere));
            let unmet = vec![UnmetPhrasing { typed: typed.to_owned(), phrases, nowhere }];
            let answer = SearchAnswer { unmet, ..SearchAnswer::empty(&[]) };
            let world = World::new();
            let notes = NoteKeeper::new(&world);
            (&notes as &dyn Observer).note("an earlier note");
            let first = super::phrases(&answer, &notes);
            assert_eq!(notes.kept(first), [expected, "an earlier note"]);
            assert!(world.heard(&format!("note: {expected}")));
            let answer = SearchAnswer { is_unmet: true, ..answer };
            let (missing, _) = expected.split_once(';').unwrap();
            let plain = format!("{missing}; the results are those without quotes");
            assert_eq!(super::phrases(&answer, &world), [plain]);
        };
        check(r#""a b" c"#, &["a b"], &["a b"], r#"no passage has "a b"; without quotes: a b c"#);
        let expected = r#"no passage has "a" or " b "; without quotes: a  b  "c" -"d""#;
        check(r#""a" " b " "c" -"d""#, &["a", " b ", "c"], &["a", " b "], expected);
        let expected = r#"no searched passage has "a" and "b"; without quotes: a b"#;
        check(r#""a" "b""#, &["a", "b"], &[], expected);
    }

    #[test]
    fn an_answer_without_missing_phrases_has_no_note_on_them() {
        let world = World::new();
        let notes = NoteKeeper::new(&world);
        super::phrases(&SearchAnswer::empty(&[]), &notes);
        assert!(notes.kept(Vec::new()).is_empty());
    }
}
