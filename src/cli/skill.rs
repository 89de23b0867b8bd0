//! `kb skill`, and the whole program where it is started as `skc`.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Parser;

use crate::app::add::{AddRequest, Source};
use crate::app::session::absolute;
use crate::app::{self, status};
use crate::cli::args::{Global, Skc, SkillCall};
use crate::cli::context::{self, Context};
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::cli::{streams, usage, voice};
use crate::config::skillc::{self, TokenizerWord};
use crate::config::{Environment, Flags, OutputFormat};
use crate::diagnostic::{Diagnostic, Program};
use crate::error::{Error, Result};
use crate::ingest::IngestReport;
use crate::present::BuildReport;
use crate::present::json::skill as skill_json;
use crate::present::terminal::sheet::Sheet;
use crate::present::text::skill as skill_text;
use crate::skill;
use crate::skill::build::{BuildOptions, Built};
use crate::skill::caller::{Answer, Caller, SKILLS_ROOT};
use crate::skill::init::InitOptions;
use crate::skill::install::{self, Place};
use crate::skill::lint::Severity;
use crate::skill::list::ListOptions;
use crate::skill::open::OpenOptions;
use crate::skill::outline::OutlineOptions;
use crate::skill::registry::SkillFilter;
use crate::skill::search::SearchOptions;
use crate::skill::show::ShowOptions;
use crate::skill::sources::SourcesOptions;
use crate::skill::stats::StatsOptions;
use crate::skill::sync::SyncOptions;
use crate::store::skills::index::Tokenizer;
use crate::text::json::Json;

/// The name under which the whole program is `kb skill`.
const SKC: &str = "skc";

/// Whether the program was started as `skc`.
pub(super) fn is_skc(args: &[OsString]) -> bool {
    args.first().is_some_and(|it| Path::new(it).file_stem() == Some(OsStr::new(SKC)))
}

/// Runs the program as `skc`.
pub(super) fn run_skc(args: &[OsString]) -> ExitStatus {
    match Skc::try_parse_from(args) {
        Ok(skc) => run(&Environment::of_process(), &skc.global, &skc.call, Program::Skc),
        Err(error) => super::explain_skill(&error, args, &Environment::of_process(), Program::Skc),
    }
}

/// Runs a skill command.
pub(super) fn run(
    environment: &Environment,
    global: &Global,
    call: &SkillCall,
    program: Program,
) -> ExitStatus {
    let format = call.format();
    let is_json_error = format == OutputFormat::Json && program == Program::Kb;
    if is_json_error {
        voice::hold();
    }
    let outcome = Session::new(environment, global, call, program).and_then(|it| it.perform());
    voice::release(outcome.is_ok());
    match outcome {
        Ok(status) => status,
        Err(Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitStatus::Success
        }
        Err(error) => report(error, program, format),
    }
}

/// Writes why a skill command failed and returns the status it ends the program with.
pub(super) fn report(error: Error, program: Program, format: OutputFormat) -> ExitStatus {
    let diagnostic = match diagnostic(error) {
        Ok(diagnostic) => diagnostic,
        Err(error) => return super::report(&error, format),
    };
    // Where stderr is closed there is nobody left to tell.
    let _ = match (format, program) {
        (OutputFormat::Json, Program::Kb) => {
            streams::json_aside(|out| skill_json::error(&diagnostic, program, out))
        }
        _ => streams::text_aside(|out| skill_text::error(&diagnostic, program, out)),
    };
    (&Error::Skill(diagnostic)).into()
}

/// Returns an error in the words of the protocol.
///
/// # Errors
///
/// The error itself, if it is not the protocol's business, as settings and models are not.
pub(super) fn diagnostic(error: Error) -> Result<Diagnostic> {
    match error {
        Error::Skill(diagnostic) => Ok(diagnostic),
        error @ Error::Io { .. } => Ok(Diagnostic::Internal { message: error.to_string() }),
        error if ExitStatus::from(&error) == ExitStatus::System => {
            Ok(Diagnostic::Internal { message: error.to_string() })
        }
        error => Err(error),
    }
}

