//! Runs `kb backup` and `kb restore`.

use crate::app::backup;
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;

pub(super) fn run(context: &Context, args: &args::Backup) -> Result<ExitStatus> {
    let backup = match args.verify {
        true => backup::verify(&context.session, &args.file)?,
        false => backup::create(&context.session, &args.file, args.force)?,
    };
    context.present(
        args.format.format,
        |out| json::backup(&backup, out),
        |human, out| human.backup(&backup, args.verify, out),
    )?;
    Ok(ExitStatus::Success)
}

pub(super) fn restore(context: &Context, args: &args::Restore) -> Result<ExitStatus> {
    let restored = backup::restore(&context.session, &args.file)?;
    context.present(
        args.format.format,
        |out| json::restored(&restored, out),
        |human, out| human.restored(&restored, out),
    )?;
    Ok(ExitStatus::Success)
}
