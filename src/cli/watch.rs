//! Runs `kb watch`.

use crate::app::watch::WatchRequest;
use crate::app::{self, Observer, session};
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;

pub(super) fn run(context: &Context, args: &args::Watch) -> Result<ExitStatus> {
    let named = args.roots.iter().map(|path| session::typed(path)).collect::<Result<Vec<_>>>()?;
    let interrupt = context.ui.listen();
    let request = WatchRequest { named, is_ended: context.ui.cancel_flag() };
    app::watch::watch(&context.session, &request, &context.ui)?;
    interrupt.check()?;
    Ok(ExitStatus::Success)
}
