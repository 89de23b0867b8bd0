//! Presents the way of a document through a search as text.

use std::io;

use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::search::{Fate, Journey, Standing};
use crate::store::StoredDocument;
use crate::text::printable::clean;

/// Returns a sentence on what became of a document, and what would change it.
pub(in crate::present) fn sentence(journey: &Journey) -> String {
    let rank = journey.fused.map_or(0, |fused| fused.0);
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

impl Human {
    /// Writes the way of a document through a search.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn why(
        &self,
        document: &StoredDocument,
        journey: &Journey,
        out: &mut Sheet<'_>,
    ) -> io::Result<()> {
        writeln!(out, "{}: {}", clean(&document.title), sentence(journey))?;
        writeln!(out, "Terms: {}", clean(&journey.terms.join(", ")))?;
        let passing = format!("{} of {}", journey.num_passing, journey.num_chunks);
        writeln!(out, "Chunks that pass the filters: {passing}")?;
        let standing = |standing: Option<Standing>| match standing {
            Some(standing) => {
                let beyond =
                    if standing.rank > journey.depth { " (not followed so far down)" } else { "" };
                format!(
                    "chunk {} at rank {}{beyond}, {:.3}",
                    standing.chunk_id, standing.rank, standing.raw
                )
            }
            None => "not ranked".to_owned(),
        };
        writeln!(out, "Keywords: {}", standing(journey.keyword))?;
        self.terms(&journey.matches, out)?;
        writeln!(out, "Vectors: {}", standing(journey.vector))?;
        if let Some((rank, score, legs)) = journey.fused {
            let [keywords, vectors] =
                [legs.keyword, legs.vector].map(|leg| leg.map_or(0.0, |leg| leg.term));
            let sum = format!("{score:.4} = {keywords:.4} keywords + {vectors:.4} vectors");
            writeln!(out, "Fused: rank {rank}, {sum}")?;
        }
        Ok(())
    }
}
