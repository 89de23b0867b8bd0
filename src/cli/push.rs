//! Runs `kb push`.

use crate::app::push::push;
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::error::Result;
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn run(context: &Context, args: &args::Push) -> Result<ExitStatus> {
    let interrupt = context.ui.listen();
    let pushed = ended(push(&context.session, &args.target, &context.ui), &interrupt)?;
    context.present(&pushed, json::answer, Human::pushed)
}
