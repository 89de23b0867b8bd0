//! Writes the JSON of skill commands, in the shapes of the skill protocols. Every key is always present,
//! except that a file has either `text` or `data`; values that do not apply are null.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::agents::skills::{BuildReport, SkillAnswer};
use crate::diagnostic::{Diagnostic, Program};
use crate::present::json::ErrorJson;
use crate::skill::lint::{LintFinding, LintResult, Severity};
use crate::skill::list::SkillList;
use crate::skill::open::OpenedFile;
use crate::skill::sources::Sources;
use crate::skill::sync::SyncResult;
use crate::store::DocumentId;
use crate::text::json::Json;
use crate::text::paths::path_text;

/// Writes the error of a command: the line of the protocol, its code and a hint.
pub fn error(error: &Diagnostic, program: Program, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&ErrorJson { error: error.line(program), code: error.code(), fix: error.hint() })
}

/// Writes the result of a command.
pub fn answer(answer: &SkillAnswer, out: &mut Json<'_>) -> io::Result<()> {
    match answer {
        SkillAnswer::List(listed) => list(listed, out),
        SkillAnswer::Build(report) => build(report, out),
        SkillAnswer::Search(results) => out.value(results),
        SkillAnswer::Outline(headings) => out.value(headings),
        SkillAnswer::Show(shown) => out.value(shown),
        SkillAnswer::Open(opened) => open(opened, out),
        SkillAnswer::Sources(found) => sources(found, out),
        SkillAnswer::Stats(counts) => out.value(counts),
        SkillAnswer::Lint(linted) => lint(linted, out),
        SkillAnswer::Sync { synced, errors } => sync(synced, errors, out),
        SkillAnswer::Init(made) => out.value(made),
        SkillAnswer::Install(installed) => out.value(installed),
    }
}

/// The list of skills.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ListJson<'a> {
    /// The skills, sorted by name.
    skills: Vec<SkillJson<'a>>,
    /// The same as `filtered`; the name in older versions.
    total_count: usize,
    /// Number of all skills.
    total: usize,
    /// Number of skills that pass the filters.
    filtered: usize,
}

/// A skill.
#[derive(Serialize, JsonSchema)]
struct SkillJson<'a> {
    /// Its name.
    name: &'a str,
    /// Its declared version.
    version: Option<&'a str>,
    /// Its purpose.
    description: &'a str,
    /// Its declared capabilities.
    capabilities: &'a [String],
    /// Its declared letter.
    greek_letter: Option<&'a str>,
    /// Its SKILL.md.
    path: &'a str,
    /// Where it was found: `project` or `global`.
    scope: &'a str,
    /// `normal`, `not-built` or `obsolete`.
    status: &'a str,
    /// Its directory.
    source_path: String,
    /// Directory of its index and logs.
    runtime_path: String,
}

fn list(list: &SkillList, out: &mut Json<'_>) -> io::Result<()> {
    let skills = list.skills.iter().map(|skill| SkillJson {
        name: &skill.found.row.name,
        version: skill.found.row.version.as_deref(),
        description: &skill.found.row.description,
        capabilities: &skill.found.row.capabilities,
        greek_letter: skill.found.row.greek_letter.as_deref(),
        path: &skill.found.row.source_path,
        scope: skill.found.scope.as_str(),
        status: skill.status.as_str(),
        source_path: path_text(&skill.found.dir),
        runtime_path: path_text(&skill.found.skill.runtime),
    });
    out.value(&ListJson {
        skills: skills.collect(),
        total_count: list.num_filtered,
        total: list.total,
        filtered: list.num_filtered,
    })
}

/// The result of a build.
#[derive(Serialize, JsonSchema)]
pub(crate) struct BuildJson<'a> {
    /// Its name.
    skill: &'a str,
    /// Where it is: `project` or `global`.
    scope: &'a str,
    /// Its directory.
    source_path: String,
    /// Directory of its index and logs.
    runtime_path: String,
    /// SHA-256 over all its files, in hexadecimal.
    source_hash: &'a str,
    /// Whether the index was rebuilt; false if it was up to date.
    rebuilt: bool,
    /// With `--import`: where it was copied from.
    imported_from: Option<String>,
    /// With `--target`: the places where agents now find it.
    deployed: Vec<DeployedJson>,
    /// With `--ingest`: the result of adding its Markdown; else null.
    ingested: Option<IngestedJson<'a>>,
}

