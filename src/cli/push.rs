//! Runs `kb push`.

use crate::app::push::push;
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Push) -> Result<ExitStatus> {
    let interrupt = context.ui.listen();
    let pushed = ended(push(&context.session, &args.target, &context.ui), &interrupt)?;
    context.present(
        args.format.format,
        |out| json::answer(&pushed, out),
        |human, out| human.pushed(&pushed, out),
    )?;
    Ok(ExitStatus::Success)
}
