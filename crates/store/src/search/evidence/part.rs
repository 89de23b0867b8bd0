//! Cuts a text to the sentences or lines that match best. A pure function.

use std::collections::BTreeSet;

use crate::search::matches::QueryTerms;
use crate::search::rated_lines::RatedLines;
use crate::text::{sentences, tokens};

/// Tokens of the two marks where a text is cut, with their spaces or line ends.
const MARKS: usize = 4;

/// Least tokens of a part: as much text as marks.
pub(super) const LEAST: usize = 2 * MARKS;

/// Returns the consecutive sentences or lines within `room` tokens that have most of the wanted words, with a mark where
/// others are left out. If several have as many, the first that begins with a sentence or after a blank line is
/// returned. A longer sentence is cut to the words that there is room for.
pub(super) fn best(text: &str, wanted: &QueryTerms, room: usize) -> String {
    let body = text.len() - without_headings(text).len();
    let begins = sentences::begins(text).into_iter().filter(|at| *at > body);
    let neat: BTreeSet<usize> = begins.chain([body]).collect();
    let mut places = neat.clone();
    let lines = text.match_indices('\n').map(|(at, _)| at + 1);
    places.extend(lines.filter(|at| *at > body));
    places.insert(text.len());
    let rated = RatedLines::new(text, false, &wanted.find(text), wanted);
    let mut best = (None, 0..0);
    for start in places.iter().copied().filter(|start| !text[*start..].trim().is_empty()) {
        let Some((fitting, _)) = tokens::page(text, start, room.saturating_sub(MARKS)) else {
            continue;
        };
        let most = start + fitting.len();
        let whole = places.range(start + 1..=most).next_back().copied();
        let end = whole
            .or_else(|| text[..most].rfind(char::is_whitespace).filter(|at| *at > start))
            .unwrap_or(most);
        // A sentence that is cut counts half.
        let worth = rated.within(&(start..end)) / if whole.is_some() { 1 } else { 2 };
        let is_neat = neat.contains(&start) || text[..start].ends_with("\n\n");
        if Some((worth, is_neat)) > best.0 {
            best = (Some((worth, is_neat)), start..end);
        }
    }
    let (_, bytes) = best;
    let before = match &text[..bytes.start] {
        _ if bytes.start == body => "",
        lines if lines.ends_with('\n') => "…\n",
        _ => "… ",
    };
    let is_whole = text[bytes.end..].trim().is_empty();
    let kept = &text[bytes];
    let after = match kept {
        _ if is_whole => "",
        lines if lines.ends_with('\n') => "\n…",
        _ => " …",
    };
    format!("{before}{}{after}", kept.trim_end())
}

/// Returns a text without the headings that begin it, which are in its citation.
fn without_headings(text: &str) -> &str {
    let Some((line, rest)) = text.split_once("\n\n") else { return text };
    let is_heading = line.starts_with('#') && !line.contains('\n');
    if is_heading && !rest.trim().is_empty() { without_headings(rest) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, query: &str, room: usize, expected: &str) {
        let found = best(text, &QueryTerms::new(query), room);
        assert_eq!(found, expected);
        assert!(tokens::estimate(&found) <= room, "{room}");
    }

    const TIDES: &str = "It rains often here. The tide turns at noon. Boats wait for it. At night \
                         the tide is low, and no boat sails.";

    #[test]
    fn the_sentences_with_most_of_the_words_stay() {
        check(TIDES, "tide noon", 13, "… The tide turns at noon. …");
        check(TIDES, "tide noon boats", 19, "… The tide turns at noon. Boats wait for it. …");
        check(TIDES, "night", 20, "… At night the tide is low, and no boat sails.");
        // The first ones if none has a word, and if all have as many.
        check(TIDES, "snow", 11, "It rains often here. …");
        check("Tide one. Tide two. Tide three.", "tide", 9, "Tide one. …");
    }

    #[test]
    fn a_heading_that_begins_the_text_goes_first() {
        let text = "# Tide at noon\n\n## Tide\n\nIt rains.\n\n# Tide\nBoats wait for the tide.";
        check(text, "tide noon", 10, "…\nBoats wait for the tide.");
        check(text, "rain", 10, "It rains.\n\n# Tide\n…");
        check("# Tide\n\n", "tide", 10, "# Tide");
    }

    #[test]
    fn lines_of_code_stay_whole() {
        let code = "fn high() -> u32 {\n    12\n}\n\nfn low() -> u32 {\n    6\n}\n";
        check(code, "low", 21, "…\nfn low() -> u32 {\n    6\n}");
        check(code, "high", 18, "fn high() -> u32 {\n    12\n}\n…");
    }

    #[test]
    fn of_a_long_sentence_there_are_as_many_words_as_fit() {
        let long = "word ".repeat(50) + "end";
        check(&long, "word", 12, "word word word word word word word …");
        check(&"潮位，".repeat(40), "潮位", 12, "潮位，潮位，潮位，潮位 …");
        assert_eq!(best("", &QueryTerms::default(), 9), "");
    }
}
