//! Hands passages to the embedding threads, and lets documents be committed in turn.

mod commit;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::document::Embedding;
use crate::error::{Error, Result};
use crate::extract::clock::CpuBudget;
use crate::ledger::{LedgerFailure, Recorder};
use crate::passages::{PASSAGES_PER_JOB, known};
use crate::prepare::PreparedDocument;
use crate::walk::LeftOutReason;
use crate::{IngestEvent, IngestRun};

use super::messages::{EmbeddingJob, EmbeddingSlot, Message, ReadOutcome, Turn};
use super::planner::Planner;

/// How long the writer waits for a message before it looks at how far OCR has come.
const PAUSE: Duration = Duration::from_millis(500);

/// A document that waits for its turn or for its embeddings.
struct WaitingDocument {
    outcome: ReadOutcome,
    embeddings: Vec<Option<Embedding>>,
    num_missing: usize,
}

impl WaitingDocument {
    fn is_ready(&self) -> bool {
        self.num_missing == 0
    }
}

/// Hands passages to the embedding threads and commits documents in turn.
pub(super) struct PipelineWriter<'w, 'r> {
    run: &'w mut IngestRun<'r>,
    planner: Planner<'w>,
    recorder: Recorder<'w>,
    to_embedders: mpsc::Sender<EmbeddingJob>,
    permit_back: mpsc::SyncSender<()>,
    /// The documents of each turn: the files embedded in a file come before it.
    waiting: BTreeMap<Turn, Vec<WaitingDocument>>,
    next_turn: Turn,
    num_turns: Option<usize>,
    /// Files that were found, and those that were found in them.
    num_found: usize,
    num_embedded: usize,
}

impl<'w, 'r> PipelineWriter<'w, 'r> {
    /// Creates a writer; no document is waiting yet.
    pub(super) fn new(
        run: &'w mut IngestRun<'r>,
        planner: Planner<'w>,
        to_embedders: mpsc::Sender<EmbeddingJob>,
        permit_back: mpsc::SyncSender<()>,
    ) -> Self {
        Self {
            run,
            planner,
            recorder: Recorder::new(planner.decider.before),
            to_embedders,
            permit_back,
            waiting: BTreeMap::new(),
            next_turn: 0,
            num_turns: None,
            num_found: 0,
            num_embedded: 0,
        }
    }

    /// Closes the channels, and writes which files were not indexed unless a failure ended the run.
    pub(super) fn finish(self, result: Result<()>) -> Result<()> {
        let Self { run, recorder, to_embedders, permit_back, .. } = self;
        drop((to_embedders, permit_back));
        if matches!(result, Ok(()) | Err(Error::Cancelled)) {
            recorder.finish(run.store, result.is_ok())?;
        }
        result
    }

    /// Handles messages until every turn is committed.
    pub(super) fn run(&mut self, messages: &mpsc::Receiver<Message>) -> Result<()> {
        while self.num_turns != Some(self.next_turn) {
            let message = messages.recv_timeout(PAUSE);
            self.tell_ocr();
            let message = match message {
                Err(RecvTimeoutError::Timeout) => continue,
                message => message.expect("the planner ends with a last message"),
            };
            if self.run.options.is_cancelled.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            match message {
                Message::Found(num_files) => {
                    self.num_found = num_files;
                    self.tell_found();
                }
                Message::LeftOut(left_out) => {
                    // Only these two rules are kb's. The user knows what the others leave out.
                    if matches!(left_out.rule, LeftOutReason::Size | LeftOutReason::Generated) {
                        self.run.report.count_ignored(&left_out);
                    }
                    self.recorder.left_out(&left_out, self.run.store)?;
                }
                Message::Walked(num_turns) => self.num_turns = Some(num_turns),
                Message::Outcomes(turn, outcomes) => self.wait(turn, outcomes)?,
                Message::Embedded(slot, embeddings) => self.embedded(slot, embeddings)?,
            }
            // Files are stored in the order of their turns, whichever is read first, so that ids are the same in every
            // run.
            while self.is_next_turn_ready() {
                let waiting = self.waiting.remove(&self.next_turn).expect("just seen");
                waiting.into_iter().try_for_each(|waiting| self.commit(waiting))?;
                self.next_turn += 1;
                // The planner may already have ended.
                let _ = self.permit_back.try_send(());
            }
        }
        Ok(())
    }

    /// Whether all documents of the next turn can be stored.
    fn is_next_turn_ready(&self) -> bool {
        let waiting = self.waiting.get(&self.next_turn);
        waiting.is_some_and(|documents| documents.iter().all(WaitingDocument::is_ready))
    }

