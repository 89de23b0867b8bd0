//! Writes the checks of `kb doctor` as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::doctor::{Check, Findings, Verdict};
use crate::present::json::CONTRACT_VERSION;
use crate::text::json::Json;

/// The result of `kb doctor`.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct DoctorJson<'a> {
    /// Increases only if a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Whether there is no fault.
    sound: bool,
    /// Number of remaining faults.
    faults: usize,
    /// Number of repaired faults.
    repaired: usize,
    /// All checks in order.
    checks: Vec<CheckJson<'a>>,
}

/// One check.
#[derive(Serialize, JsonSchema)]
struct CheckJson<'a> {
    /// What was checked, in one word.
    name: &'a str,
    /// `ok`, `note`, `repaired` or `fault`.
    verdict: &'static str,
    /// The finding, for people.
    message: &'a str,
    /// What to do next; null if nothing needs to be done.
    fix: Option<&'a str>,
}

impl<'a> From<&'a Check> for CheckJson<'a> {
    fn from(check: &'a Check) -> Self {
        Self {
            name: check.name,
            verdict: check.verdict.as_str(),
            message: &check.message,
            fix: check.fix.as_deref(),
        }
    }
}

/// Writes all checks as one object.
///
/// # Errors
///
/// Errors of writing.
pub fn doctor(findings: &Findings, out: &mut Json<'_>) -> io::Result<()> {
    let faults = findings.count(Verdict::Fault);
    out.value(&DoctorJson {
        contract_version: CONTRACT_VERSION,
        sound: faults == 0,
        faults,
        repaired: findings.count(Verdict::Repaired),
        checks: findings.checks.iter().map(CheckJson::from).collect(),
    })
}
