//! Runs `kb cache`.

use std::io;
use std::io::IsTerminal;

use crate::app::cache::{self, CleanRequest, Cleaned};
use crate::cli::args::{self, CacheAction};
use crate::cli::context::{self, Context};
use crate::cli::exit::ExitStatus;
use crate::error::{Error, Result};
use crate::present::json;
use crate::present::text::human::Human;

pub(super) fn run(context: &Context, args: &args::Cache) -> Result<ExitStatus> {
    let Some(CacheAction::Clean(args)) = &args.action else {
        let contents = cache::contents(&context.session)?;
        return context.present(&contents, json::answer, Human::cache);
    };
    let request = CleanRequest { removes_all: args.all, is_dry_run: args.dry_run };
    let confirm = |cleaned: &Cleaned| if args.yes { Ok(true) } else { confirm(cleaned) };
    let Some(cleaned) = cache::clean(&context.session, request, &confirm)? else {
        return Ok(ExitStatus::User);
    };
    context.present(&cleaned, json::answer, Human::cleaned)
}

fn confirm(cleaned: &Cleaned) -> Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(Error::Usage {
            message: "cleaning the cache needs `--yes` without a terminal".into(),
            hint: Some("`kb cache clean --dry-run` lists what would be removed".into()),
        });
    }
    let count = cleaned.removed.len();
    context::confirm(&format!(
        "Remove {count} of {} parts? Other data directories may use them, and will fetch or build them again.",
        count + cleaned.kept.len()
    ))
}
