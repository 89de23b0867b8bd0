//! `kb info`.

use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, read};
use crate::error::Result;
use crate::present::json;
use crate::store::{StoredChunk, StoredDocument};

pub(super) fn run(context: &Context, args: &args::Info) -> Result<ExitStatus> {
    let (document, chunks) = document(context, &args.id)?;
    context.present(
        args.format.format,
        |out| json::info(&document, &chunks, out),
        |human, out| human.info(&document, &chunks, out),
    )?;
    Ok(ExitStatus::Success)
}

pub(super) fn document(
    context: &Context,
    typed: &str,
) -> Result<(StoredDocument, Vec<StoredChunk>)> {
    let (store, document) = read::find(context, typed)?;
    let chunks = store.chunks(document.id)?;
    Ok((document, chunks))
}
