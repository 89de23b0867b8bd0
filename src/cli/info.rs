//! Runs `kb info`.

use crate::app;
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Info) -> Result<ExitStatus> {
    let info = app::read::info(&context.session, &args.id)?;
    context.present(
        args.format.format,
        |out| json::info(&info, out),
        |human, out| human.info(&info, out),
    )?;
    Ok(ExitStatus::Success)
}
