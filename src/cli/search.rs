//! Runs `kb search`, `kb similar` and `kb grep`. `--batch` is in [`batch`].

use crate::app::indexing::last_update;
use crate::app::query::freshness::Freshness;
use crate::app::query::grep::{GREP_BUDGET, GrepDetail, GrepRequest, PatternOptions};
use crate::app::query::search::{LegSelection, SearchAnswer, SearchRequest, SimilarRequest};
use crate::app::{self, Observer};
use crate::cli::args::{self, LineFormat, SearchFormat};
use crate::cli::context::{self, CommandContext};
use crate::cli::exit::ExitStatus;
use crate::cli::launch::{self, LaunchTarget};
use crate::cli::ui::WithoutNotes;
use crate::cli::{batch, streams};
use crate::document::PageRange;
use crate::error::{Error, Result};
use crate::present::json;
use crate::present::text::compact::{self, AnswerInterface};
use crate::present::text::grep_part::GrepPart;
use crate::present::text::human::HumanLayout;
use crate::present::text::search::verdict;
use crate::present::text::{quote, stale};
use crate::wording::{kb, option, wording};

pub(super) fn run(context: &CommandContext, args: &args::SearchArgs) -> Result<ExitStatus> {
    if args.null && args.format != Some(SearchFormat::Paths) {
        return Err(Error::usage("`--null` needs `--format paths`").with_hint(wording!(
            "`{} | xargs -0 ls`",
            kb("search").option("--format", "paths").flag("-0").arg("QUERY")
        )));
    }
    let form = match args.format {
        Some(SearchFormat::Agent) => Some(compact::cost()),
        Some(SearchFormat::Md) => Some(compact::markdown_cost()),
        _ => None,
    };
    let request = SearchRequest {
        query: args.query.join(" "),
        form,
        also: args.also.clone(),
        is_explained: args.explain,
        budget: args.budget,
        context: args.context,
        freshness: args.fresh.then_some(Freshness::Refresh),
        least: args.open.unwrap_or(0),
        from: args.from.clone(),
        ..request(&args.how)?
    };
    if args.from.is_some() && !context.beside.is_empty() {
        return Err(Error::usage(
            "`--from` searches one copy and cannot be combined with several knowledge bases",
        ));
    }
    if let Some(file) = &args.batch {
        return batch::run(context, &request, file, args.format);
    }
    let default = context.config().search.default_format.format(streams::is_stdout_terminal());
    let format = args.format.unwrap_or_else(|| default.into());
    let has_notes = format == SearchFormat::Json && args.open.is_none();
    let found = by_observer(context, has_notes, |observer| {
        if context.beside.is_empty() {
            return app::query::search::search(&context.session, &request, observer);
        }
        let sessions: Vec<_> = [&context.session].into_iter().chain(&context.beside).collect();
        app::query::search::search_several(&sessions, &request, observer)
    })?;
    // Programs that read the answer have no use for a reminder.
    let is_person = context.layout.is_terminal && streams::is_stderr_terminal();
    let reminder = if is_person && args.from.is_none() {
        last_update::reminder(&context.session)?
    } else {
        None
    };
    context.session.close()?;
    context.beside.iter().try_for_each(app::Session::close)?;
    if let Some(number) = args.open {
        return open(context, &found, number);
    }
    let advice = context.layout.advice(&found.hits);
    match format {
        SearchFormat::Json => context::print_json(|out| json::found(&found, out)),
        SearchFormat::Jsonl => context::print_json(|out| json::hit_lines(&found.hits, out)),
        SearchFormat::Human => context.show(|layout, out| layout.search(&found, out)),
        SearchFormat::Paths if args.null => streams::bytes(&quote::null(&found.hits)),
        SearchFormat::Paths => streams::text(|out| quote::paths(&found.hits, out)),
        SearchFormat::Agent => streams::text(|out| compact::found(&found, &advice, out)),
        SearchFormat::Md => streams::text(|out| compact::markdown(&found, &advice, out)),
    }?;
    aside(context, &found, format);
    let ui: &dyn Observer = &context.ui;
    reminder.into_iter().for_each(|text| ui.info(text));
    Ok(ExitStatus::Success)
}

/// Runs a search; of an answer on a terminal that `has_notes`, they are not also printed next to it.
fn by_observer<T>(
    context: &CommandContext,
    has_notes: bool,
    search: impl FnOnce(&dyn Observer) -> Result<T>,
) -> Result<T> {
    if has_notes && streams::is_stdout_terminal() {
        search(&WithoutNotes(&context.ui))
    } else {
        search(&context.ui)
    }
}

