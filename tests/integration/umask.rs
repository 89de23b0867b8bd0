//! Runs every command that creates files under a umask that restricts nothing, and under the usual one.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::clients::SETTINGS;
use crate::env::TestEnv;
use crate::word_model::WordModel;

/// Output that the user names and that others may read if the umask lets them.
const OUTPUT: [&str; 3] = ["out", "pages", "schemas"];

/// Returns everything below a folder that is not a link.
fn all_below(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            all_below(&entry.path(), found);
        }
        if !kind.is_symlink() {
            found.insert(entry.path());
        }
    }
}

fn made(env: &TestEnv) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    all_below(&env.path(""), &mut found);
    found
}

/// Runs commands, and returns the new files and folders with their modes, relative to the home.
fn modes(umask: &str, commands: &[&str]) -> Vec<(String, u32)> {
    let env = TestEnv::with_runtime();
    WordModel::default().write(&env.path("tiny"));
    env.write("docs/tides.md", "# Tides\n\nThe tide gauge in the harbour is frozen.\n");
    env.write("bad/binary.md", [0_u8, 159, 146, 150, 0, 1].repeat(40));
    let skill = "---\nname: guide\ndescription: d\n---\n# Guide\nwords\n";
    env.write("incoming/SKILL.md", skill);
    let before = made(&env);
    for command in commands {
        let args: Vec<&str> = command.split(' ').collect();
        let output = env.finish_under(umask, &env.command(&args));
        // One of the files cannot be read, so that the log is written.
        assert!(output.status == 0 || args == ["add", "bad"], "{command}: {}", output.stderr);
    }
    let home = env.path("");
    let new = made(&env).into_iter().filter(|path| !before.contains(path));
    let modes = new.map(|path| {
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        (path.strip_prefix(&home).unwrap().to_str().unwrap().to_owned(), mode)
    });
    modes.collect()
}

#[test]
fn what_kb_keeps_is_private_and_nobody_else_may_change_any_output() {
    let mut commands: Vec<String> = [
        "init --model-dir tiny",
        "add docs",
        "add bad",
        "add --note hello --title note",
        "update",
        "config set search.default_top 5",
        "base add work",
        "backup copy.db",
        "export all.jsonl",
        "convert docs --output out/deep",
        "man --dir pages/deep",
        "schema --dir schemas/deep",
        "skill install",
        "skill install --target skills/",
        "skill build ./incoming --import --global",
        "skill search guide words",
    ]
    .map(str::to_owned)
    .into();
    let clients = SETTINGS.iter().map(|(client, _)| format!("mcp install --yes --client {client}"));
    commands.extend(clients);
    for client in ["claude-code", "cursor", "vscode"] {
        commands.push(format!("mcp install --yes --client {client} --project"));
    }
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    for (umask, shared) in [("000", [0o755, 0o644]), ("027", [0o750, 0o640])] {
        let modes = modes(umask, &commands);
        let names: BTreeSet<&str> = modes.iter().map(|(name, _)| name.as_str()).collect();
        let all = SETTINGS.iter().map(|(_, path)| *path).chain([
            ".kb/kb.db", ".kb/ingest-errors.log", ".vscode/mcp.json", "copy.db", "all.jsonl",
            "pages/deep/kb.1",
        ]);
        for name in all {
            assert!(names.contains(name), "{name} is missing in {names:#?}");
        }
        for (name, mode) in &modes {
            let is_output = OUTPUT.iter().any(|output| Path::new(name).starts_with(output));
            let allowed = if is_output { shared } else { [0o700, 0o600] };
            assert!(allowed.contains(mode), "umask {umask}: {name} is {mode:o}");
        }
    }
}
