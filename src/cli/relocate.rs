//! Runs `kb relocate`.

use crate::app::relocate::{RelocateRequest, relocate};
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn run(context: &Context, args: &args::Relocate) -> Result<ExitStatus> {
    let request = RelocateRequest {
        from: args.from.clone(),
        to: args.to.clone(),
        is_forced: args.force,
        is_dry_run: args.dry_run,
    };
    let relocated = relocate(&context.session, &request, &context.ui)?;
    context.present(&relocated, json::answer, Human::relocated)
}
