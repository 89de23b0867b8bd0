//! Checks a skill against the rules for authors.
//!
//! The rules are a table; each group of rules has a file here. Findings are ordered by file,
//! SKILL.md first, then by line.

mod front_matter;
mod links;
mod structure;

use crate::error::Result;
use crate::place::{self, SKILL_FILE, Skill};
use crate::text::headings::{Heading, Page};
use crate::{page, skill_files};

pub use front_matter::name_fault;

/// How serious a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The skill does not work, or not everywhere.
    Error,
    /// The skill could be better.
    Warning,
}

impl Severity {
    /// Returns the word and the code of its diagnostics.
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Error => ("error", "E300"),
            Self::Warning => ("warning", "W300"),
        }
    }
}

/// A rule of the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// `SKL` and three digits.
    pub id: &'static str,
    /// Its short name.
    pub name: &'static str,
    /// How serious a violation is.
    pub severity: Severity,
}

/// Declares the rules, each as a constant by its short name.
macro_rules! rules {
    ($($constant:ident = $id:literal $name:literal $severity:ident,)*) => {
        $(const $constant: Rule = Rule { id: $id, name: $name, severity: Severity::$severity };)*

        /// All rules, in order.
        pub const RULES: &[Rule] = &[$($constant),*];
    };
}

rules! {
    SKIP_COMPILED = "SKL001" "skip-compiled" Warning,
    FRONTMATTER_VALID = "SKL100" "frontmatter-valid" Error,
    NAME_REQUIRED = "SKL101" "name-required" Error,
    NAME_FORMAT = "SKL102" "name-format" Error,
    NAME_LENGTH = "SKL103" "name-length" Error,
    NAME_MATCH_DIR = "SKL104" "name-match-dir" Warning,
    DESCRIPTION_REQUIRED = "SKL105" "description-required" Error,
    DESCRIPTION_NONEMPTY = "SKL106" "description-nonempty" Error,
    DESCRIPTION_LENGTH = "SKL107" "description-length" Warning,
    DESCRIPTION_TRIGGERS = "SKL108" "description-triggers" Warning,
    FRONTMATTER_KNOWN = "SKL109" "frontmatter-known" Warning,
    SKILL_SIZE = "SKL201" "skill-size" Warning,
    HEADING_H1 = "SKL202" "heading-h1" Warning,
    HEADING_MATCH_NAME = "SKL203" "heading-match-name" Warning,
    HEADING_FIRST_H1 = "SKL204" "heading-first-h1" Warning,
    HEADING_HIERARCHY = "SKL205" "heading-hierarchy" Warning,
    LINK_FILE_EXISTS = "SKL301" "link-file-exists" Error,
    LINK_ANCHOR_EXISTS = "SKL302" "link-anchor-exists" Warning,
    LINK_NO_ESCAPE = "SKL303" "link-no-escape" Error,
    NO_ORPHANS = "SKL401" "no-orphans" Warning,
}

/// A violated rule and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Which rule.
    pub rule: Rule,
    /// How it is violated.
    pub message: String,
    /// Below the skill's directory; `None` for the skill as a whole.
    pub file: Option<String>,
    /// From 1; `None` for the file as a whole.
    pub line: Option<usize>,
}

impl Finding {
    /// Returns the text printed on stderr.
    pub fn text(&self) -> String {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}: "),
            (Some(file), None) => format!("{file}: "),
            (None, _) => String::new(),
        };
        let (word, code) = self.rule.severity.words();
        let Rule { id, name, .. } = self.rule;
        format!("{place}{word}[{code}]: {id} {name}: {}", self.message)
    }
}

/// The result of checking a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linted {
    /// Name of the skill.
    pub skill: String,
    /// Its directory.
    pub path: String,
    /// Whether it was skipped because it is a build result and not a source.
    pub is_skipped: bool,
    /// By file, SKILL.md first, then by line.
    pub findings: Vec<Finding>,
}

impl Linted {
    /// Returns how many findings are of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.rule.severity == severity).count()
    }
}

/// A Markdown file to check.
struct Source {
    path: String,
    page: Page,
    headings: Vec<Heading>,
}

impl Source {
    fn finding(&self, rule: Rule, line: usize, message: String) -> Finding {
        Finding { rule, message, file: Some(self.path.clone()), line: Some(line) }
    }
}

/// Checks a skill against all rules. Build results are skipped unless `is_forced`.
pub(super) fn lint(skill: &Skill, is_forced: bool) -> Result<Linted> {
    let mut linted = Linted {
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
        linted.findings.push(Finding {
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
    let place = |finding: &Finding| (finding.file.clone(), finding.line);
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
fn sources(skill: &Skill) -> Result<Vec<Source>> {
    let mut found = Vec::new();
    let is_hidden = |path: &str| path.rsplit('/').next().is_some_and(|name| name.starts_with('.'));
    let mut add = |path: String, bytes: &[u8]| {
        if let Some(page) = page::read(&path, bytes) {
            let headings = page.headings();
            found.push(Source { path, page, headings });
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
