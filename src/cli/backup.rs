//! Runs `kb backup` and `kb restore`.

use crate::app::backup;
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::Result;
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn run(context: &Context, args: &args::Backup) -> Result<ExitStatus> {
    let backup = match args.verify {
        true => backup::verify(&context.session, &args.file)?,
        false => backup::create(&context.session, &args.file, args.force)?,
    };
    context
        .present(&backup, json::answer, |human, backup, out| human.backup(backup, args.verify, out))
}

pub(super) fn restore(context: &Context, args: &args::Restore) -> Result<ExitStatus> {
    let restored = backup::restore(&context.session, &args.file)?;
    context.present(&restored, json::answer, Human::restored)
}
