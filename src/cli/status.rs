//! Runs `kb status`.

use crate::app;
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Status) -> Result<ExitStatus> {
    let status = app::status::status(&context.session)?;
    let out_of_date = if args.scan { app::status::scan(&context.session)? } else { None };
    context.present(
        &status,
        |status, out| json::status(status, out_of_date.as_ref(), out),
        |human, status, out| {
            human.status(status, out)?;
            out_of_date.as_ref().map_or(Ok(()), |files| human.out_of_date(files, out))
        },
    )
}
