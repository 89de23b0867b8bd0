//! Prints manual pages of the command tree (`kb man`).

use std::fs;

use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::args::Cli;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, streams, voice};
use crate::error::{Error, Result};

pub(super) fn run(args: &args::Man) -> Result<ExitStatus> {
    match &args.dir {
        Some(dir) => {
            fs::create_dir_all(dir)
                .and_then(|()| clap_mangen::generate_to(Cli::command(), dir))
                .map_err(|source| Error::Io { path: dir.clone(), source })?;
            voice::say(&format!("Wrote the man pages to {}", dir.display()));
        }
        None => {
            let mut page = Vec::new();
            Man::new(Cli::command()).render(&mut page).map_err(Error::Output)?;
            streams::bytes(&page)?;
        }
    }
    Ok(ExitStatus::Success)
}
