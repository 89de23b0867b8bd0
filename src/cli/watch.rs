//! Runs `kb watch`.

use crate::app::watch::WatchRequest;
use crate::app::{self, Observer, session};
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;

pub(super) fn run(context: &Context, args: &args::Watch) -> Result<ExitStatus> {
    let named = args.roots.iter().map(|path| session::typed(path)).collect::<Result<Vec<_>>>()?;
    // A signal is its ordinary end.
    let _interrupt = context.ui.listen();
    let (is_ended, has_summaries) = (context.ui.cancel_flag(), args.summary);
    let request = WatchRequest { named, has_summaries, is_ended };
    app::watch::watch(&context.session, &request, &context.ui)?;
    Ok(ExitStatus::Success)
}