/// A place where an agent finds a skill.
#[derive(Serialize, JsonSchema)]
struct DeployedJson {
    /// The place.
    path: String,
    /// `symlink` or `copy`.
    method: &'static str,
}

/// The result of adding the Markdown of a skill.
#[derive(Serialize, JsonSchema)]
struct IngestedJson<'a> {
    /// The tag of its documents.
    tag: String,
    /// New documents.
    added: usize,
    /// Documents with new content.
    updated: usize,
    /// Files that are already in the database.
    skipped: usize,
    /// Files that could not be read.
    failed: usize,
    /// Ids of its documents.
    document_ids: &'a [DocumentId],
}

fn build(report: &BuildReport, out: &mut Json<'_>) -> io::Result<()> {
    let (built, skill) = (&report.built, &report.built.skill);
    let deployed = built.deployments.iter().map(|deployment| DeployedJson {
        path: path_text(&deployment.path),
        method: if deployment.is_copy { "copy" } else { "symlink" },
    });
    out.value(&BuildJson {
        skill: &skill.name,
        scope: skill.scope.as_str(),
        source_path: skill.skill_path(),
        runtime_path: path_text(&skill.runtime),
        source_hash: &built.index.source_hash,
        rebuilt: built.index.is_new,
        imported_from: report.imported.as_deref().map(path_text),
        deployed: deployed.collect(),
        ingested: report.ingested.as_ref().map(|ingested| IngestedJson {
            tag: format!("skill:{}", skill.name),
            added: ingested.added,
            updated: ingested.updated,
            skipped: ingested.skipped,
            failed: ingested.failed.len(),
            document_ids: &ingested.document_ids,
        }),
    })
}

/// The result of checking a skill for its author.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LintJson<'a> {
    /// Its name.
    skill: &'a str,
    /// Its directory.
    path: &'a str,
    /// Whether it was skipped because it is a built skill.
    skipped: bool,
    /// Findings that are errors.
    errors: usize,
    /// Findings that are warnings.
    warnings: usize,
    /// The findings.
    diagnostics: &'a [LintFinding],
}

fn lint(linted: &LintResult, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&LintJson {
        skill: &linted.skill,
        path: &linted.path,
        skipped: linted.is_skipped,
        errors: linted.count(Severity::Error),
        warnings: linted.count(Severity::Warning),
        diagnostics: &linted.findings,
    })
}

/// The result of merging access logs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SyncJson<'a> {
    /// Skills whose logs were merged.
    synced: Vec<SyncedJson<'a>>,
    /// Whether nothing was written.
    dry_run: bool,
    /// Error messages, for people.
    errors: &'a [String],
}

/// A skill whose logs were merged.
#[derive(Serialize, JsonSchema)]
struct SyncedJson<'a> {
    /// Its name.
    skill: &'a str,
    /// Number of merged accesses.
    count: usize,
}

fn sync(synced: &SyncResult, errors: &[String], out: &mut Json<'_>) -> io::Result<()> {
    let skills = synced.skills.iter().map(|(skill, count)| SyncedJson { skill, count: *count });
    out.value(&SyncJson { synced: skills.collect(), dry_run: synced.is_dry_run, errors })
}

/// A file of a skill: `text`, or `data` if it is not text.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SkillOpenJson<'a> {
    /// File, relative to the skill.
    file: &'a str,
    /// Its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    /// Its bytes in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    /// Whether `--max-lines` cut the text.
    truncated: bool,
}

/// Writes a file: its text, or its bytes in base64 if they are not text.
fn open(opened: &OpenedFile, out: &mut Json<'_>) -> io::Result<()> {
    let text = std::str::from_utf8(&opened.bytes).ok();
    let data = text.is_none().then(|| STANDARD.encode(&opened.bytes));
    out.value(&SkillOpenJson { file: &opened.file, text, data, truncated: opened.num_cut > 0 })
}

/// A file or directory of a skill.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Source")]
pub(crate) struct SkillSourceJson<'a> {
    /// Path, relative to the skill.
    path: &'a str,
    /// `file` or `dir`.
    #[serde(rename = "type")]
    kind: &'static str,
}

fn sources(sources: &Sources, out: &mut Json<'_>) -> io::Result<()> {
    let entries = sources.entries.iter().map(|entry| SkillSourceJson {
        path: &entry.path,
        kind: if entry.is_dir { "dir" } else { "file" },
    });
    out.value(&entries.collect::<Vec<_>>())
}
