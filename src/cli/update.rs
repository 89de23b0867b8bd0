//! Runs `kb update`.

use std::path::PathBuf;

use crate::app::reread::Selection;
use crate::app::transfer::ExportFile;
use crate::app::update::UpdateRequest;
use crate::app::{self, Observer, session};
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::cli::{args, base};
use crate::error::{Error, Result};
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn run(context: &Context, args: &args::Update) -> Result<ExitStatus> {
    // With --reread they name documents.
    let roots = args.roots.iter().filter(|_| !args.reread);
    let named = roots.map(|path| session::typed(path)).collect::<Result<Vec<_>>>()?;
    let request = UpdateRequest {
        named,
        prunes: args.prune,
        is_forced: args.force,
        export: args.export.clone().map(|path| ExportFile { path, is_replacing: false }),
        is_dry_run: args.dry_run,
        password: args.password.clone(),
        rereads: args.reread.then(|| selection(args)).transpose()?,
    };
    if !args.dry_run {
        base::offer_unfollowed(context)?;
    }
    let interrupt = context.ui.listen();
    let outcome = app::update::update(&context.session, &request, &context.ui);
    let report = ended(outcome, &interrupt)?;
    report.notes.iter().for_each(|note| context.ui.warn(note));
    context.present(&report, json::answer, Human::update)?;
    Ok(if report.is_refused(&request) { ExitStatus::User } else { ExitStatus::Success })
}

/// Returns which documents `--reread` makes again.
fn selection(args: &args::Update) -> Result<Selection> {
    let text = |typed: &PathBuf| {
        let unknown = || Error::UnknownDocument { id: typed.to_string_lossy().into_owned() };
        typed.to_str().map(str::to_owned).ok_or_else(unknown)
    };
    Ok(Selection {
        documents: args.roots.iter().map(text).collect::<Result<_>>()?,
        doc_type: args.doc_type,
        below: args.path.as_deref().map(session::typed).transpose()?,
    })
}
