//! Runs every command line of every page and of the program's help, each in a fresh copy of one
//! small home.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

use crate::bad_inputs::archive;
use crate::docs::shell;
use crate::env::{CORPUS, TestEnv};
use crate::line_table::{Expected, Table};
use crate::page_lines::{self, Line};

/// The messages of a line that only names a command or an option, without its arguments.
pub(crate) const INCOMPLETE: [&str; 5] = [
    "required arguments were not provided",
    "a value is required for",
    "the query is empty",
    "the command is missing",
    "Usage: kb",
];

/// Files that the pages name, or that placeholders stand for.
const FILES: [(&str, &str); 16] = [
    ("notes.txt", "The ferry leaves at nine.\n"),
    ("questions.txt", "When does the ferry leave?\n"),
    ("list.txt", "docs/gauge.go\nnotes.txt\n"),
    ("notes/ferry.md", "# Ferry\n\nThe last boat leaves at nine.\n"),
    ("moved/ferry.md", "# Ferry\n\nThe last boat leaves at nine.\n"),
    ("broken/broken.pdf", "not a PDF\n"),
    ("src/tools/retry.py", "def retry(action):\n    \"\"\"Retry with backoff.\"\"\"\n"),
    ("office/lease.md", "# Lease\n\nThe notice period is three months.\n"),
    (".agents/skills/tides/SKILL.md", SKILL),
    (".agents/skills/tides/references/guide.md", "# Guide\n\nTake the lamp.\n"),
    (
        "judged/corpus.jsonl",
        "{\"_id\": \"d1\", \"title\": \"Ferry\", \"text\": \"It leaves at nine.\"}\n",
    ),
    ("judged/queries.jsonl", "{\"_id\": \"q1\", \"text\": \"ferry\"}\n"),
    ("judged/qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n"),
    (".zfunc/_other", ""),
    (".config/fish/completions/other.fish", ""),
    (".local/share/bash-completion/completions/other", ""),
];

/// Programs that kb or a line starts: an editor, viewers that are closed at once, and one that needs input.
const PROGRAMS: [(&str, &str); 4] = [
    ("vi", "exit 0"),
    ("less", "exit 0"),
    ("xdg-open", "exit 0"),
    ("xargs", "read -r names; test -n \"$names\""),
];

/// A skill with the words and headings that the pages look for.
const SKILL: &str = "---\nname: tides\ndescription: Reads tides. Use when a gauge is to be read.\n---\n\n\
                     # Tides\n\n## Heading\n\nRead the gauge twice a day: all these words.\n";

/// Lines that are typed one after the other in one home.
struct Session<'a> {
    home: &'a TestEnv,
    /// Each with the places where it is.
    lines: Vec<(&'a str, Vec<&'a Line>)>,
}

#[test]
fn every_command_line_of_every_page_runs() {
    let table = Table::read();
    let lines = page_lines::all();
    assert!(lines.len() > 500, "{}", lines.len());
    let [files, base] = homes();
    let sessions = sessions(&table, lines, &files, &base);
    let failures = Mutex::new(Vec::new());
    let queue = Mutex::new(sessions.iter());
    let num_threads = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        loop {
            let next = queue.lock().unwrap().next();
            let Some(session) = next else { break };
            let found = failures_of(&table, session);
            failures.lock().unwrap().extend(found);
        }
    };
    thread::scope(|scope| {
        for _ in 0..num_threads {
            scope.spawn(work);
        }
    });
    let mut failures = failures.into_inner().unwrap();
    failures.sort();
    assert!(failures.is_empty(), "{} failures\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn every_line_of_the_table_is_in_a_page() {
    let table = Table::read();
    let lines = page_lines::all();
    let typed: BTreeSet<&str> = lines.iter().map(|line| line.typed.as_str()).collect();
    for line in table.lines() {
        assert!(typed.contains(line.as_str()), "no page has `{line}`");
        assert_eq!(table.lines().filter(|other| *other == line).count(), 1, "{line}");
    }
    for start in table.beginnings() {
        let is_there = typed.iter().any(|line| line.starts_with(start.as_str()));
        assert!(is_there, "no page has a line that begins with `{start}`");
    }
}

/// Returns the pages that are followed in order, then every other line once.
fn sessions<'a>(
    table: &Table,
    lines: &'a [Line],
    files: &'a TestEnv,
    base: &'a TestEnv,
) -> Vec<Session<'a>> {
    let mut sessions = Vec::new();
    for page in &table.in_order {
        let lines = lines.iter().filter(|line| line.is_in_block && line.page() == page);
        let lines: Vec<_> = lines.map(|line| (line.typed.as_str(), vec![line])).collect();
        assert!(lines.len() > 1, "{page} has no lines in order");
        sessions.push(Session { home: files, lines });
    }
    let mut alone: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
    for line in lines {
        let is_in_order = table.in_order.iter().any(|page| page == line.page());
        if !(line.is_in_block && is_in_order) {
            alone.entry(&line.typed).or_default().push(line);
        }
    }
    sessions.extend(alone.into_iter().map(|line| Session { home: base, lines: vec![line] }));
    sessions
}

