//! Tests everyday use: editor and viewer, pager, quiet and verbose, log files.

use std::fs;

use crate::env::CORPUS;
use crate::env::TestEnv;
use crate::permissions::check_mode;
#[cfg(unix)]
use crate::permissions::set_mode;
#[cfg(unix)]
use crate::terminal;

/// Puts a program on the `PATH` that runs a shell script.
#[cfg(unix)]
fn program(env: &TestEnv, name: &str, script: &str) {
    let path = env.write(format!("bin/{name}").as_str(), format!("#!/bin/sh\n{script}\n"));
    set_mode(&path, 0o755);
}

/// Puts a program on the `PATH` that records its arguments, one per line.
#[cfg(unix)]
fn recorder(env: &TestEnv, name: &str) {
    program(env, name, "printf '%s\\n' \"$@\" >\"$HOME/opened\"");
}

/// Returns the recorded arguments.
#[cfg(unix)]
#[track_caller]
fn opened(env: &TestEnv) -> Vec<String> {
    let text = fs::read_to_string(env.path("opened")).unwrap();
    fs::remove_file(env.path("opened")).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[cfg(unix)]
#[test]
fn a_result_opens_in_the_editor_at_the_matching_line() {
    let mut env = TestEnv::with_corpus();
    recorder(&env, "vim");
    recorder(&env, "code");
    env.set("EDITOR", "vim");
    let handbook = format!("{CORPUS}/station-handbook.md");
    let search = ["search", "warm brine", "--fts-only", "--open"];
    let output = env.ok(&[&search[..], &["1"]].concat());
    assert_eq!((output.stdout.as_str(), opened(&env)), ("", vec!["+41".into(), handbook.clone()]));
    let (warning, rest) = output.stderr.split_once('\n').unwrap();
    assert!(warning.starts_with("warning: --open is deprecated and will be removed"), "{warning}");
    assert_eq!(rest, format!("Opening {handbook}\n"));
    // `VISUAL` takes precedence, and a command may have options.
    env.set("VISUAL", "code  --wait");
    env.ok(&[&search[..], &["1"]].concat());
    assert_eq!(opened(&env), ["--wait", "--goto", &format!("{handbook}:41")]);
    env.ok(&["open", "4", "--editor", "--lines", "10:20"]);
    assert_eq!(opened(&env), ["--wait", "--goto", &format!("{handbook}:10")]);
    // More results are considered than are shown.
    let all = ["search", "water", "--fts-only", "--top", "1", "--open", "2"];
    env.ok(&all);
    assert_eq!(opened(&env).len(), 3);
}

#[cfg(unix)]
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

#[cfg(unix)]
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

#[cfg(unix)]
#[test]
fn a_document_that_cannot_be_opened_is_reported() {
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
    // A program in the working directory is not one on the `PATH`.
    program(&env, "../not-there", ": > \"$HOME/started\"");
    let relative = env.kb_with(&[("PATH", ".:")], &["open", "4", "--editor"]).expect(1).stderr;
    assert!(
        relative.contains("cannot be started: no absolute folder of PATH has it"),
        "{relative}"
    );
    assert!(!env.path("started").exists());
    program(&env, "failing", "exit 3");
    env.set("EDITOR", "failing");
    fails(&env, &["open", "4", "--editor"], "the editor `failing` failed: exit status: 3");
    for wrong in [&["search", "a", "--open", "0"][..], &["open", "4", "--page", "2"]] {
        env.kb(wrong).expect(1);
    }
}

/// A home with more documents than the screen has lines, and a pager that prints its name.
#[cfg(unix)]
fn long_list() -> TestEnv {
    let mut env = TestEnv::new();
    for number in 0..40 {
        env.write(
            format!("docs/{number}.md").as_str(),
            format!("# Page {number}\n\nOf the almanac.\n"),
        );
    }
    env.ok(&["add", "docs"]);
    program(&env, "pages", "echo \"<pages $*>\"; while IFS= read -r line; do echo \"$line\"; done");
    env.set("PAGER", "pages -a 'b c'");
    env
}

#[cfg(unix)]
#[test]
fn a_long_list_is_shown_in_pages_on_a_terminal_only() {
    let mut env = long_list();
    let shown = |env: &TestEnv, args: &[&str]| terminal::run(env, args, "", true).expect(0).stderr;
    assert!(shown(&env, &["list"]).starts_with("<pages -a b c>\r\n"));
    assert!(shown(&env, &["list"]).contains("Page 39"));
    assert!(!shown(&env, &["list", "--no-pager"]).contains("<pages"));
    assert!(!shown(&env, &["tags"]).contains("<pages"));
    assert!(!shown(&env, &["list", "--format=json"]).contains("<pages"));
    assert!(!env.ok(&["list"]).stdout.contains("<pages"));
    // kb's variable takes precedence, and a pager that cannot be started is not an error.
    env.set("KB_PAGER", "not-there");
    let text = shown(&env, &["list"]);
    assert!(text.contains("the pager `not-there` cannot be started") && text.contains("Page 39"));
    env.set("KB_PAGER", "cat");
    assert!(shown(&env, &["list"]).contains("Page 39"));
}

#[cfg(unix)]
#[test]
fn quitting_a_pager_early_is_not_an_error() {
    let mut env = long_list();
    program(&env, "glance", "read -r line; echo \"$line\"");
    env.set("PAGER", "glance");
    let output = terminal::run(&env, &["list"], "", true).expect(0);
    assert!(output.stderr.contains("TITLE") && !output.stderr.contains("39.md"), "{output:?}");
}

#[cfg(unix)]
#[test]
fn quiet_prints_only_errors_and_warnings() {
    let env = TestEnv::new();
    env.write("docs/good.md", "Warm brine.\n");
    assert_eq!(env.ok(&["add", "docs", "--quiet"]).stderr, "");
    env.write("docs/bad.pdf", "%PDF-1.4 nothing\n");
    let output = env.ok(&["-q", "add", "docs"]);
    assert!(
        output.stderr.starts_with("failed: ") && output.stderr.lines().count() == 1,
        "{output:?}"
    );
    let shown = terminal::run(&env, &["add", CORPUS, "-q"], "", false).expect(0);
    assert_eq!(shown.stderr, "");
    env.kb(&["-q", "-v", "status"]).expect(1);
}

#[test]
fn verbose_prints_the_inputs_and_the_time_of_each_stage() {
    let env = TestEnv::real_with_corpus();
    let search = ["search", "warm brine", "--format=human"];
    let usual = env.ok(&search);
    let verbose = env.ok(&[&search[..], &["-v"]].concat());
    assert_eq!((usual.stderr.as_str(), &verbose.stdout), ("", &usual.stdout));
    for line in ["database: ", "model: all-MiniLM-L6-v2 int8 in ", "ONNX Runtime: "] {
        assert!(verbose.stderr.contains(line), "{line}: {}", verbose.stderr);
    }
    assert!(!verbose.stderr.contains("time  "));
    let timed = env.ok(&[&search[..], &["-vv"]].concat()).stderr;
    let stages = |text: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("time  "));
        let mut found: Vec<String> =
            lines.map(|line| line.split("  ").next().unwrap().to_owned()).collect();
        found.sort();
        found
    };
    let mut found = stages(&timed);
    // Only while the model is still loading.
    found.retain(|stage| stage != "read ahead");
    assert_eq!(
        found,
        [
            "compare tokens", "embed", "fuse", "keyword", "load model", "look at files",
            "open database", "print", "read hits", "tokenise", "total", "vector"
        ]
    );
    env.write("docs/new.md", "Cold brine.\n");
    let added = env.ok(&["add", "docs", "-vv"]).stderr;
    assert!(added.contains("stored: ") && added.contains("new.md (1 chunk)"), "{added}");
    assert_eq!(
        stages(&added),
        ["chunk", "embed", "extract", "open database", "read", "store", "total"]
    );
}

