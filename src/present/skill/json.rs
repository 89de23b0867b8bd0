//! The JSON of skill commands: its own structs, shaped as the protocols say. Every key is always
//! there; what does not apply is null.
//!
//! Over 400 lines because the whole contract stands in one place.

use std::io;
use std::io::Write;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Value, json};

use crate::diagnostic::{Diagnostic, Program};
use crate::ingest::walk;
use crate::present::skill::BuildReport;
use crate::skill::init::Initialized;
use crate::skill::install::Installed;
use crate::skill::lint::{Finding, Linted, Severity};
use crate::skill::list::SkillList;
use crate::skill::open::Opened;
use crate::skill::outline::OutlinedHeading;
use crate::skill::search::SkillResults;
use crate::skill::show::Shown;
use crate::skill::sources::Sources;
use crate::skill::stats::{Counts, SkillStats};
use crate::skill::sync::Synced;

/// Writes one value and a line end.
fn write(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

fn path_text(path: &Path) -> String {
    walk::path_text(path)
}

#[derive(Serialize)]
struct ListJson<'a> {
    skills: Vec<SkillJson<'a>>,
    total_count: usize,
    total: usize,
    filtered: usize,
}

#[derive(Serialize)]
struct SkillJson<'a> {
    name: &'a str,
    version: Option<&'a str>,
    description: &'a str,
    capabilities: &'a [String],
    greek_letter: Option<&'a str>,
    path: &'a str,
    scope: &'a str,
    status: &'a str,
    source_path: String,
    runtime_path: String,
}

/// Writes a list of skills.
///
/// # Errors
///
/// What writing gives.
pub fn list(list: &SkillList, out: &mut dyn Write) -> io::Result<()> {
    let skills = list.skills.iter().map(|it| SkillJson {
        name: &it.found.row.name,
        version: it.found.row.version.as_deref(),
        description: &it.found.row.description,
        capabilities: &it.found.row.capabilities,
        greek_letter: it.found.row.greek_letter.as_deref(),
        path: &it.found.row.source_path,
        scope: it.found.skill.scope.as_str(),
        status: it.status.as_str(),
        source_path: path_text(&it.found.dir),
        runtime_path: path_text(&it.found.skill.runtime),
    });
    write(
        &ListJson {
            skills: skills.collect(),
            total_count: list.num_filtered,
            total: list.total,
            filtered: list.num_filtered,
        },
        out,
    )
}

#[derive(Serialize)]
struct BuildJson<'a> {
    skill: &'a str,
    scope: &'a str,
    source_path: String,
    runtime_path: String,
    source_hash: &'a str,
    rebuilt: bool,
    imported_from: Option<String>,
    deployed: Vec<DeployedJson>,
    ingested: Option<IngestedJson<'a>>,
}

#[derive(Serialize)]
struct DeployedJson {
    path: String,
    method: &'static str,
}

#[derive(Serialize)]
struct IngestedJson<'a> {
    tag: String,
    added: usize,
    updated: usize,
    skipped: usize,
    failed: usize,
    document_ids: &'a [i64],
}

/// Writes what building did.
///
/// # Errors
///
/// What writing gives.
pub fn build(report: &BuildReport, out: &mut dyn Write) -> io::Result<()> {
    let (built, skill) = (&report.built, &report.built.skill);
    let deployed = built.deployments.iter().map(|it| DeployedJson {
        path: path_text(&it.path),
        method: if it.is_copy { "copy" } else { "symlink" },
    });
    write(
        &BuildJson {
            skill: &skill.name,
            scope: skill.scope.as_str(),
            source_path: skill.skill_path(),
            runtime_path: path_text(&skill.runtime),
            source_hash: &built.index.source_hash,
            rebuilt: built.index.is_new,
            imported_from: report.imported.as_deref().map(path_text),
            deployed: deployed.collect(),
            ingested: report.ingested.as_ref().map(|it| IngestedJson {
                tag: format!("skill:{}", skill.name),
                added: it.added,
                updated: it.updated,
                skipped: it.skipped,
                failed: it.failed.len(),
                document_ids: &it.document_ids,
            }),
        },
        out,
    )
}

