//! Estimates the probability that the answer is in the first hits, from raw signals of both legs. Pure.
//!
//! Uses a logistic regression, fitted on one half of the questions of six collections, and calibrated on fourteen, each
//! question once with its answers and once with them removed (`tests/quality/confidence`). Passages near an answer look much
//! like one: the area under the curve is 0.57 (commands) to 0.93 (XQuAD), 0.75 on average. So `high` and `none` are strong
//! claims, and seven in ten answerable questions are neither. Forty more signals and boosted trees instead of the
//! regression added 0.02 to that mean at most; the result page names the best of them.

use crate::ids::RankedChunk;
use crate::numeric::exponential;
use crate::text::fields;

fields::words! {
    /// How likely it is that the first hits have the answer.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Confidence {
        /// Four in five of such answers have the evidence in their first three hits.
        High = "high",
        /// Undecided: questions with an answer and questions without one look like this.
        Low = "low",
        /// Few questions that a collection answers look like this.
        None = "none",
    }

    /// Why there is no verdict.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum NoBasis {
        /// The model cannot read the query, and words were not looked for or are not there.
        Unreadable = "the model cannot read the query",
        /// The query has no words, and only words were looked for.
        NoWords = "the query has no words to look for",
        /// No chunk has what the query has in quotes.
        Unmet = "no searched passage has the phrases in double quotes",
        /// No document passes the filter.
        Filter = "no document passes the filter",
        /// There are no documents.
        Nothing = "nothing has been added yet",
    }
}

impl Confidence {
    /// Returns what a reader should know before taking the hits for an answer; `None` of those that likely are one.
    pub fn sentence(self) -> Option<&'static str> {
        match self {
            Self::High => None,
            Self::Low => Some("No passage clearly answers this."),
            Self::None => Some("Nothing here seems to answer this."),
        }
    }
}

/// The grounds of a confidence. The default is that of an answer without hits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConfidenceGrounds {
    /// `None` if nothing was found.
    pub(super) signals: Option<Signals>,
    /// Whether the file of the best hit is not what was indexed.
    pub(super) is_stale: bool,
    /// Whether no chunk has the phrases in quotes, so that the hits are those of the query without them.
    pub(super) is_unmet: bool,
    /// A word that no passage has, if others were searched instead or the query is a look-up.
    pub(super) missing: Option<String>,
}

