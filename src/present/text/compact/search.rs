//! Writes hits for models.

use std::io;

use crate::app::query::search::SimilarPassages;
use crate::app::session::message::{AppMessage, MessageLevel};
use crate::present::terminal::sheet::CleanWriter;
use crate::present::text::{quote, stale};
use crate::search::evidence::FormCost;
use crate::search::similar::Seed;
use crate::search::{Hit, Reranking, SearchAnswer};
use crate::text::number::counted;
use crate::text::printable::clean;
use crate::text::tokens;

/// Returns what this form adds to passages.
pub fn cost() -> FormCost {
    FormCost {
        frame,
        of_hit: |hit, written| {
            let same = written.iter().filter(|other| quote::is_of_same_document(hit, other));
            let mut same = same.peekable();
            let document = if same.peek().is_none() { quote::document(hit) } else { String::new() };
            let has_section = same.any(|other| other.at.section == hit.at.section);
            let place = quote::part(hit, !has_section);
            tokens::estimate(&format!("\n{document}\n{place}\n```\n\n```\n"))
        },
    }
}

/// Returns the tokens of the text before all passages and after them.
fn frame(answer: &SearchAnswer) -> usize {
    let mut lines = head(answer);
    lines.extend(stale::advice(&answer.hits).map(|advice| advice.to_string()));
    tokens::estimate(&lines.join("\n")) + lines.len()
}

/// Writes the answer to a query, and `advice` about stale hits.
pub fn found(
    answer: &SearchAnswer,
    advice: &[String],
    out: &mut CleanWriter<'_>,
) -> io::Result<()> {
    begin(&head(answer), !answer.hits.is_empty(), out)?;
    passages(&answer.hits, out)?;
    if answer.hits.is_empty() && answer.total_matches > 0 {
        writeln!(
            out,
            "no passage fits: a larger budget shows {}",
            counted(answer.total_matches, "passage")
        )?;
    }
    advice.iter().try_for_each(|advice| writeln!(out, "\n{advice}"))
}

/// Writes the same as Markdown for pasting: each passage has its whole citation, and its text is quoted.
pub fn markdown(
    answer: &SearchAnswer,
    advice: &[String],
    out: &mut CleanWriter<'_>,
) -> io::Result<()> {
    begin(&head(answer), !answer.hits.is_empty(), out)?;
    for (number, hit) in answer.hits.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
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
            // Each line of a quotation begins with a mark, which costs a token.
            let num_lines = hit.stored.chunk.chunk.text.lines().count();
            tokens::estimate(&ids) + num_lines
        },
    }
}

/// Returns the lines before the passages: the doubt, and the notes. That the results are those without quotes
/// comes before everything else.
fn head(answer: &SearchAnswer) -> Vec<String> {
    let num_first = if answer.is_without_quotes() { answer.unmet.len() } else { 0 };
    let (first, rest) = answer.notes.split_at(num_first.min(answer.notes.len()));
    let mut lines: Vec<String> = first.iter().map(|text| note(text)).collect();
    lines.extend(match answer.confidence {
        Some(level) => level.sentence().map(str::to_owned),
        None => Some(format!("confidence unknown: {}", answer.confidence_reason())),
    });
    if let Some(Reranking::Failed(reason)) = &answer.reranking {
        lines.push(format!("not reranked: {}", clean(reason)));
    }
    lines.extend(rest.iter().map(|text| note(text)));
    lines
}

/// Writes the lines before the passages, and a blank one after them.
fn begin(lines: &[String], has_passages: bool, out: &mut CleanWriter<'_>) -> io::Result<()> {
    lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    if has_passages && !lines.is_empty() { writeln!(out) } else { Ok(()) }
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
pub fn similar(found: &SimilarPassages, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let seed = match found.seed {
        Seed::Document(id) => format!("document {id}"),
        Seed::Chunk(id) => format!("chunk {id}"),
    };
    writeln!(out, "{} similar to {seed}", counted(found.hits.len(), "passage"))?;
    notes(&found.notes, out)?;
    if !found.hits.is_empty() {
        writeln!(out)?;
    }
    passages(&found.hits, out)?;
    stale::advice(&found.hits).map_or(Ok(()), |advice| writeln!(out, "\n{advice}"))
}

/// Writes the notes about an answer.
pub(super) fn notes(notes: &[String], out: &mut CleanWriter<'_>) -> io::Result<()> {
    notes.iter().try_for_each(|text| writeln!(out, "{}", note(text)))
}

fn note(text: &str) -> String {
    AppMessage::new(MessageLevel::Note, &clean(text).into()).line().to_string()
}

/// Writes passages, those of one document together and in its order: the document, then where each passage is and its text.
fn passages(hits: &[Hit], out: &mut CleanWriter<'_>) -> io::Result<()> {
    let mut documents: Vec<Vec<&Hit>> = Vec::new();
    for hit in hits {
        match documents.iter_mut().find(|own| quote::is_of_same_document(hit, own[0])) {
            Some(own) => own.push(hit),
            None => documents.push(vec![hit]),
        }
    }
    for (number, mut own) in documents.into_iter().enumerate() {
        own.sort_by_key(|hit| hit.stored.chunk.chunk_index);
        if number > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{}", quote::document(own[0]))?;
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
