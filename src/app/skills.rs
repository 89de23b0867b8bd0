//! Runs skill commands: reads their parameters into typed requests and returns typed answers.
//!
//! `skill::commands` lists the commands and their parameters. A face says how it was given each of them.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::app::add::{self, AddRequest, Source};
use crate::app::session::absolute;
use crate::app::{Observer, Session, status};
use crate::config::skillc::{self, TokenizerWord};
use crate::config::{Environment, Flags};
use crate::diagnostic::{Diagnostic, Program};
use crate::error::{Error, Fixer, Result};
use crate::ingest::IngestReport;
use crate::skill;
use crate::skill::build::{BuildOptions, Built};
use crate::skill::caller::{Answer, Caller, SKILLS_ROOT};
use crate::skill::commands::Command;
use crate::skill::init::{InitOptions, Initialized};
use crate::skill::install::{self, Installed, Place};
use crate::skill::lint::Linted;
use crate::skill::list::{ListOptions, SkillList};
use crate::skill::open::{OpenOptions, Opened};
use crate::skill::outline::{OutlineOptions, OutlinedHeading};
use crate::skill::registry::SkillFilter;
use crate::skill::search::{SearchOptions, SkillResults};
use crate::skill::show::{ShowOptions, Shown};
use crate::skill::sources::{Sources, SourcesOptions};
use crate::skill::stats::{SkillStats, StatsOptions};
use crate::skill::sync::{SyncOptions, Synced};
use crate::store::skills::index::Tokenizer;

/// The values of a command's parameters, by their names, as a face was given them.
pub trait Arguments {
    /// Returns a text or one of several words; where it was not given, its default.
    fn text(&self, name: &str) -> Option<String>;

    /// Returns a number; where it was not given, its default.
    fn number(&self, name: &str) -> Option<u32>;

    /// Whether a flag was given.
    fn flag(&self, name: &str) -> bool;

    /// Returns all texts that were given under one name.
    fn texts(&self, name: &str) -> Vec<String>;
}

/// What a skill command is asked to do. The first text names the skill, or is its directory.
#[derive(Debug, Clone)]
pub enum SkillRequest {
    /// List skills; the root is that of the environment where it has none.
    List(ListOptions),
    /// Index a skill, and add its Markdown to the knowledge base if `is_ingested`.
    Build {
        /// The skill.
        skill: String,
        /// How to build it.
        options: BuildOptions,
        /// Whether its Markdown is added to the knowledge base.
        is_ingested: bool,
    },
    /// Search a skill.
    Search(String, SearchOptions),
    /// List the headings of a skill.
    Outline(String, OutlineOptions),
    /// Show a section.
    Show(String, ShowOptions),
    /// Show a file.
    Open(String, OpenOptions),
    /// List the files of a skill.
    Sources(String, SourcesOptions),
    /// Count how a skill was used.
    Stats(String, StatsOptions),
    /// Check a skill for its author, also one that was built if `is_forced`.
    Lint {
        /// The skill.
        skill: String,
        /// Whether a skill that was built is checked.
        is_forced: bool,
    },
    /// Merge access logs.
    Sync(SyncOptions),
    /// Make a skill or a store.
    Init(InitOptions),
    /// Put kb's own skill where an agent looks for skills.
    Install {
        /// The name of an agent, or a directory of skills.
        target: String,
        /// Whether a different file there is replaced.
        is_replacing: bool,
    },
}

/// What came of a skill command.
#[derive(Debug)]
pub enum SkillAnswer {
    /// The skills there are.
    List(SkillList),
    /// What was built.
    Build(BuildReport),
    /// The sections found.
    Search(SkillResults),
    /// Headings in the order of the files.
    Outline(Vec<OutlinedHeading>),
    /// A section.
    Show(Shown),
    /// A file.
    Open(Opened),
    /// A tree of files.
    Sources(Sources),
    /// Counts of accesses.
    Stats(SkillStats),
    /// What the author should look at.
    Lint(Linted),
    /// What was merged.
    Sync {
        /// Which logs were merged, and which could not be.
        synced: Synced,
        /// A line for each that could not be.
        errors: Vec<String>,
    },
    /// What was made.
    Init(Initialized),
    /// Where the skill is now.
    Install(Installed),
}

/// What a run of `build` did.
#[derive(Debug)]
pub struct BuildReport {
    /// The skill that was built.
    pub built: Built,
    /// What was imported before, as typed.
    pub imported: Option<PathBuf>,
    /// What came of adding its Markdown to the knowledge base, if that was asked for.
    pub ingested: Option<IngestReport>,
}

