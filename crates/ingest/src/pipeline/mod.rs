//! Runs the threads between the walk and the database; see the diagram in the parent module.
//!
//! Every document has a turn, its number in [`order`](super::order). The writer keeps documents that arrive early
//! and commits them in turn; permits limit how far the other threads may run ahead of it. Permits
//! are granted in the order of the turns, so the document that the writer waits for is always in
//! progress.

mod containers;
mod messages;
mod planner;
mod remember;
mod writer;

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::{panic, thread};

use crate::IngestRun;
use crate::decision::Decider;
use crate::embedder::Embedder;
use crate::error::{Error, Result};
use crate::ledger::LedgerBefore;
use crate::roots::Roots;
use crate::trace::stage;
use crate::walk::Start;

use messages::{EmbeddingJob, Message};
use planner::Planner;
use writer::PipelineWriter;

/// Runs the threads until every file in `starts` is committed, or a failure ends the run.
pub(super) fn run(run: &mut IngestRun<'_>, starts: &[Start]) -> Result<()> {
    let (embedder, options) = (run.embedder, run.options);
    let reader = Mutex::new(run.store.reader()?);
    let roots = Roots::of(run.store, options.walk.follow_links)?;
    let before = LedgerBefore::load(run.store, starts, options)?;
    let is_stopped = AtomicBool::new(false);
    let num_workers = options.num_workers.max(1);
    let num_turns = options.batch_size.max(num_workers);
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(num_workers)
        .build()
        .map_err(|error| Error::Store(Box::new(error)))?;
    let (permit_back, permits) = mpsc::sync_channel::<()>(num_turns);
    for _ in 0..num_turns {
        permit_back.send(()).expect("the receiver lives in this function");
    }
    let (to_writer, messages) = mpsc::channel::<Message>();
    let (to_embedders, jobs) = mpsc::channel::<EmbeddingJob>();
    let jobs = Arc::new(Mutex::new(jobs));

    thread::scope(|scope| {
        let num_embedders = options.num_embedders.max(1);
        for embedder in embedder.iter().flat_map(|embedder| vec![*embedder; num_embedders]) {
            let (jobs, to_writer, is_stopped) = (Arc::clone(&jobs), to_writer.clone(), &is_stopped);
            scope.spawn(move || embed_jobs(embedder, &jobs, &to_writer, is_stopped));
        }
        let planner = Planner {
            reader: &reader,
            decider: Decider { roots: &roots, before: &before, options },
            embedder,
            is_stopped: &is_stopped,
        };
        scope.spawn(move || planner.walk(starts, &pool, &permits, &to_writer));
        let mut writer = PipelineWriter::new(run, planner, to_embedders, permit_back);
        let result = writer.run(&messages);
        // Dropping the writer's channels lets every other thread finish.
        is_stopped.store(true, Ordering::Relaxed);
        let result = writer.finish(result);
        drop(messages);
        result
    })
}

/// Embeds until there are no more jobs.
fn embed_jobs(
    embedder: &dyn Embedder,
    jobs: &Mutex<mpsc::Receiver<EmbeddingJob>>,
    to_writer: &mpsc::Sender<Message>,
    is_stopped: &AtomicBool,
) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(EmbeddingJob { slot, passages, budget }) = job else { return };
        if is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
        let embeddings = panic::catch_unwind(AssertUnwindSafe(|| {
            budget.check()?;
            stage("embed", || budget.spend(|| embedder.embed_passages(&passages)))
        }));
        let embeddings =
            embeddings.unwrap_or_else(|_| Err(Error::Inference("the embedder panicked".into())));
        if to_writer.send(Message::Embedded(slot, embeddings)).is_err() {
            return;
        }
    }
}
