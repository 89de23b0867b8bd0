//! Moves the rows of a project's fallback logs into the logs of the runtime directories.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::caller::{self, Caller};
use crate::diagnostic::Diagnostic;
use crate::error::{Error, Result};
use crate::files::write;
use crate::place::{self, META_DIR};
use crate::store::skills::log;
use crate::store::skills::log::SkillAccess;
use crate::text::paths;

/// Which fallback logs to merge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncOptions {
    /// Merges only the logs of this skill.
    pub skill: Option<String>,
    /// Directory whose fallback logs to merge; the working directory if `None`.
    pub project: Option<String>,
    /// Only reports what would be done.
    pub is_dry_run: bool,
}

/// The result of merging.
#[derive(Debug, Default)]
pub struct SyncResult {
    /// Name of each skill and the number of accesses that its log did not have, in alphabetical order; in a dry run
    /// the number of accesses in its fallback log.
    pub skills: Vec<(String, usize)>,
    /// Whether nothing was changed.
    pub is_dry_run: bool,
    /// The error of each skill that failed; their logs stay.
    pub failed: Vec<Error>,
}

/// Merges fallback logs into the logs of the runtime directories and removes them. A skill that
/// fails does not stop the others.
pub fn sync(caller: &Caller, options: &SyncOptions) -> Result<SyncResult> {
    let project = match &options.project {
        Some(project) => paths::clean(&caller.cwd.join(project)),
        None => caller.cwd.clone(),
    };
    let logs = caller::fallback_logs(&project);
    let mut synced = SyncResult { is_dry_run: options.is_dry_run, ..SyncResult::default() };
    for name in names(&logs) {
        if options.skill.as_ref().is_some_and(|wanted| *wanted != name) {
            continue;
        }
        match sync_one(caller, &logs, &name, options.is_dry_run) {
            Ok(count) => synced.skills.push((name, count)),
            Err(error) => synced.failed.push(error),
        }
    }
    if options.skill.is_some() && synced.skills.is_empty() && synced.failed.is_empty() {
        return Err(Diagnostic::NoLocalLogs.into());
    }
    if !options.is_dry_run {
        // Directories that held only logs were created for them; a directory that holds anything
        // else stays.
        write::remove_empty_folder(&logs);
        logs.parent().map(write::remove_empty_folder);
    }
    Ok(synced)
}

fn log_of(logs: &Path, name: &str) -> PathBuf {
    logs.join(name).join(META_DIR).join("logs.db")
}

/// Returns the skills that have a fallback log, in order.
fn names(logs: &Path) -> Vec<String> {
    let entries = logs.read_dir().into_iter().flatten().flatten();
    let names = entries.map(|entry| paths::path_text(Path::new(&entry.file_name())));
    let mut names: Vec<String> = names.filter(|name| log_of(logs, name).exists()).collect();
    names.sort_unstable();
    names
}

fn sync_one(caller: &Caller, logs: &Path, name: &str, is_dry_run: bool) -> Result<usize> {
    let source = log_of(logs, name);
    let accesses =
        log::read(&source).map_err(|_| Diagnostic::SyncSource(paths::path_text(&source)))?;
    let accesses = accesses.unwrap_or_default();
    if is_dry_run {
        return Ok(accesses.len());
    }
    let mut num_new = 0;
    // One fallback log holds all skills of a name; each has its runtime directory.
    let mut by_log: BTreeMap<PathBuf, Vec<SkillAccess>> = BTreeMap::new();
    for access in accesses {
        by_log.entry(destination(caller, &access)).or_default().push(access);
    }
    for (destination, accesses) in by_log {
        num_new += log::merge(&destination, &accesses)
            .map_err(|_| Diagnostic::SyncDestination(paths::path_text(&destination)))?;
    }
    write::remove(&source).map_err(|cause| Error::Io { path: source.clone(), source: cause })?;
    // SQLite leaves a journal when a process is killed.
    let _ = write::remove(&source.with_file_name("logs.db-journal"));
    let meta = source.parent().unwrap_or(logs);
    write::remove_empty_folder(meta);
    write::remove_empty_folder(&logs.join(name));
    Ok(num_new)
}

