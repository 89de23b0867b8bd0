//! Runs `kb search --batch`: answers each line of a file or of standard input.

use std::collections::HashSet;
use std::io;
use std::io::BufRead;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use crate::app;
use crate::app::Observer;
use crate::app::query::search::SearchRequest;
use crate::app::session::observer::AppEvent;
use crate::cli::args::SearchFormat;
use crate::cli::context::{self, CommandContext};
use crate::cli::exit::ExitStatus;
use crate::cli::streams;
use crate::cli::ui::Ui;
use crate::error::{Error, Result};
use crate::files;
use crate::files::open::SymlinkPolicy;
use crate::limits;
use crate::limits::lines::{LineOutcome, read_line};
use crate::present::json;
use crate::present::text::compact;
use crate::requests::SearchInput;
use crate::text::printable::clean;

/// Answers one query per line; a line that fails gets an error as its answer.
pub(super) fn run(
    context: &CommandContext,
    given: &SearchRequest,
    file: &Path,
    format: Option<SearchFormat>,
) -> Result<ExitStatus> {
    let is_compact = match format {
        None | Some(SearchFormat::Json) => false,
        Some(SearchFormat::Agent) => true,
        Some(_) => {
            return Err(Error::usage("`--batch` supports only the formats `json` and `agent`"));
        }
    };
    let mut input: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(io::BufReader::new(files::open::open(file, SymlinkPolicy::Follow)?))
    };
    let (mut num_lines, mut num_failed) = (0, 0);
    let observer = EachMessageOnce { ui: &context.ui, messages: Mutex::default() };
    let mut line = Vec::new();
    for number in 1_u64.. {
        let outcome = read_line(&mut input, &mut line, limits::BATCH_LINE_BYTES)
            .map_err(|source| Error::of_file(file, source))?;
        match outcome {
            LineOutcome::Line => {}
            LineOutcome::End => break,
            LineOutcome::TooLong => return Err(too_long(number)),
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        num_lines += 1;
        let found = request(line, given)
            .and_then(|request| app::query::search::search(&context.session, &request, &observer));
        num_failed += usize::from(found.is_err());
        if is_compact {
            streams::text(|out| {
                writeln!(out, "{}# {}", if num_lines > 1 { "\n" } else { "" }, clean(line))?;
                match &found {
                    Ok(answer) => {
                        let advice = context.layout.advice(&answer.hits);
                        compact::found(answer, &advice, out)
                    }
                    Err(error) => writeln!(out, "error: {}", clean(&error.to_string())),
                }
            })?;
            continue;
        }
        context::print_json(|out| match &found {
            Ok(answer) => json::search_line(answer, out),
            Err(error) => json::error_line(error, out),
        })?;
    }
    context.session.close()?;
    Ok(if num_lines > 0 && num_failed == num_lines {
        ExitStatus::User
    } else {
        ExitStatus::Success
    })
}

/// Forwards events, but each message about an answer only once: every line may have the same filter.
struct EachMessageOnce<'a> {
    ui: &'a Ui,
    messages: Mutex<HashSet<String>>,
}

impl Observer for EachMessageOnce<'_> {
    fn on_event(&self, event: AppEvent<'_>) {
        if let AppEvent::Message(message) = event
            && message.level.is_of_answers()
        {
            let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
            if !messages.insert(message.line().to_string()) {
                return;
            }
        }
        self.ui.on_event(event);
    }

    fn cancel_flag(&self) -> Arc<AtomicBool> {
        self.ui.cancel_flag()
    }
}

/// Returns the error for a line of input that is too long.
pub(super) fn too_long(number: u64) -> Error {
    let limit_mb = limits::BATCH_LINE_BYTES >> 20;
    Error::usage(format!("line {number} is longer than {limit_mb} MB"))
}

/// Parses a line: a query, or an object whose options override those of the command line.
fn request(line: &str, given: &SearchRequest) -> Result<SearchRequest> {
    if !line.starts_with('{') {
        let query = line.to_owned();
        return Ok(SearchRequest { query, ..given.clone() });
    }
    let input: SearchInput = serde_json::from_str(line).map_err(|error| {
        Error::usage(format!("the line is not a query: {error}"))
            .with_hint("write a plain query, or {\"query\": \"...\", \"top\": 5}")
    })?;
    input.over(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_query_or_an_object_that_overrides_the_options() {
        let given = SearchRequest { limit: Some(3), ..SearchRequest::default() };
        for (line, query, limit) in [
            ("high water", "high water", 3),
            (r#"{"query": "ebb"}"#, "ebb", 3),
            (r#"{"query": "ebb", "top": 5}"#, "ebb", 5),
        ] {
            let request = request(line, &given).unwrap();
            assert_eq!((request.query.as_str(), request.limit), (query, Some(limit)), "{line}");
        }
        let message = request(r#"{"query": 7}"#, &given).unwrap_err().to_string();
        assert!(message.starts_with("the line is not a query: "), "{message}");
        assert_eq!(too_long(7).to_string(), "line 7 is longer than 1 MB");
    }
}
