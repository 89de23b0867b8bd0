//! Runs `kb find`: a full screen that searches with every keystroke.
//!
//! ```text
//! keyboard thread ─► key ─┐
//!                         ├─► state ─► layout ─► screen
//! worker thread ─► answer ┘     └─► question ─► worker thread ─► app
//! ```
//!
//! `state`, `press`, `hear` and `layout` are pure. The screen is on stderr, so that stdout is free for the location that
//! `--print` prints.

mod filters;
mod hear;
mod keyboard;
mod keys;
mod layout;
mod line_editor;
mod press;
mod screen;
mod state;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use std::{iter, panic, thread};

use crate::app::query::freshness::Freshness;
use crate::app::query::read;
use crate::app::query::search::SearchRequest;
use crate::app::session::absent;
use crate::cancel;
use crate::cli::context::{self, CommandContext};
use crate::cli::exit::ExitStatus;
use crate::cli::find::keyboard::{FindInput, Keyboard, is_hung_up};
use crate::cli::find::layout::layout;
use crate::cli::find::screen::Screen;
use crate::cli::find::state::{FindEffect, FindState};
use crate::cli::find::worker::{Questions, serve, warm};
use crate::cli::interrupt::EndingSignals;
use crate::cli::launch::{self, LaunchTarget};
use crate::cli::{args, messages, search, streams};
use crate::error::{Error, Result};
use crate::present::find::FileTarget;
use crate::present::text::human::HumanLayout;
use crate::wording::{kb, wording};

#[cfg(test)]
mod tests;

/// Hits to list: some screens full.
const LIMIT: u32 = 60;

/// Hits of one document, so that a long one does not fill the list.
const PER_DOCUMENT: u32 = 6;

/// How long to wait before looking for signals and a closed terminal.
const TICK: Duration = Duration::from_millis(100);

/// The signal of a closed terminal, SIGHUP.
const HANG_UP: i32 = 1;

/// The status of a shell command that was left without a choice, as other pickers have it: that of Ctrl-C.
const NOTHING_CHOSEN: ExitStatus = ExitStatus::Signal(2);

/// The query on which a debug build panics here, so that tests see how the terminal is left.
const PANIC: &str = "test-panic-screen";

/// How the screen was left.
#[derive(Debug, PartialEq, Eq)]
enum FindOutcome {
    Quit,
    Chosen(Vec<u8>),
}

pub(super) fn run(context: &CommandContext, args: &args::FindArgs) -> Result<ExitStatus> {
    if !is_at_terminal() {
        return Err(Error::usage(wording!(
            "`{}` needs a terminal for its keys (stdin) and its screen (stderr)",
            kb("find")
        ))
        .with_hint(wording!("`{}` works without a terminal", kb("search").arg("QUERY"))));
    }
    let num_documents = read::names(&context.session)?.len();
    if num_documents == 0 {
        return if args.print { Err(absent::nothing_added("")) } else { welcome() };
    }
    let state = FindState::new(request(context, args)?, num_documents, args.print);
    let outcome = show(context, state);
    context.session.close()?;
    match outcome? {
        FindOutcome::Chosen(mut location) => {
            location.push(b'\n');
            streams::bytes(&location)?;
            Ok(ExitStatus::Success)
        }
        FindOutcome::Quit if args.print => Ok(NOTHING_CHOSEN),
        FindOutcome::Quit => Ok(ExitStatus::Success),
    }
}

/// Whether keys can be read and a screen can be drawn.
pub(super) fn is_at_terminal() -> bool {
    streams::is_stdin_terminal() && streams::is_stderr_terminal()
}

/// Prints what to type first.
fn welcome() -> Result<ExitStatus> {
    streams::text(|out| out.text(include_str!("welcome.txt")))?;
    Ok(ExitStatus::Success)
}

/// Returns what all searches have in common, with the first query.
fn request(context: &CommandContext, args: &args::FindArgs) -> Result<SearchRequest> {
    // Files that have changed are marked; reading them again would take too long for a keystroke.
    let freshness = match context.session.freshness(None) {
        Freshness::Refresh => Freshness::Mark,
        other => other,
    };
    Ok(SearchRequest {
        query: args.query.join(" "),
        filter: context::filter(&args.filter)?,
        legs: search::legs(args.fts_only, args.vec_only),
        limit: Some(LIMIT),
        per_document: Some(PER_DOCUMENT),
        recent: args.recent,
        freshness: Some(freshness),
        ..SearchRequest::default()
    })
}

