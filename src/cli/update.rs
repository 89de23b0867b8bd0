//! Runs `kb update`.

use crate::app::transfer::ExportFile;
use crate::app::update::UpdateRequest;
use crate::app::{self, session};
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Update) -> Result<ExitStatus> {
    let named = args.roots.iter().map(|path| session::typed(path)).collect::<Result<Vec<_>>>()?;
    let request = UpdateRequest {
        named,
        prunes: args.prune,
        is_forced: args.force,
        export: args.export.clone().map(|path| ExportFile { path, is_replacing: false }),
        is_dry_run: args.dry_run,
        password: args.password.clone(),
    };
    let interrupt = context.ui.listen();
    let outcome = app::update::update(&context.session, &request, &context.ui);
    let report = ended(outcome, &interrupt)?;
    context.present(
        args.format.format,
        |out| json::update(&report, out),
        |human, out| human.update(&report, out),
    )?;
    Ok(if report.is_refused(&request) { ExitStatus::User } else { ExitStatus::Success })
}
