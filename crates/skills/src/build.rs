//! Builds a skill: writes its index, manifest and stub to its runtime directory. The source stays
//! unchanged.

use std::path::{Path, PathBuf};

use crate::caller::Caller;
use crate::deploy::{self, Deployment};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, Result};
use crate::files::tree::UnpublishedFolder;
use crate::files::{open, private};
use crate::front_matter::{self, Fields, FrontMatterFault};
use crate::index::{self, BuiltIndex};
use crate::manifest::{self, BuildManifest};
use crate::place::{self, SKILL_FILE, Skill, SkillScope};
use crate::skill_files::{self, SkillContents};
use crate::text::paths::{canonical, path_of};
use crate::wording::{kb, wording};
use crate::{page, registry, resolve, stub};

/// How to build.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// Copies the directory into the store first.
    pub is_import: bool,
    /// Uses the global store even if the skill is in a project's.
    pub is_global: bool,
    /// Replaces a skill of the same name when importing.
    pub is_forced: bool,
    /// Agents, or directories, to deploy the skill to; may be empty.
    pub targets: Vec<String>,
    /// Deploys copies instead of links.
    pub is_copy: bool,
}

/// The result of building a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildResult {
    /// The skill, at its current location.
    pub skill: Skill,
    /// The index.
    pub index: BuiltIndex,
    /// Where it was deployed, one entry per target.
    pub deployments: Vec<Deployment>,
    /// Its Markdown files that are not empty.
    pub pages: Vec<PathBuf>,
}

pub(super) fn build(caller: &Caller, skill: &Skill, options: &BuildOptions) -> Result<BuildResult> {
    let mut skill = skill.clone();
    if options.is_global {
        skill.scope = SkillScope::Global;
        skill.runtime = place::runtime_dir(&caller.global_store(), &skill.name);
    }
    let listing = skill_files::list(&skill.dir)?;
    let fields = check(&skill, &listing)?;
    skill.remove_drafts();
    // Stub and manifest are replaced under the same lock: Windows replaces no file that another process has open.
    let lock = index::hold(&skill)?;
    let index = index::build_held(caller, &skill, lock.as_ref())?;
    let manifest = BuildManifest {
        skill: fields.text("name").unwrap_or_default(),
        source_hash: index.source_hash.clone(),
    };
    let stub_path = skill.runtime.join(SKILL_FILE);
    // An equal manifest means the files have not changed, so the stub is current.
    if manifest::read(&skill).as_ref() != Some(&manifest) || !stub_path.is_file() {
        let description = fields.text("description").unwrap_or_default();
        let stub = stub::stub(caller.program, &skill, &description, &listing)?;
        manifest::replace(&stub_path, &stub)?;
        manifest::write(caller, &skill, &manifest)?;
    }
    drop(lock);
    for path in [skill.index_path(), skill.manifest_path(), stub_path] {
        // Older versions created these files with the permissions of the umask.
        let _ = private::close(&path);
    }
    let mut deployments = Vec::with_capacity(options.targets.len());
    for target in &options.targets {
        deployments.push(deploy::deploy(caller, &skill, target, options.is_copy)?);
    }
    let pages = listing
        .files
        .iter()
        .filter(|file| page::is_markdown(&file.path) && file.size_bytes > 0)
        .map(|file| file.real_path.clone())
        .collect();
    Ok(BuildResult { skill, index, deployments, pages })
}

/// The changes that a build would make in the folders of agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildPlan {
    /// Where it would be, one path per target, without links to the same skill that are there already.
    pub paths: Vec<PathBuf>,
    /// The skill's description, which agents read in every session.
    pub description: String,
}

/// Returns the plan of [`build`], after an [`import`] if the options ask for one. Changes nothing.
pub(super) fn plan(caller: &Caller, typed: &str, options: &BuildOptions) -> Result<BuildPlan> {
    let skill = resolve::resolve(caller, typed)?;
    let listing = skill_files::list(&skill.dir)?;
    let fields = check(&skill, &listing)?;
    let name = import_name(&skill, &fields, options);
    let project = caller.project_store().filter(|_| !options.is_global);
    let (scope, runtime) = match (options.is_global || options.is_import, project) {
        (false, _) => (skill.scope, skill.runtime),
        (true, Some(store)) => (SkillScope::Project, place::runtime_dir(&store, &name)),
        (true, None) => (SkillScope::Global, place::runtime_dir(&caller.global_store(), &name)),
    };
    let targets = options.targets.iter().filter(|target| !target.is_empty());
    let paths = targets
        .map(|target| deploy::folder(caller, scope, target).join(&name))
        .filter(|path| path.read_link().map_or(true, |original| original != runtime));
    Ok(BuildPlan {
        paths: paths.collect(),
        description: fields.text("description").unwrap_or_default(),
    })
}

