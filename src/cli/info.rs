//! Runs `kb info`.

use crate::app;
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Info) -> Result<ExitStatus> {
    let (document, chunks) = app::read::info(&context.session, &args.id)?;
    context.present(
        args.format.format,
        |out| json::info(&document, &chunks, out),
        |human, out| human.info(&document, &chunks, out),
    )?;
    Ok(ExitStatus::Success)
}
