//! Runs `kb config`.

use crate::app::settings;
use crate::cli::args::{self, ConfigAction};
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;

pub(super) fn run(context: &Context, args: &args::ConfigArgs) -> Result<ExitStatus> {
    if let Some(ConfigAction::Set { key, value }) = &args.action {
        settings::set(&context.session, key, value, &context.ui)?;
        return Ok(ExitStatus::Success);
    }
    let settings = settings::all(&context.session);
    context.present(
        args.format.format,
        |out| out.value(&settings),
        |human, out| human.settings(&settings, out),
    )?;
    Ok(ExitStatus::Success)
}
