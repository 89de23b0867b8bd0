//! Names the rules for authors, and what violates them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::place::SKILL_FILE;
use crate::text::fields;
use crate::text::headings::{Heading, MarkdownPage};

fields::words! {
    /// How serious a finding is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Severity {
        /// The skill does not work, or not everywhere.
        Error = "error",
        /// The skill could be better.
        Warning = "warning",
    }
}

impl Severity {
    const fn code(self) -> &'static str {
        match self {
            Self::Error => "E300",
            Self::Warning => "W300",
        }
    }
}

/// A rule of the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LintRule {
    /// `error` or `warning`.
    pub severity: Severity,
    /// Code of the protocol.
    pub code: &'static str,
    /// Id of the rule.
    #[serde(rename = "rule")]
    pub id: &'static str,
    /// Name of the rule.
    pub name: &'static str,
}

/// Declares the rules, each as a constant by its short name.
macro_rules! rules {
    ($($constant:ident = $id:literal $name:literal $severity:ident,)*) => {
        $(pub(super) const $constant: LintRule = {
            let severity = Severity::$severity;
            LintRule { severity, code: severity.code(), id: $id, name: $name }
        };)*

        /// All rules, in order.
        pub const RULES: &[LintRule] = &[$($constant),*];
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

/// A finding for the author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Finding")]
pub struct LintFinding {
    /// Which rule.
    #[serde(flatten)]
    pub rule: LintRule,
    /// The finding, for people.
    pub message: String,
    /// File, relative to the skill.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<usize>,
}

impl LintFinding {
    /// Returns a finding on SKILL.md that is on no line.
    pub(super) fn of_skill_file(rule: LintRule, message: String) -> Self {
        Self { rule, message, file: Some(SKILL_FILE.into()), line: None }
    }

    /// Whether it is on a file other than SKILL.md.
    pub(super) fn is_in_other_file(&self) -> bool {
        self.file.as_ref().is_some_and(|file| file != SKILL_FILE)
    }

    /// Returns the text printed on stderr.
    pub fn text(&self) -> String {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}: "),
            (Some(file), None) => format!("{file}: "),
            (None, _) => String::new(),
        };
        let LintRule { severity, code, id, name } = self.rule;
        format!("{place}{}[{code}]: {id} {name}: {}", severity.as_str(), self.message)
    }
}

/// A Markdown file to check.
pub(super) struct LintedFile {
    pub(super) path: String,
    pub(super) page: MarkdownPage,
    pub(super) headings: Vec<Heading>,
}

impl LintedFile {
    pub(super) fn finding(&self, rule: LintRule, line: usize, message: String) -> LintFinding {
        LintFinding { rule, message, file: Some(self.path.clone()), line: Some(line) }
    }
}
