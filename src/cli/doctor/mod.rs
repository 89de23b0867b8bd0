//! Runs `kb doctor`: examines the machine, the cache and the database.

mod cache;
mod database;
mod machine;

use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::{Error, Result};
use crate::present::doctor::{Check, Verdict};

/// What has been found so far.
struct Findings {
    checks: Vec<Check>,
    /// Whether something is damaged that kb cannot mend.
    is_beyond_repair: bool,
}

impl Findings {
    fn add(&mut self, name: &'static str, verdict: Verdict, message: impl Into<String>) {
        self.checks.push(Check { name, verdict, message: message.into(), fix: None });
    }

    fn add_with_fix(
        &mut self,
        name: &'static str,
        verdict: Verdict,
        message: impl Into<String>,
        fix: impl Into<String>,
    ) {
        let fix = Some(fix.into());
        self.checks.push(Check { name, verdict, message: message.into(), fix });
    }

    /// Takes an error as a fault, with its own next step.
    fn add_error(&mut self, name: &'static str, error: &Error) {
        self.is_beyond_repair |= matches!(
            error,
            Error::Corrupt { .. }
                | Error::DiskFailed { .. }
                | Error::Foreign { .. }
                | Error::SchemaTooNew { .. }
                | Error::Store(_)
                | Error::DiskFull { .. }
        );
        let (message, fix) = (error.to_string(), error.hint());
        self.checks.push(Check { name, verdict: Verdict::Fault, message, fix });
    }
}

pub(super) fn run(context: &Context, args: &args::Doctor) -> Result<ExitStatus> {
    let mut findings = Findings { checks: Vec::new(), is_beyond_repair: false };
    machine::version(&mut findings);
    machine::files(context, args.fix, &mut findings)?;
    machine::disk(context, &mut findings);
    // What is wrong with the database is told below.
    let bound =
        context.session.open_existing().ok().flatten().and_then(|it| it.binding().ok().flatten());
    // First of all what would run in this process; then the model, before the database whose vectors
    // it may have to compute again.
    let is_safe = cache::examine(context, bound.as_ref(), args.fix, &mut findings);
    machine::model(context, bound.as_ref(), is_safe, &mut findings);
    // Repairing may embed passages.
    database::examine(context, args.fix && is_safe, &mut findings);
    machine::ocr(context, &mut findings);
    machine::skill(context, &mut findings);

    let Findings { checks, is_beyond_repair } = findings;
    context.present(
        args.format.format,
        |out| crate::present::doctor::json(&checks, out),
        |human, out| human.doctor(&checks, out),
    )?;
    let has_fault = checks.iter().any(|it| it.verdict == Verdict::Fault);
    Ok(match (has_fault, is_beyond_repair) {
        (_, true) => ExitStatus::System,
        (true, _) => ExitStatus::User,
        (false, _) => ExitStatus::Success,
    })
}
