//! Parses the command line, runs the command and prints its result or error.
//!
//! This is the only module that uses the terminal.

mod add;
mod args;
mod bars;
mod base;
mod batch;
mod complete;
mod context;
mod convert;
mod edit;
mod embed;
mod exit;
mod find;
mod format;
mod interrupt;
mod launch;
mod learn;
mod manage;
mod mcp_install;
mod messages;
mod pager;
mod progress;
mod read;
mod rejected;
mod search;
mod skill;
mod streams;
mod ui;
mod usage;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use clap::error::ErrorKind;

use crate::app::session::absolute;
use crate::app::{Observer, ServerOptions, Session};
use crate::cancel;
use crate::cli::args::{Cli, Command, McpAction, first_word};
use crate::cli::context::{AnswerForm, CommandContext};
use crate::cli::exit::{ExitStatus, end};
use crate::cli::format::default_format;
use crate::cli::rejected::{explain, explain_skill, is_skill};
use crate::config::{self, Environment, Flags, OutputFormat, ResolvedConfig};
use crate::diagnostic::Program;
use crate::error::{Error, Result};
use crate::extract::protocol::{CHILD_COMMAND, OCR_COMMAND};
use crate::extract::sandbox;
use crate::wording::{Wording, kb, wording};

/// A function that serves agents until the client closes the connection. Returns whether all its threads have ended.
pub type Serve = fn(Session, Arc<dyn Observer>, &ServerOptions) -> Result<bool>;

/// Runs the program and returns its exit status.
///
/// `args` begins with the name under which the program was started. `kb mcp` runs `serve`, because this
/// module must not depend on the server.
pub fn run(args: impl Iterator<Item = OsString>, serve: Serve) -> ExitCode {
    let args: Vec<OsString> = args.collect();
    match args.get(1) {
        Some(arg) if arg == CHILD_COMMAND => return kb_reader::run_child(),
        Some(arg) if arg == OCR_COMMAND => return sandbox::become_tesseract(&args[2..]),
        _ => streams::clean_panics(),
    }
    let (program, args) = if !skill::is_skc(&args) {
        (Program::Kb, args)
    } else if let Some(args) = skill::server_args(&args) {
        (Program::Skc, args)
    } else {
        return skill::run_skc(&args).into();
    };
    let environment = Environment::of_process();
    if let Some(status) = complete::answer(&args, &environment) {
        return status.into();
    }
    let (args, parsed) = parse(args);
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) if is_skill(&args) => {
            return explain_skill(&error, &args, &environment, Program::Kb).into();
        }
        Err(error) => return explain(&error, &args, &environment).into(),
    };
    let begun = messages::begin(&environment, &cli.global, || command_name(&args));
    if let Some((option, instead)) = withdrawn(&cli.command) {
        messages::warn(format!(
            "{option} is deprecated and will be removed in the next version: {instead}"
        ));
    }
    if let (Command::Skill(args), Ok(())) = (&cli.command, &begun) {
        let status = skill::run(&environment, &cli.global, &args.call, Program::Kb);
        messages::end(true);
        return status.into();
    }
    if let Some(outcome) = learn(&cli.command) {
        return end(outcome, OutputFormat::Human).into();
    }
    let flags = flags(&cli);
    let format = cli.command.wanted_format();
    let usual = config::load(&environment, &flags);
    let format = format.unwrap_or_else(|| default_format(usual.as_ref().ok()));
    if format == OutputFormat::Json {
        messages::hold();
    }
    let outcome = begun
        .and(usual)
        .and_then(|usual| context(environment, &cli, &flags, usual, format))
        .and_then(|context| {
            messages::detail(format!("database: {}", context.session.database().display()));
            match &cli.command {
                Command::Mcp(args::Mcp { action: Some(McpAction::Install(args)), .. }) => {
                    mcp_install::run(&context, cli.global.base.as_deref(), args)
                }
                Command::Mcp(args) => {
                    let is_limited = cli.global.base.is_some();
                    mcp(context, args, is_limited, program, serve)
                }
                // The first signal also ends statements of the database.
                command => cancel::under(context.ui.cancel_flag(), || command.run(&context)),
            }
        });
    messages::release(outcome.is_ok());
    let status = end(outcome, format);
    messages::end(format == OutputFormat::Human || status == ExitStatus::Success);
    status.into()
}

/// Parses the command line. A single argument of several words is searched for. On a terminal, a line
/// without a command is `kb find`.
fn parse(mut args: Vec<OsString>) -> (Vec<OsString>, clap::error::Result<Cli>) {
    if is_question(&args) {
        args.insert(1, "search".into());
    }
    let parsed = Cli::try_parse_from(&args);
    let lacks_command = parsed.as_ref().err().is_some_and(|error| {
        let kinds =
            [ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, ErrorKind::MissingSubcommand];
        kinds.contains(&error.kind()) && first_word(&args).is_none()
    });
    if !lacks_command || !find::is_at_terminal() || !streams::is_stdout_terminal() {
        return (args, parsed);
    }
    args.push("find".into());
    let parsed = Cli::try_parse_from(&args);
    (args, parsed)
}

