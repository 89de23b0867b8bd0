//! Appends one row per command to the skill's access log, or to the fallback log.
//!
//! A command succeeds or fails regardless of whether it can be logged.

use std::time::Duration;

use serde_json::Value;

use crate::caller::{Caller, WithWarnings, error_line};
use crate::diagnostic::Warning;
use crate::error::Result;
use crate::place::{META_DIR, Skill};
use crate::resolve;
use crate::store::skills::log;
use crate::store::skills::log::SkillAccess;
use crate::text::paths;

/// Age at which a fallback log is worth a reminder.
const STALE_AFTER: Duration = Duration::from_secs(60 * 60);

/// Resolves a skill, runs a command on it and logs the command. `work` returns the arguments to log, a JSON object
/// with its keys in alphabetical order, and the outcome.
pub(super) fn logged<T>(
    caller: &Caller,
    typed: &str,
    command: &str,
    work: impl FnOnce(&Skill) -> (Value, Result<T>),
) -> WithWarnings<T> {
    let skill = match resolve::resolve(caller, typed) {
        Ok(skill) => skill,
        Err(error) => return Err(error).into(),
    };
    let (args, outcome) = work(&skill);
    let access = SkillAccess {
        timestamp: caller.timestamp.clone(),
        run_id: caller.run_id.clone(),
        command: command.to_owned(),
        skill: skill.name.clone(),
        skill_path: skill.skill_path(),
        cwd: paths::path_text(&paths::resolved(&caller.cwd)),
        args: args.to_string(),
        error: outcome.as_ref().err().map(|error| error_line(error, caller.program)),
    };
    WithWarnings { outcome, warnings: record(caller, &skill, &access) }
}

fn record(caller: &Caller, skill: &Skill, access: &SkillAccess) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let fallback = caller.fallback_logs().join(&skill.name).join(META_DIR).join("logs.db");
    let written = fallback.metadata().and_then(|metadata| metadata.modified()).ok();
    let age = written.and_then(|written| caller.now.duration_since(written).ok());
    if age.is_some_and(|age| age > STALE_AFTER) {
        warnings.push(Warning::StaleLogs(skill.name.clone()));
    }
    let is_written =
        skill.make_meta_dir().is_ok() && log::append(&skill.log_path(), access).is_ok();
    if !is_written && log::append(&fallback, access).is_err() {
        warnings.push(Warning::LoggingDisabled);
    }
    warnings
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::diagnostic::Diagnostic;
    use crate::testing::World;

    fn run(world: &World, outcome: Result<u32>) -> WithWarnings<u32> {
        logged(&world.caller, "x", "show", |_| (json!({ "section": "S" }), outcome))
    }

    /// Makes a path unwritable, even for a superuser.
    fn block(world: &World, path: &str) {
        world.write(path, "a file where a directory would have to be");
    }

    #[test]
    fn an_access_is_one_row_in_the_runtime_directory() {
        let world = World::new();
        world.skill("project/.skillc/skills/x");
        assert_eq!(run(&world, Ok(7)).outcome.unwrap(), 7);
        let failed = run(&world, Err(Diagnostic::EmptyQuery.into()));
        assert!(failed.outcome.is_err() && failed.warnings.is_empty());
        let path = world.path("project/.skillc/runtime/x/.skillc-meta/logs.db");
        let rows = log::read(&path).unwrap().unwrap();
        let expected = SkillAccess {
            timestamp: "2026-01-02T03:04:05Z".into(),
            run_id: "run".into(),
            command: "show".into(),
            skill: "x".into(),
            skill_path: world.path("project/.skillc/skills/x").display().to_string(),
            cwd: world.path("project").display().to_string(),
            args: "{\"section\":\"S\"}".into(),
            error: None,
        };
        let error = Some("error[E004]: empty query".to_owned());
        assert_eq!(rows, [expected.clone(), SkillAccess { error, ..expected }]);
    }

    #[test]
    fn rows_that_cannot_be_written_there_go_to_the_fallback_log() {
        let world = World::new();
        world.skill("project/.skillc/skills/x");
        block(&world, "project/.skillc/runtime");
        let answer = run(&world, Ok(7));
        assert_eq!((answer.outcome.unwrap(), answer.warnings), (7, Vec::new()));
        let path = world.path("project/.skillc/logs/x/.skillc-meta/logs.db");
        assert_eq!(log::read(&path).unwrap().unwrap().len(), 1);
    }

    #[test]
    fn an_unwritable_log_is_a_warning_and_not_a_failure() {
        let world = World::new();
        world.skill("project/.skillc/skills/x");
        block(&world, "project/.skillc/runtime");
        block(&world, "project/.skillc/logs");
        let answer = run(&world, Ok(7));
        assert_eq!((answer.outcome.unwrap(), answer.warnings), (7, vec![Warning::LoggingDisabled]));
    }

    #[test]
    fn a_fallback_log_older_than_an_hour_is_mentioned() {
        let mut world = World::new();
        world.skill("project/.skillc/skills/x");
        let path = world.path("project/.skillc/logs/x/.skillc-meta/logs.db");
        world.write("project/.skillc/logs/x/.skillc-meta/logs.db", "");
        let written = path.metadata().unwrap().modified().unwrap();
        world.caller.now = written + STALE_AFTER / 2;
        assert_eq!(run(&world, Ok(1)).warnings, []);
        world.caller.now = written + STALE_AFTER * 2;
        assert_eq!(run(&world, Ok(1)).warnings, [Warning::StaleLogs("x".into())]);
        fs::remove_file(path).unwrap();
        assert_eq!(run(&world, Ok(1)).warnings, []);
    }

    #[test]
    fn a_missing_skill_logs_nothing() {
        let world = World::new();
        let answer = run(&world, Ok(7));
        assert_eq!(answer.outcome.unwrap_err().code(), "E001");
        assert!(!world.path("project/.skillc/runtime").exists());
        assert!(!world.path("project/.skillc/logs").exists());
    }
}