/// Signals of the first hits; `None` for a leg that was not run or cannot read the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Signals {
    pub(super) vector: Option<VectorSignals>,
    pub(super) keyword: Option<KeywordSignals>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct VectorSignals {
    /// The best cosine, on the scale of [`stretch`].
    pub(super) cosine: f64,
    /// How far it is above the mean of the next ones, on the same scale.
    pub(super) gap: f64,
    /// Share of the terms' weight that occurs in the nearest chunk, in 0..=1.
    pub(super) coverage: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct KeywordSignals {
    /// How far the best score is above the mean of the next ones, as a share of the best score.
    pub(super) gap: f64,
    /// Share of the terms' weight that occurs in the first hit, in 0..=1.
    pub(super) coverage: f64,
    /// The largest share of it that occurs in a title, a heading or a file name of the first three hits.
    pub(super) title: f64,
    /// Whether one of the first three hits has what is rare in the query (`Keywords::is_found`).
    pub(super) is_found: bool,
    /// Whether the query is one word, of what few passages have.
    pub(super) is_name: bool,
}

/// The regression was fitted on a model whose unrelated passages have a mean cosine of up to about
/// this in most collections.
const USUAL_FLOOR: f64 = 0.2;

/// Returns what a model with another `floor`, the mean cosine of unrelated passages, has to be
/// stretched by: a cosine becomes the first number plus the second times its distance to the floor.
/// Nothing changes up to the usual floor. Without it, nearly all questions to a model with a floor
/// of 0.8 would resemble the answered ones.
pub(super) fn stretch(floor: f64) -> (f64, f64) {
    let usual = floor.min(USUAL_FLOOR);
    (usual, (1.0 - usual) / (1.0 - floor))
}

/// From this probability on, the confidence is `high`: 81 % of such answers to questions are right, and 32 % of the
/// questions with an answer get one (benches/results/2026-11-29-confidence.md).
const HIGH: f64 = 0.65;

/// Below this probability, it is `none`: for 520 of 600 questions about something else, and for at most 0.7 % more of
/// the questions with an answer than below 0.06.
const NONE: f64 = 0.07;

/// The same where only the keyword leg judges: questions have few words of a manual that answers them.
const NONE_BY_WORDS: f64 = 0.03;

/// The probability is at most this if the best hit is stale, because the file may say something else by now, and if no
/// passage has the phrases or a word that was asked for.
const DOUBTED: f64 = 0.5;

/// The probability is at least this if the query is a name that one of the first three hits has: of 967 such look-ups, half
/// of them asked after the documents with the name had been removed, the share that is right.
const NAMED: f64 = 0.91;

/// From this share of the terms' weight on, a title or a file name has words of the query, and the confidence is not `none`.
const TITLE: f64 = 0.2;

/// Returns what the confidence rests on; `None` if no leg can judge.
pub(super) fn of(signals: &Signals) -> Option<ConfidenceGrounds> {
    let can_judge = signals.vector.is_some() || signals.keyword.is_some();
    can_judge
        .then_some(ConfidenceGrounds { signals: Some(*signals), ..ConfidenceGrounds::default() })
}

/// Number of entries that the first is compared with. Another number would need another fit.
const NUM_NEXT: usize = 10;

/// Returns the first entry and how far its score is above the mean of the next ones.
pub(super) fn first_and_gap(ranking: &[RankedChunk]) -> Option<(RankedChunk, f64)> {
    let (first, next) = ranking.split_first()?;
    let next = &next[..next.len().min(NUM_NEXT)];
    let sum: f64 = next.iter().map(|entry| first.score - entry.score).sum();
    let count = u32::try_from(next.len()).map_or(0.0, f64::from);
    Some((*first, sum / count.max(1.0)))
}

impl Signals {
    /// Returns the logarithm of the odds that the first three hits have the answer, in a collection that answers every
    /// second question.
    fn log_odds(&self) -> f64 {
        // Logistic regressions, fitted on fourteen collections (benches/results/2026-11-27-confidence.md).
        match (self.vector, self.keyword) {
            (Some(v), Some(k)) => {
                4.34 * v.cosine
                    + 2.61 * v.gap
                    + 1.46 * v.coverage
                    + 3.60 * k.gap
                    + 0.71 * k.coverage
                    - 5.29
            }
            (Some(v), None) => 5.13 * v.cosine + 9.61 * v.gap - 4.74,
            (None, Some(k)) => 4.47 * k.gap + 2.65 * k.coverage - 3.67,
            (None, None) => f64::NEG_INFINITY,
        }
    }

    /// Returns the least probability that is not `none`.
    fn least(&self) -> f64 {
        if self.vector.is_none() { NONE_BY_WORDS } else { NONE }
    }
}

impl ConfidenceGrounds {
    /// Returns the probability that the first three hits have the answer, in 0..=1, with two decimals.
    pub(super) fn probability(&self) -> f64 {
        let probability = self.signals.map_or(0.0, |signals| {
            let probability = 1.0 / (1.0 + exponential(-signals.log_odds()));
            match signals.keyword {
                Some(keyword) if keyword.is_found && self.missing.is_none() => {
                    let least = if keyword.is_name { NAMED } else { signals.least() };
                    probability.max(least)
                }
                Some(keyword) if keyword.title >= TITLE => probability.max(signals.least()),
                _ => probability,
            }
        });
        let is_doubted = self.is_stale || self.is_unmet || self.missing.is_some();
        let probability = if is_doubted { probability.min(DOUBTED) } else { probability };
        // Rounded as it is shown, so that the level follows from the number that people see.
        (probability * 100.0).round() / 100.0
    }

    pub(super) fn level(&self) -> Confidence {
        match self.probability() {
            probability if probability >= HIGH => Confidence::High,
            probability if probability < self.signals.map_or(NONE, |it| it.least()) => {
                Confidence::None
            }
            _ => Confidence::Low,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(cosine: f64, vector_gap: f64, keyword_gap: f64, coverage: f64) -> Signals {
        Signals {
            vector: Some(VectorSignals { cosine, gap: vector_gap, coverage }),
            keyword: Some(KeywordSignals {
                gap: keyword_gap,
                coverage,
                title: 0.0,
                is_found: false,
                is_name: false,
            }),
        }
    }

    fn level(signals: &Signals) -> Option<Confidence> {
        of(signals).map(|grounds| grounds.level())
    }

    fn titled(signals: Signals, title: f64) -> Signals {
        let keyword = signals.keyword.map(|keyword| KeywordSignals { title, ..keyword });
        Signals { keyword, ..signals }
    }

    #[test]
    fn only_doubt_has_a_sentence() {
        assert_eq!(Confidence::ALL.map(|level| level.sentence().is_some()), [false, true, true]);
    }

    #[test]
    fn a_near_hit_that_stands_out_is_high_and_a_far_one_is_none() {
        assert_eq!(level(&both(0.75, 0.2, 0.4, 1.0)), Some(Confidence::High));
        assert_eq!(level(&both(0.55, 0.05, 0.2, 0.5)), Some(Confidence::Low));
        assert_eq!(level(&both(0.2, 0.02, 0.1, 0.2)), Some(Confidence::None));
    }

    #[test]
    fn a_better_hit_is_more_probable_and_the_level_follows_from_the_probability() {
        let series =
            [0.1, 0.3, 0.5, 0.7, 0.9].map(|at| of(&both(at, at / 4.0, at / 2.0, at)).unwrap());
        assert!(series.is_sorted_by(|one, other| one.probability() < other.probability()));
        assert!(series.is_sorted_by(|one, other| one.level() >= other.level()));
        for grounds in series {
            let probability = grounds.probability();
            assert!(0.0 < probability && probability < 1.0);
            assert_eq!(grounds.level() == Confidence::High, probability >= HIGH);
            assert_eq!(grounds.level() == Confidence::None, probability < NONE);
        }
    }

    #[test]
    fn a_title_that_matches_is_never_none() {
        let far = both(0.2, 0.02, 0.1, 0.2);
        assert_eq!(level(&titled(far, TITLE)), Some(Confidence::Low));
        assert_eq!(level(&titled(far, TITLE - 0.01)), Some(Confidence::None));
        let near = both(0.75, 0.2, 0.4, 1.0);
        assert_eq!(of(&titled(near, 1.0)).unwrap().probability(), of(&near).unwrap().probability());
    }

    #[test]
    fn a_rare_word_that_was_found_is_never_none() {
        let far = both(0.2, 0.02, 0.1, 0.2);
        let keyword = far.keyword.map(|keyword| KeywordSignals { is_found: true, ..keyword });
        assert_eq!(level(&Signals { keyword, ..far }), Some(Confidence::Low));
    }

    #[test]
    fn a_name_that_was_found_is_high_and_one_that_is_missing_is_not() {
        let far = both(0.2, 0.02, 0.1, 0.2);
        let keyword =
            far.keyword.map(|keyword| KeywordSignals { is_found: true, is_name: true, ..keyword });
        let found = Signals { keyword, ..far };
        assert_eq!(of(&found).unwrap().probability(), NAMED);
        let missing = Some("white-matter".to_owned());
        let parts = ConfidenceGrounds { missing: missing.clone(), ..of(&found).unwrap() };
        assert_eq!(parts.level(), Confidence::None);
        let near = ConfidenceGrounds { missing, ..of(&both(0.75, 0.2, 0.4, 1.0)).unwrap() };
        assert_eq!((near.level(), near.probability()), (Confidence::Low, DOUBTED));
    }

    #[test]
    fn a_stale_best_hit_or_a_missing_phrase_is_not_high() {
        let stale = ConfidenceGrounds { is_stale: true, ..of(&both(0.75, 0.2, 0.4, 1.0)).unwrap() };
        assert_eq!((stale.level(), stale.probability()), (Confidence::Low, DOUBTED));
        let unmet = ConfidenceGrounds { is_unmet: true, ..of(&both(0.75, 0.2, 0.4, 1.0)).unwrap() };
        assert_eq!((unmet.level(), unmet.probability()), (Confidence::Low, DOUBTED));
        let none = ConfidenceGrounds { is_stale: true, ..of(&both(0.2, 0.02, 0.1, 0.2)).unwrap() };
        assert_eq!(none.level(), Confidence::None);
    }

    #[test]
    fn an_answer_without_hits_is_none() {
        let grounds = ConfidenceGrounds::default();
        assert_eq!((grounds.level(), grounds.probability()), (Confidence::None, 0.0));
    }

    #[test]
    fn cosines_of_other_models_are_stretched_and_those_of_the_default_are_not() {
        let stretched = |cosine: f64, floor: f64| {
            let (usual, factor) = stretch(floor);
            usual + factor * (cosine - floor)
        };
        for (cosine, floor, expected) in
            [(0.6, 0.1, 0.6), (0.6, 0.2, 0.6), (1.0, 0.8, 1.0), (0.8, 0.8, 0.2), (0.9, 0.8, 0.6)]
        {
            assert!((stretched(cosine, floor) - expected).abs() < 1e-9, "{cosine} {floor}");
        }
    }

    #[test]
    fn one_leg_is_enough_for_a_verdict() {
        let signals = both(0.8, 0.2, 0.5, 1.0);
        assert_eq!(level(&Signals { vector: None, ..signals }), Some(Confidence::High));
        assert_eq!(level(&Signals { keyword: None, ..signals }), Some(Confidence::High));
        assert_eq!(level(&Signals { vector: None, keyword: None }), None);
    }
}
