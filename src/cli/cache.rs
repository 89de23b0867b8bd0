//! `kb cache`.

use std::io;
use std::io::IsTerminal;

use crate::app::model;
use crate::cli::args::{self, CacheAction};
use crate::cli::context::{self, Context};
use crate::cli::exit::ExitStatus;
use crate::embed::{self, Cached};
use crate::error::{Error, Result};
use crate::present::cache as present;
use crate::present::cache::Cleaned;

pub(super) fn run(context: &Context, args: &args::Cache) -> Result<ExitStatus> {
    let locations = context.session.locations();
    let bound = match context.session.open_existing()? {
        Some(store) => store.binding()?,
        None => None,
    };
    let used = model::select(&context.session, bound.as_ref()).and_then(|it| it.locate());
    let parts = embed::cached(&locations, used.as_ref().ok());
    let dir = &locations.cache_dir;
    let Some(CacheAction::Clean(clean)) = &args.action else {
        context.present(
            args.format.format,
            |out| present::json(dir, &parts, out),
            |human, out| human.cache(dir, &parts, out),
        )?;
        return Ok(ExitStatus::Success);
    };
    let (kept, removed): (Vec<Cached>, Vec<Cached>) =
        parts.into_iter().partition(|it| it.is_used && !clean.all);
    let cleaned = Cleaned { is_dry_run: clean.dry_run, removed, kept };
    if !cleaned.removed.is_empty() && !clean.dry_run {
        if !clean.yes && !confirm(&cleaned)? {
            return Ok(ExitStatus::User);
        }
        embed::remove_cached(&locations, &cleaned.removed)?;
    }
    context.present(
        clean.format.format,
        |out| present::cleaned_json(dir, &cleaned, out),
        |human, out| human.cleaned(&cleaned, out),
    )?;
    Ok(ExitStatus::Success)
}

fn confirm(cleaned: &Cleaned) -> Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(Error::Usage {
            message: "cleaning the cache needs `--yes` where nobody can be asked".into(),
            hint: Some("`kb cache clean --dry-run` says what would go".into()),
        });
    }
    let count = cleaned.removed.len();
    context::confirm(&format!(
        "Remove {count} of {} parts? Other data directories may use them, and fetch or make them anew.",
        count + cleaned.kept.len()
    ))
}