impl SkillRequest {
    /// Returns the request that a command and its arguments make.
    pub fn of(command: &Command, given: &dyn Arguments) -> Self {
        let required = |name: &str| given.text(name).unwrap_or_default();
        let limit = || given.number("limit").unwrap_or(0);
        let max_lines = given.number("max_lines");
        let skill = required("skill");
        match command.name {
            "list" => Self::List(ListOptions {
                root: given.text("skills_root").map(PathBuf::from),
                filter: SkillFilter {
                    search: given.text("search"),
                    capability: given.text("capability"),
                },
                scope: given.text("scope"),
                status: given.text("status"),
                limit: given.number("limit"),
                pattern: given.text("pattern"),
                checks_obsolete: given.flag("check_obsolete"),
            }),
            "build" => {
                let options = BuildOptions {
                    is_import: given.flag("import"),
                    is_global: given.flag("global"),
                    is_forced: given.flag("force"),
                    targets: given.texts("target"),
                    is_copy: given.flag("copy"),
                };
                Self::Build { skill, options, is_ingested: given.flag("ingest") }
            }
            "search" => {
                Self::Search(skill, SearchOptions { query: required("query"), limit: limit() })
            }
            "outline" => {
                let level = given.number("level").and_then(|level| u8::try_from(level).ok());
                Self::Outline(skill, OutlineOptions { level })
            }
            "show" => {
                let (section, file) = (required("section"), given.text("file"));
                Self::Show(skill, ShowOptions { section, file, max_lines })
            }
            "open" => Self::Open(skill, OpenOptions { path: required("path"), max_lines }),
            "sources" => {
                let options = SourcesOptions {
                    depth: given.number("depth"),
                    dir: given.text("dir"),
                    limit: limit(),
                    pattern: given.text("pattern"),
                };
                Self::Sources(skill, options)
            }
            "stats" => {
                let options = StatsOptions {
                    group_by: given.text("group_by"),
                    since: given.text("since"),
                    until: given.text("until"),
                    projects: given.texts("project"),
                };
                Self::Stats(skill, options)
            }
            "lint" => Self::Lint { skill, is_forced: given.flag("force") },
            "sync" => Self::Sync(SyncOptions {
                skill: given.text("skill"),
                project: given.text("project"),
                is_dry_run: given.flag("dry_run"),
            }),
            "init" => Self::Init(InitOptions {
                name: given.text("name"),
                is_global: given.flag("global"),
            }),
            "install" => {
                Self::Install { target: required("target"), is_replacing: given.flag("yes") }
            }
            name => unreachable!("`{name}` is not in the table of commands"),
        }
    }
}

/// Runs skill commands from one place at one time.
pub struct Skills {
    environment: Environment,
    data_dir: Option<PathBuf>,
    caller: Caller,
}

impl Skills {
    /// Asks for the working directory, the time and the settings that skills have.
    ///
    /// `data_dir` overrides the settings, for the commands that need the knowledge base.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] where there is no working directory, [`Error::Usage`] for a variable that holds an
    /// empty path.
    pub fn new(
        environment: &Environment,
        data_dir: Option<&Path>,
        program: Program,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let mut caller = caller(environment, program)?;
        let stores: Vec<PathBuf> =
            caller.project_store().into_iter().chain([caller.global_store()]).collect();
        let (word, warnings) = skillc::tokenizer(environment, &stores);
        warnings.iter().for_each(|warning| observer.warn(warning));
        if word == TokenizerWord::Cjk {
            caller.tokenizer = Tokenizer::Unicode61;
        }
        let data_dir = data_dir.map(Path::to_owned);
        Ok(Self { environment: environment.clone(), data_dir, caller })
    }

    /// Returns where a skill was found and where its runtime directory is; `None` where there is no such
    /// skill.
    pub fn places(&self, typed: &str) -> Option<(PathBuf, PathBuf)> {
        let skill = skill::resolve::resolve(&self.caller, typed).ok()?;
        Some((skill.dir, skill.runtime))
    }

    /// Returns the file that installing kb's own skill would replace although it is a different one.
    pub fn replaced_by_install(&self, target: &str) -> Option<PathBuf> {
        let path = install::path(&self.caller, target);
        (install::place(&path) == Place::Other).then_some(path)
    }

    /// Runs a command.
    ///
    /// # Errors
    ///
    /// [`Error::Skill`] in the words of the protocol, [`Error::Cancelled`], and errors of settings and
    /// models that are not the protocol's business.
    pub fn run(&self, request: &SkillRequest, observer: &dyn Observer) -> Result<SkillAnswer> {
        self.perform(request, observer).map_err(in_words_of_protocol)
    }

