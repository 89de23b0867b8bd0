//! Works on the files of a run in parallel, and returns the results in the order of the files.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

use crate::app::indexing::ingestion::request::DocumentSource;
use crate::error::Error;
use crate::ingest::walk::{self, FoundFile, Start, WalkOptions};

/// Results that may wait for an earlier one. It limits the memory of a run with a slow file.
const MAX_AHEAD: usize = 256;

/// A document to convert, or why there is none.
pub(crate) enum ConversionInput<'a> {
    File(FoundFile),
    Stream(&'a [u8]),
    Failed(Error),
}

impl ConversionInput<'_> {
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::File(found) => Some(&found.path),
            Self::Stream(_) => None,
            Self::Failed(error) => error.path(),
        }
    }

    /// Whether the user named it: then it is an error if it is empty.
    pub(crate) fn is_named(&self) -> bool {
        !matches!(self, Self::File(found) if !found.is_named)
    }
}

/// Returns the documents of a request in the order of the walk.
pub(crate) fn inputs<'a>(
    source: &'a DocumentSource,
    roots: &[PathBuf],
    options: &WalkOptions,
) -> Vec<ConversionInput<'a>> {
    match source {
        DocumentSource::Bytes(bytes) => vec![ConversionInput::Stream(bytes)],
        _ => {
            let starts: Vec<Start> = roots.iter().map(|root| Start::named(root)).collect();
            let walk = walk::walk(&starts, options);
            walk.map(|found| found.map_or_else(ConversionInput::Failed, ConversionInput::File))
                .collect()
        }
    }
}

/// Passes the results of `work` to `take`, in the order of the items. Once `is_stopped`, no further item is
/// worked on. `work` must not panic.
pub(crate) fn in_order<I: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    num_workers: usize,
    is_stopped: &(dyn Fn() -> bool + Sync),
    work: &(dyn Fn(I) -> T + Sync),
    mut take: impl FnMut(T),
) -> io::Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(num_workers).build();
    let pool = pool.map_err(io::Error::other)?;
    let mut items = items.into_iter().enumerate();
    pool.in_place_scope(|scope| {
        let (sender, results) = mpsc::channel();
        let mut waiting = BTreeMap::new();
        let (mut num_started, mut num_taken) = (0, 0);
        loop {
            while num_started - num_taken < MAX_AHEAD
                && let Some((idx, item)) = items.next()
            {
                let sender = sender.clone();
                num_started += 1;
                scope.spawn(move |_| {
                    let result = (!is_stopped()).then(|| work(item));
                    // Sending does not fail: the receiver lives until all results are in.
                    let _ = sender.send((idx, result));
                });
            }
            if num_taken == num_started {
                return;
            }
            let Ok((idx, result)) = results.recv() else { return };
            waiting.insert(idx, result);
            while let Some(result) = waiting.remove(&num_taken) {
                num_taken += 1;
                result.into_iter().for_each(&mut take);
            }
        }
    });
    Ok(())
}
