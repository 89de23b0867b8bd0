//! Prints or writes the manual pages (`kb man`).

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::cli::args::{self, Cli};
use crate::cli::exit::ExitStatus;
use crate::cli::{messages, streams};
use crate::error::{Error, Result};
use crate::files::write;

pub(super) fn run(args: &args::Man) -> Result<ExitStatus> {
    match &args.dir {
        Some(dir) => {
            write::create_public_folder(dir).map_err(|source| Error::of_file(dir, source))?;
            let mut command = Cli::command().disable_help_subcommand(true);
            command.build();
            write_pages(command, dir)?;
            messages::info(&format!("Wrote the man pages to {}", dir.display()));
        }
        None => {
            let mut page = Vec::new();
            Man::new(Cli::command()).render(&mut page).map_err(Error::Output)?;
            streams::bytes(&page)?;
        }
    }
    Ok(ExitStatus::Success)
}

/// Writes the pages of a command and its subcommands.
fn write_pages(command: Command, dir: &Path) -> Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_pages(below.clone(), dir)?;
    }
    let man = Man::new(command);
    let mut page = Vec::new();
    man.render(&mut page).map_err(Error::Output)?;
    let path = dir.join(man.get_filename());
    write::replace_public(&path, &page).map_err(|source| Error::Io { path, source })
}
