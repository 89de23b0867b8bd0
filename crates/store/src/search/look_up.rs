//! Looks up where the terms of a query occur: in passages, as exact terms, and in the names of documents.

use crate::error::Result;
use crate::ids::ChunkId;
use crate::search::calendar_day::QueryDays;
use crate::search::keyword::Keywords;
use crate::search::locator::FileLocator;
use crate::search::parse::CompoundWord;
use crate::search::term::{TermMatches, Totals};
use crate::search::weights::ratio;
use crate::search::{Query, Searchable, TermStatistics, places};
use crate::text::{exact, scripts};
use crate::{ChunkSizes, Occurrence};

/// Reads the statistics of the wanted terms; no keywords if none of them occurs. A term counts by the share of the
/// phrasings that have it, which gives every chunk the average of its BM25 scores. The second value has the places of
/// each phrasing's terms. `elsewhere` has the statistics of the terms in the other knowledge bases that are searched. A
/// word that none has is completed by near words of `passing`, the chunks that pass the filter, if there is one.
pub(super) fn look_up(
    store: &impl Searchable,
    phrasings: &[Query],
    elsewhere: &TermStatistics,
    passing: Option<&[ChunkId]>,
) -> Result<(Option<Keywords>, Vec<Vec<usize>>)> {
    let mut terms = LookedUpTerms {
        store,
        elsewhere,
        passing,
        names: Vec::new(),
        found: Vec::new(),
        missing_whole: None,
    };
    let mut of_phrasings: Vec<Vec<usize>> = Vec::new();
    let sizes = store.chunk_sizes()?;
    for query in phrasings {
        let mut own = Vec::new();
        for place in terms.of_query(query, &sizes)? {
            if !own.contains(&place) {
                own.push(place);
            }
        }
        of_phrasings.push(own);
    }
    let LookedUpTerms { names, found, missing_whole, .. } = terms;
    if found.iter().all(TermMatches::is_nowhere) {
        return Ok((None, of_phrasings));
    }
    let shares = (0..names.len()).map(|place| {
        let num_having = of_phrasings.iter().filter(|own| own.contains(&place)).count();
        ratio(num_having, phrasings.len())
    });
    let shares: Vec<f64> = shares.collect();
    let mut keywords = Keywords::new(names, &found, &shares, Totals::of(&sizes, elsewhere), sizes);
    keywords.missing_whole = missing_whole;
    Ok((Some(keywords), of_phrasings))
}

/// Counts the terms of the phrasings of a query in one knowledge base.
///
/// # Errors
///
/// [`crate::error::Error::Store`] if it cannot be read.
pub fn term_statistics(store: &impl Searchable, phrasings: &[Query]) -> Result<TermStatistics> {
    let alone = TermStatistics::default();
    let (keywords, _) = look_up(store, phrasings, &alone, None)?;
    let num_with = keywords.iter().flat_map(Keywords::counts).collect();
    let totals = Totals::of(&store.chunk_sizes()?, &alone);
    Ok(TermStatistics::new(totals.num_chunks, num_with))
}

/// The terms of all phrasings, each once.
struct LookedUpTerms<'a, S> {
    store: &'a S,
    elsewhere: &'a TermStatistics,
    passing: Option<&'a [ChunkId]>,
    names: Vec<String>,
    found: Vec<TermMatches>,
    /// The first word of several parts that no passage has as a whole.
    missing_whole: Option<String>,
}

