//! `kb info`.

use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, context};
use crate::error::{Error, Result};
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Info) -> Result<ExitStatus> {
    let id = context::document_id(&args.id)?;
    let unknown = || Error::UnknownDocument { id: args.id.clone() };
    let store = context.open_existing()?.ok_or_else(unknown)?;
    let document = store.document(id)?.ok_or_else(unknown)?;
    let chunks = store.chunks(id)?;
    context.present(
        args.format.format,
        |out| json::info(&document, &chunks, out),
        |human, out| human.info(&document, &chunks, out),
    )?;
    Ok(ExitStatus::Success)
}
