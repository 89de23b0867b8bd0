//! Looks up where the terms of a query occur: in passages, as exact terms, and in the names of documents.

use crate::Occurrence;
use crate::error::Result;
use crate::search::keyword::{Found, Keywords};
use crate::search::weights::ratio;
use crate::search::{Query, Searchable};
use crate::text::exact;

/// Reads the statistics of the wanted terms; no keywords if none of them occurs. A term counts by the share of the
/// phrasings that have it, which gives every chunk the average of its BM25 scores. Also returns the places of each
/// phrasing's terms.
pub(super) fn look_up(
    store: &impl Searchable,
    phrasings: &[Query],
) -> Result<(Option<Keywords>, Vec<Vec<usize>>)> {
    let mut names: Vec<String> = Vec::new();
    let mut places: Vec<Found> = Vec::new();
    let mut of_phrasings: Vec<Vec<usize>> = Vec::new();
    for query in phrasings {
        let mut own = Vec::new();
        let mut add = |name: String, read: &dyn Fn() -> Result<Option<Found>>| -> Result<()> {
            let is_same = |known: &String| known.eq_ignore_ascii_case(&name);
            let place = match names.iter().position(is_same) {
                Some(place) => place,
                None => {
                    let Some(found) = read()? else { return Ok(()) };
                    places.push(found);
                    names.push(name);
                    names.len() - 1
                }
            };
            if !own.contains(&place) {
                own.push(place);
            }
            Ok(())
        };
        let of = |word: &str, occurrences: Vec<Occurrence>| -> Result<Option<Found>> {
            Ok(Some(Found { occurrences, named: store.named_chunks(word)?, is_meant: false }))
        };
        let if_any = |word: &str, occurrences: Vec<Occurrence>| match occurrences.is_empty() {
            true => Ok(None),
            false => of(word, occurrences),
        };
        // First, because the words of a quoted `2.30.2` are not those of `v2.30.2`.
        for term in &query.exact {
            let shown = exact::shown(term);
            let is_meant = is_meant(&shown, &query.passage);
            add(shown.clone(), &|| {
                let found = if_any(&shown, store.exact_occurrences(term)?)?;
                Ok(found.map(|found| Found { is_meant, ..found }))
            })?;
        }
        for word in &query.wanted {
            add(word.clone(), &|| of(word, store.occurrences(word)?))?;
        }
        for prefix in query.prefixes.iter().map(|prefix| format!("{prefix}*")) {
            let occurrences = || store.occurrences_of_prefix(prefix.trim_end_matches('*'));
            add(prefix.clone(), &|| of(&prefix, occurrences()?))?;
        }
        for word in &query.joined {
            add(word.clone(), &|| if_any(word, store.occurrences(word)?))?;
        }
        of_phrasings.push(own);
    }
    if places.iter().all(|found| found.occurrences.is_empty() && found.named.is_empty()) {
        return Ok((None, of_phrasings));
    }
    let has = |place: usize| of_phrasings.iter().filter(move |own| own.contains(&place)).count();
    let shares: Vec<f64> =
        (0..names.len()).map(|place| ratio(has(place), phrasings.len())).collect();
    let keywords = Keywords::new(names, &places, &shares, store.chunk_sizes()?);
    Ok((Some(keywords), of_phrasings))
}

/// Longer queries are sentences, in which "closing sys.stdout" or "a file.txt" does not ask for the term to the letter.
const MAX_WORDS: usize = 4;

/// Whether a query asks for an exact term: in a few words, or in any if it is an option or a version.
fn is_meant(term: &str, query: &str) -> bool {
    let is_version = |term: &str| {
        let mut parts = term.split('.');
        parts.clone().count() > 2
            && parts.all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()))
    };
    query.split_whitespace().count() <= MAX_WORDS || term.starts_with("--") || is_version(term)
}

#[cfg(test)]
mod tests {
    #[test]
    fn in_a_sentence_only_options_and_versions_are_meant() {
        for (term, query, expected) in [
            ("sys.stdout", "closing sys.stdout", true),
            ("sys.stdout", "why does closing sys.stdout not really close it", false),
            ("--no-verify", "what does git commit do with --no-verify", true),
            ("2.30.2", "what was fixed in git 2.30.2 by the maintainers", true),
            ("4.3", "what is incompatible between bash 4.3 and before", false),
        ] {
            assert_eq!(super::is_meant(term, query), expected, "{term}");
        }
    }
}
