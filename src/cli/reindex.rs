//! Runs `kb reindex`.

use crate::app;
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Reindex) -> Result<ExitStatus> {
    let interrupt = context.ui.listen();
    let outcome = app::reindex::reindex(&context.session, &context.ui);
    let (num_chunks, bound) = ended(outcome, &interrupt)?;
    let (name, dim) = (&bound.model_name, bound.dim);
    context.present(
        args.format.format,
        |out| json::reindexed(num_chunks, name, dim, out),
        |human, out| human.reindexed(num_chunks, name, dim, out),
    )?;
    Ok(ExitStatus::Success)
}