    fn tell_found(&mut self) {
        (self.run.on_event)(IngestEvent::Found(self.num_found + self.num_embedded));
    }

    /// Reports the pages that were read by OCR since the last time.
    fn tell_ocr(&mut self) {
        let ocr = self.run.options.pdf.ocr_work();
        if ocr != self.run.report.ocr {
            self.run.report.ocr = ocr;
            (self.run.on_event)(IngestEvent::Recognised(ocr));
        }
    }

    /// Stores embeddings in their document. A document that takes too long to embed fails, and the run
    /// continues.
    fn embedded(&mut self, slot: EmbeddingSlot, embeddings: Result<Vec<Embedding>>) -> Result<()> {
        let waiting = self.waiting.get_mut(&slot.turn);
        let waiting = waiting.and_then(|documents| documents.get_mut(slot.document));
        let Some(waiting) = waiting else { return Ok(()) };
        let embeddings = match (embeddings, &waiting.outcome) {
            (Ok(embeddings), _) => embeddings,
            (Err(error @ Error::TooSlow { .. }), ReadOutcome::Prepared(prepared, _)) => {
                let failed = ReadOutcome::Failed(too_slow(prepared, error));
                (waiting.outcome, waiting.num_missing) = (failed, 0);
                return Ok(());
            }
            // This is a further job of a document that has already failed.
            (Err(Error::TooSlow { .. }), _) => return Ok(()),
            (Err(error), _) => return Err(error),
        };
        (self.run.on_event)(IngestEvent::Embedded(embeddings.len()));
        for (slot, embedding) in waiting.embeddings[slot.first..].iter_mut().zip(embeddings) {
            *slot = Some(embedding);
            waiting.num_missing = waiting.num_missing.saturating_sub(1);
        }
        Ok(())
    }

    /// Adds the documents of a turn to those waiting, and requests the embeddings that are not in the database.
    fn wait(&mut self, turn: Turn, outcomes: Vec<ReadOutcome>) -> Result<()> {
        self.num_embedded += outcomes.len().saturating_sub(1);
        self.tell_found();
        let mut num_chunks = None;
        let mut documents = Vec::new();
        for (document, outcome) in outcomes.into_iter().enumerate() {
            let mut embeddings = Vec::new();
            if let ReadOutcome::Prepared(prepared, budget) = &outcome
                && self.planner.embedder.is_some()
            {
                let passages = prepared.passages();
                embeddings = known(&self.planner.lock(), &passages)?;
                let slot = EmbeddingSlot { turn, document, first: 0 };
                self.send_jobs(slot, passages, &embeddings, budget);
            }
            let num_missing = embeddings.iter().filter(|embedding| embedding.is_none()).count();
            if matches!(outcome, ReadOutcome::Prepared(..)) {
                num_chunks = Some(num_chunks.unwrap_or(0) + num_missing);
            }
            documents.push(WaitingDocument { outcome, embeddings, num_missing });
        }
        (self.run.on_event)(IngestEvent::Read { position: turn, num_chunks });
        self.waiting.insert(turn, documents);
        Ok(())
    }

    /// Sends runs of adjacent passages that have no embedding yet.
    fn send_jobs(
        &self,
        slot: EmbeddingSlot,
        passages: Vec<String>,
        embeddings: &[Option<Embedding>],
        budget: &Arc<CpuBudget>,
    ) {
        let empty = || EmbeddingJob { slot, passages: Vec::new(), budget: Arc::clone(budget) };
        let mut job = empty();
        for (idx, passage) in passages.into_iter().enumerate() {
            let is_known = embeddings[idx].is_some();
            if (is_known || job.passages.len() == PASSAGES_PER_JOB) && !job.passages.is_empty() {
                let full = std::mem::replace(&mut job, empty());
                // The embedding threads outlive the writer unless the run is stopping.
                let _ = self.to_embedders.send(full);
            }
            if !is_known {
                if job.passages.is_empty() {
                    job.slot.first = idx;
                }
                job.passages.push(passage);
            }
        }
        if !job.passages.is_empty() {
            let _ = self.to_embedders.send(job);
        }
    }
}

/// Returns the failure of a document that takes too long.
fn too_slow(prepared: &PreparedDocument, error: Error) -> LedgerFailure {
    let stamp = prepared.document.stamp.as_ref();
    let stamp = stamp.map(|seen| seen.stamp());
    LedgerFailure { path: prepared.path(), error, stamp }
}
