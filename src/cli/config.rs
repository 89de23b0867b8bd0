//! Runs `kb config`.

use crate::app::settings;
use crate::cli::args::{self, ConfigAction};
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::text::human::Human;

pub(super) fn run(context: &Context, args: &args::ConfigArgs) -> Result<ExitStatus> {
    if let Some(ConfigAction::Set { key, value }) = &args.action {
        settings::set(&context.session, key, value, &context.ui)?;
        return Ok(ExitStatus::Success);
    }
    let settings = settings::all(&context.session);
    context.present(settings.as_slice(), |settings, out| out.value(&settings), Human::settings)
}
