//! Writes the version of the contract first.

use std::io;

use serde::Serialize;

use crate::text::json::Json;

/// Increases only if a documented key is removed, renamed or changes its type.
pub(in crate::present) const CONTRACT_VERSION: u32 = 1;

/// The first key of an answer, and what it means.
pub(in crate::present) const VERSION_KEY: &str = "contract_version";
pub(in crate::present) const VERSION_MEANING: &str =
    "Increases only if a key is removed, renamed or changes its type.";

/// An answer after the version of the contract.
#[derive(Serialize)]
pub(in crate::present) struct Versioned<'a, T> {
    contract_version: u32,
    #[serde(flatten)]
    answer: &'a T,
}

impl<'a, T> Versioned<'a, T> {
    pub(in crate::present) fn of(answer: &'a T) -> Self {
        Self { contract_version: CONTRACT_VERSION, answer }
    }
}

/// Writes an answer after the version of the contract.
pub fn answer(answer: &impl Serialize, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&Versioned::of(answer))
}