#[derive(Serialize)]
struct SearchJson<'a> {
    query: &'a str,
    results: Vec<HitJson<'a>>,
}

#[derive(Serialize)]
struct HitJson<'a> {
    file: &'a str,
    section: &'a str,
    snippet: &'a str,
    score: f64,
}

/// Writes the answer to a query.
///
/// # Errors
///
/// What writing gives.
pub fn search(results: &SkillResults, out: &mut dyn Write) -> io::Result<()> {
    let hits = results.hits.iter().map(|it| HitJson {
        file: &it.file,
        section: &it.section,
        snippet: &it.snippet,
        score: it.score,
    });
    write(&SearchJson { query: &results.query, results: hits.collect() }, out)
}

#[derive(Serialize)]
struct HeadingJson<'a> {
    level: u8,
    heading: &'a str,
    file: &'a str,
}

/// Writes headings.
///
/// # Errors
///
/// What writing gives.
pub fn outline(headings: &[OutlinedHeading], out: &mut dyn Write) -> io::Result<()> {
    let headings = headings.iter().map(|it| HeadingJson {
        level: it.level,
        heading: &it.heading,
        file: &it.file,
    });
    write(&headings.collect::<Vec<_>>(), out)
}

#[derive(Serialize)]
struct ShowJson<'a> {
    file: &'a str,
    heading: &'a str,
    level: u8,
    start_line: u32,
    end_line: u32,
    text: &'a str,
    truncated: bool,
}

/// Writes a section.
///
/// # Errors
///
/// What writing gives.
pub fn show(shown: &Shown, out: &mut dyn Write) -> io::Result<()> {
    write(
        &ShowJson {
            file: &shown.file,
            heading: &shown.heading,
            level: shown.level,
            start_line: shown.start_line,
            end_line: shown.end_line,
            text: &shown.text,
            truncated: shown.num_cut > 0,
        },
        out,
    )
}

#[derive(Serialize)]
struct OpenJson<'a> {
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<String>,
    truncated: bool,
}

/// Writes a file: its text, or its bytes in base64 where they are no text.
///
/// # Errors
///
/// What writing gives.
pub fn open(opened: &Opened, out: &mut dyn Write) -> io::Result<()> {
    let text = std::str::from_utf8(&opened.bytes).ok();
    let data = text.is_none().then(|| STANDARD.encode(&opened.bytes));
    write(&OpenJson { file: &opened.file, text, data, truncated: opened.num_cut > 0 }, out)
}

#[derive(Serialize)]
struct SourceJson<'a> {
    path: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
}

/// Writes files and directories.
///
/// # Errors
///
/// What writing gives.
pub fn sources(sources: &Sources, out: &mut dyn Write) -> io::Result<()> {
    let entries = sources
        .entries
        .iter()
        .map(|it| SourceJson { path: &it.path, kind: if it.is_dir { "dir" } else { "file" } });
    write(&entries.collect::<Vec<_>>(), out)
}

#[derive(Serialize)]
struct StatsJson<'a> {
    skill: &'a str,
    skill_path: &'a str,
    query: &'a str,
    filters: FiltersJson<'a>,
    period: PeriodJson<'a>,
    data: Value,
}

#[derive(Serialize)]
struct FiltersJson<'a> {
    since: Option<&'a str>,
    until: Option<&'a str>,
    projects: &'a [String],
}

#[derive(Serialize)]
struct PeriodJson<'a> {
    start: Option<&'a str>,
    end: Option<&'a str>,
}

fn counts(counts: &Counts) -> Value {
    match counts {
        Counts::Summary { total_accesses, unique_sections, unique_files, error_count } => json!({
            "total_accesses": total_accesses,
            "unique_sections": unique_sections,
            "unique_files": unique_files,
            "error_count": error_count,
        }),
        Counts::Commands(counts) => {
            Value::Object(counts.iter().map(|(name, count)| (name.clone(), json!(count))).collect())
        }
        Counts::Sections(counts) => counts
            .iter()
            .map(|(file, section, count)| json!({ "section": section, "file": file, "count": count }))
            .collect(),
        Counts::Files(counts) => named("file", counts),
        Counts::Projects(counts) => named("project", counts),
        Counts::Search(counts) => named("query", counts),
        Counts::Errors(counts) => counts
            .iter()
            .map(|(command, target, error, count)| {
                json!({ "target": target, "command": command, "error": error, "count": count })
            })
            .collect(),
    }
}

