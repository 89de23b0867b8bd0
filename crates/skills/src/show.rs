//! Lists the headings of a skill, and reads a section of it.
//!
//! The index says which lines belong to the section; the text comes from the file. A skill that
//! cannot be built is shown without an index, and so is one whose index a server cannot write.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::caller::Caller;
use crate::diagnostic::{Diagnostic, SimilarHeading};
use crate::error::{Error, Result};
use crate::place::Skill;
use crate::store::skills::index::IndexedHeading;
use crate::text::fold::fold;
use crate::text::similar::similar;
use crate::text::{fields, headings};
use crate::{build, index, open, page, path, skill_files};

/// The separator of a heading and its description where headings are listed for agents.
const EM_DASH: &str = " — ";

/// Which section to show, and how much of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillShowOptions {
    /// Its heading, in any case.
    pub section: String,
    /// Looks only in this file.
    pub file: Option<String>,
    /// Largest number of lines to return; all if `None`.
    pub max_lines: Option<u32>,
}

/// A section of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownSection {
    /// File, relative to the skill.
    pub file: String,
    /// Its heading.
    pub heading: String,
    /// 1 to 6.
    pub level: u8,
    /// First line, from 1.
    pub start_line: u32,
    /// One past the last line.
    pub end_line: u32,
    /// The text, or its first lines.
    pub text: String,
    /// Whether `--max-lines` cut the text.
    #[serde(rename = "truncated", serialize_with = "fields::is_any")]
    #[schemars(with = "bool")]
    pub num_cut: usize,
    /// Whether other headings have the same text.
    #[serde(skip)]
    pub is_ambiguous: bool,
}

/// Finds a section.
pub(super) fn show(
    caller: &Caller,
    skill: &Skill,
    options: &SkillShowOptions,
) -> Result<ShownSection> {
    let headings = match index::open(caller, skill) {
        Ok(index) => index.headings().ok_or_else(|| index::unusable(skill))?,
        Err(Error::Skill(Diagnostic::IndexUnusable(_)))
            if caller.updates_index || !build::is_buildable(skill) =>
        {
            scan(skill)?
        }
        Err(error) => return Err(error),
    };
    let file = match &options.file {
        Some(typed) => {
            Some(path::clean(typed).ok_or_else(|| Diagnostic::PathEscapes(typed.clone()))?)
        }
        None => None,
    };
    let found = find(&headings, &options.section, file.as_deref());
    let Some(heading) = found.first() else {
        let wanted = normalized(without_description(options.section.trim()));
        let mut seen = HashSet::new();
        let distinct: Vec<&IndexedHeading> =
            headings.iter().filter(|heading| seen.insert((&heading.text, &heading.file))).collect();
        let similar = similar(&distinct, |heading| normalized(&heading.text), &wanted);
        let similar = similar
            .into_iter()
            .map(|heading| SimilarHeading {
                heading: heading.text.clone(),
                file: heading.file.clone(),
                line: heading.lines.start,
            })
            .collect();
        let section = options.section.clone();
        return Err(Diagnostic::SectionNotFound { section, similar }.into());
    };
    // The index is as untrusted as user input: any program can write one.
    let place = path::locate(&skill.dir, &heading.file)?.filter(|path| path.is_file());
    let place = place.ok_or_else(|| index::unusable(skill))?;
    let bytes = skill_files::read_within(&skill.dir, &place)?;
    let page = page::read(&heading.file, &bytes).ok_or_else(|| index::unusable(skill))?;
    let lines = heading.lines.start as usize..heading.lines.end as usize;
    let mut text = page.lines(lines).to_owned();
    let (end, num_cut) = open::cut(text.as_bytes(), options.max_lines);
    text.truncate(end);
    Ok(ShownSection {
        file: heading.file.clone(),
        heading: heading.text.clone(),
        level: heading.level,
        start_line: heading.lines.start,
        end_line: heading.lines.end,
        text,
        num_cut,
        is_ambiguous: found.len() > 1,
    })
}

/// Returns the headings that match a query, in order. The full text must match, ignoring case.
///
/// Text after an em dash is a description and is ignored, unless nothing else is found: a heading
/// may contain one itself.
fn find<'a>(
    headings: &'a [IndexedHeading],
    query: &str,
    file: Option<&str>,
) -> Vec<&'a IndexedHeading> {
    let query = query.trim();
    let found = matching(headings, without_description(query), file);
    if found.is_empty() { matching(headings, query, file) } else { found }
}

/// Returns the headings with a text, of one file if it is named.
fn matching<'a>(
    headings: &'a [IndexedHeading],
    text: &str,
    file: Option<&str>,
) -> Vec<&'a IndexedHeading> {
    let wanted = normalized(text);
    headings
        .iter()
        .filter(|heading| file.is_none_or(|file| heading.file == file))
        .filter(|heading| normalized(&heading.text) == wanted)
        .collect()
}

/// Normalises a heading for comparison: another program's index may have kept blanks and control
/// characters.
fn normalized(text: &str) -> String {
    fold(&headings::plain(text))
}

fn without_description(query: &str) -> &str {
    query.split_once(EM_DASH).map_or(query, |(heading, _)| heading.trim())
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn headings(texts: &[(&str, &str)]) -> Vec<IndexedHeading> {
        let lines = (1..).zip(texts);
        lines
            .map(|(line, (file, text))| IndexedHeading {
                file: (*file).into(),
                text: (*text).into(),
                level: 2,
                lines: line..line + 1,
            })
            .collect()
    }

    #[track_caller]
    fn check(query: &str, file: Option<&str>, expected: &[u32]) {
        let headings = headings(&[
            ("a.md", "Set up"),
            ("a.md", "Über uns"),
            ("a.md", "Options — a survey"),
            ("b.md", "SET UP"),
            ("b.md", "Options"),
            ("b.md", "Usage — the long form"),
            ("b.md", "two  blanks\u{1b}[1m"),
            ("b.md", ""),
        ]);
        let lines: Vec<u32> =
            find(&headings, query, file).iter().map(|heading| heading.lines.start).collect();
        assert_eq!(lines, expected, "{query}");
    }

    #[test]
    fn the_full_heading_must_match_ignoring_case() {
        check("set up", None, &[1, 4]);
        check("  Set Up\t", None, &[1, 4]);
        check("über UNS", None, &[2]);
        check("set", None, &[]);
        check("", None, &[8]);
    }

    #[test]
    fn a_file_narrows_the_search() {
        check("set up", Some("b.md"), &[4]);
        check("set up", Some("c.md"), &[]);
    }

    #[test]
    fn text_after_an_em_dash_is_used_only_if_nothing_else_is_found() {
        check("Options — of any kind", None, &[5]);
        check("Options — a survey", None, &[5]);
        check("Usage — the long form", None, &[6]);
        check("Usage — another", None, &[]);
        check("Options—a survey", None, &[]);
    }

    #[test]
    fn blanks_and_control_characters_in_an_index_do_not_matter() {
        check("two blanks\u{fffd}[1m", None, &[7]);
    }
}
