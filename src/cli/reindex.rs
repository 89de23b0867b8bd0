//! `kb reindex`.

use std::sync::Arc;

use rayon::prelude::*;

use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::interrupt::Interrupt;
use crate::cli::{args, erase, model, progress};
use crate::document::{Binding, Chunk, ChunkId};
use crate::embed::Embedder;
use crate::error::Result;
use crate::present::json;
use crate::store::{Store, Unembedded};

/// Chunks embedded between two commits: a second or two of work, which is what an interruption
/// loses.
const BATCH: u32 = 128;

pub(super) fn run(context: &Context, args: &args::Reindex) -> Result<ExitStatus> {
    let mut store = context.open_store()?;
    let bound = store.binding()?;
    let wish = model::wish_for_reindex(context, bound.as_ref())?;
    let installed = wish.locate_or_install()?;
    let wanted = wish.binding(&installed);
    let num_chunks = if bound.is_none() {
        store.bind(&wanted)?;
        0
    } else {
        let embedder = wish.open_for_passages(&installed)?;
        reindex(&mut store, &embedder, &wanted)?
    };
    erase::finish(store)?;
    model::keep_wish(context, args.model.as_ref(), args.model_dir.as_ref())?;
    context.present(
        args.format.format,
        |out| json::reindexed(num_chunks, &wanted.model_name, wanted.dim, out),
        |human, out| human.reindexed(num_chunks, &wanted.model_name, wanted.dim, out),
    )?;
    Ok(ExitStatus::Success)
}

/// Embeds every chunk beside the vectors in use, then switches in one transaction. Goes on where
/// an interrupted run with the same model stopped.
fn reindex(store: &mut Store, embedder: &dyn Embedder, wanted: &Binding) -> Result<u64> {
    let state = store.begin_reindex(wanted)?;
    let interrupt = Interrupt::listen(&Arc::default());
    let bar = indicatif::ProgressBar::with_draw_target(
        Some(u64::from(state.num_chunks)),
        progress::target(),
    )
    .with_style(progress::style("{bar:30.cyan/bright.black} {percent:>3} %  {human_pos} of {human_len} chunks, {per_sec}, {eta} left"));
    bar.set_position(u64::from(state.num_embedded));
    loop {
        let mut after: ChunkId = 0;
        loop {
            let batch = store.unembedded(after, BATCH)?;
            let Some(last) = batch.last() else { break };
            after = last.chunk_id;
            let vectors = embed(embedder, &batch)?;
            store.store_reindexed(&vectors)?;
            bar.inc(batch.len() as u64);
            interrupt.check()?;
        }
        // Another process may have added chunks meanwhile: they are embedded in another round.
        let state = store.finish_reindex()?;
        if state.num_embedded == state.num_chunks {
            bar.finish_and_clear();
            return Ok(u64::from(state.num_chunks));
        }
    }
}

/// Embeds a batch on all processors.
pub(super) fn embed(
    embedder: &dyn Embedder,
    batch: &[Unembedded],
) -> Result<Vec<(ChunkId, Vec<f32>)>> {
    let embed_one = |chunk: &Unembedded| {
        let passage = Chunk::passage(&chunk.context, &chunk.text);
        let vectors = embedder.embed_passages(&[&passage])?;
        let vector = vectors.into_iter().next().expect("one passage gives one vector");
        Ok((chunk.chunk_id, vector))
    };
    // One chunk per job: a few long ones must not wait for each other.
    batch.par_iter().with_max_len(1).map(embed_one).collect()
}
