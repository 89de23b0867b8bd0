//! Presents the checks of `kb doctor` as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::doctor::{Check, Findings, Verdict};
use crate::present::json::CONTRACT_VERSION;
use crate::text::json::Json;

/// What was examined and how it was found.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct DoctorJson<'a> {
    /// Grows only when a key is removed, renamed or changes its type.
    contract_version: u32,
    /// Whether there is no fault.
    sound: bool,
    /// Faults that are left.
    faults: usize,
    /// Faults that were repaired.
    repaired: usize,
    /// In the order in which they were made.
    checks: Vec<CheckJson<'a>>,
}

/// Something that was examined.
#[derive(Serialize, JsonSchema)]
struct CheckJson<'a> {
    /// What it is about, in one word.
    name: &'a str,
    /// `ok`, `note`, `repaired` or `fault`.
    verdict: &'static str,
    /// How it was found, for people.
    message: &'a str,
    /// What to do next; null where nothing need be done.
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

/// Writes what was examined as one object.
///
/// # Errors
///
/// What writing gives.
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
