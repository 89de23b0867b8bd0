//! Converts the parameters of skill commands to typed requests, and defines the answers.

use std::path::PathBuf;

use crate::ingest::IngestReport;
use crate::skill::build::{BuildOptions, BuildResult};
use crate::skill::commands::SkillCommand;
use crate::skill::init::{CreatedSkill, InitOptions};
use crate::skill::install::InstalledSkill;
use crate::skill::lint::LintResult;
use crate::skill::list::{ListOptions, SkillList};
use crate::skill::open::{OpenedFile, SkillOpenOptions};
use crate::skill::registry::SkillFilter;
use crate::skill::search::{SkillResults, SkillSearchOptions};
use crate::skill::show::{OutlineOptions, OutlinedHeading, ShownSection, SkillShowOptions};
use crate::skill::sources::{Sources, SourcesOptions};
use crate::skill::stats::{SkillStats, StatsOptions};
use crate::skill::sync::{SyncOptions, SyncResult};

/// The values of a command's parameters by name, from the command line or a tool call.
pub trait Arguments {
    /// Returns a text or one of several words; if it was not given, the default.
    fn text(&self, name: &str) -> Option<String>;

    /// Returns a number; if it was not given, the default.
    fn number(&self, name: &str) -> Option<u32>;

    /// Whether a flag was given.
    fn flag(&self, name: &str) -> bool;

    /// Returns all texts given for one name.
    fn texts(&self, name: &str) -> Vec<String>;
}

/// The request of a skill command. The first text is the skill's name or directory.
#[derive(Debug, Clone)]
pub enum SkillRequest {
    /// List skills; without a root, that of the environment is used.
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
    Search(String, SkillSearchOptions),
    /// List the headings of a skill.
    Outline(String, OutlineOptions),
    /// Show a section.
    Show(String, SkillShowOptions),
    /// Show a file.
    Open(String, SkillOpenOptions),
    /// List the files of a skill.
    Sources(String, SourcesOptions),
    /// Count the accesses to a skill.
    Stats(String, StatsOptions),
    /// Check a skill for its author; a built skill only if `is_forced`.
    Lint {
        /// The skill.
        skill: String,
        /// Whether a built skill is checked.
        is_forced: bool,
    },
    /// Merge access logs.
    Sync(SyncOptions),
    /// Create a skill or a store.
    Init(InitOptions),
    /// Install kb's own skill for an agent.
    Install {
        /// The name of an agent, or a directory of skills.
        target: String,
        /// Whether a different file there is replaced.
        is_replacing: bool,
    },
}

/// The result of a skill command.
#[derive(Debug)]
pub enum SkillAnswer {
    /// The skills found.
    List(SkillList),
    /// The report of a build.
    Build(Box<BuildReport>),
    /// The sections found.
    Search(SkillResults),
    /// Headings in the order of the files.
    Outline(Vec<OutlinedHeading>),
    /// A section.
    Show(ShownSection),
    /// A file.
    Open(OpenedFile),
    /// A tree of files.
    Sources(Sources),
    /// Counts of accesses.
    Stats(SkillStats),
    /// Findings for the author.
    Lint(LintResult),
    /// The result of merging logs.
    Sync {
        /// Merged and failed logs.
        synced: SyncResult,
        /// One message per failed log.
        errors: Vec<String>,
    },
    /// The created skill or store.
    Init(CreatedSkill),
    /// The place of the installed skill.
    Install(InstalledSkill),
}

/// The result of `build`.
#[derive(Debug)]
pub struct BuildReport {
    /// The skill that was built.
    pub built: BuildResult,
    /// The directory that was imported first, as typed.
    pub imported: Option<PathBuf>,
    /// The report of adding its Markdown to the knowledge base, if requested.
    pub ingested: Option<IngestReport>,
}

impl SkillRequest {
    /// Returns the request for a command and its arguments.
    pub fn of(command: &SkillCommand, given: &dyn Arguments) -> Self {
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
                Self::Search(skill, SkillSearchOptions { query: required("query"), limit: limit() })
            }
            "outline" => {
                let level = given.number("level").and_then(|level| u8::try_from(level).ok());
                Self::Outline(skill, OutlineOptions { level })
            }
            "show" => {
                let (section, file) = (required("section"), given.text("file"));
                Self::Show(skill, SkillShowOptions { section, file, max_lines })
            }
            "open" => Self::Open(skill, SkillOpenOptions { path: required("path"), max_lines }),
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
