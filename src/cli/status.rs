//! Runs `kb status`.

use crate::app::status;
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Status) -> Result<ExitStatus> {
    let (setup, stats) = status::status(&context.session)?;
    let out_of_date = if args.scan { status::scan(&context.session)? } else { None };
    context.present(
        args.format.format,
        |out| json::status(&setup, &stats, out_of_date.as_ref(), out),
        |human, out| {
            human.status(&setup, &stats, out)?;
            out_of_date.as_ref().map_or(Ok(()), |files| human.out_of_date(files, out))
        },
    )?;
    Ok(ExitStatus::Success)
}
