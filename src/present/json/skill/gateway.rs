//! Writes files of a skill as JSON.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Serialize;

use crate::skill::open::Opened;
use crate::skill::sources::Sources;
use crate::text::json::Json;

/// A file of a skill: `text`, or `data` if it is not text.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct OpenJson<'a> {
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
pub(super) fn open(opened: &Opened, out: &mut Json<'_>) -> io::Result<()> {
    let text = std::str::from_utf8(&opened.bytes).ok();
    let data = text.is_none().then(|| STANDARD.encode(&opened.bytes));
    out.value(&OpenJson { file: &opened.file, text, data, truncated: opened.num_cut > 0 })
}

/// A file or directory of a skill.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct SourceJson<'a> {
    /// Path, relative to the skill.
    path: &'a str,
    /// `file` or `dir`.
    #[serde(rename = "type")]
    kind: &'static str,
}

/// Writes files and directories.
pub(super) fn sources(sources: &Sources, out: &mut Json<'_>) -> io::Result<()> {
    let entries = sources.entries.iter().map(|entry| SourceJson {
        path: &entry.path,
        kind: if entry.is_dir { "dir" } else { "file" },
    });
    out.value(&entries.collect::<Vec<_>>())
}