/// Runs the lines of a session and describes those that do not end as expected.
fn failures_of(table: &Table, session: &Session) -> Vec<String> {
    let mut failures = Vec::new();
    let mut env = session.home.copy();
    for (line, places) in &session.lines {
        let is_prose = places.iter().all(|line| !line.is_in_block);
        let operands = if is_prose && ends_in_name(line) { table.operands(line) } else { None };
        for (at, typed) in table.typed(line).iter().enumerate() {
            if at > 0 {
                env = session.home.copy();
            }
            if let Err(why) = check(&env, typed, table.expected(line), operands) {
                let places: Vec<&str> = places.iter().map(|line| line.place.as_str()).collect();
                let places = places.join(", ");
                failures.push(format!("{places}: `{line}`\ntyped as `{typed}`\n{why}"));
            }
        }
    }
    failures
}

/// Whether a line ends in the name of a command or an option, and may lack what belongs to it.
fn ends_in_name(line: &str) -> bool {
    let last = line.rsplit(' ').next().unwrap();
    last.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// Runs a line, with the operands if it is not complete without them, and compares how it ends.
fn check(
    env: &TestEnv,
    typed: &str,
    expected: Expected,
    operands: Option<&str>,
) -> Result<(), String> {
    if let Expected::Stays(first) = expected {
        return stays(env, typed, first);
    }
    let run = |typed: &str| {
        let text = File::open(env.path("notes.txt")).unwrap();
        env.finish(shell(env, typed).stdin(text))
    };
    let mut output = run(typed);
    let is_incomplete = INCOMPLETE.iter().any(|words| output.text().contains(words));
    if let (true, Some(operands)) = (is_incomplete, operands) {
        output = run(&format!("{typed} {operands}"));
    }
    let text = output.text();
    match expected {
        Expected::Status(status) if output.status == status => Ok(()),
        Expected::Failure(group) => match (output.status, &group.reason, group.prints()) {
            (0, reason, _) => Err(format!("is left out ({reason}), but runs")),
            (_, _, prints) if text.contains(prints) => Ok(()),
            (_, reason, prints) => {
                Err(format!("is left out ({reason}), but does not print {prints:?}:\n{text}"))
            }
        },
        _ => Err(text),
    }
}

/// Starts a line that runs until a signal, waits for what it prints first, and ends it.
fn stays(env: &TestEnv, typed: &str, first: &str) -> Result<(), String> {
    let mut command = shell(env, &format!("exec {typed}"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut printed = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    while !printed.contains(first) && stderr.read_line(&mut printed).unwrap() > 0 {}
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let status = child.wait().unwrap();
    let is_expected = printed.contains(first) && status.success();
    if is_expected { Ok(()) } else { Err(format!("{status}: {printed}")) }
}

/// Makes a home with the files that the pages name, and one in which some of them were added.
fn homes() -> [TestEnv; 2] {
    let mut files = TestEnv::new();
    // The shared cache may have parts of other builds, which `kb cache clean` would ask about.
    let cache = files.path("cache");
    files.set("KB_CACHE_DIR", cache.to_str().unwrap());
    for entry in fs::read_dir(CORPUS).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        files.write(&format!("docs/{name}"), fs::read(&path).unwrap());
    }
    for (path, text) in FILES {
        files.write(path, text);
    }
    // The transcript reads the second of them.
    for (number, name) in ["README.md", "docs/files.md"].iter().enumerate() {
        let page = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
        files.write(&format!("pages/{number}.md"), page);
    }
    files.write("report.pdf", fs::read(Path::new(CORPUS).join("tide-station.pdf")).unwrap());
    files.write("papers.zip", archive(&[("weir.md", "# Weir\n\nThe weir is closed.\n")]));
    for (program, script) in PROGRAMS {
        let path = files.write(&format!("bin/{program}"), format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let base = files.copy();
    for line in [
        &["add", "docs", "--tags", "sample"][..],
        &["add", "notes"],
        &["add", "--note", "The charger is in the blue box.", "--title", "Charger"],
        &["add", "papers.zip"],
        &["backup", "backup.db"],
        &["export", "export.jsonl"],
        &["base", "add", "work"],
        &["base", "add", "home"],
    ] {
        base.ok(line);
    }
    base.kb(&["add", "broken"]).expect(1);
    [files, base]
}
