//! `kb status`.

use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, model};
use crate::error::Result;
use crate::present::{Setup, json};
use crate::store::Stats;

pub(super) fn run(context: &Context, args: &args::Status) -> Result<ExitStatus> {
    let (setup, stats) = status(context)?;
    context.present(
        args.format.format,
        |out| json::status(&setup, &stats, out),
        |human, out| human.status(&setup, &stats, out),
    )?;
    Ok(ExitStatus::Success)
}

pub(super) fn status(context: &Context) -> Result<(Setup, Stats)> {
    let store = context.open_existing()?;
    let (binding, stats) = match &store {
        Some(store) => (store.binding()?, store.stats()?),
        None => (None, Stats::empty()),
    };
    Ok((model::setup(context, binding), stats))
}
