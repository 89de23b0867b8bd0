//! Finds the chunks that a search considers, and decides whether it is answered without its quotes.

use std::borrow::Cow;

use crate::document::Filter;
use crate::error::Result;
use crate::ids::ChunkId;
use crate::search::answer::UnmetPhrasing;
use crate::search::parse::Query;
use crate::search::searchable::Searchable;
use crate::text::forms::{folded, words};
use crate::text::stem::stem;

/// The phrasings that a search answers, and the chunks that it considers.
pub(super) struct SearchScope<'a> {
    /// The phrasings; without their quotes if these leave nothing.
    pub(super) phrasings: Cow<'a, [Query]>,
    /// The chunks to consider, ordered by id; `None` if all pass.
    pub(super) chunks: Option<Vec<ChunkId>>,
    /// The phrasings whose phrases leave nothing of what passes filter and exclusions.
    pub(super) unmet: Vec<UnmetPhrasing>,
    /// Whether these are all phrasings.
    pub(super) is_unmet: bool,
}

/// Returns the chunks that pass filter and exclusions, and have all phrases of at least one phrasing.
///
/// If there are none because of the phrases, the phrasings are answered without their quotes, which programs write where
/// people would not: a page about an error seldom has the name that a message puts in quotes. Who asks for one phrase and
/// nothing else wants that phrase, and gets nothing.
pub(super) fn passing<'a>(
    store: &impl Searchable,
    phrasings: &'a [Query],
    filter: &Filter,
) -> Result<SearchScope<'a>> {
    let all = Cow::Borrowed(phrasings);
    let excluded = phrasings.iter().flat_map(|query| query.excluded.clone()).collect();
    let filter = Filter { excluded, ..filter.clone() };
    let chunks = if filter.is_empty() { None } else { Some(store.passing_chunks(&filter)?) };
    let mut unmet = Vec::new();
    if chunks.as_ref().is_some_and(Vec::is_empty) {
        return Ok(SearchScope { phrasings: all, chunks, unmet, is_unmet: false });
    }
    let (mut with_phrases, mut in_other_forms) = (Vec::new(), Vec::new());
    for query in phrasings.iter().filter(|query| !query.phrases.is_empty()) {
        let (mut own, mut nowhere) = (chunks.clone(), Vec::new());
        for phrase in &query.phrases {
            // A star at the end of a quoted phrase is text, not the mark of a prefix.
            let phrase = phrase.trim_end_matches('*');
            let mut found = store.chunks_with(phrase)?;
            if found.is_empty() {
                found = with_other_forms(store, phrase)?;
                in_other_forms.extend((!found.is_empty()).then(|| phrase.to_owned()));
            }
            if found.is_empty() {
                nowhere.push(phrase.to_owned());
            }
            own = Some(match own {
                None => found,
                Some(own) => own.into_iter().filter(|id| found.binary_search(id).is_ok()).collect(),
            });
        }
        let own = own.unwrap_or_default();
        if own.is_empty() {
            let (typed, phrases) = (query.typed.clone(), query.phrases.clone());
            unmet.push(UnmetPhrasing { typed, phrases, nowhere });
        }
        with_phrases.extend(own);
    }
    // A phrasing without quotes admits every passage, so the phrases of the others exclude none.
    if phrasings.iter().any(|query| query.phrases.is_empty()) {
        return Ok(SearchScope { phrasings: all, chunks, unmet, is_unmet: false });
    }
    let is_unmet = with_phrases.is_empty();
    if is_unmet && !phrasings.iter().all(|query| query.is_one_phrase) {
        let plain = phrasings.iter().map(Query::without_quotes).collect::<Result<_>>()?;
        return Ok(SearchScope { phrasings: Cow::Owned(plain), chunks, unmet, is_unmet });
    }
    with_phrases.sort_unstable();
    with_phrases.dedup();
    let all = if in_other_forms.is_empty() {
        all
    } else {
        let in_words = phrasings.iter().map(|query| {
            let phrases = in_other_forms.iter();
            phrases.fold(query.clone(), |query, phrase| query.with_words_of(phrase))
        });
        in_words.collect()
    };
    Ok(SearchScope { phrasings: all, chunks: Some(with_phrases), unmet, is_unmet })
}

