//! Runs `kb reindex`.

use crate::app;
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::error::Result;
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn run(context: &Context, args: &args::Reindex) -> Result<ExitStatus> {
    if args.dry_run {
        let estimate = app::reindex::estimate(&context.session, &context.ui)?;
        return context.present(&estimate, json::answer, Human::reindex_estimate);
    }
    let interrupt = context.ui.listen();
    let outcome = app::reindex::reindex(&context.session, &context.ui);
    let reindexed = ended(outcome, &interrupt)?;
    context.present(&reindexed, json::answer, Human::reindexed)
}
