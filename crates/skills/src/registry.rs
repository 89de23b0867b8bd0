//! Loads the skills of directories into the registry.
//!
//! The SKILL.md files are authoritative; the table holds what the last pass found. A bad file costs
//! one log line. A root that cannot be read, or a database failure, ends the pass.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use crate::caller::{Caller, SKILLS_ROOT};
use crate::error::{Error, Result};
use crate::front_matter::{self, Fields};
use crate::place::{self, SKILL_FILE, Skill, SkillScope};
use crate::store::{SkillRow, Store};
use crate::text::fold::fold;
use crate::text::{headings, paths};
use crate::{lint, page, skill_files};

/// The letters a skill may have.
const GREEK_LETTERS: &str = "αβγδεζηθικλμνξπ";

/// A directory that holds skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillRoot {
    /// The directory; absolute.
    pub dir: PathBuf,
    /// The base for relative paths of its skills.
    pub base: PathBuf,
    /// Whose skills they are.
    pub scope: SkillScope,
    /// Whether it was named explicitly; if such a root is missing, this is logged.
    pub is_named: bool,
    /// Whether links to directories are followed.
    pub follows_links: bool,
}

impl SkillRoot {
    /// Returns a directory that was not named explicitly.
    fn new(dir: PathBuf, base: &Path, scope: SkillScope, follows_links: bool) -> Self {
        Self { dir, base: base.to_owned(), scope, is_named: false, follows_links }
    }
}

/// Receives the log lines of a pass.
pub type Log<'a> = dyn FnMut(&str) + 'a;

/// Counts of a loading pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadReport {
    /// Skills now in the registry.
    pub loaded: usize,
    /// SKILL.md files that were skipped.
    pub skipped: usize,
    /// Skills removed from the registry.
    pub pruned: usize,
    /// SKILL.md files found.
    pub total_on_disk: usize,
}

impl LoadReport {
    /// Returns the summary line of a pass.
    pub fn summary(&self) -> String {
        format!(
            "[kb] skills loaded: {}, skipped: {}, pruned: {}",
            self.loaded, self.skipped, self.pruned
        )
    }
}

/// A skill found by a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundSkill {
    /// Its row in the registry.
    pub row: SkillRow,
    /// Its directory; absolute, links not resolved.
    pub dir: PathBuf,
    /// Whose skill it is, by the place it was found in.
    pub scope: SkillScope,
    /// The skill, as other commands use it.
    pub skill: Skill,
}

/// Returns the places to search, in order of precedence: only the named one, or else the project's store, the
/// global store and the directory below the working directory.
pub fn roots(caller: &Caller, named: Option<&Path>) -> Vec<SkillRoot> {
    if let Some(named) = named.or(caller.named_root.as_deref()) {
        let dir = paths::clean(&caller.cwd.join(named));
        let root = SkillRoot::new(dir, &caller.cwd, SkillScope::Project, false);
        return vec![SkillRoot { is_named: true, ..root }];
    }
    let mut roots = Vec::new();
    if let (Some(store), Some(project)) = (caller.project_store(), caller.project()) {
        let dir = place::sources_of(&store);
        roots.push(SkillRoot::new(dir, project, SkillScope::Project, true));
    }
    let global = place::sources_of(&caller.global_store());
    roots.push(SkillRoot::new(global, &caller.home, SkillScope::Global, true));
    let below = caller.cwd.join(SKILLS_ROOT);
    roots.push(SkillRoot::new(below, &caller.cwd, SkillScope::Project, false));
    roots
}

/// Updates the registry, if there is one that can be written, from the disk and returns its skills, in byte order of the names. All
/// changes are one transaction.
pub fn load(
    caller: &Caller,
    store: Option<&mut Store>,
    roots: &[SkillRoot],
    log: &mut Log<'_>,
) -> Result<(LoadReport, Vec<FoundSkill>)> {
    let mut files = Vec::new();
    for root in roots {
        match skill_files(root) {
            Ok(mut found) => {
                // If two skills in one place have the same name, the one whose path comes first wins.
                found.sort();
                files.extend(found.into_iter().map(|file| (root, file)));
            }
            Err(Error::PathNotFound { .. }) if !root.is_named => {}
            Err(Error::PathNotFound { path }) => {
                // Skills loaded from elsewhere stay: most likely the name is mistyped.
                log(&format!("[kb] skills root missing: {}", path.display()));
                return Ok((LoadReport::default(), Vec::new()));
            }
            Err(error) => return Err(error),
        }
    }
    let mut report = LoadReport { total_on_disk: files.len(), ..LoadReport::default() };
    let mut found: Vec<FoundSkill> = Vec::new();
    let mut places: HashMap<String, PathBuf> = HashMap::new();
    for (root, file) in files {
        let read = read(caller, root, &file).and_then(|skill| match places.get(&skill.row.name) {
            Some(other) => Err(format!("{} is named '{}' too", other.display(), skill.row.name)),
            None => Ok(skill),
        });
        match read {
            Ok(skill) => {
                places.insert(skill.row.name.clone(), file);
                found.push(skill);
            }
            Err(message) => {
                report.skipped += 1;
                let message = headings::plain(&message);
                log(&format!("[kb] skill skipped: {}: {message}", file.display()));
            }
        }
    }
    found.sort_by(|a, b| a.row.name.cmp(&b.row.name));
    report.loaded = found.len();
    if let Some(store) = store {
        let rows: Vec<SkillRow> = found.iter().map(|skill| skill.row.clone()).collect();
        report.pruned = store.replace_skills(&rows)?;
    }
    Ok((report, found))
}

