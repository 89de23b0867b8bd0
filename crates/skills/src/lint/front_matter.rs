//! Checks the front matter of SKILL.md: rules 100 to 109.

use crate::front_matter::{self, Fields};
use crate::place::{SKILL_FILE, Skill};

use super::rules::{
    DESCRIPTION_LENGTH, DESCRIPTION_NONEMPTY, DESCRIPTION_REQUIRED, DESCRIPTION_TRIGGERS,
    FRONTMATTER_KNOWN, FRONTMATTER_VALID, LintFinding, LintRule, LintedFile, NAME_FORMAT,
    NAME_LENGTH, NAME_MATCH_DIR, NAME_REQUIRED,
};

/// Longest name, in characters.
const MAX_NAME_CHARS: usize = 64;

/// Longest recommended description, in characters.
pub(crate) const MAX_DESCRIPTION_CHARS: usize = 1024;

/// Words that tell an agent when to use a skill.
const TRIGGERS: [&str; 6] =
    ["use when", "when to use", "use for", "triggers on", "triggers:", "activate when"];

/// Fields of the standard.
const KNOWN_FIELDS: [&str; 3] = ["name", "description", "allowed-tools"];

/// Values of the field `capabilities` that the registry's contract names.
const KNOWN_CAPABILITIES: [&str; 5] = ["read", "write", "spawn", "audit", "admin"];

/// Checks the front matter and returns the name it states.
pub(super) fn check(
    skill: &Skill,
    source: &LintedFile,
    findings: &mut Vec<LintFinding>,
) -> Option<String> {
    let mut found = |rule: LintRule, message: String| {
        let line = (rule == FRONTMATTER_VALID).then_some(1);
        findings.push(LintFinding { rule, message, file: Some(SKILL_FILE.into()), line });
    };
    let fields = match front_matter::read(&source.page.text) {
        Ok((fields, _)) => fields,
        Err(fault) => {
            found(FRONTMATTER_VALID, fault.to_string());
            return None;
        }
    };
    let name = fields.text("name");
    match &name {
        None => found(NAME_REQUIRED, "missing required field 'name'".into()),
        Some(name) => {
            if let Some(message) = format_fault(name) {
                found(NAME_FORMAT, message);
            }
            if let Some(message) = length_fault(name) {
                found(NAME_LENGTH, message);
            }
            if *name != skill.name {
                let message = format!("name '{name}' does not match directory '{}'", skill.name);
                found(NAME_MATCH_DIR, message);
            }
        }
    }
    check_description(&fields, &mut found);
    for field in fields.names().filter(|field| !KNOWN_FIELDS.contains(field)) {
        found(FRONTMATTER_KNOWN, format!("unknown frontmatter field '{field}'"));
    }
    match fields.texts("capabilities") {
        Ok(words) => {
            for word in words.iter().filter(|word| !KNOWN_CAPABILITIES.contains(&word.as_str())) {
                found(FRONTMATTER_KNOWN, format!("unknown capability '{word}'"));
            }
        }
        Err(message) => found(FRONTMATTER_KNOWN, message),
    }
    name
}

fn check_description(fields: &Fields, found: &mut impl FnMut(LintRule, String)) {
    if !fields.has("description") {
        return found(DESCRIPTION_REQUIRED, "missing required field 'description'".into());
    }
    let description = fields.text("description").unwrap_or_default();
    if description.trim().is_empty() {
        return found(DESCRIPTION_NONEMPTY, "description is empty".into());
    }
    let num_chars = description.chars().count();
    if num_chars > MAX_DESCRIPTION_CHARS {
        let message =
            format!("description has {num_chars} characters (at most {MAX_DESCRIPTION_CHARS})");
        found(DESCRIPTION_LENGTH, message);
    }
    let lower = description.to_lowercase();
    if !TRIGGERS.iter().any(|trigger| lower.contains(trigger)) {
        let message = "description says nowhere when the skill is meant ('Use when' or the like)";
        found(DESCRIPTION_TRIGGERS, message.into());
    }
}

/// Returns why a name is invalid; `None` if it is valid.
pub fn name_fault(name: &str) -> Option<String> {
    length_fault(name).or_else(|| format_fault(name))
}

fn format_fault(name: &str) -> Option<String> {
    let is_allowed =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if !name.chars().all(is_allowed) {
        return Some(format!("name '{name}' has other characters than a-z, 0-9 and hyphens"));
    }
    let has_edge = name.starts_with('-') || name.ends_with('-');
    has_edge.then(|| format!("name '{name}' begins or ends with a hyphen"))
}

fn length_fault(name: &str) -> Option<String> {
    let num_chars = name.chars().count();
    let is_allowed = (1..=MAX_NAME_CHARS).contains(&num_chars);
    (!is_allowed).then(|| format!("name has {num_chars} characters (1 to {MAX_NAME_CHARS})"))
}