/// Whether a command line is one argument of several words, which no command and no option is.
fn is_question(args: &[OsString]) -> bool {
    let [_, words] = args else { return false };
    let words = words.to_string_lossy();
    !words.starts_with('-') && words.contains(char::is_whitespace)
}

/// Loads what a command needs. Only a search and a server work on several knowledge bases.
fn context(
    environment: Environment,
    cli: &Cli,
    flags: &Flags,
    usual: ResolvedConfig,
    format: OutputFormat,
) -> Result<CommandContext> {
    let is_read_by_people = format == OutputFormat::Human && cli.command.is_read_by_people();
    let form = AnswerForm { format, is_read_by_people };
    let context = CommandContext::new(environment, &cli.global, flags, usual, form)?;
    let context = match &cli.command {
        Command::Init(args) if args.here => context.here()?,
        _ => context,
    };
    match &cli.command {
        Command::Search(args) if args.batch.is_none() && args.open.is_none() => Ok(context),
        Command::Mcp(_) => Ok(context),
        _ if context.beside.is_empty() => Ok(context),
        _ => Err(Error::usage(wording!(
            "only `{}` (without `--batch` and `--open`) and `{}` work on several knowledge bases",
            kb("search"),
            kb("mcp")
        ))
        .with_hint("name one with `--base NAME`")),
    }
}

/// Returns an option that still works but is out of help, and what to do instead.
fn withdrawn(command: &Command) -> Option<(&'static str, Wording)> {
    match command {
        Command::Add(args) if args.recursive => Some((
            "--recursive",
            "leave it out; folders are always read with everything below them".into(),
        )),
        Command::Find(args) if args.vec_only => {
            Some(("--vec-only", "press Tab twice instead".into()))
        }
        Command::Search(args) if args.open.is_some() => {
            let open = kb("open").arg("DOC").flag("--editor");
            Some(("--open", wording!("use `{}`, or `{}`", kb("find"), open)))
        }
        _ => None,
    }
}

/// Runs a command that documents kb itself and needs no settings; returns `None` for other commands.
fn learn(command: &Command) -> Option<Result<ExitStatus>> {
    match command {
        Command::Help(args) => Some(learn::help(args)),
        Command::Schema(args) => Some(learn::schema(args)),
        Command::Completions(args) => Some(complete::run(args)),
        Command::Man(args) => Some(learn::man(args)),
        _ => None,
    }
}

/// Returns the name of the command in a command line that clap has accepted: the first word that names
/// one.
fn command_name(args: &[OsString]) -> &str {
    let words = args.iter().skip(1).filter_map(|word| word.to_str());
    let command = <Cli as clap::CommandFactory>::command();
    let mut named = words.filter(|word| command.find_subcommand(word).is_some());
    named.next().unwrap_or_default()
}

/// Serves agents, which can name only the knowledge bases of `--base` if `is_limited` is set.
fn mcp(
    context: CommandContext,
    args: &args::Mcp,
    is_limited: bool,
    program: Program,
    serve: Serve,
) -> Result<ExitStatus> {
    let sessions = [&context.session].into_iter().chain(&context.beside);
    let names = sessions.map(|session| session.place().name.clone()).collect();
    let bases = is_limited.then_some(names);
    let audit_log = args.audit_log.as_deref().map(absolute).transpose()?;
    let (allows_writing, watches) = (args.allow_write, args.watch);
    let options =
        ServerOptions { program, tools: args.tools, bases, allows_writing, watches, audit_log };
    if serve(context.session, Arc::new(context.ui), &options)? {
        Ok(ExitStatus::Success)
    } else {
        interrupt::end_at_once()
    }
}

/// Returns the settings given as flags.
fn flags(cli: &Cli) -> Flags {
    let (model, model_dir) = match &cli.command {
        Command::Init(args::InitArgs { model, model_dir, .. })
        | Command::Reindex(args::ReindexArgs { model, model_dir, .. }) => (model, model_dir),
        Command::Import(args::ImportArgs { model, .. })
        | Command::Convert(args::ConvertArgs { model, .. }) => (model, &None),
        _ => (&None, &None),
    };
    let mut flags = Vec::new();
    if let Some(dir) = &cli.global.data_dir {
        flags.push(("--data-dir", "data_dir", dir.to_string_lossy().into_owned()));
    }
    if let Some(name) = model {
        flags.push(("--model", "embedding.model", name.clone()));
        // A model name on the command line overrides a directory in the settings.
        flags.push(("--model", "embedding.model_dir", String::new()));
    }
    if let Some(dir) = model_dir {
        flags.push(("--model-dir", "embedding.model_dir", dir.to_string_lossy().into_owned()));
    }
    flags
}
