//! A built skill in, links to it in the directories where agents look out.

use std::fs;
use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::error::{Error, Result};
use crate::skill::caller::Caller;
use crate::skill::resolve::{META_DIR, SKILL_FILE, Scope, Skill};

/// Names of agents and the directories they read skills from, below the project or the home.
pub const TARGETS: [(&str, &str); 8] = [
    ("claude", ".claude"),
    ("codex", ".codex"),
    ("copilot", ".github"),
    ("cursor", ".cursor"),
    ("gemini", ".gemini"),
    ("kiro", ".kiro"),
    ("opencode", ".opencode"),
    ("trae", ".trae"),
];

/// Where a skill was put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployment {
    /// The link or directory.
    pub path: PathBuf,
    /// Whether it is a copy instead of a link.
    pub is_copy: bool,
}

/// Puts a built skill where an agent looks, by a link to its runtime directory.
///
/// A link in its place is replaced, and so is a copy that was put there before; anything else stays.
///
/// # Errors
///
/// [`Diagnostic::InvalidOption`] if something else is in its place; [`Error::Io`].
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
    let base = match skill.scope {
        Scope::Project => caller.project().unwrap_or(&caller.cwd),
        Scope::Global => &caller.home,
    };
    let folder = TARGETS
        .iter()
        .find(|(name, _)| *name == target)
        .map_or_else(|| caller.cwd.join(target), |(_, dir)| base.join(dir).join("skills"));
    let path = folder.join(&skill.name);
    let io = |source| Error::Io { path: path.clone(), source };
    fs::create_dir_all(&folder).map_err(io)?;
    match path.symlink_metadata() {
        Err(_) => {}
        Ok(metadata) if metadata.is_symlink() => fs::remove_file(&path).map_err(io)?,
        Ok(_) if is_own_copy(&path) => remove_copy(&path).map_err(io)?,
        Ok(_) => {
            let message = format!("target {target}: {} exists and is no link", path.display());
            return Err(Diagnostic::InvalidOption { message, hint: None }.into());
        }
    }
    let is_copy = is_copy || !link(&skill.runtime, &path).map_err(io)?;
    if is_copy {
        fs::create_dir_all(path.join(META_DIR)).map_err(io)?;
        for file in copied() {
            fs::copy(skill.runtime.join(&file), path.join(&file)).map_err(io)?;
        }
    }
    Ok(Deployment { path, is_copy })
}

/// What a copy consists of: neither index nor log, which stay with the original.
fn copied() -> [PathBuf; 2] {
    [SKILL_FILE.into(), Path::new(META_DIR).join("manifest.json")]
}

/// Whether a directory is a copy as [`deploy`] makes it, with nothing of anybody else's in it.
fn is_own_copy(path: &Path) -> bool {
    let names = |dir: &Path| -> Vec<_> {
        let entries = dir.read_dir().into_iter().flatten().flatten();
        let mut names: Vec<_> = entries.map(|it| it.file_name()).collect();
        names.sort_unstable();
        names
    };
    names(path) == [META_DIR, SKILL_FILE] && names(&path.join(META_DIR)) == ["manifest.json"]
}

fn remove_copy(path: &Path) -> std::io::Result<()> {
    for file in copied() {
        fs::remove_file(path.join(file))?;
    }
    fs::remove_dir(path.join(META_DIR))?;
    fs::remove_dir(path)
}

/// Makes a link; false where this system makes none.
#[cfg(unix)]
fn link(target: &Path, path: &Path) -> std::io::Result<bool> {
    std::os::unix::fs::symlink(target, path).map(|()| true)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> std::io::Result<bool> {
    Ok(false)
}