impl<S: Searchable> LookedUpTerms<'_, S> {
    /// Adds the terms of a query, and returns their places.
    fn of_query(&mut self, query: &Query, sizes: &ChunkSizes) -> Result<Vec<usize>> {
        let store = self.store;
        let mut own = Vec::new();
        if let Some(file) = FileLocator::of(&query.passage) {
            let named = places::chunks_at(store, &file, sizes)?;
            let found = TermMatches { named, is_place: true, ..TermMatches::default() };
            own.extend(self.add_place(format!("file:{}", file.shown()), found));
        }
        let QueryDays { days, is_all } = QueryDays::of(&query.passage);
        for day in days {
            let named = places::chunks_of_day(store, day, sizes)?;
            // A document of that day comes before those that mention it.
            let occurrences =
                if named.is_empty() { places::occurrences_of_day(store, day)? } else { Vec::new() };
            let found =
                TermMatches { named, occurrences, is_place: is_all, ..TermMatches::default() };
            own.extend(self.add_place(format!("date:{}", day.shown()), found));
        }
        // Exact terms come before words, because the words of a quoted `2.30.2` are not those of `v2.30.2`.
        for term in &query.exact {
            let shown = exact::shown(term);
            let is_meant = is_meant(&shown, &query.passage);
            let place = self.add_if_any(&shown, || store.exact_occurrences(term))?;
            if let Some(place) = place {
                self.found[place].is_meant |= is_meant;
            }
            own.extend(place);
        }
        for word in &query.wanted {
            let place = self.add(word, || store.occurrences(word))?;
            // A line end may be between the words of a phrase, and letters of scripts without spaces are in longer words.
            let is_word = !word.contains(|c: char| c.is_whitespace() || scripts::is_unspaced(c));
            self.found[place].typed = is_word.then(|| word.clone());
            own.push(place);
        }
        for prefix in &query.prefixes {
            own.push(self.add(&format!("{prefix}*"), || store.occurrences_of_prefix(prefix))?);
        }
        for spelling in &query.spellings {
            own.extend(self.add_if_any(spelling, || store.occurrences(spelling))?);
        }
        // Joined words come after single ones, which are their parts.
        for joined in &query.joined {
            if let Some(place) = self.add_if_any(joined, || store.occurrences(joined))? {
                let found = &self.found[place];
                if found.parts.is_empty() && !own.contains(&place) {
                    let parts = own
                        .iter()
                        .copied()
                        .filter(|part| joined.contains(&self.names[*part].to_lowercase()));
                    self.found[place].parts = parts.collect();
                    self.found[place].is_joined = true;
                }
                own.push(place);
            }
        }
        for whole in &query.wholes {
            match self.add_whole(whole)? {
                Some(place) => own.push(place),
                None => _ = self.missing_whole.get_or_insert_with(|| whole.typed.clone()),
            }
        }
        // Completing is the last resort, for a word that no passage of any knowledge base has.
        for word in query.completable() {
            if self.index_of(word).is_some_and(|place| self.found[place].is_nowhere()) {
                own.extend(self.complete(word)?);
            }
        }
        Ok(own)
    }

    /// Adds the words nearest to one that does not occur; returns their places.
    fn complete(&mut self, word: &str) -> Result<Vec<usize>> {
        let num_letters = word.chars().count();
        let most_wrong = if num_letters >= LETTERS_FOR_TWO { 2 } else { 1 };
        let near = self.store.near_words(word, most_wrong)?;
        let least = near.first().map(|near| near.distance);
        let mut own = Vec::new();
        for near in near.iter().filter(|near| Some(near.distance) == least).take(MAX_COMPARED) {
            if own.len() == MAX_COMPLETIONS || self.index_of(&near.word).is_some() {
                break;
            }
            let mut occurrences = self.store.occurrences(&near.word)?;
            if let Some(passing) = self.passing
                && !occurrences.iter().any(|found| passing.binary_search(&found.chunk_id).is_ok())
            {
                occurrences.clear();
            }
            if !occurrences.is_empty() {
                let place = self.add(&near.word, || Ok(occurrences))?;
                self.found[place].completes = Some(word.to_owned());
                own.push(place);
            }
        }
        Ok(own)
    }

    /// Adds a whole, which is an exact term, a word in camel case, a number, or else a phrase of its parts; `None` if it does
    /// not occur. The groups of a number that occurs are not looked for.
    fn add_whole(&mut self, whole: &CompoundWord) -> Result<Option<usize>> {
        let exact = exact::term(&whole.typed).and_then(|term| self.index_of(&exact::shown(&term)));
        let indexed = &whole.indexed;
        let place = match exact {
            Some(place) => Some(place),
            None => self.add_if_any(indexed, || self.store.occurrences(indexed))?,
        };
        if let Some(place) = place {
            let parts = whole.parts.iter().filter_map(|part| self.index_of(part));
            let parts: Vec<usize> = parts.filter(|part| *part != place).collect();
            for part in parts.iter().filter(|_| whole.is_number) {
                self.found[*part] = TermMatches::default();
            }
            self.found[place].parts = parts;
            self.found[place].is_joined = false;
            self.found[place].typed = Some(whole.typed.clone());
        }
        Ok(place)
    }

    /// Adds a file or a day, if there is any chunk of it.
    fn add_place(&mut self, name: String, found: TermMatches) -> Option<usize> {
        let num_elsewhere = self.elsewhere.num_with(&name);
        if found.is_nowhere() && num_elsewhere == 0 {
            return None;
        }
        self.index_of(&name).or_else(|| {
            self.names.push(name);
            self.found.push(TermMatches { num_elsewhere, is_meant: true, ..found });
            Some(self.names.len() - 1)
        })
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known.eq_ignore_ascii_case(name))
    }

    /// Adds a term, and returns its place.
    fn add(&mut self, name: &str, read: impl FnOnce() -> Result<Vec<Occurrence>>) -> Result<usize> {
        if let Some(place) = self.index_of(name) {
            return Ok(place);
        }
        let (occurrences, named) = (read()?, self.store.named_chunks(name)?);
        let num_elsewhere = self.elsewhere.num_with(name);
        self.names.push(name.to_owned());
        self.found.push(TermMatches {
            occurrences,
            named,
            num_elsewhere,
            ..TermMatches::default()
        });
        Ok(self.names.len() - 1)
    }

    /// Adds a term if it occurs in a passage, here or elsewhere.
    fn add_if_any(
        &mut self,
        name: &str,
        read: impl FnOnce() -> Result<Vec<Occurrence>>,
    ) -> Result<Option<usize>> {
        if let Some(place) = self.index_of(name) {
            return Ok(Some(place));
        }
        let occurrences = read()?;
        if occurrences.is_empty() && self.elsewhere.num_with(name) == 0 {
            return Ok(None);
        }
        self.add(name, || Ok(occurrences)).map(Some)
    }
}

