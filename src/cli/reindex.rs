//! `kb reindex`.

use crate::app::{self, model};
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Reindex) -> Result<ExitStatus> {
    let (session, ui) = (&context.session, &context.ui);
    let interrupt = ui.listen();
    let (num_chunks, bound) = ended(app::reindex::reindex(session, ui), &interrupt)?;
    model::keep_selection(session, args.model.as_ref(), args.model_dir.as_ref(), ui)?;
    let (name, dim) = (&bound.model_name, bound.dim);
    context.present(
        args.format.format,
        |out| json::reindexed(num_chunks, name, dim, out),
        |human, out| human.reindexed(num_chunks, name, dim, out),
    )?;
    Ok(ExitStatus::Success)
}
