//! A skill in, its index, manifest and stub in its runtime directory out. The source stays as it is.

use std::fs;
use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::error::{Error, Result};
use crate::skill::caller::Caller;
use crate::skill::deploy::{self, Deployment};
use crate::skill::files::{self, Listing};
use crate::skill::front_matter::{self, Fields};
use crate::skill::index::{self, BuiltIndex};
use crate::skill::manifest::{self, Manifest};
use crate::skill::markdown::{self, Page};
use crate::skill::resolve::{self, SKILL_FILE, Scope, Skill};
use crate::skill::stub;

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
    let deploy = |target: &String| deploy::deploy(caller, &skill, target, options.is_copy);
    let deployments = options.targets.iter().map(deploy).collect::<Result<_>>()?;
    let is_page = |it: &&files::SourceFile| markdown::is_markdown(&it.path) && it.size_bytes > 0;
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
    let path = skill.skill_file();
    let bytes = fs::read(&path).map_err(|source| Error::Io { path, source })?;
    let page = Page::read(SKILL_FILE, &bytes);
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
/// there and is not to be replaced.
pub(super) fn import(caller: &Caller, typed: &str, options: &BuildOptions) -> Result<PathBuf> {
    let source = resolve::resolve(caller, typed)?;
    let listing = files::list(&source.dir)?;
    let fields = check(&source, &listing)?;
    let name = fields.text("name").filter(|it| resolve::is_name(it)).unwrap_or(source.name);
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
    // Copied beside and renamed: a failure half-way leaves what was there.
    let draft = sources.join(format!(".{name}.{}.draft", std::process::id()));
    let copied = copy(&listing, &draft).and_then(|()| {
        if is_there {
            let old = sources.join(format!(".{name}.{}.old", std::process::id()));
            fs::rename(&target, &old)?;
            if let Err(error) = fs::rename(&draft, &target) {
                let _ = fs::rename(&old, &target);
                return Err(error);
            }
            if old.is_symlink() { fs::remove_file(&old) } else { fs::remove_dir_all(&old) }
        } else {
            fs::rename(&draft, &target)
        }
    });
    if copied.is_err() {
        let _ = fs::remove_dir_all(&draft);
    }
    copied.map_err(io)?;
    Ok(target)
}

fn copy(listing: &Listing, target: &Path) -> std::io::Result<()> {
    fs::create_dir_all(target)?;
    let place = |path: &str| -> std::io::Result<PathBuf> {
        let place = target.join(crate::ingest::paths::path_of(path));
        place.parent().map_or(Ok(()), fs::create_dir_all)?;
        Ok(place)
    };
    for file in &listing.files {
        fs::copy(&file.real_path, place(&file.path)?)?;
    }
    #[cfg(unix)]
    for (path, link) in &listing.links {
        let to = link.read_link()?;
        if to.is_relative() {
            std::os::unix::fs::symlink(to, place(path)?)?;
        }
    }
    Ok(())
}
