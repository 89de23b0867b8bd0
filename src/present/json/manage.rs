//! Writes what the commands report that set up and look after a knowledge base, as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::bases::Listed;
use crate::app::clients::{NAME, Plan, ServerEntry};
use crate::app::doctor::{Check, Findings, Verdict};
use crate::app::eval::Measured;
use crate::present::json::answer;
use crate::text::json::Json;
use crate::text::paths::path_text;

/// All knowledge bases.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct BasesJson<'a> {
    /// The default one, then that of the project, then the named ones by name.
    bases: Vec<BaseJson<'a>>,
}

/// A knowledge base.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct BaseJson<'a> {
    /// `default`, `project`, or the name that `--base` takes.
    name: &'a str,
    /// The folder of its database and settings.
    path: String,
    /// What the user says that it holds; null without one, or if it is not allowed.
    description: Option<&'a str>,
    /// Number of documents; null if the database does not exist or is not allowed.
    documents: Option<u64>,
    /// The model of its vectors; null before the first document.
    model: Option<&'a str>,
    /// Whether its use is allowed; only that of a project's knowledge base may not be.
    allowed: bool,
    /// Whether the files and folders that it names are followed; null if nothing is known.
    follows_files: Option<bool>,
    /// Why it cannot be read; null if it can.
    error: Option<String>,
}

impl<'a> From<&'a Listed> for BaseJson<'a> {
    fn from(listed: &'a Listed) -> Self {
        let content = listed.content.as_ref().and_then(|content| content.as_ref().ok());
        let error = listed.content.as_ref().and_then(|content| content.as_ref().err());
        Self {
            name: &listed.place.name,
            path: path_text(&listed.place.dir),
            description: listed.description.as_deref(),
            documents: content.map(|content| content.num_documents),
            model: content.and_then(|content| content.model.as_deref()),
            allowed: listed.is_allowed,
            follows_files: content.map(|content| content.follows_files),
            error: error.map(ToString::to_string),
        }
    }
}

/// Writes all knowledge bases.
pub fn bases(bases: &[Listed], out: &mut Json<'_>) -> io::Result<()> {
    let bases = bases.iter().map(BaseJson::from).collect();
    answer(&BasesJson { bases }, out)
}

/// A change of the settings of an agent's program.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ClientChangedJson<'a> {
    /// The name of the program.
    client: &'static str,
    /// The file with its settings.
    path: String,
    /// `added`, `updated`, `removed`, `unchanged`, or `absent` if there was nothing to remove.
    action: &'static str,
    /// The name of the entry.
    name: &'static str,
    /// The program that is started; null after removing.
    command: Option<&'a str>,
    /// Its arguments; empty after removing.
    args: &'a [String],
}

/// Writes a change of the settings of an agent's program.
pub fn client_changed(
    plan: &Plan,
    entry: Option<&ServerEntry>,
    out: &mut Json<'_>,
) -> io::Result<()> {
    answer(
        &ClientChangedJson {
            client: plan.client.name,
            path: path_text(&plan.path),
            action: plan.action.as_str(),
            name: NAME,
            command: entry.map(|entry| entry.command.as_str()),
            args: entry.map_or(&[], |entry| &entry.args),
        },
        out,
    )
}

/// The result of `kb doctor`.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct DoctorJson<'a> {
    /// Whether there is no fault.
    sound: bool,
    /// Number of remaining faults.
    faults: usize,
    /// Number of repaired faults.
    repaired: usize,
    /// All checks in order.
    checks: &'a [Check],
}

/// Writes all checks as one object.
pub fn doctor(findings: &Findings, out: &mut Json<'_>) -> io::Result<()> {
    let faults = findings.count(Verdict::Fault);
    answer(
        &DoctorJson {
            sound: faults == 0,
            faults,
            repaired: findings.count(Verdict::Repaired),
            checks: &findings.checks,
        },
        out,
    )
}

/// The measured retrieval quality.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct EvalJson<'a> {
    /// One entry per kind of question.
    collections: &'a [Measured],
}

/// Writes the measures of each collection.
pub fn eval(measured: &[Measured], out: &mut Json<'_>) -> io::Result<()> {
    answer(&EvalJson { collections: measured }, out)
}