fn named(key: &str, counts: &[(String, usize)]) -> Value {
    counts.iter().map(|(name, count)| json!({ key: name, "count": count })).collect()
}

/// Writes counts.
///
/// # Errors
///
/// What writing gives.
pub fn stats(stats: &SkillStats, out: &mut dyn Write) -> io::Result<()> {
    let period = stats.period.as_ref();
    write(
        &StatsJson {
            skill: &stats.skill,
            skill_path: &stats.skill_path,
            query: stats.group_by.as_str(),
            filters: FiltersJson {
                since: stats.filters.since.as_deref(),
                until: stats.filters.until.as_deref(),
                projects: &stats.filters.projects,
            },
            period: PeriodJson {
                start: period.map(|it| it.0.as_str()),
                end: period.map(|it| it.1.as_str()),
            },
            data: counts(&stats.counts),
        },
        out,
    )
}

#[derive(Serialize)]
struct LintJson<'a> {
    skill: &'a str,
    path: &'a str,
    skipped: bool,
    errors: usize,
    warnings: usize,
    diagnostics: Vec<FindingJson<'a>>,
}

#[derive(Serialize)]
struct FindingJson<'a> {
    severity: &'a str,
    code: &'a str,
    rule: &'a str,
    name: &'a str,
    message: &'a str,
    file: Option<&'a str>,
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
///
/// # Errors
///
/// What writing gives.
pub fn lint(linted: &Linted, out: &mut dyn Write) -> io::Result<()> {
    write(
        &LintJson {
            skill: &linted.skill,
            path: &linted.path,
            skipped: linted.is_skipped,
            errors: linted.count(Severity::Error),
            warnings: linted.count(Severity::Warning),
            diagnostics: linted.findings.iter().map(FindingJson::from).collect(),
        },
        out,
    )
}

#[derive(Serialize)]
struct SyncJson<'a> {
    synced: Vec<SyncedJson<'a>>,
    dry_run: bool,
    errors: Vec<String>,
}

#[derive(Serialize)]
struct SyncedJson<'a> {
    skill: &'a str,
    count: usize,
}

/// Writes what merging did.
///
/// # Errors
///
/// What writing gives.
pub fn sync(synced: &Synced, errors: Vec<String>, out: &mut dyn Write) -> io::Result<()> {
    let skills = synced.skills.iter().map(|(skill, count)| SyncedJson { skill, count: *count });
    write(&SyncJson { synced: skills.collect(), dry_run: synced.is_dry_run, errors }, out)
}

#[derive(Serialize)]
struct InitJson<'a> {
    name: Option<&'a str>,
    scope: &'a str,
    path: String,
}

/// Writes what was made.
///
/// # Errors
///
/// What writing gives.
pub fn init(made: &Initialized, out: &mut dyn Write) -> io::Result<()> {
    let (name, scope) = (made.name.as_deref(), made.scope.as_str());
    write(&InitJson { name, scope, path: path_text(&made.path) }, out)
}

#[derive(Serialize)]
struct InstallJson {
    path: String,
    version: &'static str,
    written: bool,
}

/// Writes where kb's own skill is.
///
/// # Errors
///
/// What writing gives.
pub fn install(installed: &Installed, out: &mut dyn Write) -> io::Result<()> {
    let (path, version) = (path_text(&installed.path), installed.version);
    write(&InstallJson { path, version, written: installed.is_new }, out)
}

#[derive(Serialize)]
struct ErrorJson {
    error: String,
    code: &'static str,
    fix: Option<String>,
}

/// Writes why a command failed: the line of the protocol, its code and what to do next.
///
/// # Errors
///
/// What writing gives.
pub fn error(error: &Diagnostic, program: Program, out: &mut dyn Write) -> io::Result<()> {
    write(&ErrorJson { error: error.line(program), code: error.code(), fix: error.hint() }, out)
}
