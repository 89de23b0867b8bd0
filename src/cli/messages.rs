//! Prints messages on stderr and writes them to the log file.
//!
//! [`begin`] sets the verbosity, the colours and the log file once, before the first message.

use std::io::{ErrorKind, Write};
use std::mem;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::app::session::error_log;
use crate::app::session::message::{AppMessage, MessageLevel};
use crate::cli::args::{ColorChoice, Global};
use crate::cli::streams;
use crate::config::{Environment, OutputFormat};
use crate::error::{Error, Result};
use crate::files::write;
use crate::present::json;
use crate::present::text::human::{BaseNames, HumanLayout};
use crate::text::printable::clean;
use crate::trace;
use crate::wording::Wording;

/// Width assumed if stderr is not a terminal. Lines are not wrapped then.
const WIDTH: usize = 80;

/// How many messages are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verbosity {
    /// Errors and warnings.
    Quiet,
    /// Errors, warnings and what was done.
    #[default]
    Normal,
    /// All of these, and the database, the model and each file.
    Verbose,
    /// All of these, and the time of each stage.
    Timed,
}

/// The log file.
type Log = Box<dyn Write + Send>;

/// The destination of all messages; there is one per process.
struct MessageReporter {
    verbosity: Verbosity,
    layout: HumanLayout,
    /// Messages that are held back; `None` if messages are printed at once.
    held: Option<Vec<Wording>>,
    log: Option<Log>,
    begin: Option<Instant>,
}

static REPORTER: Mutex<MessageReporter> = Mutex::new(MessageReporter {
    verbosity: Verbosity::Normal,
    layout: HumanLayout::plain(WIDTH),
    held: None,
    log: None,
    begin: None,
});

fn reporter() -> MutexGuard<'static, MessageReporter> {
    REPORTER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether output to a stream is coloured.
pub(super) fn is_coloured(
    choice: ColorChoice,
    environment: &Environment,
    is_terminal: bool,
) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            // A dumb terminal would print the codes of colours.
            let is_dumb = environment.get("TERM").is_some_and(|term| term == "dumb");
            is_terminal && !is_dumb && environment.get("NO_COLOR").is_none()
        }
    }
}

/// Sets verbosity, colours and the log file; `command` returns the name of this run for the log.
pub(super) fn begin<'a>(
    environment: &Environment,
    global: &Global,
    command: impl FnOnce() -> &'a str,
) -> Result<()> {
    let is_terminal = streams::is_stderr_terminal();
    let (log, unwritable) = match global.log_file.as_deref().map(open_log).transpose() {
        // Without rights to write the log, the command runs all the same.
        Err(error) if is_refused(&error) => (None, Some(error)),
        opened => (opened?, None),
    };
    let mut reporter = reporter();
    reporter.layout.is_terminal = is_terminal;
    if is_terminal {
        reporter.layout.width = usize::from(streams::stderr_size().1);
    }
    reporter.layout.is_coloured =
        is_terminal && is_coloured(global.color, environment, is_terminal);
    // Bars are coloured by their own library.
    console::set_colors_enabled(reporter.layout.is_coloured);
    reporter.verbosity = match (global.quiet, global.verbose) {
        (true, _) => Verbosity::Quiet,
        (false, 0) => Verbosity::Normal,
        (false, 1) => Verbosity::Verbose,
        (false, _) => Verbosity::Timed,
    };
    reporter.begin = Some(Instant::now());
    reporter.log = log;
    if reporter.verbosity == Verbosity::Timed || reporter.log.is_some() {
        trace::start();
    }
    if reporter.log.is_some() {
        reporter.log_line("begin", &format!("kb {} {}", env!("CARGO_PKG_VERSION"), command()));
    }
    drop(reporter);
    if let Some(error) = unwritable {
        warn(format!("this run is not logged: {error}"));
    }
    Ok(())
}

/// From now on, commands in messages name the knowledge base if they need to.
pub(super) fn name_bases(bases: &BaseNames) {
    reporter().layout.bases = bases.clone();
}

