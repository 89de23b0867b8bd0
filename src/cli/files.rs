//! Runs `kb files`.

use crate::app;
use crate::app::files::{FileState, FilesRequest};
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::document::FileOutcome;
use crate::error::Result;
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn run(context: &Context, args: &args::Files) -> Result<ExitStatus> {
    if !args.waive.is_empty() {
        let waived = app::files::waive(&context.session, &args.waive)?;
        return context.present(waived.as_slice(), json::waived, Human::waived);
    }
    let states = [
        (args.indexed, FileState::Indexed),
        (args.ignored, FileState::NotIndexed(FileOutcome::Ignored)),
        (args.failed, FileState::NotIndexed(FileOutcome::Failed)),
        (args.waived, FileState::NotIndexed(FileOutcome::Waived)),
    ];
    let state = states.into_iter().find(|(is_wanted, _)| *is_wanted).map(|(_, state)| state);
    let request = FilesRequest { state, is_lossy: args.quality, path: args.path.clone() };
    let files = app::files::list(&context.session, &request)?;
    context.present(&files, json::files, |human, files, out| human.files(files, &request, out))
}
