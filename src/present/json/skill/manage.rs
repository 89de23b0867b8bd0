//! Presents what was done with skills as JSON: list, build, lint, sync, init, install.

use std::io;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::skills::BuildReport;
use crate::document::DocumentId;
use crate::skill::init::Initialized;
use crate::skill::install::Installed;
use crate::skill::lint::{Finding, Linted, Severity};
use crate::skill::list::SkillList;
use crate::skill::sync::Synced;
use crate::text::json::Json;
use crate::text::paths;

fn path_text(path: &Path) -> String {
    paths::path_text(path)
}

/// The skills there are.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ListJson<'a> {
    /// In the order of their names.
    skills: Vec<SkillJson<'a>>,
    /// The same as `filtered`, as older programs name it.
    total_count: usize,
    /// Skills there are.
    total: usize,
    /// Skills of those that pass the filters.
    filtered: usize,
}

/// A skill.
#[derive(Serialize, JsonSchema)]
struct SkillJson<'a> {
    /// Its name.
    name: &'a str,
    /// Version it declares.
    version: Option<&'a str>,
    /// What it is for.
    description: &'a str,
    /// Words for what it can do.
    capabilities: &'a [String],
    /// Letter it declares.
    greek_letter: Option<&'a str>,
    /// Its SKILL.md.
    path: &'a str,
    /// Where it was found: `project` or `global`.
    scope: &'a str,
    /// `normal`, `not-built` or `obsolete`.
    status: &'a str,
    /// Its directory.
    source_path: String,
    /// Where its index and logs are.
    runtime_path: String,
}

/// Writes a list of skills.
pub(super) fn list(list: &SkillList, out: &mut Json<'_>) -> io::Result<()> {
    let skills = list.skills.iter().map(|skill| SkillJson {
        name: &skill.found.row.name,
        version: skill.found.row.version.as_deref(),
        description: &skill.found.row.description,
        capabilities: &skill.found.row.capabilities,
        greek_letter: skill.found.row.greek_letter.as_deref(),
        path: &skill.found.row.source_path,
        scope: skill.found.skill.scope.as_str(),
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

/// What building did.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct BuildJson<'a> {
    /// Its name.
    skill: &'a str,
    /// Where it is: `project` or `global`.
    scope: &'a str,
    /// Its directory.
    source_path: String,
    /// Where its index and logs are.
    runtime_path: String,
    /// SHA-256 over all its files, in hexadecimal.
    source_hash: &'a str,
    /// Whether an index was made; false where it was as the files are.
    rebuilt: bool,
    /// With `--import`: where it was copied from.
    imported_from: Option<String>,
    /// With `--target`: where agents find it now.
    deployed: Vec<DeployedJson>,
    /// With `--ingest`: what came of adding its Markdown; else null.
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

/// What came of adding the Markdown of a skill.
#[derive(Serialize, JsonSchema)]
struct IngestedJson<'a> {
    /// Tag its documents bear.
    tag: String,
    /// Documents that are new.
    added: usize,
    /// Documents whose content was replaced.
    updated: usize,
    /// Files that are in the database already.
    skipped: usize,
    /// Files that could not be read.
    failed: usize,
    /// Ids of its documents.
    document_ids: &'a [DocumentId],
}

/// Writes what building did.
pub(super) fn build(report: &BuildReport, out: &mut Json<'_>) -> io::Result<()> {
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

/// What the author of a skill should look into.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct LintJson<'a> {
    /// Its name.
    skill: &'a str,
    /// Its directory.
    path: &'a str,
    /// Whether it was skipped because it is built, not written.
    skipped: bool,
    /// Findings that are errors.
    errors: usize,
    /// Findings that are warnings.
    warnings: usize,
    /// The findings.
    diagnostics: Vec<FindingJson<'a>>,
}

/// Something an author should look into.
#[derive(Serialize, JsonSchema)]
struct FindingJson<'a> {
    /// `error` or `warning`.
    severity: &'a str,
    /// Code of the protocol.
    code: &'a str,
    /// Id of the rule.
    rule: &'a str,
    /// Name of the rule.
    name: &'a str,
    /// What was found.
    message: &'a str,
    /// File, relative to the skill.
    file: Option<&'a str>,
    /// Line, from 1.
    line: Option<usize>,
}

impl<'a> From<&'a Finding> for FindingJson<'a> {
    fn from(finding: &'a Finding) -> Self {
        let (severity, code) = finding.rule.severity.words();
        Self {
            severity,
            code,
            rule: finding.rule.id,
            name: finding.rule.name,
            message: &finding.message,
            file: finding.file.as_deref(),
            line: finding.line,
        }
    }
}

/// Writes what an author should look into.
pub(super) fn lint(linted: &Linted, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&LintJson {
        skill: &linted.skill,
        path: &linted.path,
        skipped: linted.is_skipped,
        errors: linted.count(Severity::Error),
        warnings: linted.count(Severity::Warning),
        diagnostics: linted.findings.iter().map(FindingJson::from).collect(),
    })
}

/// What merging access logs did.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct SyncJson<'a> {
    /// Skills whose logs were merged.
    synced: Vec<SyncedJson<'a>>,
    /// Whether nothing was written.
    dry_run: bool,
    /// What failed, for people.
    errors: &'a [String],
}

/// A skill whose logs were merged.
#[derive(Serialize, JsonSchema)]
struct SyncedJson<'a> {
    /// Its name.
    skill: &'a str,
    /// Accesses that were merged.
    count: usize,
}

/// Writes what merging did.
pub(super) fn sync(synced: &Synced, errors: &[String], out: &mut Json<'_>) -> io::Result<()> {
    let skills = synced.skills.iter().map(|(skill, count)| SyncedJson { skill, count: *count });
    out.value(&SyncJson { synced: skills.collect(), dry_run: synced.is_dry_run, errors })
}

/// What was made.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct InitJson<'a> {
    /// Name of the skill; null where a store was made.
    name: Option<&'a str>,
    /// `project` or `global`.
    scope: &'a str,
    /// Where it is.
    path: String,
}

/// Writes what was made.
pub(super) fn init(made: &Initialized, out: &mut Json<'_>) -> io::Result<()> {
    let (name, scope) = (made.name.as_deref(), made.scope.as_str());
    out.value(&InitJson { name, scope, path: path_text(&made.path) })
}

/// Where kb's own skill is.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct InstallJson {
    /// The file.
    path: String,
    /// Version of kb that it is of.
    version: &'static str,
    /// Whether it was written; false where it was there.
    written: bool,
}

/// Writes where kb's own skill is.
pub(super) fn install(installed: &Installed, out: &mut Json<'_>) -> io::Result<()> {
    let (path, version) = (path_text(&installed.path), installed.version);
    out.value(&InstallJson { path, version, written: installed.is_new })
}
