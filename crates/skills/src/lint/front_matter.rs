//! Checks the front matter of SKILL.md: rules 100 to 109.

use crate::front_matter::{self, Fields};
use crate::place::Skill;

use super::rules::{
    DESCRIPTION_LENGTH, DESCRIPTION_NONEMPTY, DESCRIPTION_REQUIRED, DESCRIPTION_TRIGGERS,
    FRONTMATTER_KNOWN, FRONTMATTER_VALID, LintFinding, LintRule, LintedFile, NAME_FORMAT,
    NAME_LENGTH, NAME_MATCH_DIR, NAME_REQUIRED,
};

/// Longest name, in characters (agentskills.io/specification).
const MAX_NAME_CHARS: usize = 64;

/// Longest recommended description, in characters (agentskills.io/specification).
pub(crate) const MAX_DESCRIPTION_CHARS: usize = 1024;

/// Words that tell an agent when to use a skill.
const TRIGGERS: [&str; 6] =
    ["use when", "when to use", "use for", "triggers on", "triggers:", "activate when"];

/// Fields that the lint knows, which are those of skillc.
const KNOWN_FIELDS: [&str; 3] = ["name", "description", "allowed-tools"];

/// Values of the field `capabilities` that the registry's contract names.
const KNOWN_CAPABILITIES: [&str; 5] = ["read", "write", "spawn", "audit", "admin"];

/// Checks the front matter and returns the name it states.
pub(super) fn check(
    skill: &Skill,
    source: &LintedFile,
    findings: &mut Vec<LintFinding>,
) -> Option<String> {
    let fields = match front_matter::read(&source.page.text) {
        Ok((fields, _)) => fields,
        Err(fault) => {
            findings.push(source.finding(FRONTMATTER_VALID, 1, fault.to_string()));
            return None;
        }
    };
    let name = fields.text("name");
    match &name {
        None => add(findings, NAME_REQUIRED, "missing required field 'name'".into()),
        Some(name) => {
            if let Some(message) = format_fault(name) {
                add(findings, NAME_FORMAT, message);
            }
            if let Some(message) = length_fault(name) {
                add(findings, NAME_LENGTH, message);
            }
            if *name != skill.name {
                let message = format!("name '{name}' does not match directory '{}'", skill.name);
                add(findings, NAME_MATCH_DIR, message);
            }
        }
    }
    check_description(&fields, findings);
    for field in fields.names().filter(|field| !KNOWN_FIELDS.contains(field)) {
        add(findings, FRONTMATTER_KNOWN, format!("unknown frontmatter field '{field}'"));
    }
    match fields.texts("capabilities") {
        Ok(words) => {
            for word in words.iter().filter(|word| !KNOWN_CAPABILITIES.contains(&word.as_str())) {
                add(findings, FRONTMATTER_KNOWN, format!("unknown capability '{word}'"));
            }
        }
        Err(message) => add(findings, FRONTMATTER_KNOWN, message),
    }
    name
}

fn add(findings: &mut Vec<LintFinding>, rule: LintRule, message: String) {
    findings.push(LintFinding::of_skill_file(rule, message));
}

fn check_description(fields: &Fields, findings: &mut Vec<LintFinding>) {
    if !fields.has("description") {
        let message = "missing required field 'description'";
        return add(findings, DESCRIPTION_REQUIRED, message.into());
    }
    let description = fields.text("description").unwrap_or_default();
    if description.trim().is_empty() {
        return add(findings, DESCRIPTION_NONEMPTY, "description is empty".into());
    }
    let num_chars = description.chars().count();
    if num_chars > MAX_DESCRIPTION_CHARS {
        let message =
            format!("description has {num_chars} characters (at most {MAX_DESCRIPTION_CHARS})");
        add(findings, DESCRIPTION_LENGTH, message);
    }
    let lower = description.to_lowercase();
    if !TRIGGERS.iter().any(|trigger| lower.contains(trigger)) {
        let message = "description says nowhere when the skill is meant ('Use when' or the like)";
        add(findings, DESCRIPTION_TRIGGERS, message.into());
    }
}

/// Returns why a name is invalid; `None` if it is valid.
pub fn name_fault(name: &str) -> Option<String> {
    length_fault(name).or_else(|| format_fault(name))
}

fn format_fault(name: &str) -> Option<String> {
    if !has_allowed_letters(name) {
        return Some(format!("name '{name}' has other characters than a-z, 0-9 and hyphens"));
    }
    let has_edge = name.starts_with('-') || name.ends_with('-');
    has_edge.then(|| format!("name '{name}' begins or ends with a hyphen"))
}

/// Whether all characters of a name are a-z, 0-9 and hyphens.
pub(crate) fn has_allowed_letters(name: &str) -> bool {
    name.bytes().all(|letter| matches!(letter, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

fn length_fault(name: &str) -> Option<String> {
    let num_chars = name.chars().count();
    let is_allowed = (1..=MAX_NAME_CHARS).contains(&num_chars);
    (!is_allowed).then(|| format!("name has {num_chars} characters (1 to {MAX_NAME_CHARS})"))
}