/// Returns the SKILL.md files in the directories of a root.
fn skill_files(root: &SkillRoot) -> Result<Vec<PathBuf>> {
    let entries = root.dir.read_dir().map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::PathNotFound { path: root.dir.clone() },
        _ => Error::of_file(&root.dir, source),
    })?;
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|source| Error::of_file(&root.dir, source))?;
        let Ok(kind) = entry.file_type() else { continue };
        let is_dir =
            kind.is_dir() || (root.follows_links && kind.is_symlink() && entry.path().is_dir());
        let file = entry.path().join(SKILL_FILE);
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if is_dir && !is_hidden && file.symlink_metadata().is_ok() {
            found.push(file);
        }
    }
    Ok(found)
}

/// Reads a SKILL.md. The error is a sentence that describes the problem.
fn read(caller: &Caller, root: &SkillRoot, file: &Path) -> Result<FoundSkill, String> {
    let dir = file.parent().unwrap_or(file);
    let real_dir = paths::canonical(dir).map_err(|error| error.to_string())?;
    let real_file = paths::canonical(file).map_err(|error| error.to_string())?;
    if !real_file.starts_with(&real_dir) {
        return Err("SKILL.md is a link that points outside the skill".into());
    }
    let bytes = skill_files::read_within(&real_dir, &real_file).map_err(|error| match error {
        Error::Io { source, .. } => source.to_string(),
        error => error.to_string(),
    })?;
    let page = page::read(SKILL_FILE, &bytes).ok_or("it is not text")?;
    let (fields, body_start) = front_matter::read(&page.text).map_err(|fault| fault.to_string())?;
    let name = required(&fields, "name")?;
    if let Some(message) = name_fault(&name) {
        return Err(message);
    }
    let greek_letter = optional(&fields, "greekLetter")?;
    if let Some(letter) = &greek_letter
        && (letter.chars().count() != 1 || !GREEK_LETTERS.contains(letter.as_str()))
    {
        return Err(format!("greekLetter '{letter}' is not one of {GREEK_LETTERS}"));
    }
    let row = SkillRow {
        description: required(&fields, "description")?,
        version: optional(&fields, "version")?,
        entrypoint: optional(&fields, "entrypoint")?,
        capabilities: fields.texts("capabilities")?,
        greek_letter,
        body: page.text[body_start..].to_owned(),
        source_path: source_path(&root.base, file),
        frontmatter_json: fields.to_json(),
        loaded_at: caller.timestamp.clone(),
        name,
    };
    let skill =
        place::at_path(caller, &paths::path_text(dir), dir).map_err(|error| error.to_string())?;
    Ok(FoundSkill { row, dir: dir.to_owned(), scope: root.scope, skill })
}

/// Returns a field that must not be blank; the error is a sentence.
fn required(fields: &Fields, name: &str) -> Result<String, String> {
    let text = fields.text(name).filter(|text| !text.trim().is_empty());
    text.ok_or_else(|| format!("missing frontmatter field '{name}'"))
}

/// Returns a field that may be missing; the error is a sentence.
fn optional(fields: &Fields, name: &str) -> Result<Option<String>, String> {
    match fields.text(name) {
        None if fields.has(name) => Err(format!("{name} is not text")),
        text => Ok(text),
    }
}

/// Returns the skills of a place that can be listed, in any order.
pub(super) fn skills_of(caller: &Caller, root: &SkillRoot) -> Vec<FoundSkill> {
    let files = skill_files(root).unwrap_or_default();
    files.iter().filter_map(|file| read(caller, root, file).ok()).collect()
}

/// Returns why a skill of this name cannot be listed; `None` if it can.
pub(super) fn name_fault(name: &str) -> Option<String> {
    lint::name_fault(name).filter(|_| !is_registry_name(name))
}

/// Whether a name follows the registry's own rule: a letter, then letters, digits and hyphens.
fn is_registry_name(name: &str) -> bool {
    name.len() > 1
        && name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && lint::has_allowed_letters(name)
}

/// Returns a path relative to the base with `/`; the full path if the file is elsewhere.
fn source_path(base: &Path, file: &Path) -> String {
    paths::path_text(file.strip_prefix(base).unwrap_or(file))
}

/// Which skills to list; empty means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillFilter {
    /// Text in the name or description, ignoring case.
    pub search: Option<String>,
    /// One of the capabilities, as a full word.
    pub capability: Option<String>,
}

impl SkillFilter {
    /// Whether a skill matches.
    pub fn admits(&self, skill: &SkillRow) -> bool {
        let search = self.search.as_ref().filter(|search| !search.is_empty());
        let is_found = search.is_none_or(|search| {
            let wanted = fold(search);
            fold(&skill.name).contains(&wanted) || fold(&skill.description).contains(&wanted)
        });
        let capability = self.capability.as_ref().filter(|capability| !capability.is_empty());
        is_found && capability.is_none_or(|capability| skill.capabilities.contains(capability))
    }
}

/// Returns the skills of the registry that match, in byte order of their names.
pub fn list_skills(store: &Store, filter: &SkillFilter) -> Result<Vec<SkillRow>> {
    Ok(store.skills()?.into_iter().filter(|skill| filter.admits(skill)).collect())
}

/// Returns a skill of the registry; `None` for a name that is blank or unknown.
pub fn get_skill(store: &Store, name: &str) -> Result<Option<SkillRow>> {
    store.skill(name)
}

#[cfg(test)]
mod tests;
