//! Checks links: rules 301 to 303 and 401.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::error::Error;
use crate::path;
use crate::place::{SKILL_FILE, Skill};
use crate::text::headings::Heading;
use crate::text::{links, paths};

use super::rules::{
    LINK_ANCHOR_EXISTS, LINK_FILE_EXISTS, LINK_NO_ESCAPE, LintFinding, LintedFile, NO_ORPHANS,
};

/// Files that need no link: people look for them by name.
const KNOWN_FILES: [&str; 4] = ["license.md", "changelog.md", "contributing.md", "readme.md"];

pub(super) fn check(skill: &Skill, sources: &[LintedFile], findings: &mut Vec<LintFinding>) {
    let anchors: HashMap<&str, HashSet<String>> =
        sources.iter().map(|source| (source.path.as_str(), anchors(source))).collect();
    let mut edges: HashMap<&str, BTreeSet<String>> = HashMap::new();
    for source in sources {
        for link in source.page.links() {
            let Some((file, anchor)) = links::relative(&link.target) else { continue };
            let path = if file.is_empty() {
                source.path.clone()
            } else {
                match find(skill, &source.path, &file) {
                    Ok(path) => path,
                    Err(is_outside) => {
                        let (rule, message) = if is_outside {
                            (LINK_NO_ESCAPE, format!("link leaves the skill: '{}'", link.target))
                        } else {
                            (LINK_FILE_EXISTS, format!("link target not found: '{file}'"))
                        };
                        findings.push(source.finding(rule, link.line, message));
                        continue;
                    }
                }
            };
            let known = anchors.get(path.as_str());
            if let Some(anchor) = anchor
                && known.is_some_and(|anchors| !anchors.contains(&anchor))
            {
                let message = format!("anchor '{anchor}' not found in '{path}'");
                findings.push(source.finding(LINK_ANCHOR_EXISTS, link.line, message));
            }
            edges.entry(&source.path).or_default().insert(path);
        }
    }
    let reached = reached(&edges);
    for source in sources {
        let name = source.path.rsplit('/').next().unwrap_or_default().to_lowercase();
        if !reached.contains(source.path.as_str()) && !KNOWN_FILES.contains(&name.as_str()) {
            findings.push(LintFinding {
                rule: NO_ORPHANS,
                message: format!("orphaned file: '{}'", source.path),
                file: Some(source.path.clone()),
                line: None,
            });
        }
    }
}

/// Returns the target of a link in a file, below the skill's directory. The error tells whether a
/// missing target is outside.
fn find(skill: &Skill, from: &str, file: &str) -> Result<String, bool> {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let typed = format!("{folder}/{file}");
    match path::locate(&skill.dir, typed.trim_start_matches('/')) {
        Ok(Some(place)) => Ok(paths::path_text(place.strip_prefix(&skill.dir).unwrap_or(&place))),
        Err(Error::Skill(_)) => Err(true),
        Ok(None) | Err(_) => Err(false),
    }
}

/// Returns the anchors of a file: its headings, named as GitHub does, and names in HTML.
fn anchors(source: &LintedFile) -> HashSet<String> {
    let mut found: HashSet<String> =
        slugs(&source.headings, |letter| letter.is_ascii_alphanumeric(), true)
            .into_iter()
            .collect();
    found.extend(slugs(
        &source.headings,
        |letter| letter.is_alphanumeric() || letter == '_',
        false,
    ));
    for attribute in ["id=\"", "name=\""] {
        let values = source.page.text.split(attribute).skip(1);
        found.extend(values.filter_map(|value| value.split('"').next()).map(str::to_owned));
    }
    found
}

/// Returns the slug of each heading: lower case, hyphens for blanks, a number for each repetition.
fn slugs(headings: &[Heading], is_kept: fn(char) -> bool, collapses: bool) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut slugs = Vec::new();
    for heading in headings {
        let kept = heading.text.to_lowercase();
        let kept = kept.chars().filter(|letter| is_kept(*letter) || " -".contains(*letter));
        let mut slug: String =
            kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect();
        while collapses && slug.contains("--") {
            slug = slug.replace("--", "-");
        }
        let count = seen.entry(slug.clone()).or_default();
        slugs.push(if *count == 0 { slug } else { format!("{slug}-{count}") });
        *count += 1;
    }
    slugs
}

/// Returns the files that can be reached from SKILL.md by links.
fn reached<'a>(edges: &'a HashMap<&str, BTreeSet<String>>) -> HashSet<&'a str> {
    let mut reached = HashSet::from([SKILL_FILE]);
    let mut open = vec![SKILL_FILE];
    while let Some(file) = open.pop() {
        for next in edges.get(file).into_iter().flatten() {
            if reached.insert(next) {
                open.push(next);
            }
        }
    }
    reached
}