#[test]
fn a_log_file_keeps_the_messages() {
    let env = TestEnv::new();
    env.write("docs/good.md", "Warm brine.\n");
    env.write("docs/bad.pdf", "%PDF-1.4 nothing\u{1b}[1m\n");
    let log = env.path("logs.txt");
    let log = log.to_str().unwrap();
    env.ok(&["add", "docs", "-q", "--log-file", log, "--password", "secret"]);
    env.kb(&["--log-file", log, "info", "99"]).expect(1);
    let text = fs::read_to_string(log).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    assert!(lines.iter().all(|line| line.len() == 3 && line[0].ends_with('Z')), "{text}");
    let is_logged = |level: &str, text: &str| {
        lines.iter().any(|line| line[1] == level && line[2].contains(text))
    };
    for (level, text) in [
        ("begin", "add"),
        ("failed", "bad.pdf"),
        ("detail", "stored: "),
        ("info", "Added 1 document. 1 failed."),
        ("time", "total"),
        ("begin", "info"),
        ("error", "unknown_document: document not found: 99"),
    ] {
        assert!(is_logged(level, text), "{level} {text}");
    }
    assert!(!text.contains("secret"));
    check_mode(log.as_ref(), 0o600);
    // A log that cannot be written is reported before any work starts.
    let output = env.kb(&["list", "--log-file", "/not/there.log"]).expect(1);
    assert!(output.stderr.contains("/not/there.log") && output.stdout.is_empty(), "{output:?}");
}
