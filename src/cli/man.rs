//! `kb man`: the command tree in, manual pages out.

use std::fs;
use std::io::{self, Write};

use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::args::Cli;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, voice};
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
            let mut out = io::BufWriter::new(io::stdout().lock());
            let page = Man::new(Cli::command());
            page.render(&mut out).and_then(|()| out.flush()).map_err(Error::Output)?;
        }
    }
    Ok(ExitStatus::Success)
}
