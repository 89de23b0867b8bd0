//! Runs `kb grep`.

use crate::app::grep::{Detail, GrepRequest, PatternOptions};
use crate::app::{self, Observer};
use crate::cli::args::{self, LineFormat};
use crate::cli::context::{self, Context};
use crate::cli::exit::ExitStatus;
use crate::error::{Error, Result};
use crate::present::json;
use crate::present::text::human::Human;
use crate::present::text::stale;

pub(super) fn run(context: &Context, args: &args::Grep) -> Result<ExitStatus> {
    let detail = match (args.files_with_matches, args.count) {
        (true, _) => Detail::Name,
        (_, true) => Detail::Count,
        _ => Detail::Lines(args.context),
    };
    if args.format == LineFormat::Jsonl && !matches!(detail, Detail::Lines(_)) {
        return Err(Error::Usage {
            message: "`--format jsonl` prints lines, which `-c` and `-l` leave out".into(),
            hint: Some("use `--format json`".into()),
        });
    }
    let request = GrepRequest {
        pattern: args.pattern.clone(),
        options: PatternOptions {
            is_fixed: args.fixed_strings,
            ignores_case: args.ignore_case,
            is_word: args.word_regexp,
        },
        filter: context::filter(&args.filter)?,
        detail,
    };
    let results = app::grep::grep(&context.session, &request, &context.ui)?;
    context.session.close()?;
    match args.format {
        LineFormat::Json => context::print_json(|out| json::grep(&results, out)),
        LineFormat::Jsonl => context::print_json(|out| json::grep_lines(&results, out)),
        LineFormat::Human => context.show(|human, out| human.grep(&results, out)),
    }?;
    // On stderr, where the list of a program that reads stdout is not disturbed.
    if args.format == LineFormat::Human {
        Human::nothing_listed(&results).iter().for_each(|none| context.ui.note(none));
        stale::advice_of(&results).iter().for_each(|advice| context.ui.note(advice));
    }
    Ok(ExitStatus::Success)
}