/// Returns the names by which skills can be called in the working directory.
pub(super) fn names(environment: &Environment) -> Vec<String> {
    caller(environment, Program::Kb).map(|it| skill::resolve::names(&it)).unwrap_or_default()
}

/// Returns what is known of whoever runs a skill command.
fn caller(environment: &Environment, program: Program) -> Result<Caller> {
    let now = jiff::Timestamp::now();
    let skills_root = environment.path("KB_SKILLS_ROOT").unwrap_or_else(|| SKILLS_ROOT.into());
    Ok(Caller {
        program,
        cwd: absolute(Path::new("."))?,
        home: absolute(&status::skills_home(environment))?,
        skills_root: absolute(&skills_root)?,
        run_id: run_id(environment, now),
        now: SystemTime::from(now),
        timestamp: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        tokenizer: Tokenizer::Porter,
    })
}

/// Runs a skill command for a program and returns its JSON.
pub(super) fn answer(
    environment: &Environment,
    global: &Global,
    args: &[OsString],
) -> Result<Vec<u8>> {
    let skc = Skc::try_parse_from(args).map_err(|error| match usage::explain(&error, args) {
        Error::Usage { message, hint } => Diagnostic::InvalidOption { message, hint }.into(),
        other => other,
    })?;
    let captured = RefCell::new(Vec::new());
    let mut session = Session::new(environment, global, &skc.call, Program::Kb)?;
    session.captured = Some(&captured);
    session.perform()?;
    drop(session);
    Ok(captured.into_inner())
}

/// One run of a skill command.
struct Session<'a> {
    environment: &'a Environment,
    global: &'a Global,
    call: &'a SkillCall,
    caller: Caller,
    /// Where JSON goes instead of to stdout, if anywhere.
    captured: Option<&'a RefCell<Vec<u8>>>,
}

impl<'a> Session<'a> {
    fn new(
        environment: &'a Environment,
        global: &'a Global,
        call: &'a SkillCall,
        program: Program,
    ) -> Result<Self> {
        let mut caller = caller(environment, program)?;
        let stores: Vec<PathBuf> =
            caller.project_store().into_iter().chain([caller.global_store()]).collect();
        let (word, warnings) = skillc::tokenizer(environment, &stores);
        warnings.iter().for_each(|it| voice::warn(it));
        if word == TokenizerWord::Cjk {
            caller.tokenizer = Tokenizer::Unicode61;
        }
        Ok(Self { environment, global, call, caller, captured: None })
    }

    fn perform(&self) -> Result<ExitStatus> {
        let (call, caller) = (self.call, &self.caller);
        let skill = call.required("skill");
        if call.is_verbose() {
            self.tell_places(&skill);
        }
        let max_lines = call.number("max_lines");
        let pattern = call.text("pattern");
        match call.command.name {
            "list" => self.list(),
            "build" => self.build(&skill),
            "lint" => self.lint(&skill),
            "sync" => self.sync(),
            "install" => self.install(),
            "init" => {
                let options =
                    InitOptions { name: call.text("name"), is_global: call.flag("global") };
                self.print(
                    skill::init::init(caller, &options).into(),
                    skill_json::init,
                    skill_text::init,
                )
            }
            "search" => {
                let limit = call.number("limit").unwrap_or(0);
                let options = SearchOptions { query: call.required("query"), limit };
                self.print(
                    skill::search(caller, &skill, &options),
                    skill_json::search,
                    skill_text::search,
                )
            }
            "outline" => {
                let level = call.number("level").and_then(|it| u8::try_from(it).ok());
                let answer = skill::outline(caller, &skill, OutlineOptions { level });
                self.print(
                    answer,
                    |it, out| skill_json::outline(it, out),
                    |it, out| skill_text::outline(it, out),
                )
            }
            "show" => {
                let section = call.required("section");
                let options = ShowOptions { section, file: call.text("file"), max_lines };
                self.print_bytes(
                    skill::show(caller, &skill, &options),
                    skill_json::show,
                    skill_text::show,
                )
            }
            "open" => {
                let options = OpenOptions { path: call.required("path"), max_lines };
                self.print_bytes(
                    skill::open(caller, &skill, &options),
                    skill_json::open,
                    skill_text::open,
                )
            }
            "sources" => {
                let options = SourcesOptions {
                    depth: call.number("depth"),
                    dir: call.text("dir"),
                    limit: call.number("limit").unwrap_or(0),
                    pattern,
                };
                self.print(
                    skill::sources(caller, &skill, &options),
                    skill_json::sources,
                    skill_text::sources,
                )
            }
            "stats" => {
                let options = StatsOptions {
                    group_by: call.text("group_by"),
                    since: call.text("since"),
                    until: call.text("until"),
                    projects: call.texts("project"),
                };
                self.print(
                    skill::stats(caller, &skill, &options),
                    skill_json::stats,
                    skill_text::stats,
                )
            }
            name => unreachable!("{name} is told apart by clap, and has no arm here"),
        }
    }

