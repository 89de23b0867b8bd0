//! `kb status`.

use crate::app;
use crate::app::update::Scope;
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Status) -> Result<ExitStatus> {
    let (setup, stats) = app::status::status(&context.session)?;
    let surveys = match context.session.open_existing()?.filter(|_| args.scan) {
        Some(store) => {
            Some(Scope::read(&context.session, &store, &[])?.survey(&context.session, false))
        }
        None => None,
    };
    context.present(
        args.format.format,
        |out| json::status(&setup, &stats, surveys.as_deref(), out),
        |human, out| {
            human.status(&setup, &stats, out)?;
            surveys.as_deref().map_or(Ok(()), |it| human.out_of_date(it, out))
        },
    )?;
    Ok(ExitStatus::Success)
}
