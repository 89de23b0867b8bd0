//! Working with it every day: editor and viewer, pager, quiet and verbose, log files.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::env::{CORPUS, TestEnv};

/// Puts a program on the `PATH` that does what a shell script says.
fn program(env: &TestEnv, name: &str, script: &str) {
    let path = env.write(format!("bin/{name}").as_str(), format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Puts a program on the `PATH` that writes down its arguments, one a line.
fn recorder(env: &TestEnv, name: &str) {
    program(env, name, "printf '%s\\n' \"$@\" >\"$HOME/opened\"");
}

/// Returns the arguments that were written down.
#[track_caller]
fn opened(env: &TestEnv) -> Vec<String> {
    let text = fs::read_to_string(env.path("opened")).unwrap();
    fs::remove_file(env.path("opened")).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_result_opens_in_the_editor_at_the_line_that_answers() {
    let mut env = TestEnv::with_corpus();
    recorder(&env, "vim");
    recorder(&env, "code");
    env.set("EDITOR", "vim");
    let handbook = format!("{CORPUS}/station-handbook.md");
    let search = ["search", "warm brine", "--fts-only", "--open"];
    let output = env.ok(&[&search[..], &["1"]].concat());
    assert_eq!((output.stdout.as_str(), opened(&env)), ("", vec!["+41".into(), handbook.clone()]));
    assert_eq!(output.stderr, format!("Opening {handbook}\n"));
    // `VISUAL` goes first, and a command has its own options.
    env.set("VISUAL", "code  --wait");
    env.ok(&[&search[..], &["1"]].concat());
    assert_eq!(opened(&env), ["--wait", "--goto", &format!("{handbook}:41")]);
    env.ok(&["open", "4", "--editor", "--lines", "10:20"]);
    assert_eq!(opened(&env), ["--wait", "--goto", &format!("{handbook}:10")]);
    // More than would be shown are looked at.
    let all = ["search", "water", "--fts-only", "--top", "1", "--open", "2"];
    env.ok(&all);
    assert_eq!(opened(&env).len(), 3);
}

#[test]
fn a_paged_document_opens_in_the_viewer() {
    let mut env = TestEnv::with_corpus();
    recorder(&env, "xdg-open");
    recorder(&env, "zathura");
    let pdf = format!("{CORPUS}/tide-station.pdf");
    let search = ["search", "\"phosphor bronze\"", "--fts-only", "--open", "1"];
    env.ok(&search);
    assert_eq!(opened(&env), [pdf.as_str()]);
    env.set("KB_VIEWER", "zathura");
    env.ok(&search);
    assert_eq!(opened(&env), ["--page=2", pdf.as_str()]);
    env.ok(&["open", &pdf, "--editor", "--page", "3"]);
    assert_eq!(opened(&env), ["--page=3", pdf.as_str()]);
}

#[test]
fn no_path_goes_through_a_shell() {
    let mut env = TestEnv::new();
    recorder(&env, "vim");
    env.set("EDITOR", "vim");
    let path = env.write("docs/a $(touch owned); \"b\" +1 *.md", "# Brine\n\nWarm brine.\n");
    env.ok(&["add", "docs"]);
    env.ok(&["search", "brine", "--fts-only", "--open", "1"]);
    assert_eq!(opened(&env), ["+3", path.to_str().unwrap()]);
    assert!(!env.path("owned").exists());
}

#[test]
fn what_cannot_be_opened_is_said() {
    let mut env = TestEnv::with_corpus();
    let fails = |env: &TestEnv, args: &[&str], expected: &str| {
        let output = env.kb(args).expect(1);
        assert_eq!(
            (output.stdout.as_str(), output.stderr.contains(expected)),
            ("", true),
            "{output:?}"
        );
    };
    fails(&env, &["open", "8", "--editor"], "error: document 8 has no file\nhint: `kb show 8`");
    fails(
        &env,
        &["search", "zeppelin", "--fts-only", "--open", "1"],
        "error: there is no result 1",
    );
    env.set("EDITOR", "not-there");
    fails(&env, &["open", "4", "--editor"], "the editor `not-there` cannot be started");
    program(&env, "failing", "exit 3");
    env.set("EDITOR", "failing");
    fails(&env, &["open", "4", "--editor"], "the editor `failing` failed: exit status: 3");
    for wrong in [&["search", "a", "--open", "0"][..], &["open", "4", "--page", "2"]] {
        env.kb(wrong).expect(1);
    }
}
