//! Sets up a home with a project and a skill; runs `kb skill` there, or the program as `skc`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;
use serde_json::Value;

use crate::env::{Output, TestEnv};

/// The skill's SKILL.md.
pub(crate) const GUIDE: &str = "\
---
name: tide-guide
description: Reads tide gauges. Use when a gauge is to be read or repaired.
---

How to live with a gauge.

# Tide Guide

Read the gauge twice a day.

## Reading

Stand where the scale is level with your eyes.

### At Night

Take the lamp.

## Repair

Configure the recorder first. See [parts](references/parts.md).
";

/// Its other page, written on another system.
pub(crate) const PARTS: &str =
    "# Parts\r\n\r\nSpare floats are in the shed.\r\n\r\n## Floats\r\n\r\nThree of them";

/// Its text.
const FERRY: &str = "The ferry leaves at nine.\n";

/// The path of the skill in the project.
const DIR: &str = "project/.skillc/skills/tide-guide";

/// A home with a project in it.
pub(crate) struct Skills {
    pub(crate) env: TestEnv,
}

impl Skills {
    /// Makes a project with the skill `tide-guide`, not built.
    pub(crate) fn new() -> Self {
        let skills = Self::empty();
        skills.write("SKILL.md", GUIDE);
        skills.write("references/parts.md", PARTS);
        skills.write("ferry.txt", FERRY);
        skills
    }

    /// Makes a project with the skill `tide-guide` and builds it.
    pub(crate) fn built() -> Self {
        let skills = Self::new();
        skills.ok(&["build", "tide-guide"]);
        skills
    }

    /// Makes a project without skills.
    pub(crate) fn empty() -> Self {
        let env = TestEnv::without_model();
        std::fs::create_dir_all(env.path("project/.skillc")).unwrap();
        Self { env }
    }

    /// Writes a file of the skill.
    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        self.env.write(&format!("{DIR}/{path}"), content);
    }

    /// Returns a path in the skill.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.env.path(DIR).join(path)
    }

    /// Returns a path in the skill's runtime directory.
    pub(crate) fn runtime(&self, path: &str) -> PathBuf {
        self.env.path("project/.skillc/runtime/tide-guide").join(path)
    }

    /// Returns the skill's index file.
    pub(crate) fn index(&self) -> PathBuf {
        let entries = self.runtime(".skillc-meta").read_dir().unwrap();
        let mut paths = entries.map(|entry| entry.unwrap().path());
        paths
            .find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("search-"))
            .unwrap()
    }

    /// Prepares `kb skill` in the project.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = self.env.command(&["skill"]);
        command.args(args).current_dir(self.env.path("project"));
        command
    }

    /// Runs `kb skill` in the project.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.env.finish(&mut self.command(args))
    }

    /// Runs `kb skill` in another directory of the home.
    pub(crate) fn run_in<S: AsRef<OsStr>>(&self, dir: &str, args: &[S]) -> Output {
        std::fs::create_dir_all(self.env.path(dir)).unwrap();
        self.env.finish(self.command(args).current_dir(self.env.path(dir)))
    }

    /// Prepares the program as `skc` in the project.
    pub(crate) fn skc_command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        #[cfg(unix)]
        let mut command = {
            let mut command = self.env.command(args);
            std::os::unix::process::CommandExt::arg0(&mut command, "/usr/local/bin/skc");
            command
        };
        // There, the name under which a program is started is that of its file.
        #[cfg(not(unix))]
        let mut command = {
            let program = self.env.path("bin/skc.exe");
            if !program.exists() {
                std::fs::hard_link(env!("CARGO_BIN_EXE_kb"), &program).unwrap();
            }
            self.env.command_of(&program, args)
        };
        command.current_dir(self.env.path("project"));
        command
    }

    /// Runs the program as `skc` in the project.
    pub(crate) fn skc<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        let mut command = self.skc_command(args);
        // Does not use `finish`, which checks the schemas of kb's own commands.
        let output = command.output().unwrap();
        self.env.output(output.stdout, output.stderr, output.status)
    }

    /// Runs `kb skill` and requires success.
    #[track_caller]
    pub(crate) fn ok<S: AsRef<OsStr>>(&self, args: &[S]) -> Output {
        self.run(args).expect(0)
    }

    /// Runs `kb skill` with `--format json` and reads the answer.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        self.ok(&[args, &["--format", "json"]].concat()).json()
    }

    /// Requires that a command ends with status 1, this line on stderr and nothing on stdout.
    #[track_caller]
    pub(crate) fn check_error(&self, args: &[&str], expected: &str) {
        let output = self.run(args).expect(1);
        assert_eq!(output.stdout, "", "{args:?}");
        let line = output.stderr.lines().next().unwrap_or_default();
        assert_eq!(line, expected, "{args:?}");
    }

    /// Reads one value from a database of the skill.
    #[track_caller]
    pub(crate) fn sql(&self, path: &Path, query: &str) -> String {
        let db = Connection::open(path).unwrap();
        let value: rusqlite::types::Value = db.query_row(query, [], |row| row.get(0)).unwrap();
        match value {
            rusqlite::types::Value::Text(text) => text,
            rusqlite::types::Value::Null => "null".into(),
            rusqlite::types::Value::Integer(number) => number.to_string(),
            other => panic!("{other:?}"),
        }
    }

    /// Reads the last row of the skill's access log: command, args, error.
    #[track_caller]
    pub(crate) fn last_access(&self) -> (String, String, String) {
        let log = self.runtime(".skillc-meta/logs.db");
        let column =
            |name: &str| self.sql(&log, &format!("SELECT {name} FROM access_log ORDER BY id DESC"));
        (column("command"), column("args"), column("error"))
    }
}

/// Returns the texts under a key of the objects in an array.
pub(crate) fn texts(array: &Value, key: &str) -> Vec<String> {
    array
        .as_array()
        .unwrap()
        .iter()
        .map(|object| object[key].as_str().unwrap().to_owned())
        .collect()
}
