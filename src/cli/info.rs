//! Runs `kb info`.

use crate::app;
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn run(context: &Context, args: &args::Info) -> Result<ExitStatus> {
    let info = app::read::info(&context.session, &args.id)?;
    context.present(&info, json::info, Human::info)
}
