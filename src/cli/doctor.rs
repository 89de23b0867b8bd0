//! Runs `kb doctor`.

use crate::app::doctor::{self, Verdict};
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn run(context: &Context, args: &args::Doctor) -> Result<ExitStatus> {
    let mut findings = doctor::examine(&context.session, args.fix, &context.ui)?;
    if args.links {
        doctor::links(&context.session, &mut findings)?;
    }
    context.present(&findings, json::doctor, Human::doctor)?;
    Ok(match (findings.count(Verdict::Fault), findings.is_beyond_repair) {
        (_, true) => ExitStatus::System,
        (0, false) => ExitStatus::Success,
        (_, false) => ExitStatus::User,
    })
}
