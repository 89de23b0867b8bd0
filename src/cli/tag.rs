//! Runs `kb tags` and `kb tag`.

use crate::app;
use crate::app::tag::TagRequest;
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;

pub(super) fn list(context: &Context, args: &args::Tags) -> Result<ExitStatus> {
    let tags = app::read::tags(&context.session)?;
    context.present(
        args.format.format,
        |out| json::tags(&tags, out),
        |human, out| human.tags(&tags, out),
    )?;
    Ok(ExitStatus::Success)
}

pub(super) fn run(context: &Context, args: &args::Tag) -> Result<ExitStatus> {
    let request = TagRequest {
        document: args.id.clone(),
        added: args.add.clone(),
        removed: args.remove.clone(),
    };
    let document = app::tag::change(&context.session, &request, &context.ui)?;
    context.present(
        args.format.format,
        |out| json::tagged(&document, out),
        |human, out| human.tagged(&document, out),
    )?;
    Ok(ExitStatus::Success)
}
