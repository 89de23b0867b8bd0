//! Tests that only commands that fetch open a socket, and that files are written only to documented
//! places.
//!
//! `strace` watches the real program and all its children. If it is missing or may not watch, the
//! test is skipped with a message.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::env::TestEnv;
use crate::left_out::left_out;
use crate::word_model::word_env;

/// Runs a command under `strace` and returns its network calls and those of its children.
fn network_calls(env: &TestEnv, args: &[&str]) -> Option<Vec<String>> {
    let log = env.path("strace.log");
    let kb = env.command(args);
    let mut traced = Command::new("/usr/bin/strace");
    traced.args(["-f", "-qq", "-e", "trace=%network", "-o"]).arg(&log).arg(kb.get_program());
    traced.args(args).env_clear().current_dir(env.path(""));
    for (name, value) in kb.get_envs() {
        traced.env(name, value.unwrap_or_default());
    }
    let output = traced.stdin(Stdio::null()).output().ok()?;
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_refused = printed.contains("ptrace") || printed.contains("PTRACE");
    let calls = fs::read_to_string(&log).ok().filter(|_| !is_refused)?;
    Some(calls.lines().filter(|line| is_call(line)).map(str::to_owned).collect())
}

/// Whether a line of strace, `PID NAME(ARGUMENTS) = RESULT`, is a call. Other lines report signals and exits, and
/// `???( <detached ...>` a process that ended while strace looked at it.
fn is_call(line: &str) -> bool {
    let name = line.split_whitespace().nth(1).and_then(|rest| rest.split_once('('));
    name.is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[test]
fn only_calls_are_counted() {
    for line in ["12 socket(AF_INET, SOCK_STREAM, 0) = 3", "12 recvfrom(3,  <unfinished ...>"] {
        assert!(is_call(line), "{line}");
    }
    for line in [
        "12 ???( <detached ...>",
        "12 +++ exited with 0 +++",
        "12 --- SIGCHLD {si_signo=SIGCHLD} ---",
    ] {
        assert!(!is_call(line), "{line}");
    }
}

#[test]
fn no_command_opens_a_socket() {
    let env = word_env();
    if network_calls(&env, &["list"]).is_none() {
        left_out("strace", "the calls of each command");
        return;
    }
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let pdf = format!("{fixtures}/corpus/tide-station.pdf");
    let html = format!("{fixtures}/documents/harbour.html");
    env.write("more/new.md", "# New\n\nstorm anchor\n");
    env.write(
        ".agents/skills/own/SKILL.md",
        "---\nname: own\ndescription: a skill\n---\n# Own\n\nrope\n",
    );
    for args in [
        &["add", "more", pdf.as_str(), html.as_str()][..],
        &["add", "--note", "a note about salt"],
        &["update"],
        &["update", "--prune", "--dry-run"],
        &["search", "frozen gauge"],
        &["search", "frozen gauge", "--fts-only", "--explain"],
        &["why", "frozen gauge", "1"],
        &["grep", "."],
        &["similar", "1"],
        &["list"],
        &["info", "1"],
        &["outline", "2"],
        &["show", "2"],
        &["open", "2"],
        &["tags"],
        &["tag", "1", "--add", "x"],
        &["status", "--scan"],
        &["doctor"],
        &["doctor", "--fix"],
        &["backup", "copy.db"],
        &["backup", "copy.db", "--verify"],
        &["embed", "salt"],
        &["eval"],
        &["config"],
        &["config", "set", "search.default_top", "5"],
        &["reindex"],
        &["remove", "1", "--yes"],
        &["init", "--status"],
        &["mcp"],
        &["skill", "list"],
        &["skill", "build", "own"],
        &["skill", "search", "own", "rope"],
        &["skill", "outline", "own"],
        &["skill", "show", "own", "--section", "Own"],
        &["skill", "open", "own", "SKILL.md"],
        &["skill", "sources", "own"],
        &["skill", "stats", "own"],
        &["skill", "lint", "own"],
        &["skill", "sync", "--dry-run"],
        &["skill", "init"],
    ] {
        let calls = network_calls(&env, args).unwrap();
        assert_eq!(calls, Vec::<String>::new(), "{args:?}");
    }
}

#[cfg(feature = "postgres")]
#[test]
fn push_and_search_from_reach_only_their_target() {
    let env = word_env();
    if network_calls(&env, &["list"]).is_none() {
        left_out("strace", "the calls of each command");
        return;
    }
    let target = "postgres://me@/x?host=/nowhere";
    for args in [&["push", target][..], &["search", "frozen gauge", "--from", target]] {
        let calls = network_calls(&env, args).unwrap();
        // A pair of sockets, not connected to anything, wakes the client's thread.
        let outside: Vec<&String> = calls
            .iter()
            .filter(|call| {
                call.contains("connect(") || call.contains("bind(") || call.contains("listen(")
            })
            .collect();
        assert!(!outside.is_empty(), "{args:?}: {calls:?}");
        assert!(outside.iter().all(|call| call.contains("/nowhere/.s.PGSQL.5432")), "{calls:?}");
        assert!(!calls.iter().any(|call| call.contains("AF_INET")), "{calls:?}");
    }
}

/// Requires that only the owner can read anything below a directory.
#[track_caller]
fn check_private(dir: &Path) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
        if path.is_dir() {
            check_private(&path);
        }
    }
}

#[test]
fn stored_files_are_private_and_in_the_documented_places() {
    let env = word_env();
    env.write("bad/binary.md", [0_u8, 159, 146, 150, 0, 1].repeat(40));
    env.kb(&["add", "bad"]).expect(1);
    env.ok(&["config", "set", "search.default_top", "5"]);
    env.ok(&["backup", "copy.db"]);
    env.ok(&["update"]);
    assert!(env.path(".kb/ingest-errors.log").exists());
    let mode = |name: &str| env.path(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(".kb"), mode(".kb/kb.db"), mode("copy.db")), (0o700, 0o600, 0o600));
    check_private(&env.path(".kb"));
    let mut found: Vec<String> = fs::read_dir(env.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    check_private(&env.path(".local/state"));
    assert_eq!(found, [".cache", ".kb", ".local", "bad", "bin", "copy.db", "docs", "tiny"]);
}
