//! `kb info`.

use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, read};
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Info) -> Result<ExitStatus> {
    let (store, document) = read::find(context, &args.id)?;
    let chunks = store.chunks(document.id)?;
    context.present(
        args.format.format,
        |out| json::info(&document, &chunks, out),
        |human, out| human.info(&document, &chunks, out),
    )?;
    Ok(ExitStatus::Success)
}
