//! Writes the checks of `kb doctor` as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::doctor::{Check, Findings, Verdict};
use crate::present::json::answer;
use crate::text::json::Json;

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
