//! Loads what every command needs: settings, the session and the terminal's properties.

use std::io;
use std::io::{BufRead, Read};
use std::path::Path;

use crate::app::Session;
use crate::app::query::choose::{DocumentChoice, SelectionCriteria};
use crate::app::session::bases::{self, place};
use crate::app::session::{absolute, add_paths, path_prefix};
use crate::cli::args::{FilterArgs, Global, SelectionCriteriaArgs};
use crate::cli::exit::ExitStatus;
use crate::cli::pager::Pager;
use crate::cli::ui::Ui;
use crate::cli::{messages, streams};
use crate::config::{Config, Environment, Flags, OutputFormat, ResolvedConfig};
use crate::document::Filter;
use crate::error::{Error, Result};
use crate::present::terminal::sheet::{CleanWriter, TerminalBytes};
use crate::present::text::human::{BaseNames, HumanLayout};
use crate::text::json::Json;
use crate::text::printable::clean;
use crate::trace::stage;
use crate::wording::Wording;

/// Width of output if stdout is not a terminal.
const DEFAULT_WIDTH: usize = 100;

/// Most bytes to read of an answer to a question, so that a pipe without line ends does not fill the memory.
const MAX_ANSWER_BYTES: u64 = 1000;

/// The session and the output settings of a command.
pub(super) struct CommandContext {
    pub(super) session: Session,
    /// The other knowledge bases to search.
    pub(super) beside: Vec<Session>,
    pub(super) layout: HumanLayout,
    pub(super) ui: Ui,
    /// The format of the answer.
    format: OutputFormat,
    /// Shows long output for people; only if stdout is a terminal.
    pager: Option<Pager>,
}

/// How the answer of a command is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerForm {
    pub(super) format: OutputFormat,
    /// Whether it is for people, if stdout is a terminal.
    pub(super) is_read_by_people: bool,
}

impl CommandContext {
    /// Opens the knowledge bases.
    pub(super) fn new(
        environment: Environment,
        global: &Global,
        flags: &Flags,
        usual: ResolvedConfig,
        form: AnswerForm,
    ) -> Result<Self> {
        let names = global.base.as_deref().map(bases::names).transpose()?.unwrap_or_default();
        let named = names.first().map(String::as_str);
        let is_at_terminal = form.is_read_by_people && streams::is_stdout_terminal();
        // Without a working directory, no path is preferred.
        let working_dir = is_at_terminal.then(|| path_prefix(Path::new(".")).ok()).flatten();
        let session = Session::builder(environment)
            .flags(flags)
            .base(named)
            .working_dir(working_dir)
            .notify(|text| messages::info(text))
            .build_with(usual)?;
        let bases =
            BaseNames { own: session.place().name.clone(), usual: session.default_base_name()? };
        messages::name_bases(&bases);
        for warning in &session.resolved().warnings {
            messages::warn(warning);
        }
        session.notices().iter().for_each(messages::info);
        let beside: Vec<Session> =
            names.iter().skip(1).map(|name| session.for_base(name)).collect::<Result<_>>()?;
        let layout = HumanLayout { bases, ..human_layout(session.environment(), global) };
        let is_paged = layout.is_terminal && !global.no_pager;
        let pager = if is_paged { Pager::new(session.environment()) } else { None };
        Ok(Self { session, beside, layout, ui: Ui::default(), format: form.format, pager })
    }

    /// Makes the knowledge base of the project in the working directory, and works on it.
    pub(super) fn here(self) -> Result<Self> {
        bases::make_here(&self.session)?;
        let session = self.session.for_base(place::PROJECT)?;
        Ok(Self { session, ..self })
    }

    pub(super) fn config(&self) -> &Config {
        self.session.config()
    }

