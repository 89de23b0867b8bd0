//! `kb backup`.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

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
        // The file that a link leads to is replaced, not the link.
        let real = |it: &Path| it.canonicalize().unwrap_or_else(|_| it.to_owned());
        let file = real(&file);
        if file == real(&context.database()) || (file.exists() && !args.force) {
            return Err(Error::Usage {
                message: format!("{} exists already", file.display()),
                hint: Some("name another file, or replace this backup with --force".into()),
            });
        }
        require_backup(&file)?;
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

/// Refuses what replacing would destroy: a device, a folder, a file that is something else.
fn require_backup(file: &Path) -> Result<()> {
    const HEAD: &[u8] = b"SQLite format 3\0";
    let Ok(metadata) = file.metadata() else { return Ok(()) };
    let io = |source| Error::Io { path: file.to_owned(), source };
    let is_ours = metadata.is_file() && {
        let mut head = Vec::new();
        File::open(file).map_err(io)?.take(HEAD.len() as u64).read_to_end(&mut head).map_err(io)?;
        head.is_empty() || head == HEAD
    };
    if is_ours {
        return Ok(());
    }
    let message = format!("{} is no database; nothing was replaced", file.display());
    Err(Error::Usage { message, hint: Some("name another file".into()) })
}
