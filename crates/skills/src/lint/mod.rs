//! Checks a skill against the rules for authors.
//!
//! The rules are a table; each group of rules has a file here. Findings are ordered by file,
//! SKILL.md first, then by line.

mod front_matter;
mod links;
mod rules;
mod structure;

use crate::error::Result;
use crate::place::{self, SKILL_FILE, Skill};
use crate::{page, skill_files};

pub(crate) use front_matter::MAX_DESCRIPTION_CHARS;
pub use front_matter::name_fault;
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
    let place = |finding: &LintFinding| (finding.file.clone(), finding.line);
    findings.sort_by(|a, b| {
        let ((a_file, a_line), (b_file, b_line)) = (place(a), place(b));
        let is_other =
            |file: &Option<String>| file.as_deref().is_some_and(|path| path != SKILL_FILE);
        (is_other(&a_file), a_file, a_line, a.rule.id).cmp(&(
            is_other(&b_file),
            b_file,
            b_line,
            b.rule.id,
        ))
    });
    Ok(linted)
}

/// Reads the Markdown files that are not hidden.
fn sources(skill: &Skill) -> Result<Vec<LintedFile>> {
    let mut found = Vec::new();
    let is_hidden = |path: &str| path.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
    let mut add = |path: String, bytes: &[u8]| {
        if let Some(page) = page::read(&path, bytes) {
            let headings = page.headings();
            found.push(LintedFile { path, page, headings });
        }
    };
    for file in skill_files::list(&skill.dir)?.files {
        if page::is_markdown(&file.path) && !is_hidden(&file.path) && file.path != SKILL_FILE {
            let bytes = file.read()?;
            add(file.path, &bytes);
        }
    }
    let bytes = skill_files::read_within(&skill.dir, &skill.skill_file())?;
    add(SKILL_FILE.into(), &bytes);
    Ok(found)
}

#[cfg(test)]
mod tests;
