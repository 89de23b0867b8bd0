//! Checks headings and sizes: rules 201 to 205.

use crate::place::SKILL_FILE;

use super::rules::{
    HEADING_FIRST_H1, HEADING_H1, HEADING_HIERARCHY, HEADING_MATCH_NAME, LintFinding, LintedFile,
    SKILL_SIZE,
};

/// Recommended length of SKILL.md: agents read all of it.
const MAX_LINES: usize = 500;

pub(super) fn check(sources: &[LintedFile], name: Option<&str>, findings: &mut Vec<LintFinding>) {
    for source in sources {
        if source.path == SKILL_FILE {
            check_skill_file(source, name, findings);
        }
        if let Some(first) = source.headings.first().filter(|heading| heading.level != 1) {
            let message = format!("first heading is H{}, expected H1", first.level);
            findings.push(source.finding(HEADING_FIRST_H1, first.lines.start, message));
        }
        for pair in source.headings.windows(2) {
            let (above, below) = (&pair[0], &pair[1]);
            if below.level > above.level + 1 {
                let message = format!(
                    "heading skips from H{} to H{} (expected H{})",
                    above.level,
                    below.level,
                    above.level + 1
                );
                findings.push(source.finding(HEADING_HIERARCHY, below.lines.start, message));
            }
        }
    }
}

fn check_skill_file(source: &LintedFile, name: Option<&str>, findings: &mut Vec<LintFinding>) {
    let num_lines = source.page.num_lines();
    if num_lines > MAX_LINES {
        let message = format!("SKILL.md has {num_lines} lines (at most {MAX_LINES})");
        findings.push(LintFinding::of_skill_file(SKILL_SIZE, message));
    }
    let Some(title) = source.headings.iter().find(|heading| heading.level == 1) else {
        let message = "missing H1 heading in SKILL.md".into();
        return findings.push(LintFinding::of_skill_file(HEADING_H1, message));
    };
    if let Some(name) = name.filter(|name| !words(&title.text).contains(&words(name))) {
        let message = format!("H1 heading '{}' does not match skill name '{name}'", title.text);
        findings.push(source.finding(HEADING_MATCH_NAME, title.lines.start, message));
    }
}

/// Returns the words of a title or a name, for comparison.
fn words(text: &str) -> String {
    text.to_lowercase().replace('-', " ")
}
