//! Writes the trace of a document through a search as text.

use std::io;

use crate::app::query::search::WhyReport;
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::CleanWriter;
use crate::present::text::human::HumanLayout;
use crate::present::text::stale::advice_for;
use crate::search::{LegRank, Trace, WhyOutcome};
use crate::text::number::thousands;
use crate::text::printable::clean;

/// Returns a sentence about the fate of a document, and what would change it.
pub(crate) fn sentence(trace: &Trace) -> String {
    let rank = trace.fused.map_or(0, |fused| fused.0);
    match trace.outcome {
        WhyOutcome::Shown => format!("It is shown at rank {rank}."),
        WhyOutcome::Empty => "It has no text to search.".into(),
        WhyOutcome::Filtered => "A filter excludes it.".into(),
        WhyOutcome::Excluded => "All of its chunks have a word that the query excludes.".into(),
        WhyOutcome::WithoutPhrase => {
            "None of its chunks that pass the filters has the phrases in double quotes.".into()
        }
        WhyOutcome::BeyondDepth => format!(
            "Neither ranking has it among its first {}: it has no word of the query, and its meaning is \
             not close.",
            trace.depth
        ),
        WhyOutcome::Copy => format!(
            "It is at rank {rank}, but is nearly a copy of a better result; `--copies` shows both."
        ),
        WhyOutcome::BelowThreshold => {
            format!("It would be at rank {rank}, but is below the threshold.")
        }
        WhyOutcome::BeyondLimit => {
            format!(
                "It is at rank {rank}, but only {} are shown; `--top {rank}` shows it.",
                trace.limit
            )
        }
    }
}

/// Returns the rank of the best chunk in one leg, of which the first `depth` are followed.
fn leg_rank(leg: Option<LegRank>, depth: u32) -> String {
    let Some(leg) = leg else { return "not ranked".to_owned() };
    let beyond = if leg.rank > depth { " (too low to be fused)" } else { "" };
    format!("chunk {} at rank {}{beyond}, {:.3}", leg.chunk_id, leg.rank, leg.raw)
}

impl HumanLayout {
    /// Writes the trace of a document through a search.
    pub fn why(&self, why: &WhyReport, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let WhyReport { document, trace, stale, .. } = why;
        writeln!(out, "{}: {}", clean(&document.title), sentence(trace))?;
        writeln!(out, "Terms: {}", clean(&trace.terms.join(", ")))?;
        let passing =
            format!("{} of {}", thousands(trace.num_passing), thousands(trace.num_chunks));
        writeln!(out, "Chunks that pass the filters: {passing}")?;
        writeln!(out, "Keywords: {}", leg_rank(trace.keyword, trace.depth))?;
        self.terms(&trace.matches, out)?;
        writeln!(out, "Vectors: {}", leg_rank(trace.vector, trace.depth))?;
        if let Some((rank, score, legs)) = trace.fused {
            let [keywords, vectors] =
                [legs.keyword, legs.vector].map(|leg| leg.map_or(0.0, |leg| leg.term));
            let sum = format!("{score:.4} = {keywords:.4} keywords + {vectors:.4} vectors");
            writeln!(out, "Fused: rank {rank}, {sum}")?;
        }
        if let Some(stale) = stale {
            self.paint(
                Meaning::Warning,
                &format!("Its file {}.", self.worded(&advice_for(*stale))),
                out,
            )?;
            writeln!(out)?;
        }
        Ok(())
    }
}
