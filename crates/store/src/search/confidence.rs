//! Estimates how likely it is that the answer is among the hits, from raw signals of both legs.
//! Pure.
//!
//! Uses a logistic regression, fitted on one half of the questions of six collections, each
//! question once with its answers and once with them removed. On the other halves it tells the two
//! apart with an area under the curve of 0.60 (CACM), 0.63 (NPL), 0.74 (Cranfield), 0.74
//! (`SciFact`), 0.78 (project FAQs) and 0.85 (notes), because passages near an answer look much
//! like one. So only the verdict `none` is a strong claim. Twenty more signals (agreement of the
//! legs, neighbouring terms, the best sentence, similarity of the hits to each other, scores
//! compared with the collection's) and boosted trees instead of the regression added 0.02 to the
//! mean. Token matches (`late.rs`) and cosines above the floor added nothing on twelve collections.

/// How likely it is that the answer is among the hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Resembles questions that the collection answers.
    High,
    /// Resembles questions that the collection does not answer.
    Low,
    /// Few questions that a collection answers look like this: at most 2 in 100 with both legs, and none of 450
    /// questions of three collections with the vector leg alone. Not measured for the keyword leg alone.
    None,
}

/// Why there is no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoBasis {
    /// The model cannot read the query, and words were not looked for or are not there.
    Unreadable,
    /// The query has no words, and only words were looked for.
    NoWords,
    /// No chunk has what the query has in quotes.
    Unmet,
    /// No document passes the filter.
    Filter,
    /// There are no documents.
    Nothing,
}

impl NoBasis {
    /// Returns the reason as a clause.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "the model cannot read the query",
            Self::NoWords => "the query has no words to look for",
            Self::Unmet => "no searched passage has the phrases in double quotes",
            Self::Filter => "no document passes the filter",
            Self::Nothing => "nothing has been added yet",
        }
    }
}

impl Confidence {
    /// Returns the confidence in an answer whose best hit is stale: it is not high, because the file
    /// may say something else by now.
    #[must_use]
    pub fn of_stale(self) -> Self {
        if self == Self::High { Self::Low } else { self }
    }

    /// Returns the word used in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Low => "low",
            Self::None => "none",
        }
    }
}

/// Signals of the first hits; `None` for a leg that was not run or cannot read the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Signals {
    pub(super) vector: Option<VectorSignals>,
    pub(super) keyword: Option<KeywordSignals>,
}

/// Signals of the vector leg.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct VectorSignals {
    /// The best cosine, on the scale of [`stretch`].
    pub(super) cosine: f64,
    /// How far it is above the mean of the next ones, on the same scale.
    pub(super) gap: f64,
    /// Share of the terms' weight that occurs in the nearest chunk, in 0..=1.
    pub(super) coverage: f64,
}

/// Signals of the keyword leg.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct KeywordSignals {
    /// How far the best score is above the mean of the next ones, as a share of the best score.
    pub(super) gap: f64,
    /// Share of the terms' weight that occurs in the first hit, in 0..=1.
    pub(super) coverage: f64,
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

/// From this value on, a question resembles the answered ones.
const HIGH: f64 = 0.0;

/// Below this value the verdict is `none`: 0 to 2 in 100 of the answerable questions of the six
/// collections.
const NONE: f64 = -2.5;

/// The same where only the vector leg judges, because no word of the query occurs or words were not looked for: of
/// 150 answerable questions each of cosqa, nl2bash and scifact, all are above -1.7.
const NONE_ALONE: f64 = -1.9;

/// Returns the verdict; `None` if no leg can judge.
pub(super) fn of(signals: &Signals) -> Option<Confidence> {
    let logit = match (signals.vector, signals.keyword) {
        (Some(v), Some(k)) => {
            4.28 * v.cosine + 2.57 * v.gap + 1.44 * v.coverage + 3.55 * k.gap + 0.70 * k.coverage
                - 5.08
        }
        (Some(v), None) => 4.46 * v.cosine + 8.36 * v.gap - 3.69,
        (None, Some(k)) => 4.00 * k.gap + 2.37 * k.coverage - 2.65,
        (None, None) => return None,
    };
    let none = if signals.keyword.is_none() { NONE_ALONE } else { NONE };
    Some(match logit {
        logit if logit >= HIGH => Confidence::High,
        logit if logit < none => Confidence::None,
        _ => Confidence::Low,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(cosine: f64, vector_gap: f64, keyword_gap: f64, coverage: f64) -> Signals {
        Signals {
            vector: Some(VectorSignals { cosine, gap: vector_gap, coverage }),
            keyword: Some(KeywordSignals { gap: keyword_gap, coverage }),
        }
    }

    #[test]
    fn a_near_hit_that_stands_out_is_high_and_a_far_one_is_none() {
        assert_eq!(of(&both(0.75, 0.2, 0.4, 1.0)), Some(Confidence::High));
        assert_eq!(of(&both(0.55, 0.05, 0.2, 0.5)), Some(Confidence::Low));
        assert_eq!(of(&both(0.2, 0.02, 0.1, 0.2)), Some(Confidence::None));
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
        assert_eq!(of(&Signals { vector: None, ..signals }), Some(Confidence::High));
        assert_eq!(of(&Signals { keyword: None, ..signals }), Some(Confidence::High));
        assert_eq!(of(&Signals { vector: None, keyword: None }), None);
    }
}