/// Returns the log that an access belongs to; that of the global store if its skill is missing.
fn destination(caller: &Caller, access: &SkillAccess) -> PathBuf {
    match place::at_path(caller, &access.skill, &paths::path_of(&access.skill_path)) {
        Ok(skill) => skill.log_path(),
        Err(_) => {
            place::runtime_dir(&caller.global_store(), &access.skill).join(META_DIR).join("logs.db")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::testing::World;

    fn access(world: &World, skill: &str, dir: &str, run_id: &str) -> SkillAccess {
        SkillAccess {
            timestamp: "2026-01-02T03:04:05Z".into(),
            run_id: run_id.into(),
            command: "show".into(),
            skill: skill.into(),
            skill_path: world.path(dir).display().to_string(),
            cwd: world.path("project").display().to_string(),
            args: "{}".into(),
            error: None,
        }
    }

    /// A world with fallback logs of two skills.
    fn world() -> World {
        let world = World::new();
        for (skill, dir) in [("x", "home/.skillc/skills/x"), ("y", "project/.skillc/skills/y")] {
            world.skill(dir);
            for run_id in ["a", "b"] {
                let log = log_of(&world.caller.fallback_logs(), skill);
                log::append(&log, &access(&world, skill, dir, run_id)).unwrap();
            }
        }
        world
    }

    fn rows(world: &World, log: &str) -> usize {
        log::read(&world.path(log)).unwrap().map_or(0, |rows| rows.len())
    }

    const X_LOG: &str = "home/.skillc/runtime/x/.skillc-meta/logs.db";
    const Y_LOG: &str = "project/.skillc/runtime/y/.skillc-meta/logs.db";

    #[test]
    fn logs_go_to_the_runtime_directory_of_their_skill_and_leave_nothing() {
        let world = world();
        let synced = sync(&world.caller, &SyncOptions::default()).unwrap();
        assert_eq!(synced.skills, [("x".to_owned(), 2), ("y".to_owned(), 2)]);
        assert_eq!((rows(&world, X_LOG), rows(&world, Y_LOG)), (2, 2));
        assert!(!world.path("project/.skillc/logs").exists());
        let synced = sync(&world.caller, &SyncOptions::default()).unwrap();
        assert!(synced.skills.is_empty() && synced.failed.is_empty());
    }

    #[test]
    fn existing_rows_are_not_added_again() {
        let world = world();
        let there = access(&world, "x", "home/.skillc/skills/x", "a");
        log::append(&world.path(X_LOG), &there).unwrap();
        sync(&world.caller, &SyncOptions::default()).unwrap();
        assert_eq!(rows(&world, X_LOG), 2);
    }

    #[test]
    fn a_dry_run_changes_nothing() {
        let world = world();
        let options = SyncOptions { is_dry_run: true, ..SyncOptions::default() };
        let synced = sync(&world.caller, &options).unwrap();
        assert_eq!(synced.skills.len(), 2);
        assert_eq!((rows(&world, X_LOG), rows(&world, Y_LOG)), (0, 0));
        assert!(world.path("project/.skillc/logs/x/.skillc-meta/logs.db").exists());
    }

    #[test]
    fn one_skill_or_another_project_can_be_named() {
        let mut world = world();
        let only = |name: &str| SyncOptions { skill: Some(name.into()), ..SyncOptions::default() };
        let error = sync(&world.caller, &only("z")).unwrap_err();
        assert_eq!(error.code(), "E040");
        world.caller.cwd = world.path("elsewhere");
        assert_eq!(sync(&world.caller, &only("x")).unwrap_err().code(), "E040");
        let there = SyncOptions { project: Some("../project".into()), ..only("x") };
        assert_eq!(sync(&world.caller, &there).unwrap().skills, [("x".to_owned(), 2)]);
        assert_eq!((rows(&world, X_LOG), rows(&world, Y_LOG)), (2, 0));
    }

    #[test]
    fn a_skill_that_fails_keeps_its_log_and_the_others_continue() {
        let world = world();
        world.write("home/.skillc/runtime/x", "no directory can be made here");
        let garbage = "no database, but long enough not to be an empty one";
        world.write("project/.skillc/logs/z/.skillc-meta/logs.db", garbage);
        let synced = sync(&world.caller, &SyncOptions::default()).unwrap();
        assert_eq!(synced.skills, [("y".to_owned(), 2)]);
        let codes: Vec<_> = synced.failed.iter().map(Error::code).collect();
        assert_eq!(codes, ["E041", "E042"]);
        assert!(world.path("project/.skillc/logs/x/.skillc-meta/logs.db").exists());
        assert!(!world.path("project/.skillc/logs/y").exists());
        assert_eq!(rows(&world, Y_LOG), 2);
    }

    #[test]
    fn the_log_of_a_missing_skill_goes_to_the_global_store() {
        let world = world();
        fs::remove_dir_all(world.path("project/.skillc/skills/y")).unwrap();
        sync(&world.caller, &SyncOptions::default()).unwrap();
        assert_eq!(rows(&world, "home/.skillc/runtime/y/.skillc-meta/logs.db"), 2);
    }
}
