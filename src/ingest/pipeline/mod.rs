//! Runs the threads between the walk and the database; see the diagram in the parent module.
//!
//! Every document has a turn, its number in the walk. The writer keeps documents that arrive early
//! and commits them in turn; permits limit how far the other threads may run ahead of it. Permits
//! are granted in the order of the turns, so the document that the writer waits for is always in
//! progress.

mod containers;
mod planner;
mod writer;

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::{panic, thread};

use crate::document::{Embedding, FileOutcome};
use crate::error::{Error, Result};
use crate::extract::clock::CpuBudget;
use crate::ingest::ledger::{Before, Failed};
use crate::ingest::prepare::Prepared;
use crate::ingest::roots::Roots;
use crate::ingest::walk::{Found, LeftOut, Start};
use crate::ingest::{Run, Services};
use crate::store::DocumentId;
use crate::trace::stage;

use planner::Planner;
use writer::Writer;

/// Position of a document in the order of the walk, from 0.
type Turn = usize;

/// The result of reading a file, before it is embedded.
enum Outcome {
    /// New content, and the rest of its time budget.
    Prepared(Box<Prepared>, Arc<CpuBudget>),
    /// The bytes are already stored, at this path or another.
    Known { found: Found, document_id: DocumentId, content_hash: String, is_new_path: bool },
    /// An empty file, or a kind of file that is not ingested from folders.
    Ignored(LeftOut),
    /// The file is not read: it failed before and has not changed, or its failure is waived.
    PassedOver { path: PathBuf, outcome: FileOutcome },
    /// The file cannot be ingested, or the run must stop.
    Failed(Failed),
    /// Every file in a container was seen, or the container is unchanged.
    Container(Sealed),
    /// The run has stopped, and nothing was looked at.
    Stopped,
}

/// A container whose files were seen.
struct Sealed {
    found: Found,
    /// The paths of its files; `None` if it was not read, because it is unchanged.
    members: Option<HashSet<String>>,
    /// Whether it is also a document.
    is_document: bool,
}

/// What the other threads send to the writer.
enum Message {
    Found(usize),
    /// Something that the walk left out; it has no turn.
    LeftOut(LeftOut),
    Outcome(Turn, Outcome),
    Embedded(Turn, usize, Result<Vec<Embedding>>),
    /// The walk is over; holds the number of turns.
    Walked(usize),
}

/// Passages of one document for an embedding thread.
struct Job {
    turn: Turn,
    first: usize,
    passages: Vec<String>,
    budget: Arc<CpuBudget>,
}

/// Runs the threads until every file in `starts` is committed, or a failure ends the run.
pub(super) fn run(run: &mut Run<'_>, starts: &[Start]) -> Result<()> {
    let (services, options) = (run.services, run.options);
    let reader = Mutex::new(run.store.reader()?);
    let roots = Roots::of(run.store, options.walk.follow_links)?;
    let before = Before::load(run.store, starts, options)?;
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
    let (to_embedders, jobs) = mpsc::channel::<Job>();
    let jobs = Arc::new(Mutex::new(jobs));

    thread::scope(|scope| {
        for _ in 0..options.num_embedders.max(1) {
            let (jobs, to_writer, is_stopped) = (Arc::clone(&jobs), to_writer.clone(), &is_stopped);
            scope.spawn(move || embed_jobs(services, &jobs, &to_writer, is_stopped));
        }
        let planner = Planner {
            reader: &reader,
            roots: &roots,
            before: &before,
            services,
            options,
            is_stopped: &is_stopped,
        };
        scope.spawn(move || planner.walk(starts, &pool, &permits, &to_writer));
        let mut writer = Writer::new(run, planner, to_embedders, permit_back);
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
    services: &Services<'_>,
    jobs: &Mutex<mpsc::Receiver<Job>>,
    to_writer: &mpsc::Sender<Message>,
    is_stopped: &AtomicBool,
) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { turn, first, passages, budget }) = job else { return };
        if is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
        let embed = || budget.spend(|| services.embedder.embed_passages(&passages));
        let embed = || match budget.check() {
            Ok(()) => stage("embed", embed),
            Err(error) => Err(error),
        };
        let embeddings = panic::catch_unwind(AssertUnwindSafe(embed))
            .unwrap_or_else(|_| Err(Error::Inference("the embedder panicked".into())));
        if to_writer.send(Message::Embedded(turn, first, embeddings)).is_err() {
            return;
        }
    }
}
