//! Reports what is not the answer: lines on stderr and in the log file.
//!
//! How loud, in which colour and into which file is settled once, before anything is said.

use std::io::Write;
use std::mem;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::app::error_log;
use crate::cli::args::{ColorChoice, Global};
use crate::cli::streams;
use crate::config::{Environment, OutputFormat};
use crate::error::{Error, Result};
use crate::files::write;
use crate::present::json;
use crate::present::text::human::Human;
use crate::text::printable::clean;
use crate::trace;

/// The width that is assumed where stderr is not a terminal; lines are not broken there.
const WIDTH: usize = 80;

/// How much is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Loudness {
    /// Failures and what the user should look into.
    Quiet,
    /// And what was done.
    #[default]
    Usual,
    /// And by what, and with each file.
    Verbose,
    /// And how long each stage took.
    Timed,
}

/// Where what is said is written down.
type Log = Box<dyn Write + Send>;

/// Everything that is said goes through the one there is.
struct Voice {
    loudness: Loudness,
    human: Human,
    /// What was said while it was held back; `None` if it is said at once.
    held: Option<Vec<String>>,
    log: Option<Log>,
    begin: Option<Instant>,
}

static VOICE: Mutex<Voice> = Mutex::new(Voice {
    loudness: Loudness::Usual,
    human: Human::plain(WIDTH),
    held: None,
    log: None,
    begin: None,
});

fn voice() -> MutexGuard<'static, Voice> {
    VOICE.lock().unwrap_or_else(PoisonError::into_inner)
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
            let is_dumb = environment.get("TERM").is_some_and(|term| term == "dumb");
            is_terminal && !is_dumb && environment.get("NO_COLOR").is_none()
        }
    }
}

/// Settles how things are said; `command` gives what the log calls this run.
pub(super) fn begin<'a>(
    environment: &Environment,
    global: &Global,
    command: impl FnOnce() -> &'a str,
) -> Result<()> {
    let is_terminal = streams::is_stderr_terminal();
    let log = global.log_file.as_deref().map(open_log).transpose()?;
    let mut voice = voice();
    voice.human.is_terminal = is_terminal;
    if is_terminal {
        voice.human.width = streams::stderr_width();
    }
    voice.human.is_coloured = is_terminal && is_coloured(global.color, environment, is_terminal);
    // Bars are coloured by their own library.
    console::set_colors_enabled_stderr(voice.human.is_coloured);
    voice.loudness = match (global.quiet, global.verbose) {
        (true, _) => Loudness::Quiet,
        (false, 0) => Loudness::Usual,
        (false, 1) => Loudness::Verbose,
        (false, _) => Loudness::Timed,
    };
    voice.begin = Some(Instant::now());
    voice.log = log;
    if voice.loudness == Loudness::Timed || voice.log.is_some() {
        trace::start();
    }
    if voice.log.is_some() {
        voice.write_down("begin", &format!("kb {} {}", env!("CARGO_PKG_VERSION"), command()));
    }
    Ok(())
}

fn open_log(path: &Path) -> Result<Log> {
    let file = write::append(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    Ok(Box::new(file))
}

impl Voice {
    fn tell(&mut self, least: Loudness, level: &str, text: &str) {
        let text = clean(text);
        self.write_down(level, &text);
        if self.loudness < least {
            return;
        }
        match &mut self.held {
            Some(held) => held.push(text),
            None => self.speak(&text),
        }
    }

    /// Writes a line of the log: time, level, text, separated by tabs. A log that cannot be written any
    /// more fails nothing.
    fn write_down(&mut self, level: &str, text: &str) {
        if let Some(log) = &mut self.log {
            let _ = writeln!(log, "{}\t{level}\t{text}", error_log::now());
        }
    }

    /// Writes a line; if stderr is closed, there is nothing left to do.
    fn speak(&self, line: &str) {
        let _ = streams::text_aside(|out| self.human.labelled(line, out));
    }
}

/// Says something that is not an answer.
pub(super) fn say(text: &str) {
    // The skill protocols word their warnings themselves.
    let is_warning = text.starts_with("warning") || text.starts_with("error");
    let (least, level) =
        if is_warning { (Loudness::Quiet, "warning") } else { (Loudness::Usual, "info") };
    voice().tell(least, level, text);
}

/// Says something the user should look into.
pub(super) fn warn(text: &str) {
    voice().tell(Loudness::Quiet, "warning", &format!("warning: {text}"));
}

/// Says what could not be done, where the rest goes on.
pub(super) fn fail(text: &str) {
    voice().tell(Loudness::Quiet, "failed", &format!("failed: {text}"));
}

/// Says what only those want to know who ask for it.
pub(super) fn detail(text: &str) {
    voice().tell(Loudness::Verbose, "detail", text);
}

/// Whether details are printed or logged.
pub(super) fn is_detailed() -> bool {
    let voice = voice();
    voice.loudness >= Loudness::Verbose || voice.log.is_some()
}

/// Whether nothing is drawn and nothing said but failures.
pub(super) fn is_quiet() -> bool {
    voice().loudness == Loudness::Quiet
}

/// Holds back what is said from now on, where a program reads stderr: if the command fails, all it
/// is to find there is one JSON object.
pub(super) fn hold() {
    if !streams::is_stderr_terminal() {
        voice().held = Some(Vec::new());
    }
}

/// Ends what [`hold`] began, and says or forgets what was held back.
pub(super) fn release(is_said: bool) {
    let mut voice = voice();
    for text in mem::take(&mut voice.held).into_iter().flatten().filter(|_| is_said) {
        voice.speak(&text);
    }
}

/// Writes an error in the form that was asked for, and into the log.
pub(super) fn error(error: &Error, format: OutputFormat) {
    let mut voice = voice();
    voice.write_down("error", &clean(&format!("{}: {error}", error.code())));
    // If stderr is closed, there is nothing left to do.
    let _ = match format {
        OutputFormat::Json => streams::json_aside(|out| json::error(error, out)),
        OutputFormat::Human => streams::text_aside(|out| voice.human.error(error, out)),
    };
}

/// Writes down how long it took, at the very end, and says it if `is_said`: a program that reads an
/// error as JSON is to find nothing else.
pub(super) fn end(is_said: bool) {
    let Some(begin) = voice().begin else { return };
    let times = trace::times();
    let width = times.iter().map(|stage| stage.0.len()).max().unwrap_or(0).max("total".len());
    let line = |name: &str, took: Duration, num_runs: usize| {
        let runs = if num_runs > 1 { format!("  in {num_runs} runs") } else { String::new() };
        format!("time  {name:width$}  {:>9.1} ms{runs}", took.as_secs_f64() * 1e3)
    };
    let mut lines: Vec<String> =
        times.iter().map(|(name, time)| line(name, time.total, time.num_runs)).collect();
    lines.push(line("total", begin.elapsed(), 1));
    let mut voice = voice();
    for line in lines {
        voice.write_down("time", &clean(line.trim_start_matches("time")));
        if is_said && voice.loudness == Loudness::Timed {
            voice.speak(&line);
        }
    }
}
