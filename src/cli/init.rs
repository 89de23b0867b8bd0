//! Runs `kb init`.

use crate::app::{init, status};
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Init) -> Result<ExitStatus> {
    let setup = match args.status {
        true => status::setup(&context.session)?,
        false => init::init(&context.session, &context.ui)?,
    };
    context.present(
        args.format.format,
        |out| json::setup(&setup, out),
        |human, out| human.setup(&setup, out),
    )?;
    Ok(ExitStatus::Success)
}
