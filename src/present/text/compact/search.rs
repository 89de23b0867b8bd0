//! Writes hits for models.

use std::collections::HashSet;
use std::io;

use crate::app::search::Similar;
use crate::present::terminal::sheet::Sheet;
use crate::present::text::{quote, stale};
use crate::search::evidence::FormCost;
use crate::search::similar::Seed;
use crate::search::{Answer, Confidence, Gathered, Hit, NoBasis, Reranking};
use crate::text::number::counted;
use crate::text::printable::clean;
use crate::text::tokens;

/// The program through which an answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Face {
    /// Commands.
    Cli,
    /// Tools.
    Mcp,
}

/// Tokens of the first and the last line.
const FRAME: usize = 35;

/// Returns what this form adds to passages.
pub fn cost() -> FormCost {
    FormCost {
        frame: FRAME,
        of_hit: |hit, is_first| {
            let document = if is_first { quote::document(hit) } else { String::new() };
            let place = format!("{document}\n{}{}\n```\n```", quote::part(hit), chunks(hit));
            tokens::estimate(&place) + unknown(hit)
        },
    }
}

/// Returns the tokens of what is not known before a passage is made: its last chunk, caption and marks.
fn unknown(hit: &Hit) -> usize {
    if hit.passage.is_none() { 4 } else { 0 }
}

/// Writes the answer to a query, and `advice` about stale hits.
pub fn found(
    answer: &Answer,
    face: Face,
    advice: &[String],
    out: &mut Sheet<'_>,
) -> io::Result<()> {
    begin(answer, out)?;
    passages(&answer.hits, out)?;
    let is_enough = answer.confidence == Some(Confidence::High);
    let more = match answer.gathered {
        _ if answer.hits.len() >= answer.total_matches || is_enough => "",
        Some(Gathered { budget: Some(_), .. }) => "more: larger budget; ",
        _ => "more: larger top; ",
    };
    end(more, face, (&answer.hits, advice), out)
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
        frame: FRAME,
        of_hit: |hit, _| {
            let ids = format!(" {}, {}\n\n", quote::id(hit), chunks(hit));
            // Each line begins with a mark.
            let num_lines = hit.stored.chunk.chunk.text.lines().count();
            tokens::estimate(&(quote::citation(hit) + &ids)) + num_lines + 2 * unknown(hit)
        },
    }
}

/// Writes the numbers and the notes. That the results are those without quotes comes before everything else.
fn begin(answer: &Answer, out: &mut Sheet<'_>) -> io::Result<()> {
    let num_first = if answer.is_without_quotes() { answer.unmet.len() } else { 0 };
    let (first, rest) = answer.notes.split_at(num_first.min(answer.notes.len()));
    notes(first, out)?;
    writeln!(out, "{}", summary(answer))?;
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

/// Returns the numbers of an answer and whether it answers.
fn summary(answer: &Answer) -> String {
    let level = answer.confidence.map(Confidence::as_str);
    let confidence = match (level, answer.probability()) {
        (Some("none"), _) => "confidence none: the answer is probably not here".into(),
        (Some(level), Some(probability)) => format!("confidence {level} ({probability:.2})"),
        _ => format!("confidence unknown: {}", answer.no_basis.map_or("", NoBasis::as_str)),
    };
    let reranking = match &answer.reranking {
        None => String::new(),
        Some(Reranking::Done) => ", reranked".into(),
        Some(Reranking::Failed(reason)) => format!(", not reranked: {}", clean(reason)),
    };
    let (shown, total) = (answer.hits.len(), answer.total_matches);
    format!("{shown} of {total} matches, {confidence}{reranking}")
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
    let advice: Vec<String> = stale::advice(&found.hits).into_iter().collect();
    end("more: larger top; ", Face::Mcp, (&found.hits, &advice), out)
}

/// Writes what is worth knowing about an answer.
pub(super) fn notes(notes: &[String], out: &mut Sheet<'_>) -> io::Result<()> {
    notes.iter().try_for_each(|note| writeln!(out, "note: {}", clean(note)))
}

/// Writes passages: where each is, its chunks and its text. A document is named with its first passage; its id also where
/// it comes again after another one.
fn passages(hits: &[Hit], out: &mut Sheet<'_>) -> io::Result<()> {
    let mut seen = HashSet::new();
    let mut last = None;
    for hit in hits {
        let id = (hit.base.as_deref(), hit.stored.document_id);
        let is_next = last.replace(id) == Some(id);
        writeln!(out)?;
        if seen.insert(id) {
            writeln!(out, "{}", quote::document(hit))?;
        } else if !is_next {
            write!(out, "{}, ", quote::id(hit))?;
        }
        writeln!(out, "{}{}", quote::part(hit), chunks(hit))?;
        quote::brief(hit, out)?;
    }
    Ok(())
}

/// Writes how to go on.
fn end(
    more: &str,
    face: Face,
    (hits, advice): (&[Hit], &[String]),
    out: &mut Sheet<'_>,
) -> io::Result<()> {
    if hits.is_empty() {
        return match more.strip_suffix("; ") {
            Some(more) => writeln!(out, "\n{more}"),
            None => Ok(()),
        };
    }
    let show = match face {
        Face::Cli => "kb show --chunk N --around 2",
        Face::Mcp => "kb_show chunk, around",
    };
    writeln!(out, "\n{more}read on: {show}")?;
    advice.iter().try_for_each(|advice| writeln!(out, "{advice}"))
}