    /// Says where a skill was found and where its runtime directory is.
    fn tell_places(&self, typed: &str) {
        if let Ok(skill) = skill::resolve::resolve(&self.caller, typed) {
            voice::say(&format!("source: {}", skill.dir.display()));
            voice::say(&format!("runtime: {}", skill.runtime.display()));
        }
    }

    /// Says the warnings of an answer and returns its outcome.
    fn take<T>(&self, answer: Answer<T>) -> Result<T> {
        for warning in &answer.warnings {
            voice::say(&warning.line(self.caller.program));
        }
        answer.outcome
    }

    /// Writes the outcome of a command to stdout, and its warnings to stderr.
    fn print<T>(
        &self,
        answer: Answer<T>,
        json: fn(&T, &mut Json<'_>) -> io::Result<()>,
        text: fn(&T, &mut Sheet<'_>) -> io::Result<()>,
    ) -> Result<ExitStatus> {
        let value = self.take(answer)?;
        self.write(|out| json(&value, out), |out| text(&value, out))
    }

    /// The same for what is a file's own: people get it byte for byte.
    fn print_bytes<T>(
        &self,
        answer: Answer<T>,
        json: fn(&T, &mut Json<'_>) -> io::Result<()>,
        bytes: fn(&T) -> Cow<'_, [u8]>,
    ) -> Result<ExitStatus> {
        let value = self.take(answer)?;
        if self.captured.is_none() && self.call.format() == OutputFormat::Human {
            streams::bytes(&bytes(&value))?;
            return Ok(ExitStatus::Success);
        }
        self.write(|out| json(&value, out), |_| Ok(()))
    }

    fn write(
        &self,
        json: impl FnOnce(&mut Json<'_>) -> io::Result<()>,
        text: impl FnOnce(&mut Sheet<'_>) -> io::Result<()>,
    ) -> Result<ExitStatus> {
        if let Some(captured) = self.captured {
            json(&mut Json::new(&mut *captured.borrow_mut())).map_err(Error::Output)?;
            return Ok(ExitStatus::Success);
        }
        match self.call.format() {
            OutputFormat::Json => streams::json(json),
            OutputFormat::Human => streams::text(text),
        }?;
        Ok(ExitStatus::Success)
    }

    /// Settings and database, for the few commands that need them.
    fn context(&self) -> Result<Context> {
        let dir = self.global.data_dir.as_ref().map(|it| it.to_string_lossy().into_owned());
        let flags: Flags = dir.into_iter().map(|it| ("--data-dir", "data_dir", it)).collect();
        Context::new(self.environment.clone(), self.global, &flags)
    }

    fn list(&self) -> Result<ExitStatus> {
        let call = self.call;
        let root = call.text("skills_root").map(PathBuf::from);
        let options = ListOptions {
            root: root.or_else(|| self.environment.path("KB_SKILLS_ROOT")),
            filter: SkillFilter {
                search: call.text("search"),
                capability: call.text("capability"),
            },
            scope: call.choice("scope"),
            status: call.choice("status"),
            limit: call.number("limit"),
            pattern: call.text("pattern"),
            checks_obsolete: call.flag("check_obsolete"),
        };
        let context = self.context()?;
        let mut store = context.session.open_store()?;
        let mut log = |line: &str| voice::say(line);
        let listed = skill::list::list(&self.caller, &mut store, &options, &mut log)?;
        store.close()?;
        if call.is_verbose() {
            voice::say(&listed.report.summary());
        }
        self.write(
            |out| skill_json::list(&listed, out),
            |out| skill_text::list(&listed, call.is_verbose(), &context.human, out),
        )
    }

    fn build(&self, typed: &str) -> Result<ExitStatus> {
        let call = self.call;
        let options = BuildOptions {
            is_import: call.flag("import"),
            is_global: call.flag("global"),
            is_forced: call.flag("force"),
            targets: call.texts("target"),
            is_copy: call.flag("copy"),
        };
        let built = self.take(skill::build(&self.caller, typed, &options))?;
        let ingested = call.flag("ingest").then(|| self.ingest(&built)).transpose()?;
        let imported = options.is_import.then(|| PathBuf::from(typed));
        let report = BuildReport { built, imported, ingested };
        self.write(|out| skill_json::build(&report, out), |out| skill_text::build(&report, out))
    }

    /// Adds a skill's Markdown to the knowledge base.
    fn ingest(&self, built: &Built) -> Result<IngestReport> {
        let request = AddRequest {
            tags: vec![format!("skill:{}", built.skill.name)],
            ..AddRequest::of(Source::Paths(built.pages.clone()))
        };
        let context = self.context()?;
        let interrupt = context.ui.listen();
        let outcome = app::add::add(&context.session, &request, &context.ui);
        ended(outcome, &interrupt).map(|(report, _)| report)
    }

    fn lint(&self, typed: &str) -> Result<ExitStatus> {
        let linted = self.take(skill::lint(&self.caller, typed, self.call.flag("force")))?;
        if self.call.format() == OutputFormat::Human {
            linted.findings.iter().for_each(|it| voice::say(&it.text()));
        }
        self.write(|out| skill_json::lint(&linted, out), |out| skill_text::lint(&linted, out))?;
        let has_errors = linted.count(Severity::Error) > 0;
        Ok(if has_errors { ExitStatus::User } else { ExitStatus::Success })
    }

    fn install(&self) -> Result<ExitStatus> {
        let path = install::path(&self.caller, &self.call.required("target"));
        if install::place(&path) == Place::Other && !self.call.flag("yes") {
            let message = format!("{} is there and is another", path.display());
            if !io::stdin().is_terminal() {
                let hint = Some("`--yes` replaces it".to_owned());
                return Err(Diagnostic::InvalidOption { message, hint }.into());
            }
            if !context::confirm(&format!("{message}. Replace it?"))? {
                return Ok(ExitStatus::User);
            }
        }
        let installed = install::install(&path)?;
        self.write(
            |out| skill_json::install(&installed, out),
            |out| skill_text::install(&installed, out),
        )
    }

    fn sync(&self) -> Result<ExitStatus> {
        let options = SyncOptions {
            skill: self.call.text("skill"),
            project: self.call.text("project"),
            is_dry_run: self.call.flag("dry_run"),
        };
        let synced = skill::sync::sync(&self.caller, &options)?;
        let program = self.caller.program;
        let errors: Vec<String> =
            synced.failed.iter().map(|it| skill::caller::error_line(it, program)).collect();
        errors.iter().for_each(|it| voice::say(it));
        let has_failed = !errors.is_empty();
        self.write(
            |out| skill_json::sync(&synced, errors, out),
            |out| skill_text::sync(&synced, out),
        )?;
        Ok(if has_failed { ExitStatus::User } else { ExitStatus::Success })
    }
}

/// Returns the session a command belongs to: the one the environment names, or one of its own.
fn run_id(environment: &Environment, now: jiff::Timestamp) -> String {
    use std::hash::{BuildHasher, RandomState};
    let named = environment.get("SKC_RUN_ID").or_else(|| environment.get("KB_RUN_ID"));
    named.map_or_else(
        || {
            // Seeded anew in every process.
            let random = RandomState::new().hash_one(now.as_nanosecond()) & 0xffff;
            format!("{}-{random:04x}", now.strftime("%Y%m%dT%H%M%SZ"))
        },
        |it| it.to_string_lossy().into_owned(),
    )
}