/// Whether the system does not let this process write a file.
fn is_refused(error: &Error) -> bool {
    let Error::Io { source, .. } = error else { return false };
    matches!(source.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

fn open_log(path: &Path) -> Result<Log> {
    let file = write::append(path).map_err(|source| Error::of_file(path, source))?;
    Ok(Box::new(file))
}

impl MessageReporter {
    fn report(&mut self, least: Verbosity, level: &str, text: Wording) {
        self.log_line(level, &clean(&text.to_string()));
        if self.verbosity < least {
            return;
        }
        match &mut self.held {
            Some(held) => held.push(text),
            None => self.print(&text),
        }
    }

    /// Writes a line of the log: time, level and text, separated by tabs. Write errors are ignored.
    fn log_line(&mut self, level: &str, text: &str) {
        if let Some(log) = &mut self.log {
            let _ = writeln!(log, "{}\t{level}\t{text}", error_log::now());
        }
    }

    /// Prints a line. If stderr is closed, it is lost.
    fn print(&self, text: &Wording) {
        self.print_line(clean(&self.layout.worded(text)));
    }

    /// Prints a line unchanged.
    fn print_line(&self, line: String) {
        let _ = streams::text_aside(|out| self.layout.labelled(line, out));
    }
}

/// Logs a message, and prints it if the verbosity has room for its level.
pub(super) fn show(message: &AppMessage<'_>) {
    // Warnings of the skill protocol have their label in the text.
    let text = message.text.to_string();
    let is_labelled = text.starts_with("warning") || text.starts_with("error");
    let (least, level) = match message.level {
        MessageLevel::Info if is_labelled => (Verbosity::Quiet, "warning"),
        MessageLevel::Info | MessageLevel::Note => (Verbosity::Normal, "info"),
        MessageLevel::Warning => (Verbosity::Quiet, "warning"),
        MessageLevel::Failure => (Verbosity::Quiet, "failed"),
        MessageLevel::Detail => (Verbosity::Verbose, "detail"),
    };
    reporter().report(least, level, message.line());
}

pub(super) fn info(text: impl Into<Wording>) {
    show(&AppMessage::new(MessageLevel::Info, &text.into()));
}

pub(super) fn note(text: impl Into<Wording>) {
    show(&AppMessage::new(MessageLevel::Note, &text.into()));
}

pub(super) fn warn(text: impl Into<Wording>) {
    show(&AppMessage::new(MessageLevel::Warning, &text.into()));
}

/// Prints a failure that does not end the command.
pub(super) fn failure(text: impl Into<Wording>) {
    show(&AppMessage::new(MessageLevel::Failure, &text.into()));
}

/// Prints a message for `--verbose`.
pub(super) fn detail(text: impl Into<Wording>) {
    show(&AppMessage::new(MessageLevel::Detail, &text.into()));
}

/// Whether details are printed or logged.
pub(super) fn is_detailed() -> bool {
    let reporter = reporter();
    reporter.verbosity >= Verbosity::Verbose || reporter.log.is_some()
}

pub(super) fn is_stderr_coloured() -> bool {
    reporter().layout.is_coloured
}

/// Whether only errors and warnings are printed, and no progress.
pub(super) fn is_quiet() -> bool {
    reporter().verbosity == Verbosity::Quiet
}

/// Holds back messages from now on if stderr is not a terminal: if the command fails, a program that
/// reads stderr must find only one JSON object.
pub(super) fn hold() {
    if !streams::is_stderr_terminal() {
        reporter().held = Some(Vec::new());
    }
}

/// Prints the messages held back since [`hold`] if `is_printed`, and drops them otherwise.
pub(super) fn release(is_printed: bool) {
    let mut reporter = reporter();
    for text in mem::take(&mut reporter.held).into_iter().flatten().filter(|_| is_printed) {
        reporter.print(&text);
    }
}

/// Prints an error in the requested format and logs it.
pub(super) fn error(error: &Error, format: OutputFormat) {
    let mut reporter = reporter();
    reporter.log_line("error", &clean(&format!("{}: {error}", error.code())));
    // If stderr is closed, the message is lost.
    let _ = match format {
        OutputFormat::Json => streams::json_aside(|out| json::error(error, out)),
        OutputFormat::Human => streams::text_aside(|out| reporter.layout.error(error, out)),
    };
}

/// Logs the time of each stage at the end of the run, and also prints it if `is_printed`: a program that
/// reads an error as JSON must find nothing else on stderr.
pub(super) fn end(is_printed: bool) {
    let Some(begin) = reporter().begin else { return };
    let times = trace::times();
    let stages = times.iter().map(|(name, time)| (*name, time.total, time.num_runs));
    let mut reporter = reporter();
    for line in time_lines(stages.chain([("total", begin.elapsed(), 1)]).collect()) {
        reporter.log_line("time", &clean(line.trim_start_matches("time")));
        if is_printed && reporter.verbosity == Verbosity::Timed {
            reporter.print_line(line);
        }
    }
}

/// Returns a line for each stage: its name, how long it took, and in how many runs if there was more than one.
fn time_lines(stages: Vec<(&str, Duration, usize)>) -> Vec<String> {
    let width = stages.iter().map(|stage| stage.0.len()).max().unwrap_or(0);
    let mut lines = Vec::with_capacity(stages.len());
    for (name, took, num_runs) in stages {
        let runs = if num_runs > 1 { format!("  in {num_runs} runs") } else { String::new() };
        lines.push(format!("time  {name:width$}  {:>9.1} ms{runs}", took.as_secs_f64() * 1e3));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_have_their_times_below_each_other() {
        let ms = Duration::from_micros;
        let stages =
            vec![("embed", ms(12_340), 1), ("open", ms(500), 2), ("total", ms(1_000_000), 1)];
        assert_eq!(
            time_lines(stages),
            [
                "time  embed       12.3 ms",
                "time  open         0.5 ms  in 2 runs",
                "time  total     1000.0 ms"
            ]
        );
    }

    #[test]
    fn output_is_coloured_on_a_terminal_that_can_unless_the_user_says_otherwise() {
        use ColorChoice::{Always, Auto, Never};
        for (choice, variables, is_terminal, expected) in [
            (Auto, &[][..], true, true),
            (Auto, &[], false, false),
            (Auto, &[("TERM", "dumb")], true, false),
            (Auto, &[("TERM", "xterm")], true, true),
            (Auto, &[("NO_COLOR", "1")], true, false),
            (Auto, &[("NO_COLOR", "")], true, true),
            (Always, &[("NO_COLOR", "1")], false, true),
            (Never, &[], true, false),
        ] {
            let variables =
                variables.iter().map(|(name, value)| ((*name).to_owned(), value.into()));
            let found = is_coloured(choice, &variables.clone().collect(), is_terminal);
            assert_eq!(found, expected, "{:?} {is_terminal}", variables.collect::<Vec<_>>());
        }
    }

    #[test]
    fn only_what_the_system_refuses_leaves_a_run_without_a_log() {
        let error = |kind: ErrorKind| Error::Io { path: "/x".into(), source: kind.into() };
        assert!(is_refused(&error(ErrorKind::PermissionDenied)));
        assert!(is_refused(&error(ErrorKind::ReadOnlyFilesystem)));
        assert!(!is_refused(&error(ErrorKind::NotFound)) && !is_refused(&Error::Cancelled));
    }
}