/// Returns the name of a skill after an import, if there is one.
fn import_name(skill: &Skill, fields: &Fields, options: &BuildOptions) -> String {
    let stated = fields.text("name").filter(|name| resolve::is_name(name) && options.is_import);
    stated.unwrap_or_else(|| skill.name.clone())
}

/// Whether [`build`] would accept a skill.
pub(super) fn is_buildable(skill: &Skill) -> bool {
    skill_files::list(&skill.dir).is_ok_and(|listing| check(skill, &listing).is_ok())
}

/// Returns the front matter fields of a skill, if the skill may be built.
fn check(skill: &Skill, listing: &SkillContents) -> Result<Fields> {
    // A build result has no sources to build from, and its name would collide with the source's.
    if place::is_compiled(&skill.dir) {
        let message = format!("{} is the result of a build", skill.skill_path());
        let hint = wording!("name the skill itself; `{}` shows where it is", kb("skill list"));
        return Err(Diagnostic::InvalidOption { message, hint: Some(hint) }.into());
    }
    if let Some(link) = index::escaping_link(skill, listing) {
        return Err(Diagnostic::PathEscapes(link).into());
    }
    fields(skill)
}

/// Returns the fields of SKILL.md if they are enough to build the skill.
fn fields(skill: &Skill) -> Result<Fields> {
    let bytes = skill_files::read_within(&skill.dir, &skill.skill_file())?;
    let fields = match page::read(SKILL_FILE, &bytes).map(|page| front_matter::read(&page.text)) {
        Some(Ok((fields, _))) => fields,
        Some(Err(fault @ FrontMatterFault::NotYaml(_))) => {
            return Err(Diagnostic::InvalidFrontMatter(fault.to_string()).into());
        }
        _ => Fields::default(),
    };
    for field in ["name", "description"] {
        if fields.text(field).is_none_or(|value| value.trim().is_empty()) {
            return Err(Diagnostic::MissingField(field).into());
        }
    }
    Ok(fields)
}

/// Copies a directory into the project's store and returns the path of the copy. Uses the global
/// store if that is requested or there is no project.
pub(super) fn import(caller: &Caller, typed: &str, options: &BuildOptions) -> Result<PathBuf> {
    let source = resolve::resolve(caller, typed)?;
    let listing = skill_files::list(&source.dir)?;
    let fields = check(&source, &listing)?;
    let stated = fields.text("name");
    if let Some(message) = stated.as_deref().and_then(registry::name_fault) {
        let hint = wording!("`{}` would skip it; give it another name", kb("skill list"));
        return Err(Diagnostic::InvalidOption { message, hint: Some(hint) }.into());
    }
    let name = import_name(&source, &fields, options);
    let store = match caller.project_store() {
        Some(store) if !options.is_global => store,
        _ => caller.global_store(),
    };
    let sources = place::sources_of(&store);
    let target = sources.join(&name);
    if canonical(&target).is_ok_and(|target_dir| target_dir == source.dir) {
        return Ok(target);
    }
    let is_there = target.symlink_metadata().is_ok();
    if is_there && !options.is_forced {
        return Err(Diagnostic::SkillExists(name).into());
    }
    let io = |source| Error::of_file(&target, source);
    let tree = UnpublishedFolder::create(&target).map_err(io)?;
    copy(&listing, &tree, &target)?;
    tree.publish().map_err(io)?;
    Ok(target)
}

fn copy(listing: &SkillContents, tree: &UnpublishedFolder, target: &Path) -> Result<()> {
    let io = |source| Error::of_file(target, source);
    for file in &listing.files {
        let mut source = open::open(&file.real_path, file.links())?;
        tree.add_copy(&path_of(&file.path), &mut source).map_err(io)?;
    }
    for (path, link) in &listing.links {
        let original = link.read_link().map_err(|source| Error::of_file(link, source))?;
        if original.is_relative() {
            tree.add_link(&path_of(path), &original).map_err(io)?;
        }
    }
    Ok(())
}