    /// Prints the result of a successful command in the requested format.
    pub(super) fn present<T: ?Sized>(
        &self,
        result: &T,
        json: impl FnOnce(&T, &mut Json<'_>) -> io::Result<()>,
        human: impl FnOnce(&HumanLayout, &T, &mut CleanWriter<'_>) -> io::Result<()>,
    ) -> Result<ExitStatus> {
        match self.format {
            OutputFormat::Json => print_json(|out| json(result, out))?,
            OutputFormat::Human => self.show(|layout, out| human(layout, result, out))?,
        }
        Ok(ExitStatus::Success)
    }

    /// Prints a result for people, through the pager if it is longer than the screen.
    pub(super) fn show(
        &self,
        human: impl FnOnce(&HumanLayout, &mut CleanWriter<'_>) -> io::Result<()>,
    ) -> Result<()> {
        match &self.pager {
            Some(pager) => {
                let text =
                    TerminalBytes::of(|out| human(&self.layout, out)).map_err(Error::Output)?;
                pager.show(&text)
            }
            None => stage("print", || streams::text(|out| human(&self.layout, out))),
        }
    }

    /// Prints bytes unchanged, or through the pager if stdout is a terminal.
    pub(super) fn show_bytes(&self, bytes: &[u8]) -> Result<()> {
        if streams::is_stdout_terminal() {
            return self.show(|_, out| streams::shown(bytes, out));
        }
        stage("print", || streams::bytes(bytes))
    }
}

/// Returns the layout of output for people, which depends on the terminal if stdout is one.
pub(super) fn human_layout(environment: &Environment, global: &Global) -> HumanLayout {
    let is_terminal = streams::is_stdout_terminal();
    let is_coloured = messages::is_coloured(global.color, environment, is_terminal);
    HumanLayout {
        width: width(),
        is_terminal,
        is_coloured,
        has_links: is_terminal && is_coloured,
        home: Some(environment.home()),
        // Without a working directory, paths are shown in full.
        cwd: absolute(Path::new(".")).ok(),
        bases: BaseNames::default(),
    }
}

/// Returns the width of output for people.
pub(super) fn width() -> usize {
    if streams::is_stdout_terminal() { streams::size().1 } else { DEFAULT_WIDTH }
}

pub(super) fn print_json(answer: impl FnOnce(&mut Json<'_>) -> io::Result<()>) -> Result<()> {
    stage("print", || streams::json(answer))
}

/// Converts the filter flags to a [`Filter`].
pub(super) fn filter(args: &FilterArgs) -> Result<Filter> {
    let mut date_notes = Vec::new();
    let since = args.since.clone().map(|date| date.since().noted(&mut date_notes));
    let until = args.until.clone().map(|date| date.until().noted(&mut date_notes));
    let added_since =
        args.added_since.clone().map(|date| date.added_since().noted(&mut date_notes));
    let mut filter = Filter {
        kind: args.kind,
        tags: args.tags.clone(),
        language: args.language,
        excluded_tags: args.excluded_tags.clone(),
        since,
        until,
        added_since,
        date_notes,
        ..Filter::default()
    };
    add_paths(&args.paths, &mut filter)?;
    Ok(filter)
}

/// Returns a selection of documents by name or by criteria.
pub(super) fn choice(names: &[String], args: &SelectionCriteriaArgs) -> Result<DocumentChoice> {
    if names.is_empty() {
        criteria(args).map(Box::new).map(DocumentChoice::Matching)
    } else {
        Ok(DocumentChoice::Named(names.to_vec()))
    }
}

/// Converts flags to the criteria for selecting documents.
pub(super) fn criteria(args: &SelectionCriteriaArgs) -> Result<SelectionCriteria> {
    let SelectionCriteriaArgs { filter, query, top } = args;
    Ok(SelectionCriteria { filter: self::filter(filter)?, query: query.clone(), limit: *top })
}

/// Fails if confirmation is needed but stdin is not a terminal.
pub(super) fn require_terminal(what: &str, hint: impl Into<Wording>) -> Result<()> {
    if streams::is_stdin_terminal() {
        return Ok(());
    }
    Err(Error::usage(format!("without a terminal, {what} requires `--yes`")).with_hint(hint))
}

/// Asks a question on stderr; any answer but `y` or `yes` means no.
pub(super) fn confirm(question: &str) -> Result<bool> {
    streams::text_aside(|out| write!(out, "{} [y/N] ", clean(question))).map_err(Error::Output)?;
    let mut answer = String::new();
    io::stdin().lock().take(MAX_ANSWER_BYTES).read_line(&mut answer).map_err(Error::Output)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