    fn perform(&self, request: &SkillRequest, observer: &dyn Observer) -> Result<SkillAnswer> {
        let caller = &self.caller;
        Ok(match request {
            SkillRequest::List(options) => SkillAnswer::List(self.list(options, observer)?),
            SkillRequest::Build { skill, options, is_ingested } => {
                let built = self.take(skill::build(caller, skill, options), observer)?;
                let ingested = is_ingested.then(|| self.ingest(&built, observer)).transpose()?;
                let imported = options.is_import.then(|| PathBuf::from(skill));
                SkillAnswer::Build(BuildReport { built, imported, ingested })
            }
            SkillRequest::Search(skill, options) => {
                SkillAnswer::Search(self.take(skill::search(caller, skill, options), observer)?)
            }
            SkillRequest::Outline(skill, options) => {
                SkillAnswer::Outline(self.take(skill::outline(caller, skill, *options), observer)?)
            }
            SkillRequest::Show(skill, options) => {
                SkillAnswer::Show(self.take(skill::show(caller, skill, options), observer)?)
            }
            SkillRequest::Open(skill, options) => {
                SkillAnswer::Open(self.take(skill::open(caller, skill, options), observer)?)
            }
            SkillRequest::Sources(skill, options) => {
                SkillAnswer::Sources(self.take(skill::sources(caller, skill, options), observer)?)
            }
            SkillRequest::Stats(skill, options) => {
                SkillAnswer::Stats(self.take(skill::stats(caller, skill, options), observer)?)
            }
            SkillRequest::Lint { skill, is_forced } => {
                SkillAnswer::Lint(self.take(skill::lint(caller, skill, *is_forced), observer)?)
            }
            SkillRequest::Sync(options) => {
                let synced = skill::sync::sync(caller, options)?;
                let line = |error| skill::caller::error_line(error, caller.program);
                let errors = synced.failed.iter().map(line).collect();
                SkillAnswer::Sync { synced, errors }
            }
            SkillRequest::Init(options) => SkillAnswer::Init(skill::init::init(caller, options)?),
            SkillRequest::Install { target, is_replacing } => {
                SkillAnswer::Install(self.install(target, *is_replacing)?)
            }
        })
    }

    /// Reports the warnings of an answer and returns its outcome.
    fn take<T>(&self, answer: Answer<T>, observer: &dyn Observer) -> Result<T> {
        for warning in &answer.warnings {
            observer.note(&warning.line(self.caller.program));
        }
        answer.outcome
    }

    /// Returns the session of the knowledge base, for the few commands that need it.
    fn session(&self, observer: &dyn Observer) -> Result<Session> {
        let dir = self.data_dir.as_ref().map(|dir| dir.to_string_lossy().into_owned());
        let flags: Flags = dir.into_iter().map(|dir| ("--data-dir", "data_dir", dir)).collect();
        let session = Session::new(self.environment.clone(), &flags)?;
        session.resolved.warnings.iter().for_each(|warning| observer.warn(warning));
        Ok(session)
    }

    fn list(&self, options: &ListOptions, observer: &dyn Observer) -> Result<SkillList> {
        let mut options = options.clone();
        options.root = options.root.or_else(|| self.environment.path("KB_SKILLS_ROOT"));
        let mut store = self.session(observer)?.open_store()?;
        let mut log = |line: &str| observer.note(line);
        let listed = skill::list::list(&self.caller, &mut store, &options, &mut log)?;
        store.close()?;
        Ok(listed)
    }

    /// Adds a skill's Markdown to the knowledge base.
    fn ingest(&self, built: &Built, observer: &dyn Observer) -> Result<IngestReport> {
        let request = AddRequest {
            tags: vec![format!("skill:{}", built.skill.name)],
            ..AddRequest::of(Source::Paths(built.pages.clone()))
        };
        add::add(&self.session(observer)?, &request, observer).map(|(report, _)| report)
    }

    fn install(&self, target: &str, is_replacing: bool) -> Result<Installed> {
        if let Some(path) = self.replaced_by_install(target).filter(|_| !is_replacing) {
            let message = format!("{} is there and is another", path.display());
            let hint = Some("`--yes` replaces it".to_owned());
            return Err(Diagnostic::InvalidOption { message, hint }.into());
        }
        install::install(&install::path(&self.caller, target))
    }
}

/// Returns the names by which skills can be called in the working directory.
pub fn names(environment: &Environment) -> Vec<String> {
    caller(environment, Program::Kb)
        .map(|caller| skill::resolve::names(&caller))
        .unwrap_or_default()
}

/// Returns what skill commands know of their surroundings.
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

/// Returns the session that the access log names: the one of the environment, or a new one.
fn run_id(environment: &Environment, now: jiff::Timestamp) -> String {
    use std::hash::{BuildHasher, RandomState};
    let named = environment.get("SKC_RUN_ID").or_else(|| environment.get("KB_RUN_ID"));
    named.map_or_else(
        || {
            // Every process has a new seed.
            let random = RandomState::new().hash_one(now.as_nanosecond()) & 0xffff;
            format!("{}-{random:04x}", now.strftime("%Y%m%dT%H%M%SZ"))
        },
        |named| named.to_string_lossy().into_owned(),
    )
}

/// Returns what the machine refused as the protocol calls it; other errors stay as they are.
pub fn in_words_of_protocol(error: Error) -> Error {
    match error {
        Error::Skill(_) => error,
        error if matches!(error, Error::Io { .. }) || error.fixed_by() == Fixer::Machine => {
            Diagnostic::Internal { message: error.to_string() }.into()
        }
        error => error,
    }
}
