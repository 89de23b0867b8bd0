//! Runs skill commands: from a typed request to a typed answer.
//!
//! `skill::commands` lists the commands and their parameters. [`Arguments`] returns their values.

mod request;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::app::agents::own_skill::{self, OWN_SKILL};
use crate::app::indexing::add;
use crate::app::indexing::ingestion::request::{AddRequest, DocumentSource};
use crate::app::session::typed::absolute;
use crate::app::{Observer, Session};
use crate::config::Environment;
use crate::config::skillc::{self, TokenizerWord};
use crate::diagnostic::{Diagnostic, Program};
use crate::error::{Error, Fixer, Result};
use crate::ingest::IngestReport;
use crate::skill;
use crate::skill::build::{BuildOptions, BuildPlan, BuildResult};
use crate::skill::caller::{Caller, WithWarnings};
use crate::skill::install::{self, InstalledSkill};
use crate::skill::list::{ListOptions, SkillList};
use crate::store::Store;
use crate::store::skills::index::FtsTokenizer;
use crate::wording::{option, wording};

pub use request::{Arguments, BuildReport, SkillAnswer, SkillRequest};

/// Runs skill commands for one working directory at one time.
pub struct Skills {
    environment: Environment,
    data_dir: Option<PathBuf>,
    caller: Caller,
}

impl Skills {
    /// Reads the working directory, the time and the settings of skills.
    ///
    /// `data_dir` overrides the setting, for commands that need the knowledge base.
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
            caller.tokenizer = FtsTokenizer::Unicode61;
        }
        let data_dir = data_dir.map(Path::to_owned);
        Ok(Self { environment: environment.clone(), data_dir, caller })
    }

    /// Makes reading commands bring the index of a skill up to date first, and logs accesses as those of one
    /// session.
    pub fn serve(&mut self, run_id: &str) {
        self.caller.updates_index = true;
        run_id.clone_into(&mut self.caller.run_id);
    }

    /// Returns the id of this run in the access log.
    pub fn run_id(&self) -> &str {
        &self.caller.run_id
    }

    /// Returns a skill's directory and its runtime directory; `None` if there is no such skill.
    pub fn places(&self, typed: &str) -> Option<(PathBuf, PathBuf)> {
        let skill = skill::resolve::resolve(&self.caller, typed).ok()?;
        Some((skill.dir, skill.runtime))
    }

    /// Describes the existing, different files that installing kb's own skill would replace.
    pub fn replaced_by_install(&self, target: &str) -> Option<String> {
        let paths = install::replaced(OWN_SKILL, &install::path(&self.caller, target).ok()?);
        let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        (!names.is_empty()).then(|| format!("these files have other content: {}", names.join(", ")))
    }

    /// Returns the files that a build would put into the folders of agents. Changes nothing.
    pub fn planned(&self, skill: &str, options: &BuildOptions) -> Result<BuildPlan> {
        skill::plan(&self.caller, skill, options).map_err(in_words_of_protocol)
    }

    /// Runs a command.
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
                SkillAnswer::Build(Box::new(BuildReport { built, imported, ingested }))
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
                let failed = synced.failed.iter();
                let lines = failed.map(|error| skill::caller::error_line(error, caller.program));
                let errors = lines.collect();
                SkillAnswer::Sync { synced, errors }
            }
            SkillRequest::Init(options) => SkillAnswer::Init(skill::init::init(caller, options)?),
            SkillRequest::Install { target, is_replacing } => {
                SkillAnswer::Install(self.install(target, *is_replacing)?)
            }
        })
    }

    /// Reports the warnings of an answer and returns its outcome.
    fn take<T>(&self, answer: WithWarnings<T>, observer: &dyn Observer) -> Result<T> {
        for warning in &answer.warnings {
            observer.info(warning.line(self.caller.program));
        }
        answer.outcome
    }

    /// Returns the session of the knowledge base, for the few commands that need it.
    fn session(&self, observer: &dyn Observer) -> Result<Session> {
        let session = Session::builder(self.environment.clone())
            .data_dir(self.data_dir.as_deref())
            .build()?;
        session.resolved().warnings.iter().for_each(|warning| observer.warn(warning));
        Ok(session)
    }

    fn list(&self, options: &ListOptions, observer: &dyn Observer) -> Result<SkillList> {
        let session = self.session(observer)?;
        let mut store = if session.is_read_only() { None } else { Some(session.open_store()?) };
        let listed = skill::list::list(&self.caller, store.as_mut(), options, &mut |line| {
            observer.info(line);
        })?;
        store.map_or(Ok(()), Store::close)?;
        Ok(listed)
    }

    /// Adds a skill's Markdown to the knowledge base.
    fn ingest(&self, built: &BuildResult, observer: &dyn Observer) -> Result<IngestReport> {
        let request = AddRequest {
            tags: vec![format!("skill:{}", built.skill.name)],
            ..AddRequest::of(DocumentSource::Paths(built.pages.clone()))
        };
        add::add(&self.session(observer)?, &request, observer).map(|(report, _)| report)
    }

    fn install(&self, target: &str, is_replacing: bool) -> Result<InstalledSkill> {
        if let Some(message) = self.replaced_by_install(target).filter(|_| !is_replacing) {
            let hint = wording!("`{}` replaces it", option("--yes"));
            return Err(Diagnostic::InvalidOption { message, hint: Some(hint) }.into());
        }
        install::install(OWN_SKILL, &install::path(&self.caller, target)?)
    }
}

/// Returns the names of the skills visible from the working directory.
pub fn names(environment: &Environment) -> Vec<String> {
    caller(environment, Program::Kb)
        .map(|caller| skill::resolve::names(&caller))
        .unwrap_or_default()
}

/// Returns the environment of skill commands.
fn caller(environment: &Environment, program: Program) -> Result<Caller> {
    let now = jiff::Timestamp::now();
    let named_root = environment.path("KB_SKILLS_ROOT");
    Ok(Caller {
        program,
        cwd: absolute(Path::new("."))?,
        home: absolute(&own_skill::skills_home(environment))?,
        named_root: named_root.map(|root| absolute(&root)).transpose()?,
        run_id: run_id(environment, now),
        now: SystemTime::from(now),
        timestamp: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        updates_index: false,
        tokenizer: FtsTokenizer::Porter,
    })
}

/// Returns the session id for the access log: from the environment, or a new one.
fn run_id(environment: &Environment, now: jiff::Timestamp) -> String {
    use std::hash::{BuildHasher, RandomState};
    let named = environment.get("SKC_RUN_ID").or_else(|| environment.get("KB_RUN_ID"));
    named.map_or_else(
        || {
            // `RandomState` has a new seed in every process.
            let random = RandomState::new().hash_one(now.as_nanosecond()) & 0xffff;
            format!("{}-{random:04x}", now.strftime("%Y%m%dT%H%M%SZ"))
        },
        |named| named.to_string_lossy().into_owned(),
    )
}

/// Converts errors of files and databases to the protocol's error; other errors are returned unchanged.
pub fn in_words_of_protocol(error: Error) -> Error {
    match error {
        Error::Skill(_) => error,
        error if matches!(error, Error::Io { .. }) || error.fixed_by() == Fixer::Machine => {
            Diagnostic::Internal(error.to_string()).into()
        }
        error => error,
    }
}
