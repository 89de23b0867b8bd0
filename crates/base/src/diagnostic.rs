//! Builds every message of the skill commands from its code and fields: the one table of their
//! wording.
//!
//! Codes and wordings are those of the protocols by which skills are served, so that programs which
//! read them keep working; only the program's name in them depends on how it was started.

use std::fmt;

use crate::wording::{Wording, kb, wording};

/// The name the program was started under.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Program {
    /// `kb skill ...`
    #[default]
    Kb,
    /// `skc ...`, through a link of that name.
    Skc,
}

impl Program {
    /// Returns the words that a user types before the name of a skill command.
    pub fn command(self) -> &'static str {
        match self {
            Self::Kb => "kb skill",
            Self::Skc => "skc",
        }
    }

    /// Returns what the names of the MCP tools for skills begin with.
    pub fn tool_prefix(self) -> &'static str {
        match self {
            Self::Kb => "skill_",
            Self::Skc => "skc_",
        }
    }
}

/// The reason why a skill command failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Diagnostic {
    /// There is no skill of this name, or at this path, as typed.
    SkillNotFound(String),
    /// The index of this skill, as typed, is missing, corrupt or stale.
    IndexUnusable(String),
    /// The index file belongs to another source directory; its name has these 16 hex digits.
    IndexCollision(String),
    /// The query has no words.
    EmptyQuery,
    /// This directory has no SKILL.md.
    NotASkill(String),
    /// SKILL.md lacks this field: `name` or `description`.
    MissingField(&'static str),
    /// The front matter of SKILL.md is not YAML; the reason names the line.
    InvalidFrontMatter(String),
    /// This path, as typed, or this link leads out of the skill.
    PathEscapes(String),
    /// No heading has this text.
    SectionNotFound {
        /// As typed.
        section: String,
        /// Similar headings; no two with the same text in one file.
        similar: Vec<SimilarHeading>,
    },
    /// The skill has no file at this path, as typed.
    FileNotFound(String),
    /// The skill has no directory at this path, as typed.
    DirectoryNotFound(String),
    /// `stats` does not know the aggregation that was typed.
    InvalidQueryType(String),
    /// A time or a project of a filter is invalid, for this reason.
    InvalidFilter(String),
    /// There are no local logs of the given skill to sync.
    NoLocalLogs,
    /// This file, the log to sync into, cannot be written.
    SyncDestination(String),
    /// This file, the log to sync from, cannot be read.
    SyncSource(String),
    /// A skill of this name already exists at the target.
    SkillExists(String),
    /// The command line is invalid.
    InvalidOption {
        /// The reason.
        message: String,
        /// A valid alternative.
        hint: Option<Wording>,
    },
    /// An operation on files or databases failed: the error with its file or database.
    Internal(String),
}

/// A heading that is similar to a requested one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimilarHeading {
    /// Its text.
    pub heading: String,
    /// Below the skill's directory.
    pub file: String,
    /// Its line, from 1.
    pub line: u32,
}

