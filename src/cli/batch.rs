//! Runs `kb search --batch`: answers each line of a file or of standard input.

use std::io;
use std::io::BufRead;
use std::path::Path;

use crate::cli::args::{FilterArgs, How};
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::inputs::SearchInput;
use crate::cli::model::Warm;
use crate::cli::search::{Found, answer};
use crate::cli::{args, context};
use crate::error::{Error, Result};
use crate::files;
use crate::files::open::Links;
use crate::limits;
use crate::limits::lines::{Outcome, read_line};
use crate::present::json;

/// Answers one query a line; a line that cannot be answered is answered by an error.
pub(super) fn run(
    context: &Context,
    warm: &Warm,
    args: &args::Search,
    file: &Path,
) -> Result<ExitStatus> {
    let io = |source| Error::Io { path: file.to_owned(), source };
    let mut input: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(io::BufReader::new(files::open::open(file, Links::Follow)?))
    };
    let (mut num_lines, mut num_failed) = (0, 0);
    let mut line = Vec::new();
    for number in 1_u64.. {
        match read_line(&mut input, &mut line, limits::BATCH_LINE_BYTES).map_err(io)? {
            Outcome::Line => {}
            Outcome::End => break,
            Outcome::TooLong => return Err(too_long(number)),
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        num_lines += 1;
        let found = query(line, args).and_then(|it| answer(context, warm, &it));
        num_failed += usize::from(found.is_err());
        context::print_json(|out| match &found {
            Ok(Found::Hits(results)) => json::search_line(results, out),
            Ok(Found::Passages(evidence)) => json::evidence_line(evidence, out),
            Err(error) => json::error_line(error, out),
        })?;
    }
    warm.close()?;
    Ok(if num_lines > 0 && num_failed == num_lines {
        ExitStatus::User
    } else {
        ExitStatus::Success
    })
}

/// Says that a line of standard input or of a file is too long to be read.
pub(super) fn too_long(number: u64) -> Error {
    let limit_mb = limits::BATCH_LINE_BYTES >> 20;
    Error::Usage { message: format!("line {number} is longer than {limit_mb} MB"), hint: None }
}

/// Reads a line: a query, or an object whose options go before those of the command line.
fn query(line: &str, given: &args::Search) -> Result<args::Search> {
    if !line.starts_with('{') {
        return Ok(args::Search { query: vec![line.to_owned()], ..defaults(given) });
    }
    let wrong = |it: serde_json::Error| Error::Usage {
        message: format!("the line is no query: {it}"),
        hint: Some("a query as it is typed, or {\"query\": \"...\", \"top\": 5}".into()),
    };
    let input: SearchInput = serde_json::from_str(line).map_err(wrong)?;
    let own = input.into_args()?;
    let (how, rest) = (own.how, &given.how);
    let has_legs = how.fts_only || how.vec_only;
    Ok(args::Search {
        how: How {
            top: how.top.or(rest.top),
            filter: FilterArgs {
                doc_type: how.filter.doc_type.or(rest.filter.doc_type),
                tags: either(how.filter.tags, &rest.filter.tags),
                excluded_tags: either(how.filter.excluded_tags, &rest.filter.excluded_tags),
                language: how.filter.language.or(rest.filter.language),
                since: how.filter.since.or_else(|| rest.filter.since.clone()),
                until: how.filter.until.or_else(|| rest.filter.until.clone()),
                path: how.filter.path.or_else(|| rest.filter.path.clone()),
            },
            per_doc: how.per_doc.or(rest.per_doc),
            copies: how.copies || rest.copies,
            threshold: how.threshold.or(rest.threshold),
            fts_only: if has_legs { how.fts_only } else { rest.fts_only },
            vec_only: if has_legs { how.vec_only } else { rest.vec_only },
        },
        explain: given.explain,
        budget: own.budget.or(given.budget),
        context: own.context.max(given.context),
        ..own
    })
}

/// Returns what a line says, or what the command line says where it says nothing.
fn either(own: Vec<String>, given: &[String]) -> Vec<String> {
    if own.is_empty() { given.to_vec() } else { own }
}

/// Returns the options of the command line without a query.
fn defaults(given: &args::Search) -> args::Search {
    args::Search {
        query: Vec::new(),
        batch: None,
        how: given.how.clone(),
        explain: given.explain,
        budget: given.budget,
        context: given.context,
        open: None,
        null: false,
        format: None,
    }
}