/// Number of passages that are compared with a phrase. Their texts are read, which would take long for common words.
const MAX_COMPARED: usize = 1000;

/// Returns the chunks that have a phrase of several words in other forms of these, ordered by id. The indexes know such forms of
/// single words only, so the passages that have all words are compared.
fn with_other_forms(store: &impl Searchable, phrase: &str) -> Result<Vec<ChunkId>> {
    let wanted = stems_of_forms(phrase);
    if wanted.len() < 2 {
        return Ok(Vec::new());
    }
    let mut having: Option<Vec<ChunkId>> = None;
    for word in words(phrase) {
        let found = store.chunks_with(&phrase[word])?;
        having = Some(match having {
            None => found,
            Some(own) => own.into_iter().filter(|id| found.binary_search(id).is_ok()).collect(),
        });
    }
    let mut having = having.unwrap_or_default();
    having.truncate(MAX_COMPARED);
    let passages = store.passages(&having)?;
    having.retain(|id| {
        let stems = passages.get(id).map(|passage| stems_of_forms(passage));
        stems.is_some_and(|stems| stems.windows(wanted.len()).any(|window| window == wanted))
    });
    Ok(having)
}

fn stems_of_forms(text: &str) -> Vec<String> {
    words(text).map(|word| stem(&folded(&text[word]))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Format, Language};
    use crate::search::parse::parse;
    use crate::testing::{TestDb, document};

    /// A database whose chunks have the ids 1 to 5.
    fn db() -> TestDb {
        let mut db = TestDb::new();
        let texts = [
            "Set up Git 2.30.2 here", "up set: git 2.30.20", "Houses of Helsinki", "東京都の水族館",
        ];
        db.add("/a.md", &texts, &[]);
        let mut german = document("/de.md", &["Die Häuser am Hafen"], &[]);
        german.metadata.natural_language = Some("de".into());
        db.put(&german, &["Die Häuser am Hafen"], &[]);
        db
    }

    fn passes(
        db: &TestDb,
        typed: &[&str],
        filter: &Filter,
    ) -> (Option<Vec<i64>>, Vec<UnmetPhrasing>) {
        let phrasings: Vec<Query> = typed.iter().map(|typed| parse(typed).unwrap()).collect();
        let found = passing(&db.store, &phrasings, filter).unwrap();
        (found.chunks.map(|ids| ids.iter().map(|id| id.0).collect()), found.unmet)
    }

    #[track_caller]
    fn check(typed: &[&str], expected: Option<&[i64]>, unmet: &[&str]) {
        let found = passes(&db(), typed, &Filter::default());
        assert_eq!(found.0.as_deref(), expected, "{typed:?}");
        assert_eq!(found.1.iter().map(|one| one.typed.as_str()).collect::<Vec<_>>(), unmet);
    }

    #[test]
    fn without_a_phrase_all_pass() {
        check(&["git \"?!\" 2.30.2"], None, &[]);
    }

    #[test]
    fn a_phrase_is_compared_as_the_keyword_index_does() {
        check(&["fix \"set up\""], Some(&[1]), &[]);
        check(&["\"2.30.2\""], Some(&[1]), &[]);
        check(&["\"HELSINKI\""], Some(&[3]), &[]);
        check(&["\"house of\""], Some(&[3]), &[]);
        check(&["\"Haus am Hafens\""], Some(&[5]), &[]);
        check(&["\"水族\""], Some(&[4]), &[]);
        check(&["\"東京水\""], Some(&[]), &["\"東京水\""]);
        check(&["\"house*\""], Some(&[3]), &[]);
        check(&["\"hel*\""], Some(&[]), &["\"hel*\""]);
    }

    #[test]
    fn a_phrase_may_be_in_other_forms_of_its_words() {
        let mut db = TestDb::new();
        db.add("/a.md", &["an oﬃcial CO₂ sensor of 12 m²", "CO₂ in the sensor"], &[]);
        for (typed, expected) in [
            ("\"CO2 sensors\"", &[1][..]),
            ("\"12 m2\"", &[1]),
            ("\"official CO₂ sensor\"", &[1]),
            ("\"sensor CO2\"", &[]),
        ] {
            let found = passes(&db, &[typed], &Filter::default()).0;
            assert_eq!(found.as_deref(), Some(expected), "{typed}");
        }
    }

    #[test]
    fn a_phrase_may_be_in_the_context() {
        let mut db = TestDb::new();
        db.add("/a.md", &["apples"], &[]);
        let context = db.store.chunks(crate::ids::DocumentId(1)).unwrap()[0].chunk.context.clone();
        let typed = format!("\"{context}\"");
        assert_eq!(passes(&db, &[&typed], &Filter::default()), (Some(vec![1]), vec![]));
    }

    #[test]
    fn all_phrases_must_occur_and_no_exclusion() {
        check(&["\"git\" \"up\""], Some(&[1, 2]), &[]);
        check(&["\"git\" -\"set up\""], Some(&[2]), &[]);
        let typed = "\"set up\" \"up set\" \"no such\"";
        check(&[typed], None, &[typed]);
        let unmet = passes(&db(), &[typed], &Filter::default()).1;
        assert_eq!(unmet[0].phrases, ["set up", "up set", "no such"]);
        assert_eq!(unmet[0].nowhere, ["no such"]);
    }

    #[test]
    fn a_phrase_binds_its_own_phrasing() {
        check(&["\"set up\"", "\"helsinki\" houses"], Some(&[1, 3]), &[]);
        check(&["\"git\"", "\"set up\""], Some(&[1, 2]), &[]);
        check(&["\"set up\"", "houses"], None, &[]);
        check(&["\"no such\"", "houses"], None, &["\"no such\""]);
        check(&["\"no such\"", "\"helsinki\""], Some(&[3]), &["\"no such\""]);
    }

    #[test]
    fn phrases_that_leave_nothing_are_words_but_for_one_phrase_alone() {
        let db = db();
        let check = |typed: &[&str], expected: Option<&[i64]>, is_unmet: bool, is_plain: bool| {
            let phrasings: Vec<Query> = typed.iter().map(|typed| parse(typed).unwrap()).collect();
            let found = passing(&db.store, &phrasings, &Filter::default()).unwrap();
            let chunks = found.chunks.map(|ids| ids.iter().map(|id| id.0).collect::<Vec<_>>());
            assert_eq!((chunks.as_deref(), found.is_unmet), (expected, is_unmet), "{typed:?}");
            let plain: Vec<Query> =
                typed.iter().map(|typed| parse(&typed.replace('"', "")).unwrap()).collect();
            let wanted = |queries: &[Query]| {
                queries.iter().map(|query| query.wanted.clone()).collect::<Vec<_>>()
            };
            let asked = if is_plain { wanted(&plain) } else { wanted(&phrasings) };
            assert_eq!(wanted(&found.phrasings), asked, "{typed:?}");
        };
        check(&["\"no such\" git"], None, true, true);
        check(&["\"no such\" git -helsinki"], Some(&[1, 2, 4, 5]), true, true);
        check(&["\"no such\""], Some(&[]), true, false);
        check(&["\"no such\"", "\"nor this\""], Some(&[]), true, false);
        check(&["\"no such\"", "\"nor this\" git"], None, true, true);
        check(&["\"no such\" git", "\"helsinki\""], Some(&[3]), false, false);
        check(&["\"no such\" git", "git"], None, false, false);
    }

    #[test]
    fn a_filter_holds_for_every_phrasing() {
        let code = Filter { language: Some(Language::Python), ..Filter::default() };
        let mut db = db();
        assert_eq!(passes(&db, &["\"git\""], &code), (Some(vec![]), vec![]));
        let mut python = document("/e.py", &["git"], &[]);
        python.format = Format::Code(Language::Python);
        db.put(&python, &["git"], &[]);
        assert_eq!(passes(&db, &["\"git\"", "houses"], &code), (Some(vec![6]), vec![]));
        let (chunks, unmet) = passes(&db, &["\"set up\""], &code);
        assert_eq!((chunks, unmet[0].nowhere.len()), (Some(vec![]), 0));
    }
}