/// Reports on stderr the facts that the format cannot carry: whether the hits are an answer, and stale files.
fn aside(context: &CommandContext, answer: &SearchAnswer, format: SearchFormat) {
    if !matches!(format, SearchFormat::Jsonl | SearchFormat::Paths) {
        return;
    }
    let ui: &dyn Observer = &context.ui;
    verdict(answer).iter().for_each(|line| ui.info(line));
    // JSON has the mark in each hit. In a list of paths, the program that reads it would take a mark for a part of a
    // path, so stderr gets it.
    if format == SearchFormat::Paths {
        stale::notes(&answer.hits).iter().for_each(|note| ui.warn(note));
        context.layout.advice(&answer.hits).iter().for_each(|advice| ui.info(advice));
    }
}

/// Opens result `number`, counted from 1, at the line of the match.
fn open(context: &CommandContext, found: &SearchAnswer, number: u32) -> Result<ExitStatus> {
    let hits = &found.hits;
    let hit = hits.get(number as usize - 1).ok_or_else(|| {
        Error::usage(format!("there is no result {number}; the search found {}", hits.len()))
    })?;
    let path = app::query::read::file_of_hit(&context.session, hit)?;
    let page = hit.at.pages.map(PageRange::first);
    launch::open(context, LaunchTarget { path: &path, line: hit.at.line, page })?;
    Ok(ExitStatus::Success)
}

/// Converts flags to a request without a query.
pub(super) fn request(how: &args::SearchModeArgs) -> Result<SearchRequest> {
    Ok(SearchRequest {
        limit: how.top,
        filter: context::filter(&how.filter)?,
        legs: legs(how.fts_only, how.vec_only),
        threshold: how.threshold,
        per_document: how.per_doc,
        recent: how.recent,
        keeps_copies: how.copies,
        ..SearchRequest::default()
    })
}

/// Returns the rankings that flags ask for; `None` for both.
pub(super) fn legs(fts_only: bool, vec_only: bool) -> Option<LegSelection> {
    match (fts_only, vec_only) {
        (true, _) => Some(LegSelection::Keyword),
        (_, true) => Some(LegSelection::Vector),
        _ => None,
    }
}

pub(super) fn similar(context: &CommandContext, args: &args::SimilarArgs) -> Result<ExitStatus> {
    let request = SimilarRequest {
        document: args.document.clone(),
        chunk: args.chunk,
        limit: args.top,
        filter: context::filter(&args.filter)?,
    };
    let found = app::query::search::similar(&context.session, &request, &context.ui)?;
    context.present(&found, json::similar, |layout, found, out| layout.similar(&found.hits, out))
}

pub(super) fn grep(context: &CommandContext, args: &args::GrepArgs) -> Result<ExitStatus> {
    let detail = match (args.files_with_matches, args.count) {
        (true, _) => GrepDetail::Name,
        (_, true) => GrepDetail::Count,
        _ => GrepDetail::Lines(args.context),
    };
    if args.format == LineFormat::Jsonl && !matches!(detail, GrepDetail::Lines(_)) {
        return Err(Error::usage(
            "`--format jsonl` prints lines and cannot be used with `-c` or `-l`",
        )
        .with_hint("use `--format json`"));
    }
    let is_data = matches!(args.format, LineFormat::Json | LineFormat::Jsonl);
    if is_data && args.budget.is_some() {
        return Err(Error::usage(
            "`--budget` applies to text; json and jsonl always have every line",
        )
        .with_hint(wording!("use `--format agent`, or `{}` to count the lines", option("-c"))));
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
    let results = by_observer(context, args.format == LineFormat::Json, |observer| {
        app::query::grep::grep(&context.session, &request, observer)
    })?;
    context.session.close()?;
    match args.format {
        LineFormat::Json => context::print_json(|out| json::grep(&results, out))?,
        LineFormat::Jsonl => context::print_json(|out| json::grep_lines(&results, out))?,
        LineFormat::Agent => {
            let budget = args.budget.unwrap_or(GREP_BUDGET) as usize;
            let part = GrepPart::within(&results, 0, Some(budget), |part, out| {
                compact::grep(part, AnswerInterface::Cli, out)
            });
            let part = part.map_err(Error::Output)?;
            streams::text(|out| compact::grep(&part, AnswerInterface::Cli, out))?;
        }
        LineFormat::Human => {
            let budget = args.budget.map(|budget| budget as usize);
            let part =
                GrepPart::within(&results, 0, budget, |part, out| context.layout.grep(part, out));
            let part = part.map_err(Error::Output)?;
            context.show(|layout, out| layout.grep(&part, out))?;
            // This goes to stderr, so that a program that reads stdout gets the matches only.
            let ui: &dyn Observer = &context.ui;
            HumanLayout::not_listed(&part).iter().for_each(|text| ui.info(text));
            stale::advice_of(&results).into_iter().for_each(|advice| ui.info(advice));
        }
    }
    Ok(ExitStatus::Success)
}
