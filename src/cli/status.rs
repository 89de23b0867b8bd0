//! `kb status`.

use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::update::Scope;
use crate::cli::{args, model};
use crate::error::Result;
use crate::present::{Setup, json};
use crate::store::Stats;

pub(super) fn run(context: &Context, args: &args::Status) -> Result<ExitStatus> {
    let (setup, stats) = status(context)?;
    let surveys = match context.open_existing()?.filter(|_| args.scan) {
        Some(store) => Some(Scope::read(context, &store, &[])?.survey(context, false)),
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

pub(super) fn status(context: &Context) -> Result<(Setup, Stats)> {
    let store = context.open_existing()?;
    let (binding, stats) = match &store {
        Some(store) => (store.binding()?, store.stats()?),
        None => (None, Stats::empty()),
    };
    Ok((model::setup(context, binding), stats))
}
