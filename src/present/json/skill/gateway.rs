//! Writes the contents of a skill as JSON: search, outline, show, open, sources.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Serialize;

use crate::skill::open::Opened;
use crate::skill::outline::OutlinedHeading;
use crate::skill::search::SkillResults;
use crate::skill::show::Shown;
use crate::skill::sources::Sources;
use crate::text::json::Json;

/// The sections of a skill that contain all words of the query.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct SearchJson<'a> {
    /// The query, unchanged.
    query: &'a str,
    /// Best first.
    results: Vec<HitJson<'a>>,
}

/// A section that contains all words of the query.
#[derive(Serialize, JsonSchema)]
struct HitJson<'a> {
    /// File, relative to the skill.
    file: &'a str,
    /// Its heading.
    section: &'a str,
    /// The text around the words.
    snippet: &'a str,
    /// Larger is better; comparable only within one answer.
    score: f64,
}

/// Writes the answer to a query.
pub(super) fn search(results: &SkillResults, out: &mut Json<'_>) -> io::Result<()> {
    let hits = results.hits.iter().map(|hit| HitJson {
        file: &hit.file,
        section: &hit.section,
        snippet: &hit.snippet,
        score: hit.score,
    });
    out.value(&SearchJson { query: &results.query, results: hits.collect() })
}

/// A heading of a skill.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct HeadingJson<'a> {
    /// 1 to 6.
    level: u8,
    /// Its text.
    heading: &'a str,
    /// File, relative to the skill.
    file: &'a str,
}

/// Writes headings.
pub(super) fn outline(headings: &[OutlinedHeading], out: &mut Json<'_>) -> io::Result<()> {
    let headings = headings.iter().map(|heading| HeadingJson {
        level: heading.level,
        heading: &heading.heading,
        file: &heading.file,
    });
    out.value(&headings.collect::<Vec<_>>())
}

/// A section of a skill.
#[derive(Serialize, JsonSchema)]
pub(in crate::present) struct ShowJson<'a> {
    /// File, relative to the skill.
    file: &'a str,
    /// Its heading.
    heading: &'a str,
    /// 1 to 6.
    level: u8,
    /// First line, from 1.
    start_line: u32,
    /// One past the last line.
    end_line: u32,
    /// The text, or its first lines.
    text: &'a str,
    /// Whether `--max-lines` cut the text.
    truncated: bool,
}

/// Writes a section.
pub(super) fn show(shown: &Shown, out: &mut Json<'_>) -> io::Result<()> {
    out.value(&ShowJson {
        file: &shown.file,
        heading: &shown.heading,
        level: shown.level,
        start_line: shown.start_line,
        end_line: shown.end_line,
        text: &shown.text,
        truncated: shown.num_cut > 0,
    })
}

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
