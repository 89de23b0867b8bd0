//! Runs `kb doctor`.

use crate::app::doctor::{self, Verdict};
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Doctor) -> Result<ExitStatus> {
    let findings = doctor::examine(&context.session, args.fix, &context.ui)?;
    context.present(
        args.format.format,
        |out| json::doctor(&findings, out),
        |human, out| human.doctor(&findings, out),
    )?;
    Ok(match (findings.count(Verdict::Fault), findings.is_beyond_repair) {
        (_, true) => ExitStatus::System,
        (0, false) => ExitStatus::Success,
        (_, false) => ExitStatus::User,
    })
}
