//! Links built skills into the directories where agents look for skills.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use crate::caller::{Caller, STORE_DIR};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, Result};
use crate::files::open::{self, SymlinkPolicy};
use crate::files::tree::UnpublishedFolder;
use crate::files::{private, write};
use crate::place::{META_DIR, RUNTIME, SKILL_FILE, Skill, SkillScope};

/// Names of agents and the directories they read skills from, below the project or the home.
///
/// Several programs read `.agents`.
pub const TARGETS: [(&str, &str); 9] = [
    ("agents", ".agents"),
    ("claude", ".claude"),
    ("codex", ".codex"),
    ("copilot", ".github"),
    ("cursor", ".cursor"),
    ("gemini", ".gemini"),
    ("kiro", ".kiro"),
    ("opencode", ".opencode"),
    ("trae", ".trae"),
];

/// Where a skill was deployed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployment {
    /// The link or directory.
    pub path: PathBuf,
    /// Whether it is a copy instead of a link.
    pub is_copy: bool,
}

/// Deploys a built skill for an agent by linking to its runtime directory.
///
/// Replaces an earlier deployment by kb: a link into a store, or a copy. Everything else stays,
/// including a link of the user's that has the skill's name.
pub(super) fn deploy(
    caller: &Caller,
    skill: &Skill,
    target: &str,
    is_copy: bool,
) -> Result<Deployment> {
    if target.is_empty() {
        let message = "a target is empty".to_owned();
        return Err(Diagnostic::InvalidOption { message, hint: None }.into());
    }
    let folder = folder(caller, skill.scope, target);
    let path = folder.join(&skill.name);
    if let Some(what) = foreign_entry(&path) {
        let message = format!("target {target}: {} {what}", path.display());
        let hint = Some("remove it, or name another target".into());
        return Err(Diagnostic::InvalidOption { message, hint }.into());
    }
    let io = |source| Error::of_file(&path, source);
    private::create_folder(&folder).map_err(io)?;
    if !is_copy {
        // A copy cannot be replaced by a link in one step.
        remove_copy(&path).map_err(io)?;
        match write::replace_link(&skill.runtime, &path) {
            Ok(()) => return Ok(Deployment { path, is_copy }),
            // This system has no symbolic links.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(error) => return Err(io(error)),
        }
    }
    let tree = UnpublishedFolder::create(&path).map_err(io)?;
    for file in copied_files() {
        let place = skill.runtime.join(&file);
        let mut source = open::open(&place, SymlinkPolicy::RefuseBelow(&skill.runtime))?;
        tree.add_copy(&file, &mut source).map_err(io)?;
    }
    tree.publish().map_err(io)?;
    Ok(Deployment { path, is_copy: true })
}

/// Returns the folder of an agent's skills, or the directory that a target names.
pub(super) fn folder(caller: &Caller, scope: SkillScope, target: &str) -> PathBuf {
    let base = match scope {
        SkillScope::Project => caller.project().unwrap_or(&caller.cwd),
        SkillScope::Global => &caller.home,
    };
    let known = TARGETS.iter().find(|(name, _)| *name == target);
    known.map_or_else(|| caller.cwd.join(target), |(_, dir)| base.join(dir).join("skills"))
}

/// Describes what is at the destination of a skill, if kb did not put it there.
fn foreign_entry(path: &Path) -> Option<String> {
    let metadata = path.symlink_metadata().ok()?;
    match path.read_link() {
        Ok(original) if leads_into_a_store(&original) => None,
        Ok(original) => Some(format!("is a link to {}, not to a built skill", original.display())),
        Err(_) if metadata.is_dir() && is_own_copy(path) => None,
        Err(_) => Some("exists and is not a link".to_owned()),
    }
}

/// Whether a link is one that [`deploy`] makes: to a runtime directory of a store.
fn leads_into_a_store(original: &Path) -> bool {
    let runtime = original.parent().filter(|runtime| runtime.ends_with(RUNTIME));
    runtime.and_then(Path::parent).is_some_and(|store| store.ends_with(STORE_DIR))
}

/// Returns the parts of a copy. The index and the log stay with the original.
fn copied_files() -> [PathBuf; 2] {
    [SKILL_FILE.into(), Path::new(META_DIR).join("manifest.json")]
}

/// Whether a directory is a copy made by [`deploy`], with nothing else in it.
fn is_own_copy(path: &Path) -> bool {
    sorted_names(path) == [META_DIR, SKILL_FILE]
        && sorted_names(&path.join(META_DIR)) == ["manifest.json"]
}

/// Returns the names of what is in a directory; empty if it cannot be read.
fn sorted_names(dir: &Path) -> Vec<OsString> {
    let entries = dir.read_dir().into_iter().flatten().flatten();
    let mut names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
    names.sort_unstable();
    names
}

/// Removes a copy; does nothing if there is none.
fn remove_copy(path: &Path) -> io::Result<()> {
    if path.is_symlink() || !path.is_dir() {
        return Ok(());
    }
    for file in copied_files() {
        write::remove(&path.join(file))?;
    }
    write::remove_empty_folder(&path.join(META_DIR));
    write::remove_empty_folder(path);
    Ok(())
}
