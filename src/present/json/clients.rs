//! Writes changes of the settings of agents' programs as JSON.

use std::io;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::clients::{NAME, Plan, ServerEntry};
use crate::present::json::answer;
use crate::text::json::Json;
use crate::text::paths::path_text;

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
