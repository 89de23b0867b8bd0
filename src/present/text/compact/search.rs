//! Writes hits for models.

use std::collections::HashSet;
use std::io;

use crate::app::search::Found;
use crate::document::{ChunkId, DocumentId};
use crate::present::terminal::sheet::Sheet;
use crate::present::text::{quote, stale};
use crate::search::similar::Seed;
use crate::search::{Confidence, Hit, NoBasis, Reranking};
use crate::text::number::counted;
use crate::text::printable::clean;

/// Writes the answer to a query.
///
/// # Errors
///
/// Errors of writing.
pub fn found(found: &Found, out: &mut Sheet<'_>) -> io::Result<()> {
    let (confidence, no_basis, total, reranking) = match found {
        Found::Hits(found) => {
            (found.confidence, found.no_basis, found.total_matches, &found.reranking)
        }
        Found::Passages(found) => {
            (found.confidence, found.no_basis, found.total_matches, &found.reranking)
        }
    };
    let hits = found.hits();
    let confidence = match confidence {
        Some(Confidence::High) => "confidence high".into(),
        Some(Confidence::Low) => "confidence low".into(),
        Some(Confidence::None) => "confidence none: the answer is probably not here".into(),
        None => format!("confidence unknown: {}", no_basis.map_or("", NoBasis::as_str)),
    };
    let reranking = match reranking {
        None => String::new(),
        Some(Reranking::Done) => ", reranked".into(),
        Some(Reranking::Failed(reason)) => format!(", not reranked: {}", clean(reason)),
    };
    writeln!(out, "{} of {total} matches, {confidence}{reranking}", hits.len())?;
    let mut seen = HashSet::new();
    match found {
        Found::Hits(results) => {
            for hit in &results.hits {
                passage(hit, &[], &mut seen, out)?;
            }
        }
        Found::Passages(evidence) => {
            for found in &evidence.passages {
                passage(&found.hit, &found.chunk_ids, &mut seen, out)?;
            }
        }
    }
    let more = match found {
        _ if hits.len() >= total => "",
        Found::Passages(evidence) if evidence.budget.is_some() => "more: larger budget; ",
        _ => "more: larger top; ",
    };
    end(more, &hits, out)
}

/// Writes passages similar to a document or a chunk.
///
/// # Errors
///
/// Errors of writing.
pub fn similar(seed: Seed, hits: &[Hit], out: &mut Sheet<'_>) -> io::Result<()> {
    let seed = match seed {
        Seed::Document(id) => format!("document {id}"),
        Seed::Chunk(id) => format!("chunk {id}"),
    };
    writeln!(out, "{} similar to {seed}", counted(hits.len(), "passage"))?;
    let mut seen = HashSet::new();
    for hit in hits {
        passage(hit, &[], &mut seen, out)?;
    }
    end("more: larger top; ", &hits.iter().collect::<Vec<_>>(), out)
}

/// Writes a passage: its citation, ids and text. The path of a document comes once, with its first passage.
fn passage<'a>(
    hit: &'a Hit,
    chunk_ids: &[ChunkId],
    seen: &mut HashSet<(Option<&'a str>, DocumentId)>,
    out: &mut Sheet<'_>,
) -> io::Result<()> {
    let chunks = match chunk_ids {
        [first, .., last] => format!("chunks {first}-{last}"),
        _ => format!("chunk {}", hit.stored.chunk.id),
    };
    let base = hit.base.as_ref().map(|base| format!(", base {base}")).unwrap_or_default();
    let copies = match hit.num_copies {
        0 => String::new(),
        count => format!(", {} left out", counted(count as usize, "near duplicate")),
    };
    let document = hit.stored.document_id;
    let is_first = seen.insert((hit.base.as_deref(), document));
    let citation = if is_first { quote::citation(hit) } else { quote::further(hit) };
    writeln!(out, "\n{citation} document {document}, {chunks}{base}{copies}")?;
    quote::brief(hit, out)
}

/// Writes how to go on.
fn end(more: &str, hits: &[&Hit], out: &mut Sheet<'_>) -> io::Result<()> {
    if hits.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{more}read on: kb_show chunk, around")?;
    match stale::advice(hits.iter().copied()) {
        Some(advice) => writeln!(out, "{advice}"),
        None => Ok(()),
    }
}
