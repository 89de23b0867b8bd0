//! Finds exact terms in a text: versions, options, paths, names of files and of languages, which
//! punctuation holds together and which an index of words takes apart. Pure.

use std::collections::BTreeSet;

/// Punctuation inside an exact term, in the order of its letters in an index.
const INNER: &str = "._-:/+#@";

/// Characters at which a longer term is divided: `git-2.30.2` also has `2.30.2`, and
/// `src/main.rs:7` also `main.rs`.
const JOINTS: [char; 4] = ['-', '/', ':', '@'];

/// The letter of the first character of [`INNER`] in an index; private letters are in no word.
const FIRST_LETTER: u32 = 0xe100;

/// Longer runs of characters are data.
const MAX_LEN: usize = 64;

/// Returns the exact terms of a text, each as often as it occurs, written for an index: in small
/// letters, with private letters for punctuation, without the `v` of a version.
pub fn terms(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for run in text.split(|c: char| !is_inner(c)).filter(|run| run.len() > 1) {
        let whole = term(run);
        let mut parts: BTreeSet<String> =
            run.split(JOINTS).filter(|part| part.len() < run.len()).filter_map(term).collect();
        parts.extend(run.rsplit_once('/').and_then(|(_, name)| term(name)));
        parts.extend(doi(run).and_then(term));
        if let Some(whole) = whole {
            parts.remove(&whole);
            found.push(whole);
        }
        found.extend(parts);
    }
    found
}

/// Returns the DOI (ISO 26324) in a run that begins otherwise: `doi:10.1038/x`, or the address of its page.
fn doi(run: &str) -> Option<&str> {
    let (at, _) = run.match_indices("10.").find(|(at, _)| run[..*at].ends_with([':', '/']))?;
    Some(&run[at..]).filter(|doi| doi.contains('/'))
}

/// Returns the exact term that a word of a query stands for, if any.
pub fn term(word: &str) -> Option<String> {
    let word = trimmed(word);
    if word.len() > MAX_LEN || !word.chars().all(is_inner) || !word.contains(char::is_alphanumeric)
    {
        return None;
    }
    // Words such as `well-known` and `snake_case` have no exact term: on twelve collections their parts find as much.
    let is_plain = word.chars().all(|c| c.is_alphabetic() || c == '_' || c == '-');
    if is_plain && !word.starts_with("--") {
        return None;
    }
    let word = match word.strip_prefix(['v', 'V']) {
        Some(version) if version.starts_with(|c: char| c.is_ascii_digit()) => version,
        _ => word,
    };
    let encoded: String = word.to_lowercase().chars().map(encoded).collect();
    (encoded != word.to_lowercase()).then_some(encoded)
}

/// Whether the last characters of an exact term are symbols: `C++`, `F#`.
pub fn ends_in_symbol(word: &str) -> bool {
    term(word).is_some_and(|term| !term.ends_with(is_inner))
}

/// Returns a term as people write it.
pub fn shown(term: &str) -> String {
    term.chars().map(decoded).collect()
}

fn is_inner(c: char) -> bool {
    c.is_alphanumeric() || INNER.contains(c)
}

fn encoded(c: char) -> char {
    let place = INNER.chars().position(|inner| inner == c).and_then(|at| u32::try_from(at).ok());
    place.and_then(|place| char::from_u32(FIRST_LETTER + place)).unwrap_or(c)
}

fn decoded(c: char) -> char {
    let place = (c as u32).checked_sub(FIRST_LETTER).and_then(|place| usize::try_from(place).ok());
    place.and_then(|place| INNER.chars().nth(place)).unwrap_or(c)
}

/// Removes punctuation at both ends that is not part of a known kind of name: `--option`, `@name`,
/// `.NET`, `C++`, `C#`.
fn trimmed(run: &str) -> &str {
    let body = run.trim_start_matches(|c: char| !c.is_alphanumeric());
    let before = &run[..run.len() - body.len()];
    let num_kept = match before {
        _ if before.ends_with("--") => 2,
        _ if before.ends_with(['@', '.']) && body.starts_with(char::is_alphabetic) => 1,
        _ => 0,
    };
    let run = &run[before.len() - num_kept..];
    let end = run.trim_end_matches(|c: char| !c.is_alphanumeric());
    let is_letter = end.chars().all(char::is_alphabetic) && end.chars().nth(1).is_none();
    let after = &run[end.len()..];
    let num_kept = match after {
        _ if is_letter && after.starts_with("++") => 2,
        _ if is_letter && after.starts_with('#') => 1,
        _ => 0,
    };
    &run[..end.len() + num_kept]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = terms(text).iter().map(|term| shown(term)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn plain_words_are_no_exact_terms() {
        check("Plain words, and more. A sentence; (nothing) else!", &[]);
        check("", &[]);
        check("... -- :: /// well-known snake_case", &[]);
    }

    #[test]
    fn versions_are_found_in_both_spellings() {
        check("git v2.30.2.", &["2.30.2"]);
        check("git-2.30.2", &["git-2.30.2", "2.30.2"]);
        check("dulwich==0.21.4.1", &["0.21.4.1"]);
        check("V8 vim", &[]);
        assert_eq!(term("v2.30.2"), term("2.30.2"));
        assert!(ends_in_symbol("C++") && ends_in_symbol("F#"));
        assert!(!ends_in_symbol("2.30.2") && !ends_in_symbol("C") && !ends_in_symbol("a++b"));
    }

    #[test]
    fn symbols_at_an_end_count_in_known_kinds_of_names() {
        check("C++, C# and F#; .NET, node.js", &["c++", "c#", "f#", ".net", "node.js"]);
        check("C++20", &["c++20"]);
        check("use `--no-verify` or -k, not x++ y", &["--no-verify", "x++"]);
        check("(@user) a+ b# tag:", &["@user", "b#"]);
    }

    #[test]
    fn paths_have_their_parts() {
        check("src/app/main.rs:7", &["src/app/main.rs:7", "main.rs", "main.rs:7"]);
        check("a::b at 192.168.0.1:80", &["a::b", "192.168.0.1:80", "192.168.0.1"]);
        check("on 2024-03-05, section 4.2.1", &["2024-03-05", "4.2.1"]);
    }

    #[test]
    fn a_doi_is_found_behind_its_prefix() {
        let has = |text: &str| terms(text).contains(&term("10.1038/s41586-020-2649-2").unwrap());
        assert!(has("(doi:10.1038/s41586-020-2649-2)."));
        assert!(has("https://doi.org/10.1038/s41586-020-2649-2"));
        assert!(has("10.1038/s41586-020-2649-2"));
        assert!(!has("x10.1038/s41586-020-2649-2"));
    }

    #[test]
    fn data_has_none() {
        check(&"a.".repeat(40), &[]);
    }

    proptest! {
        #[test]
        fn any_text_has_terms_that_a_query_finds(text in "[a-zA-Z0-9._:/+#@ v-]{0,60}") {
            for found in terms(&text) {
                prop_assert_eq!(term(&shown(&found)), Some(found));
            }
        }
    }
}
