//! Writes hits for models.

use std::collections::HashSet;
use std::io;

use crate::app::search::Similar;
use crate::present::terminal::sheet::Sheet;
use crate::present::text::{quote, stale};
use crate::search::similar::Seed;
use crate::search::{Answer, Confidence, Gathered, Hit, NoBasis, Reranking};
use crate::store::DocumentId;
use crate::text::number::counted;
use crate::text::printable::clean;

/// Writes the answer to a query.
pub fn found(answer: &Answer, out: &mut Sheet<'_>) -> io::Result<()> {
    let confidence = match answer.confidence {
        Some(Confidence::High) => "confidence high".into(),
        Some(Confidence::Low) => "confidence low".into(),
        Some(Confidence::None) => "confidence none: the answer is probably not here".into(),
        None => format!("confidence unknown: {}", answer.no_basis.map_or("", NoBasis::as_str)),
    };
    let reranking = match &answer.reranking {
        None => String::new(),
        Some(Reranking::Done) => ", reranked".into(),
        Some(Reranking::Failed(reason)) => format!(", not reranked: {}", clean(reason)),
    };
    let (shown, total) = (answer.hits.len(), answer.total_matches);
    writeln!(out, "{shown} of {total} matches, {confidence}{reranking}")?;
    notes(&answer.notes, out)?;
    let mut seen = HashSet::new();
    for hit in &answer.hits {
        passage(hit, &mut seen, out)?;
    }
    let more = match answer.gathered {
        _ if shown >= total => "",
        Some(Gathered { budget: Some(_), .. }) => "more: larger budget; ",
        _ => "more: larger top; ",
    };
    end(more, &answer.hits, out)
}

/// Writes passages similar to a document or a chunk.
pub fn similar(found: &Similar, out: &mut Sheet<'_>) -> io::Result<()> {
    let seed = match found.seed {
        Seed::Document(id) => format!("document {id}"),
        Seed::Chunk(id) => format!("chunk {id}"),
    };
    writeln!(out, "{} similar to {seed}", counted(found.hits.len(), "passage"))?;
    notes(&found.notes, out)?;
    let mut seen = HashSet::new();
    for hit in &found.hits {
        passage(hit, &mut seen, out)?;
    }
    end("more: larger top; ", &found.hits, out)
}

/// Writes what is worth knowing about an answer.
pub(super) fn notes(notes: &[String], out: &mut Sheet<'_>) -> io::Result<()> {
    notes.iter().try_for_each(|note| writeln!(out, "note: {}", clean(note)))
}

/// Writes a passage: its citation, ids and text. The path of a document comes once, with its first passage.
fn passage<'a>(
    hit: &'a Hit,
    seen: &mut HashSet<(Option<&'a str>, DocumentId)>,
    out: &mut Sheet<'_>,
) -> io::Result<()> {
    let passage = hit.passage.as_ref();
    let chunks = match passage.map(|passage| passage.chunk_ids.as_slice()).unwrap_or_default() {
        [first, .., last] => format!("chunks {first}-{last}"),
        _ => format!("chunk {}", hit.stored.chunk.id),
    };
    let base = hit.base.as_ref().map(|base| format!(", base {base}")).unwrap_or_default();
    let copies = match hit.num_copies {
        0 => String::new(),
        count => format!(", {}", quote::copies(count)),
    };
    let document = hit.stored.document_id;
    let is_first = seen.insert((hit.base.as_deref(), document));
    let citation = if is_first { quote::citation(hit) } else { quote::further(hit) };
    writeln!(out, "\n{citation} document {document}, {chunks}{base}{copies}")?;
    quote::brief(hit, out)
}

/// Writes how to go on.
fn end(more: &str, hits: &[Hit], out: &mut Sheet<'_>) -> io::Result<()> {
    if hits.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{more}read on: kb_show chunk, around")?;
    match stale::advice(hits) {
        Some(advice) => writeln!(out, "{advice}"),
        None => Ok(()),
    }
}
