//! Lets a program of the user's order the first results (`search.rerank_command`).
//!
//! The program reads one line of JSON for each result and prints one for each, with a score. If it fails in any way,
//! the order is kept and the answer says why: a half-applied order would look like a complete one.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::app::{Observer, Session};
use crate::error::Error;
use crate::search::{Hit, Reranking, SearchAnswer};
use crate::store::ChunkId;
use crate::text::command;
use crate::text::json::JsonLine;
use crate::trace::stage;

use super::program;

/// Results that the program orders; the others follow them. The number does not depend on `--top`, so neither does the
/// order. A cross-encoder of MiniLM's size reads 50 passages in about a second on one processor.
pub(crate) const DEPTH: u32 = 50;

/// Most characters of the program's message that an answer quotes.
const MAX_REASON_CHARS: usize = 300;

/// A line that the program reads.
#[derive(Serialize)]
struct RerankLine<'a> {
    query: &'a str,
    chunk_id: ChunkId,
    title: &'a str,
    section: Option<&'a str>,
    text: &'a str,
}

/// A line that it prints.
#[derive(Deserialize)]
#[serde(rename = "Scored")]
struct ScoredLine {
    chunk_id: ChunkId,
    score: f64,
}

/// The program that the settings name.
pub(crate) struct Reranker<'a> {
    session: &'a Session,
    command: Vec<String>,
    limit: Duration,
}

impl<'a> Reranker<'a> {
    /// Returns the reranker; `None` if the settings name none.
    pub(crate) fn of(session: &'a Session) -> Option<Self> {
        let settings = &session.config().search;
        let mut command = command::words(&settings.rerank_command);
        let home = session.environment().home();
        for word in &mut command {
            if let Some(rest) = word.strip_prefix("~/") {
                *word = home.join(rest).to_string_lossy().into_owned();
            }
        }
        let limit = Duration::from_millis(settings.rerank_ms.into());
        (!command.is_empty()).then_some(Self { session, command, limit })
    }

    /// Orders the first results by the program's scores, or says why not.
    pub(crate) fn rerank(&self, results: &mut SearchAnswer, observer: &dyn Observer) {
        if results.hits.is_empty() {
            return;
        }
        let count = results.hits.len().min(DEPTH as usize);
        let hits = &mut results.hits[..count];
        let outcome = stage("rerank", || self.scores(&results.typed, hits));
        results.reranking = Some(match outcome {
            Ok(scores) => {
                order(hits, &scores);
                Reranking::Done
            }
            Err(reason) => {
                let reason: String = reason.chars().take(MAX_REASON_CHARS).collect();
                observer.warn(format!(
                    "search.rerank_command failed, so the order is unchanged: \
                    {reason}"
                ));
                Reranking::Failed(reason)
            }
        });
    }

    fn scores(&self, typed: &str, hits: &[Hit]) -> Result<HashMap<ChunkId, f64>, String> {
        let mut input = String::new();
        for hit in hits {
            let chunk = &hit.stored.chunk.chunk;
            let line = JsonLine::of(&RerankLine {
                query: typed,
                chunk_id: hit.stored.chunk.id,
                title: &hit.stored.title,
                section: chunk.section.as_deref(),
                text: &chunk.text,
            });
            input += line.map_err(|error| Error::Output(error).to_string())?.as_str();
        }
        let dir = self.session.data_dir();
        let output = program::run(
            &self.command,
            self.session.environment(),
            dir,
            input.into_bytes(),
            self.limit,
        )?;
        read(&output, hits)
    }
}

/// Reads the program's lines. There must be exactly one for each hit.
fn read(output: &[u8], hits: &[Hit]) -> Result<HashMap<ChunkId, f64>, String> {
    let text = std::str::from_utf8(output).map_err(|_| "it printed text that is not UTF-8")?;
    let mut scores = HashMap::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let ScoredLine { chunk_id, score } = serde_json::from_str(line)
            .map_err(|error| format!("line {number} of its output: {error}"))?;
        if !hits.iter().any(|hit| hit.stored.chunk.id == chunk_id) {
            return Err(format!(
                "line {number} of its output: chunk {chunk_id} is not one of the \
                results"
            ));
        }
        if scores.insert(chunk_id, score).is_some() {
            return Err(format!("line {number} of its output: chunk {chunk_id} has two scores"));
        }
    }
    match hits.len() - scores.len() {
        0 => Ok(scores),
        missing => Err(format!("it gave no score to {missing} of {} results", hits.len())),
    }
}

/// Orders hits by score, larger first; equal scores keep their order.
fn order(hits: &mut [Hit], scores: &HashMap<ChunkId, f64>) {
    for hit in &mut *hits {
        hit.rerank_score = scores.get(&hit.stored.chunk.id).copied();
    }
    hits.sort_by(|one, other| match (one.rerank_score, other.rerank_score) {
        (Some(one), Some(other)) => other.total_cmp(&one),
        _ => Ordering::Equal,
    });
}
