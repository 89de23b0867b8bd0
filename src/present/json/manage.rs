//! Writes what the commands report that set up and look after a knowledge base, as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::agents::clients::{NAME, ServerEntry, SettingsPlan};
use crate::app::maintenance::doctor::{Check, CheckVerdict, Findings};
use crate::app::session::bases::ListedBase;
use crate::present::json::{VersionedAnswer, answer};
use crate::text::json::Json;
use crate::text::paths::path_text;

/// All knowledge bases.
#[derive(Serialize, JsonSchema)]
pub(crate) struct BasesJson<'a> {
    /// The default one, then that of the project, then the named ones by name.
    bases: &'a [ListedBase],
}

/// Writes all knowledge bases.
pub fn bases(bases: &[ListedBase], out: &mut Json<'_>) -> io::Result<()> {
    answer(&BasesJson { bases }, out)
}

/// A change of the settings of an agent's program.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ClientChangedJson<'a> {
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
    /// Fields of an existing entry that kb does not write and keeps, such as `env LD_PRELOAD`.
    kept: &'a [String],
    /// Fields of an existing entry that kb does not write and removed; in a project's settings, all.
    dropped: &'a [String],
}

/// Writes a change of the settings of an agent's program.
pub fn client_changed(
    plan: &SettingsPlan,
    entry: Option<&ServerEntry>,
    out: &mut Json<'_>,
) -> io::Result<()> {
    out.value(&VersionedAnswer::of(&ClientChangedJson {
        client: plan.client.name,
        path: path_text(&plan.path),
        action: plan.action.as_str(),
        name: NAME,
        command: entry.map(|entry| entry.command.as_str()),
        args: entry.map_or(&[], |entry| &entry.args),
        kept: &plan.others.kept,
        dropped: &plan.others.dropped,
    }))
}

/// The result of `kb doctor`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DoctorJson<'a> {
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
    let faults = findings.count(CheckVerdict::Fault);
    out.value(&VersionedAnswer::of(&DoctorJson {
        sound: faults == 0,
        faults,
        repaired: findings.count(CheckVerdict::Repaired),
        checks: &findings.checks,
    }))
}
