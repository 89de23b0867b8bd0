//! Runs `kb status`.

use crate::app;
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Status) -> Result<ExitStatus> {
    let status = app::status::status(&context.session)?;
    let scan = if args.scan { app::status::scan(&context.session)? } else { None };
    context.present(
        &status,
        |status, out| json::status(status, scan.as_ref(), out),
        |human, status, out| {
            human.status(status, out)?;
            scan.as_ref().map_or(Ok(()), |scan| human.scan(scan, out))
        },
    )
}
