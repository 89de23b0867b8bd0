//! Runs `kb reindex`.

use crate::app;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::error::Result;
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn run(context: &Context) -> Result<ExitStatus> {
    let interrupt = context.ui.listen();
    let outcome = app::reindex::reindex(&context.session, &context.ui);
    let reindexed = ended(outcome, &interrupt)?;
    context.present(&reindexed, json::answer, Human::reindexed)
}
