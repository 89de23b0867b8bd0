//! Writes hits for models.

use std::io;

use crate::app::search::Similar;
use crate::present::terminal::sheet::Sheet;
use crate::present::text::{quote, stale};
use crate::search::evidence::FormCost;
use crate::search::similar::Seed;
use crate::search::{Answer, Hit, Reranking};
use crate::text::number::counted;
use crate::text::printable::clean;
use crate::text::tokens;

/// Returns what this form adds to passages.
pub fn cost() -> FormCost {
    FormCost {
        frame,
        of_hit: |hit, written| {
            let same = || written.iter().filter(|other| quote::is_of_same_document(hit, other));
            let document =
                if same().next().is_none() { quote::document(hit) } else { String::new() };
            let has_section = same().any(|other| other.at.section == hit.at.section);
            let place = quote::part(hit, !has_section);
            tokens::estimate(&format!("\n{document}\n{place}\n```\n\n```\n"))
        },
    }
}

/// Returns the tokens of what is written before all passages and after them.
fn frame(answer: &Answer) -> usize {
    let mut bytes = Vec::new();
    // Writing into memory does not fail.
    _ = begin(answer, &mut Sheet::new(&mut bytes));
    let advice = stale::advice(&answer.hits).unwrap_or_default();
    tokens::estimate(&String::from_utf8_lossy(&bytes)) + tokens::estimate(&advice)
}

/// Writes the answer to a query, and `advice` about stale hits.
pub fn found(answer: &Answer, advice: &[String], out: &mut Sheet<'_>) -> io::Result<()> {
    begin(answer, out)?;
    passages(&answer.hits, out)?;
    if answer.hits.is_empty() && answer.total_matches > 0 {
        writeln!(out, "{}: a larger budget shows them", counted(answer.total_matches, "match"))?;
    }
    advice.iter().try_for_each(|advice| writeln!(out, "\n{advice}"))
}

/// Writes the same as Markdown for pasting: each passage has its whole citation, and its text is quoted.
pub fn markdown(answer: &Answer, advice: &[String], out: &mut Sheet<'_>) -> io::Result<()> {
    begin(answer, out)?;
    for hit in &answer.hits {
        quote::markdown(hit, &format!("{}, {}", quote::id(hit), chunks(hit)), out)?;
    }
    advice.iter().try_for_each(|advice| writeln!(out, "\n{advice}"))
}

/// Returns what [`markdown`] adds to passages.
pub fn markdown_cost() -> FormCost {
    FormCost {
        frame,
        of_hit: |hit, _| {
            let ids = format!("\n{} {}, {}\n\n", quote::citation(hit), quote::id(hit), chunks(hit));
            // Each line begins with a mark.
            let num_lines = hit.stored.chunk.chunk.text.lines().count();
            tokens::estimate(&ids) + num_lines
        },
    }
}

/// Writes what there is to doubt, and the notes. That the results are those without quotes comes before everything else.
fn begin(answer: &Answer, out: &mut Sheet<'_>) -> io::Result<()> {
    let num_first = if answer.is_without_quotes() { answer.unmet.len() } else { 0 };
    let (first, rest) = answer.notes.split_at(num_first.min(answer.notes.len()));
    notes(first, out)?;
    match answer.confidence {
        Some(level) => level.sentence().map_or(Ok(()), |sentence| writeln!(out, "{sentence}"))?,
        None => writeln!(out, "confidence unknown: {}", answer.confidence_reason())?,
    }
    if let Some(Reranking::Failed(reason)) = &answer.reranking {
        writeln!(out, "not reranked: {}", clean(reason))?;
    }
    notes(rest, out)
}

/// Names the chunks of a passage, and says how many copies of it were left out.
fn chunks(hit: &Hit) -> String {
    let chunks = match hit.passage.as_ref().map(|passage| passage.chunk_ids.as_slice()) {
        Some([first, .., last]) => format!("chunks {first}-{last}"),
        _ => format!("chunk {}", hit.stored.chunk.id),
    };
    match hit.num_copies {
        0 => chunks,
        count => format!("{chunks}, {}", quote::copies(count)),
    }
}

/// Writes passages similar to a document or a chunk.
pub fn similar(found: &Similar, out: &mut Sheet<'_>) -> io::Result<()> {
    let seed = match found.seed {
        Seed::Document(id) => format!("document {id}"),
        Seed::Chunk(id) => format!("chunk {id}"),
    };
    writeln!(out, "{} similar to {seed}", counted(found.hits.len(), "passage"))?;
    notes(&found.notes, out)?;
    passages(&found.hits, out)?;
    stale::advice(&found.hits).map_or(Ok(()), |advice| writeln!(out, "\n{advice}"))
}

/// Writes what is worth knowing about an answer.
pub(super) fn notes(notes: &[String], out: &mut Sheet<'_>) -> io::Result<()> {
    notes.iter().try_for_each(|note| writeln!(out, "note: {}", clean(note)))
}

/// Writes passages, those of one document together and in its order: the document, then where each passage is and its text.
fn passages(hits: &[Hit], out: &mut Sheet<'_>) -> io::Result<()> {
    let mut documents: Vec<Vec<&Hit>> = Vec::new();
    for hit in hits {
        match documents.iter_mut().find(|own| quote::is_of_same_document(hit, own[0])) {
            Some(own) => own.push(hit),
            None => documents.push(vec![hit]),
        }
    }
    for mut own in documents {
        own.sort_by_key(|hit| hit.stored.chunk.chunk_index);
        writeln!(out, "\n{}", quote::document(own[0]))?;
        let mut section = None;
        for (number, hit) in own.into_iter().enumerate() {
            let is_new = section.replace(&hit.at.section) != Some(&hit.at.section);
            if number > 0 {
                writeln!(out)?;
            }
            let place = quote::part(hit, is_new);
            if !place.is_empty() {
                writeln!(out, "{place}")?;
            }
            quote::brief(hit, out)?;
        }
    }
    Ok(())
}
