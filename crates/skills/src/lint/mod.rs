//! Checks a skill against the rules for authors.
//!
//! The rules are a table; each group of rules has a file here. Findings are ordered by file,
//! SKILL.md first, then by line.

mod front_matter;
mod links;
mod rules;
mod structure;

use std::cmp::Ordering;

use crate::error::Result;
use crate::place::{self, SKILL_FILE, Skill};
use crate::{page, skill_files};

pub use front_matter::name_fault;
pub(crate) use front_matter::{MAX_DESCRIPTION_CHARS, has_allowed_letters};
pub use rules::{LintFinding, LintRule, RULES, Severity};
use rules::{LintedFile, SKIP_COMPILED};

/// The result of checking a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintResult {
    /// Name of the skill.
    pub skill: String,
    /// Its directory.
    pub path: String,
    /// Whether it was skipped because it is a build result and not a source.
    pub is_skipped: bool,
    /// By file, SKILL.md first, then by line.
    pub findings: Vec<LintFinding>,
}

impl LintResult {
    /// Returns how many findings are of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.rule.severity == severity).count()
    }
}

/// Checks a skill against all rules. Build results are skipped unless `is_forced`.
pub(super) fn lint(skill: &Skill, is_forced: bool) -> Result<LintResult> {
    let mut linted = LintResult {
        skill: skill.name.clone(),
        path: skill.skill_path(),
        is_skipped: false,
        findings: Vec::new(),
    };
    if place::is_compiled(&skill.dir) {
        if !is_forced {
            linted.is_skipped = true;
            return Ok(linted);
        }
        linted.findings.push(LintFinding {
            rule: SKIP_COMPILED,
            message: "linting compiled skill; results may not be meaningful".into(),
            file: None,
            line: None,
        });
    }
    let sources = sources(skill)?;
    let findings = &mut linted.findings;
    let name = match sources.iter().find(|source| source.path == SKILL_FILE) {
        Some(source) => front_matter::check(skill, source, findings),
        None => None,
    };
    structure::check(&sources, name.as_deref(), findings);
    links::check(skill, &sources, findings);
    findings.sort_by(by_place);
    Ok(linted)
}

/// Compares findings by file, SKILL.md first, then by line and rule.
fn by_place(a: &LintFinding, b: &LintFinding) -> Ordering {
    let other_files = a.is_in_other_file().cmp(&b.is_in_other_file());
    other_files.then_with(|| (&a.file, a.line, a.rule.id).cmp(&(&b.file, b.line, b.rule.id)))
}

/// Reads the Markdown files that are not hidden.
fn sources(skill: &Skill) -> Result<Vec<LintedFile>> {
    let mut found = Vec::new();
    for file in skill_files::list(&skill.dir)?.files {
        if page::is_markdown(&file.path) && !is_hidden(&file.path) && file.path != SKILL_FILE {
            let bytes = file.read()?;
            found.extend(source(file.path, &bytes));
        }
    }
    let bytes = skill_files::read_within(&skill.dir, &skill.skill_file())?;
    found.extend(source(SKILL_FILE.into(), &bytes));
    Ok(found)
}

fn is_hidden(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with('.'))
}

/// Reads the headings of a file; `None` if it is not text.
fn source(path: String, bytes: &[u8]) -> Option<LintedFile> {
    let page = page::read(&path, bytes)?;
    let headings = page.headings();
    Some(LintedFile { path, page, headings })
}

#[cfg(test)]
mod tests;