/// Shows the screen until it is left.
fn show(context: &CommandContext, state: FindState) -> Result<FindOutcome> {
    let ending = EndingSignals::listen();
    let (sender, receiver) = channel();
    let questions = Questions::default();
    let human_layout = HumanLayout { is_terminal: true, ..context.layout.clone() };
    let is_coloured = messages::is_stderr_coloured();
    thread::scope(|scope| {
        let answers = sender.clone();
        let is_closed = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_closed);
        let worker = scope.spawn(|| {
            let answers = answers;
            cancel::under(flag, || serve(&context.session, &questions, &answers));
        });
        scope.spawn(|| warm(&context.session));
        let closing = WorkerCloser { questions: &questions, is_closed };
        let mut running =
            FindSession { context, human_layout, state, questions: &questions, sender, ending };
        let outcome =
            Screen::take(is_coloured).and_then(|mut screen| running.run(&mut screen, &receiver));
        drop(closing);
        // A closed terminal is the reason, even if writing to the screen fails first.
        let outcome = match outcome {
            Err(_) if is_hung_up() => Err(Error::Interrupted { signal: HANG_UP }),
            outcome => outcome,
        };
        if let Err(payload) = worker.join() {
            panic::resume_unwind(payload);
        }
        outcome
    })
}

/// Ends the worker, also after a panic: its thread is waited for.
struct WorkerCloser<'a> {
    questions: &'a Questions,
    /// Ends the statements of a search that still runs.
    is_closed: Arc<AtomicBool>,
}

impl Drop for WorkerCloser<'_> {
    fn drop(&mut self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.questions.close();
    }
}

/// The state with what it acts on.
struct FindSession<'a> {
    context: &'a CommandContext,
    human_layout: HumanLayout,
    state: FindState,
    questions: &'a Questions,
    sender: Sender<FindInput>,
    ending: EndingSignals,
}

impl FindSession<'_> {
    fn run(&mut self, screen: &mut Screen, receiver: &Receiver<FindInput>) -> Result<FindOutcome> {
        let mut keyboard = Some(Keyboard::start(self.sender.clone()));
        let mut effects = self.state.search();
        loop {
            for effect in effects {
                match effect {
                    FindEffect::Ask(asked) => self.questions.ask(asked),
                    FindEffect::Open(target, path) => {
                        keyboard.take().into_iter().for_each(Keyboard::stop);
                        self.open(screen, target, path.as_deref())?;
                        keyboard = Some(Keyboard::start(self.sender.clone()));
                    }
                    FindEffect::Copy(text) => {
                        Screen::copy(&text)?;
                        self.state.inform("copied, if your terminal allows it (OSC 52)");
                    }
                    FindEffect::Print(location) => return Ok(FindOutcome::Chosen(location)),
                    FindEffect::Quit => return Ok(FindOutcome::Quit),
                }
            }
            effects = Vec::new();
            debug_assert!(self.state.entry.text() != PANIC, "typed by a test");
            let (columns, rows) = Screen::size();
            screen.paint(&layout(&mut self.state, &self.human_layout, columns, rows))?;
            let first = self.wait(receiver)?;
            // All inputs that wait are handled before the screen is drawn once.
            for input in iter::once(first).chain(receiver.try_iter()) {
                effects.extend(self.on(input)?);
            }
        }
    }

    /// Waits until something happens. Fails after a signal, and if the terminal was closed.
    fn wait(&self, receiver: &Receiver<FindInput>) -> Result<FindInput> {
        loop {
            if let Some(signal) = self.ending.signal() {
                return Err(Error::Interrupted { signal });
            }
            if let Ok(input) = receiver.recv_timeout(TICK) {
                return Ok(input);
            }
            if is_hung_up() {
                return Err(Error::Interrupted { signal: HANG_UP });
            }
        }
    }

    fn on(&mut self, input: FindInput) -> Result<Vec<FindEffect>> {
        match input {
            FindInput::Key(key) => Ok(self.state.press(key)),
            FindInput::Paste(text) => Ok(self.state.paste(&text)),
            FindInput::Reply(reply) => Ok(self.state.receive(reply)),
            FindInput::Resized => Ok(Vec::new()),
            FindInput::Lost(error) => Err(Error::Output(error)),
        }
    }

    /// Opens a place in another program, which gets the terminal meanwhile.
    fn open(&mut self, screen: &mut Screen, target: FileTarget, path: Option<&str>) -> Result<()> {
        let document = target.document.to_string();
        let path = match read::file(&self.context.session, &document, path) {
            Ok(path) => path,
            Err(error) => {
                self.state.report(&error);
                return Ok(());
            }
        };
        let place = LaunchTarget { path: &path, line: target.line, page: target.page };
        let opened = screen.lend(|| self.ending.away(|| launch::open(self.context, place)))?;
        if let Err(error) = opened {
            self.state.report(&error);
        }
        Ok(())
    }
}
