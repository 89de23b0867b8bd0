//! `kb backup`.

use std::io::{ErrorKind, Read as _};
use std::path::Path;

use crate::app::session::{absolute, make_private_dir};
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::error::{Error, Result};
use crate::files::open::{self, Links};
use crate::files::write::side_file;
use crate::present::json;
use crate::store::{Existing, Store, Verified};

pub(super) fn run(context: &Context, args: &args::Backup) -> Result<ExitStatus> {
    let file = absolute(&args.file)?;
    let verified = if args.verify {
        make_private_dir(context.session.data_dir())?;
        Store::verify(&file, context.session.data_dir())?
    } else {
        // The file that a link leads to is replaced, not the link.
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let file = real(&file);
        if file == real(&context.session.database()) {
            return Err(exists(&file));
        }
        // A log that is left of another database would become the copy's.
        let taken = ["", "-wal", "-journal"].map(|end| side_file(&file, end));
        if let Some(taken) = taken.iter().find(|path| path.exists() && !args.force) {
            return Err(exists(taken));
        }
        require_backup(&file)?;
        let database = context.session.database();
        let store =
            context.session.open_existing()?.ok_or(Error::PathNotFound { path: database })?;
        let existing = if args.force { Existing::Replace } else { Existing::Keep };
        let stats = store.back_up(&file, existing).map_err(|error| match error {
            // Another process has made it since.
            Error::Io { path, source } if source.kind() == ErrorKind::AlreadyExists => {
                exists(&path)
            }
            error => error,
        })?;
        store.close()?;
        Verified { stats, log: None }
    };
    context.present(
        args.format.format,
        |out| json::backup(&file, &verified, out),
        |human, out| human.backup(&file, args.verify, &verified, out),
    )?;
    Ok(ExitStatus::Success)
}

fn exists(file: &Path) -> Error {
    Error::Usage {
        message: format!("{} exists already", file.display()),
        hint: Some("name another file, or replace this backup with --force".into()),
    }
}

/// Refuses what replacing would destroy: a device, a folder, a file that is something else.
fn require_backup(file: &Path) -> Result<()> {
    const HEAD: &[u8] = b"SQLite format 3\0";
    let Ok(metadata) = file.metadata() else { return Ok(()) };
    let io = |source| Error::Io { path: file.to_owned(), source };
    let is_ours = metadata.is_file() && {
        let mut head = Vec::new();
        let opened = open::open(file, Links::Follow)?;
        opened.take(HEAD.len() as u64).read_to_end(&mut head).map_err(io)?;
        head.is_empty() || head == HEAD
    };
    if is_ours {
        return Ok(());
    }
    let message = format!("{} is no database; nothing was replaced", file.display());
    Err(Error::Usage { message, hint: Some("name another file".into()) })
}
