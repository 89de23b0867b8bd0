//! Builds a skill: its index, manifest and stub in its runtime directory. The source stays as it is.

use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::error::{Error, Result};
use crate::files::tree::Tree;
use crate::files::{open, private};
use crate::skill::caller::Caller;
use crate::skill::deploy::{self, Deployment};
use crate::skill::files::{self, Listing};
use crate::skill::front_matter::{self, Fields};
use crate::skill::index::{self, BuiltIndex};
use crate::skill::manifest::{self, Manifest};
use crate::skill::resolve::{self, SKILL_FILE, Scope, Skill};
use crate::skill::{page, registry, stub};
use crate::text::paths::path_of;

/// How to build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// Copy the directory into the store first.
    pub is_import: bool,
    /// Use the global store, whatever the skill's own.
    pub is_global: bool,
    /// Replace a skill of the same name when importing.
    pub is_forced: bool,
    /// Agents, or directories, to put it before; none without.
    pub targets: Vec<String>,
    /// Put copies there instead of links.
    pub is_copy: bool,
}

/// What building came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// The skill, where it is now.
    pub skill: Skill,
    /// The index.
    pub index: BuiltIndex,
    /// Where it was put, one for each target.
    pub deployments: Vec<Deployment>,
    /// Its Markdown files that hold anything.
    pub pages: Vec<PathBuf>,
}

/// Builds a skill.
///
/// # Errors
///
/// [`Diagnostic::MissingField`] if SKILL.md does not say name and description,
/// [`Diagnostic::PathEscapes`] for a link that leads out, [`Diagnostic::IndexCollision`];
/// [`Diagnostic::InvalidOption`] for a directory that was built, or a target that cannot be used;
/// [`Error::Io`].
pub(super) fn build(caller: &Caller, skill: &Skill, options: &BuildOptions) -> Result<Built> {
    let mut skill = skill.clone();
    if options.is_global {
        skill.scope = Scope::Global;
        skill.runtime = resolve::runtime_dir(&caller.global_store(), &skill.name);
    }
    let listing = files::list(&skill.dir)?;
    let fields = check(&skill, &listing)?;
    skill.remove_drafts();
    let text = |name: &str| fields.text(name).unwrap_or_default();
    let index = index::build(caller, &skill)?;
    let source_hash = index.source_hash.clone();
    let manifest = Manifest { skill: text("name"), source_hash };
    let stub_path = skill.runtime.join(SKILL_FILE);
    // What says the same as before was made from the same files: the stub is as it should be.
    if manifest::read(&skill).as_ref() != Some(&manifest) || !stub_path.is_file() {
        let stub = stub::stub(caller.program, &skill, &text("description"), &listing)?;
        manifest::replace(&stub_path, &stub)?;
        manifest::write(caller, &skill, &manifest)?;
    }
    for path in [skill.index_path(), skill.manifest_path(), stub_path] {
        // An older version left them as the umask said.
        let _ = private::close(&path);
    }
    let deploy = |target: &String| deploy::deploy(caller, &skill, target, options.is_copy);
    let deployments = options.targets.iter().map(deploy).collect::<Result<_>>()?;
    let is_page = |it: &&files::SourceFile| page::is_markdown(&it.path) && it.size_bytes > 0;
    let pages = listing.files.iter().filter(is_page).map(|it| it.real_path.clone()).collect();
    Ok(Built { skill, index, deployments, pages })
}

/// Returns what a skill says of itself, if it may be built.
fn check(skill: &Skill, listing: &Listing) -> Result<Fields> {
    // What was built says nothing that it could be built from, and would take the source's place.
    if resolve::is_compiled(&skill.dir) {
        let message = format!("{} is what was built of a skill", skill.skill_path());
        let hint = Some("name the skill itself; `kb skill list` shows where it is".to_owned());
        return Err(Diagnostic::InvalidOption { message, hint }.into());
    }
    if let Some(link) = index::escaping_link(skill, listing) {
        return Err(Diagnostic::PathEscapes { path: link }.into());
    }
    fields(skill)
}

/// Returns what SKILL.md says, if that is enough to build the skill.
///
/// # Errors
///
/// [`Diagnostic::MissingField`]; [`Error::Io`] if it cannot be read.
pub(super) fn fields(skill: &Skill) -> Result<Fields> {
    let bytes = files::read_within(&skill.dir, &skill.skill_file())?;
    let page = page::read(SKILL_FILE, &bytes);
    let fields = page.and_then(|it| front_matter::read(&it.text).ok()).map(|it| it.0);
    let fields = fields.unwrap_or_default();
    for field in ["name", "description"] {
        if fields.text(field).is_none_or(|it| it.trim().is_empty()) {
            return Err(Diagnostic::MissingField { field }.into());
        }
    }
    Ok(fields)
}

/// Copies a directory into the project's store, or the global one where there is no project or it
/// is wanted, and returns the copy's path.
///
/// # Errors
///
/// As [`build`] before anything is copied; [`Diagnostic::SkillExists`] if a skill of this name is
/// there and is not to be replaced; [`Diagnostic::InvalidOption`] for a name that cannot be listed.
pub(super) fn import(caller: &Caller, typed: &str, options: &BuildOptions) -> Result<PathBuf> {
    let source = resolve::resolve(caller, typed)?;
    let listing = files::list(&source.dir)?;
    let fields = check(&source, &listing)?;
    let stated = fields.text("name");
    if let Some(message) = stated.as_deref().and_then(registry::name_fault) {
        let hint = Some("`kb skill list` would pass it over: give it another name".to_owned());
        return Err(Diagnostic::InvalidOption { message, hint }.into());
    }
    let name = stated.filter(|name| resolve::is_name(name)).unwrap_or_else(|| source.name.clone());
    let store = match caller.project_store() {
        Some(store) if !options.is_global => store,
        _ => caller.global_store(),
    };
    let sources = resolve::sources_of(&store);
    let target = sources.join(&name);
    if target.canonicalize().is_ok_and(|it| it == source.dir) {
        return Ok(target);
    }
    let is_there = target.symlink_metadata().is_ok();
    if is_there && !options.is_forced {
        return Err(Diagnostic::SkillExists { skill: name }.into());
    }
    let io = |source| Error::Io { path: target.clone(), source };
    let tree = Tree::create(&target).map_err(io)?;
    copy(&listing, &tree, &target)?;
    tree.publish().map_err(io)?;
    Ok(target)
}

fn copy(listing: &Listing, tree: &Tree, target: &Path) -> Result<()> {
    let io = |source| Error::Io { path: target.to_owned(), source };
    for file in &listing.files {
        let mut source = open::open(&file.real_path, file.links())?;
        tree.add_copy(&path_of(&file.path), &mut source).map_err(io)?;
    }
    for (path, link) in &listing.links {
        let original =
            link.read_link().map_err(|source| Error::Io { path: link.clone(), source })?;
        if original.is_relative() {
            tree.add_link(&path_of(path), &original).map_err(io)?;
        }
    }
    Ok(())
}