/// From this length on, two letters of a word may be wrong; words near a shorter one mean something else.
const LETTERS_FOR_TWO: usize = 8;

/// Number of words that complete one that does not occur. Each is looked up, and named in a note.
const MAX_COMPLETIONS: usize = 3;

/// Number of near words whose passages are compared with a filter. Each costs a look-up; the nearest come first.
const MAX_COMPARED: usize = 20;

/// Longer queries are sentences, in which "closing sys.stdout" or "a file.txt" does not ask for the term to the letter.
const MAX_WORDS: usize = 4;

/// Whether a query asks for an exact term: in a few words, or in any if it is an option or a version.
fn is_meant(term: &str, query: &str) -> bool {
    query.split_whitespace().count() <= MAX_WORDS || term.starts_with("--") || is_version(term)
}

/// Whether a term has more than two numbers with dots between them.
fn is_version(term: &str) -> bool {
    let mut parts = term.split('.');
    parts.clone().count() > 2
        && parts.all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::parse::parse;
    use crate::testing::TestDb;

    #[test]
    fn terms_are_counted_in_each_knowledge_base_and_added() {
        let mut db = TestDb::new();
        db.add("/a.md", &["Oil for the pump", "the pumps", "git-lfs"], &[]);
        let query = [parse("pump oil git-lfs absent").unwrap()];
        let one = term_statistics(&db.store, &query).unwrap();
        let counts = |all: &TermStatistics| {
            ["pump", "oil", "GIT LFS", "absent"].map(|term| all.num_with(term))
        };
        assert_eq!((one.num_chunks(), counts(&one)), (3, [2, 1, 1, 0]));
        let mut both = one.clone();
        both.add(&one);
        assert_eq!((both.num_chunks(), counts(&both)), (6, [4, 2, 2, 0]));
        let none = term_statistics(&db.store, &[parse("absent").unwrap()]).unwrap();
        assert_eq!((none.num_chunks(), counts(&none)), (3, [0; 4]));
    }

    #[test]
    fn the_groups_of_a_number_that_occurs_are_no_terms() {
        let mut db = TestDb::new();
        db.add("/00.md", &["DE89370400440532013000", "0532 and 00", "00 00"], &[]);
        let found = |typed: &str| {
            let query = [parse(typed).unwrap()];
            let (keywords, _) =
                look_up(&db.store, &query, &TermStatistics::default(), None).unwrap();
            let ranked = keywords.unwrap().rank(None, 9);
            ranked.iter().map(|hit| hit.chunk_id.0).collect::<Vec<_>>()
        };
        assert_eq!(found("DE89 3704 0044 0532 0130 00"), [1]);
        assert_eq!(found("DE88 3704 0044 0532 0130 00")[0], 2);
    }

    #[test]
    fn only_words_are_compared_as_they_were_typed() {
        let mut db = TestDb::new();
        db.add("/a.md", &["the tide gauges of 水族館, git lfs, tide\ngauges"], &[]);
        let query = [parse("\"tide gauge\" gauges 水族館 git-lfs").unwrap()];
        let mut terms = LookedUpTerms {
            store: &db.store,
            elsewhere: &TermStatistics::default(),
            passing: None,
            names: Vec::new(),
            missing_whole: None,
            found: Vec::new(),
        };
        terms.of_query(&query[0], &db.store.chunk_sizes().unwrap()).unwrap();
        let typed: Vec<&str> =
            terms.found.iter().filter_map(|found| found.typed.as_deref()).collect();
        assert_eq!(typed, ["gauges", "git", "lfs", "git-lfs"]);
    }

    #[test]
    fn a_word_that_no_passage_has_is_completed_by_the_nearest() {
        let mut db = TestDb::new();
        db.add("/a.md", &["isolation", "the isolation of pruned trees", "prunes"], &[]);
        db.add("/restore.md", &["other words"], &[]);
        let check = |typed: &str, passing: Option<&[ChunkId]>, expected: &[(&str, &[&str])]| {
            let query = [parse(typed).unwrap()];
            let (keywords, _) =
                look_up(&db.store, &query, &TermStatistics::default(), passing).unwrap();
            let found = keywords.map(|keywords| keywords.completed()).unwrap_or_default();
            let found: Vec<(&str, Vec<&str>)> = found
                .iter()
                .map(|done| (done.typed.as_str(), done.words.iter().map(String::as_str).collect()))
                .collect();
            let expected: Vec<(&str, Vec<&str>)> =
                expected.iter().map(|(typed, words)| (*typed, words.to_vec())).collect();
            assert_eq!(found, expected, "{typed}");
        };
        check("isolaton trees", None, &[("isolaton", &["isolation"])]);
        check("prunez", None, &[("prunez", &["pruned", "prunes"])]);
        check("isolaton", Some(&[ChunkId(1)]), &[("isolaton", &["isolation"])]);
        check("isolaton", Some(&[ChunkId(3)]), &[]);
        // It occurs, also as a name or by its stem; it is quoted, excluded, short, or no word.
        for typed in [
            "isolation", "restore", "isolating", "\"isolaton\"", "trees -isolaton", "tree5x",
            "trez", "--isolaton", "isolaton.rs", "isolaton*", "elsewhere",
        ] {
            check(typed, None, &[]);
        }
    }

    #[test]
    fn in_a_sentence_only_options_and_versions_are_meant() {
        for (term, query, expected) in [
            ("sys.stdout", "closing sys.stdout", true),
            ("sys.stdout", "why does closing sys.stdout not really close it", false),
            ("--no-verify", "what does git commit do with --no-verify", true),
            ("2.30.2", "what was fixed in git 2.30.2 by the maintainers", true),
            ("4.3", "what is incompatible between bash 4.3 and before", false),
        ] {
            assert_eq!(is_meant(term, query), expected, "{term}");
        }
    }
}
