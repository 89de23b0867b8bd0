//! Presents the way of a document through a search, for programs and for people.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::present::json::{self, TermJson};
use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::search::{Fate, Journey, Standing};
use crate::store::StoredDocument;
use crate::text::json::Json;
use crate::text::printable::clean;

/// The way of one document through a search.
#[derive(Serialize, JsonSchema)]
pub(super) struct WhyJson<'a> {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// The query, unchanged.
    query: &'a str,
    /// The document.
    document_id: i64,
    /// Its title.
    title: &'a str,
    /// `shown`, `empty`, `filtered`, `excluded`, `beyond_depth`, `below_threshold`,
    /// `copy` or `beyond_limit`.
    fate: &'static str,
    /// The same in a sentence, for people.
    explanation: String,
    /// Terms of the query that keywords go by.
    terms: &'a [String],
    /// Those that occur in its best chunk.
    matches: Vec<TermJson<'a>>,
    /// Chunks it has.
    chunks: usize,
    /// Chunks of those that no filter leaves out.
    chunks_passing_filters: usize,
    /// Candidates of each leg that are followed.
    depth: u32,
    /// Its best chunk by keywords; null where that leg does not rank it.
    fts: Option<StandingJson>,
    /// Its best chunk by meaning; null where that leg does not rank it.
    vector: Option<StandingJson>,
    /// Place of its best chunk after fusion, from 1; null where it has none.
    rank: Option<u32>,
    /// Its fused score.
    score: Option<f64>,
}

/// Where a chunk stands in a ranking.
#[derive(Serialize, JsonSchema)]
struct StandingJson {
    /// The chunk.
    chunk_id: i64,
    /// Its place, from 1.
    rank: u32,
    /// What the leg ranks by: BM25 or cosine. Larger is better.
    raw: f64,
}

impl From<Standing> for StandingJson {
    fn from(standing: Standing) -> Self {
        Self { chunk_id: standing.chunk_id, rank: standing.rank, raw: standing.raw }
    }
}

/// Returns the word for what became of a document.
fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::Shown => "shown",
        Fate::Empty => "empty",
        Fate::Filtered => "filtered",
        Fate::Excluded => "excluded",
        Fate::BeyondDepth => "beyond_depth",
        Fate::BelowThreshold => "below_threshold",
        Fate::BeyondLimit => "beyond_limit",
        Fate::Copy => "copy",
    }
}

/// Says in a sentence what became of a document, and what would change it.
fn sentence(journey: &Journey) -> String {
    let rank = journey.fused.map_or(0, |it| it.0);
    match journey.fate {
        Fate::Shown => format!("It is shown at rank {rank}."),
        Fate::Empty => "It has no text to be found.".into(),
        Fate::Filtered => "A filter leaves it out.".into(),
        Fate::Excluded => "Each of its chunks has a word that the query excludes.".into(),
        Fate::BeyondDepth => format!(
            "No leg has it among its first {}: no word of the query leads to it, and its meaning is \
             not near.",
            journey.depth
        ),
        Fate::Copy => format!(
            "It is at rank {rank}, but a better hit says nearly the same: `--copies` shows both."
        ),
        Fate::BelowThreshold => format!("It would be at rank {rank}, but is below the threshold."),
        Fate::BeyondLimit => {
            format!(
                "It is at rank {rank}, and {} are shown: `--top {rank}` shows it.",
                journey.limit
            )
        }
    }
}

/// Writes it for programs.
///
/// # Errors
///
/// What writing gives.
pub fn json(
    query: &str,
    document: &StoredDocument,
    journey: &Journey,
    out: &mut Json<'_>,
) -> io::Result<()> {
    out.value(&WhyJson {
        contract_version: json::CONTRACT_VERSION,
        query,
        document_id: document.id,
        title: &document.title,
        fate: word(journey.fate),
        explanation: sentence(journey),
        terms: &journey.terms,
        matches: journey.matches.iter().map(TermJson::from).collect(),
        chunks: journey.num_chunks,
        chunks_passing_filters: journey.num_passing,
        depth: journey.depth,
        fts: journey.keyword.map(StandingJson::from),
        vector: journey.vector.map(StandingJson::from),
        rank: journey.fused.map(|it| it.0),
        score: journey.fused.map(|it| it.1),
    })
}

/// Writes it for people.
///
/// # Errors
///
/// What writing gives.
pub fn human(
    human: &Human,
    document: &StoredDocument,
    journey: &Journey,
    out: &mut Sheet<'_>,
) -> io::Result<()> {
    writeln!(out, "{}: {}", clean(&document.title), sentence(journey))?;
    writeln!(out, "Terms: {}", clean(&journey.terms.join(", ")))?;
    let passing = format!("{} of {}", journey.num_passing, journey.num_chunks);
    writeln!(out, "Chunks that pass the filters: {passing}")?;
    let standing = |standing: Option<Standing>| match standing {
        Some(it) => {
            let beyond = if it.rank > journey.depth { " (not followed so far down)" } else { "" };
            format!("chunk {} at rank {}{beyond}, {:.3}", it.chunk_id, it.rank, it.raw)
        }
        None => "not ranked".to_owned(),
    };
    writeln!(out, "Keywords: {}", standing(journey.keyword))?;
    human.terms(&journey.matches, out)?;
    writeln!(out, "Vectors: {}", standing(journey.vector))?;
    if let Some((rank, score, legs)) = journey.fused {
        let [keywords, vectors] =
            [legs.keyword, legs.vector].map(|leg| leg.map_or(0.0, |leg| leg.term));
        let sum = format!("{score:.4} = {keywords:.4} keywords + {vectors:.4} vectors");
        writeln!(out, "Fused: rank {rank}, {sum}")?;
    }
    Ok(())
}
