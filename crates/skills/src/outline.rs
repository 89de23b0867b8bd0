//! Lists the headings of all Markdown files of a skill. The files are read each time.

use schemars::JsonSchema;
use serde::Serialize;

use crate::error::Result;
use crate::place::Skill;
use crate::store::skills::index::IndexedHeading;
use crate::{index, page, skill_files};

/// Which headings to list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutlineOptions {
    /// Deepest level, 1 to 6; all if `None`.
    pub level: Option<u8>,
}

/// A heading of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Heading")]
pub struct OutlinedHeading {
    /// 1 to 6.
    pub level: u8,
    /// Its text.
    pub heading: String,
    /// File, relative to the skill.
    pub file: String,
}

/// Lists headings, files in byte order of their paths, headings in the order of the file.
pub(super) fn outline(skill: &Skill, options: OutlineOptions) -> Result<Vec<OutlinedHeading>> {
    let deepest = options.level.unwrap_or(u8::MAX);
    let headings = scan(skill)?.into_iter().filter(|heading| heading.level <= deepest);
    Ok(headings
        .map(|heading| OutlinedHeading {
            level: heading.level,
            heading: heading.text,
            file: heading.file,
        })
        .collect())
}

/// Reads the headings of all Markdown files, in the same order.
pub(super) fn scan(skill: &Skill) -> Result<Vec<IndexedHeading>> {
    let mut found = Vec::new();
    for file in skill_files::list(&skill.dir)?.files {
        if page::is_markdown(&file.path)
            && let Some(page) = page::read(&file.path, &file.read()?)
        {
            let headings = page.headings().into_iter();
            found.extend(headings.map(|heading| index::to_indexed(&file.path, heading)));
        }
    }
    Ok(found)
}
