//! Says in one clause why an answer has its confidence. Pure.

use crate::search::confidence::{Confidence, ConfidenceGrounds, NoBasis, Signals};

// These bounds choose the words of the reason. They change neither a probability nor a level.

/// From this share of the terms' weight on, a passage has the words of a query.
const WORDS_MATCH: f64 = 0.75;

/// Below this share, it does not.
const WORDS_DIFFER: f64 = 0.4;

/// From this cosine on, a passage means what the query means.
const MEANING_MATCHES: f64 = 0.6;

/// Below this cosine, it does not.
const MEANING_DIFFERS: f64 = 0.4;

/// From these values on, the first passage stands out.
const VECTOR_GAP: f64 = 0.15;
const KEYWORD_GAP: f64 = 0.3;

/// Returns why an answer with these grounds has its confidence.
pub(super) fn of(grounds: &ConfidenceGrounds) -> String {
    let Some(signals) = &grounds.signals else { return "nothing was found".into() };
    if grounds.is_unmet {
        return NoBasis::Unmet.as_str().into();
    }
    if let Some(word) = &grounds.missing {
        return format!("no passage has the word \"{word}\"");
    }
    if grounds.is_stale {
        return "the file of the best passage has changed or is missing".into();
    }
    if signals.keyword.is_some_and(|found| found.is_name && found.is_found) {
        return "one of the first passages has the word".into();
    }
    clause(signals, grounds.level()).into()
}

/// How far the first passage agrees with the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agreement {
    Whole,
    Part,
    None,
}

fn agreement(value: f64, differs_below: f64, matches_from: f64) -> Agreement {
    if value >= matches_from {
        Agreement::Whole
    } else if value >= differs_below {
        Agreement::Part
    } else {
        Agreement::None
    }
}

/// Returns what the signals say.
fn clause(signals: &Signals, level: Confidence) -> &'static str {
    use Agreement::{None as Not, Part, Whole};
    let words = signals.keyword.map(|found| agreement(found.coverage, WORDS_DIFFER, WORDS_MATCH));
    let meaning =
        signals.vector.map(|found| agreement(found.cosine, MEANING_DIFFERS, MEANING_MATCHES));
    let stands_out = signals.vector.is_some_and(|found| found.gap >= VECTOR_GAP)
        || signals.keyword.is_some_and(|found| found.gap >= KEYWORD_GAP);
    let may_match = may_be_whole(words) && may_be_whole(meaning);
    if level != Confidence::High && !stands_out && may_match {
        return "several passages are about equally near";
    }
    match (words, meaning) {
        (Some(Whole), Some(Whole)) => "the words and the meaning match",
        (Some(Whole), Some(Not)) => "the words match, the meaning does not",
        (Some(Not), Some(Whole)) => "the meaning matches, the words do not",
        (Some(Not), Some(Not)) => "neither the words nor the meaning match",
        (Some(_), Some(_)) => "the words and the meaning match only in part",
        (Some(Whole), None) => "the words match",
        (Some(Part), None) => "only some of the words match",
        (Some(Not), None) => "few of the words match",
        (None, Some(Whole)) => "the meaning matches",
        (None, Some(Part)) => "the meaning matches only in part",
        (None, Some(Not)) => "the meaning does not match",
        (None, None) => "nothing was compared",
    }
}

/// Whether this side matches, if it was compared.
fn may_be_whole(side: Option<Agreement>) -> bool {
    side.is_none_or(|found| found == Agreement::Whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::confidence::{self, KeywordSignals, VectorSignals};

    fn signals(coverage: Option<f64>, cosine: Option<f64>, has_gap: bool) -> Signals {
        let gap = if has_gap { 0.4 } else { 0.05 };
        let vector = |cosine| VectorSignals { cosine, gap, coverage: 0.5 };
        let keyword = |coverage| KeywordSignals { gap, coverage, ..KeywordSignals::default() };
        Signals { vector: cosine.map(vector), keyword: coverage.map(keyword) }
    }

    #[test]
    fn the_clause_says_what_matches() {
        let check = |coverage, cosine, has_gap, expected: &str| {
            let grounds = confidence::of(&signals(coverage, cosine, has_gap)).unwrap();
            assert_eq!(of(&grounds), expected, "{coverage:?} {cosine:?} {has_gap}");
        };
        check(Some(1.0), Some(0.8), true, "the words and the meaning match");
        check(Some(1.0), Some(0.6), false, "several passages are about equally near");
        check(Some(1.0), Some(0.2), false, "the words match, the meaning does not");
        check(Some(0.1), Some(0.7), false, "the meaning matches, the words do not");
        check(Some(0.1), Some(0.2), false, "neither the words nor the meaning match");
        check(Some(0.5), Some(0.5), false, "the words and the meaning match only in part");
        check(Some(1.0), Some(0.5), false, "the words and the meaning match only in part");
        check(Some(1.0), None, true, "the words match");
        check(Some(1.0), None, false, "several passages are about equally near");
        check(Some(0.5), None, false, "only some of the words match");
        check(Some(0.1), None, false, "few of the words match");
        check(None, Some(0.8), true, "the meaning matches");
        check(None, Some(0.5), false, "the meaning matches only in part");
        check(None, Some(0.1), false, "the meaning does not match");
    }

    #[test]
    fn what_was_asked_for_and_is_not_there_comes_first() {
        let near = || confidence::of(&signals(Some(1.0), Some(0.8), true)).unwrap();
        let check = |grounds: &ConfidenceGrounds, expected: &str| assert_eq!(of(grounds), expected);
        check(&ConfidenceGrounds::default(), "nothing was found");
        let named = Signals {
            vector: None,
            keyword: Some(KeywordSignals { is_name: true, is_found: true, ..Default::default() }),
        };
        check(&confidence::of(&named).unwrap(), "one of the first passages has the word");
        let stale = ConfidenceGrounds { is_stale: true, ..near() };
        check(&stale, "the file of the best passage has changed or is missing");
        let missing = ConfidenceGrounds { missing: Some("zirconium".into()), ..stale };
        check(&missing, "no passage has the word \"zirconium\"");
        let unmet = ConfidenceGrounds { is_unmet: true, ..missing };
        check(&unmet, "no searched passage has the phrases in double quotes");
    }
}