impl Diagnostic {
    /// Returns the code: `E` and three digits.
    pub fn code(&self) -> &'static str {
        match self {
            Self::SkillNotFound(_) => "E001",
            Self::IndexUnusable(_) => "E002",
            Self::IndexCollision(_) => "E003",
            Self::EmptyQuery => "E004",
            Self::NotASkill(_) => "E010",
            Self::MissingField(_) | Self::InvalidFrontMatter(_) => "E011",
            Self::PathEscapes(_) => "E012",
            Self::SectionNotFound { .. } => "E020",
            Self::FileNotFound(_) => "E021",
            Self::DirectoryNotFound(_) => "E022",
            Self::InvalidQueryType(_) => "E030",
            Self::InvalidFilter(_) => "E031",
            Self::NoLocalLogs => "E040",
            Self::SyncDestination(_) => "E041",
            Self::SyncSource(_) => "E042",
            Self::SkillExists(_) => "E050",
            Self::InvalidOption { .. } => "E100",
            Self::Internal(_) => "E999",
        }
    }

    /// Returns the text after the code; more than one line only if headings are suggested.
    pub fn message(&self, program: Program) -> String {
        match self {
            Self::SkillNotFound(skill) => format!("skill '{skill}' not found"),
            Self::IndexUnusable(skill) => {
                let command = program.command();
                format!("search index unusable; run '{command} build {skill}' to rebuild")
            }
            Self::IndexCollision(hash16) => {
                format!("index hash collision; delete .skillc-meta/search-{hash16}.db and rebuild")
            }
            Self::EmptyQuery => "empty query".into(),
            Self::NotASkill(path) => format!("not a valid skill: '{path}' (missing SKILL.md)"),
            Self::MissingField(field) => {
                format!("missing frontmatter field '{field}' in SKILL.md")
            }
            Self::InvalidFrontMatter(message) => format!("{message} in SKILL.md"),
            Self::PathEscapes(path) => format!("path escapes skill root: '{path}'"),
            Self::SectionNotFound { section, similar } => {
                let mut text = format!("section not found: '{section}'");
                if !similar.is_empty() {
                    text += "\n\nDid you mean one of these?";
                }
                for SimilarHeading { heading, file, .. } in similar {
                    text += &format!("\n  - {heading} ({file})");
                }
                text
            }
            Self::FileNotFound(path) => format!("file not found: '{path}'"),
            Self::DirectoryNotFound(path) => format!("directory not found: '{path}'"),
            Self::InvalidQueryType(query_type) => format!("invalid query type: '{query_type}'"),
            Self::InvalidFilter(message) => format!("invalid filter: '{message}'"),
            Self::NoLocalLogs => "no local logs found".into(),
            Self::SyncDestination(path) => format!("sync destination not writable: '{path}'"),
            Self::SyncSource(path) => format!("sync source not readable: '{path}'"),
            Self::SkillExists(skill) => format!("skill '{skill}' already exists"),
            Self::InvalidOption { message, .. } => format!("invalid option: '{message}'"),
            Self::Internal(message) => message.clone(),
        }
    }

    /// Returns the complete output for stderr.
    pub fn line(&self, program: Program) -> String {
        format!("error[{}]: {}", self.code(), self.message(program))
    }

    /// Returns the user's next step; `None` if the message is sufficient.
    pub fn hint(&self) -> Option<Wording> {
        Some(match self {
            Self::SkillNotFound(_) => {
                wording!("`{}` shows all skills; a path also works", kb("skill list"))
            }
            Self::MissingField(field) => {
                format!("SKILL.md begins with `---`, a line `{field}: ...` and `---`").into()
            }
            Self::InvalidFrontMatter(_) => "put values that contain `: ` or `#` into quotes".into(),
            Self::PathEscapes(_) => "paths are relative to the skill and stay inside it".into(),
            Self::FileNotFound(_) | Self::DirectoryNotFound(_) => {
                wording!("`{}` lists the files of a skill", kb("skill sources").arg("SKILL"))
            }
            Self::InvalidQueryType(_) => {
                "use one of summary, sections, files, commands, projects, errors, search".into()
            }
            Self::SkillExists(_) => wording!(
                "choose another name; `{}` replaces one",
                kb("skill build").arg("PATH").flag("--import").flag("--force")
            ),
            Self::InvalidOption { hint, .. } => return hint.clone(),
            _ => return None,
        })
    }
}

impl Diagnostic {
    /// Returns the suggested sections with their lines, which the protocol's own message does not have; `None` if there
    /// are none.
    pub fn suggestions(&self) -> Option<String> {
        let Self::SectionNotFound { similar, .. } = self else { return None };
        let places: Vec<String> = similar
            .iter()
            .map(|found| format!("{} ({}:{})", found.heading, found.file, found.line))
            .collect();
        (!places.is_empty()).then(|| format!("similar sections: {}", places.join(", ")))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(Program::Kb))
    }
}

impl std::error::Error for Diagnostic {}

/// A warning next to the answer of a skill command; never a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// Several headings have the requested text, as typed.
    MultipleMatches(String),
    /// The access could not be logged anywhere.
    LoggingDisabled,
    /// Logs of this skill next to the project have waited for more than an hour.
    StaleLogs(String),
    /// A warning without a code in the table.
    Uncoded(String),
}

impl Warning {
    /// Returns the complete output for stderr.
    pub fn line(&self, program: Program) -> String {
        let command = program.command();
        let (code, message) = match self {
            Self::MultipleMatches(section) => {
                ("W001", format!("multiple matches for '{section}'; showing first"))
            }
            Self::LoggingDisabled => (
                "W002",
                format!("logging disabled; run '{command} sync' after session to merge logs"),
            ),
            Self::StaleLogs(skill) => {
                ("W003", format!("stale local logs for '{skill}'; run '{command} sync' to upload"))
            }
            Self::Uncoded(text) => return format!("warning: {text}"),
        };
        format!("warning[{code}]: {message}")
    }
}

#[cfg(test)]
mod tests;
