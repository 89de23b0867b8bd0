//! `kb backup`.

use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, context};
use crate::error::{Error, Result};
use crate::present::json;
use crate::store::Store;

pub(super) fn run(context: &Context, args: &args::Backup) -> Result<ExitStatus> {
    let file = context::absolute(&args.file)?;
    let stats = if args.verify {
        context::make_private_dir(context.data_dir())?;
        Store::verify(&file, context.data_dir())?
    } else {
        if file == context.database() || (file.exists() && !args.force) {
            return Err(Error::Usage {
                message: format!("{} exists already", file.display()),
                hint: Some("name another file, or replace this backup with --force".into()),
            });
        }
        let database = context.database();
        let store = context.open_existing()?.ok_or(Error::PathNotFound { path: database })?;
        let stats = store.back_up(&file)?;
        store.close()?;
        stats
    };
    context.present(
        args.format.format,
        |out| json::backup(&file, &stats, out),
        |human, out| human.backup(&file, args.verify, &stats, out),
    )?;
    Ok(ExitStatus::Success)
}
