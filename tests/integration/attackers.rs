//! Tests files made by attackers: no file overflows the stack, hangs, leaves its tree or reaches
//! the terminal raw.

use std::fs;
use std::io::Write;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::process::Command;
use std::process::Stdio;

use crate::env::{Output, TestEnv};
use crate::patience::output_of;
use crate::schema;
use crate::word_model::{check_database, find, word_env};

/// Runs the program, which must end.
#[track_caller]
fn to_its_end(env: &TestEnv, args: &[&str]) -> Output {
    let mut command = env.command(args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let output = output_of(env, child);
    schema::check_run(&command, &output.stdout, &output.stderr, output.status == 0);
    output
}

/// Adds a file that may or may not be readable. The run must end, with a status that fits,
/// and leave the other documents intact.
#[track_caller]
fn check(env: &TestEnv, name: &str, content: impl AsRef<[u8]>) -> String {
    env.write(&format!("hostile/{name}"), content);
    let output = to_its_end(env, &["add", &format!("hostile/{name}")]);
    assert!(output.status <= 1, "{name}: {}", output.text());
    assert!(!output.stderr.contains("panicked"), "{name}: {}", output.stderr);
    assert!(output.stderr.lines().count() <= 3, "{name}: {}", output.stderr);
    fs::remove_file(env.path(format!("hostile/{name}"))).unwrap();
    output.stderr
}

#[test]
fn endless_nesting_neither_overflows_nor_hangs() {
    let env = word_env();
    for (name, opening, closing, count) in [
        ("quote.md", "> ", "", 50_000),
        ("list.md", "- ", "", 50_000),
        ("bracket.md", "[", "](x)", 50_000),
        ("star.md", "*a **a ", "", 20_000),
        ("tick.md", "`", " ``", 20_000),
        ("div.html", "<div>", "</div>", 300_000),
        ("open.html", "<b><i>", "", 100_000),
        ("table.html", "<table><tr><td>", "", 50_000),
        ("svg.html", "<svg><g>", "", 50_000),
        ("paren.py", "(", ")", 100_000),
        ("if.py", "if x: ", "pass", 20_000),
        ("brace.go", "{", "}", 100_000),
        ("dollar.sh", "$(", ")", 50_000),
    ] {
        let content = format!("{}storm{}", opening.repeat(count), closing.repeat(count));
        check(&env, name, content);
    }
    for (name, front) in [
        ("flow.md", format!("a: {}{}", "[".repeat(50_000), "]".repeat(50_000))),
        ("map.md", format!("a: {}", "{a: ".repeat(50_000))),
        ("indent.md", (0..3000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect()),
        ("laughs.md", laughs()),
        ("key.md", format!("{}: x", "k".repeat(1_000_000))),
    ] {
        check(&env, name, format!("---\n{front}\n---\n# Title\n\nstorm\n"));
    }
    check_database(&env);
    assert_eq!(find(&env, &["frozen tide gauge"])[0], "Tides");
}

/// Returns nested aliases, each level ten times the one before.
fn laughs() -> String {
    let mut yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let before = format!("*a{}, ", level - 1).repeat(10);
        yaml += &format!("a{level}: &a{level} [{}]\n", before.trim_end_matches(", "));
    }
    yaml
}

#[test]
fn bombs_are_stopped_and_named() {
    let env = word_env();
    let mut docx = Vec::new();
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(&mut docx));
    let options = zip::write::SimpleFileOptions::default();
    zip.start_file("[Content_Types].xml", options).unwrap();
    zip.write_all(b"<Types/>").unwrap();
    zip.start_file("word/document.xml", options).unwrap();
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..600 {
        zip.write_all(&zeros).unwrap();
    }
    zip.finish().unwrap();
    assert!(docx.len() < 2_000_000);
    let printed = check(&env, "bomb.docx", &docx);
    assert!(printed.starts_with("error: cannot read"), "{printed}");

    // A page whose stream claims to be as long as the file, and pages that are their own children.
    let endless = b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n\
        2 0 obj<</Type/Pages/Count 999999999/Kids[2 0 R 2 0 R 2 0 R]>>endobj\n\
        3 0 obj<</Type/ObjStm/N 999999999/First 10/Length 99999999/Extends 3 0 R>>stream\n1 2 3\n";
    check(&env, "endless.pdf", endless);
    check(&env, "deep.pdf", format!("%PDF-1.7\n1 0 obj {}", "[".repeat(200_000)));
    check_database(&env);
}

#[test]
fn a_file_of_many_gigabytes_is_named_and_not_read() {
    let env = word_env();
    let huge = env.write("huge/huge.md", "x");
    fs::File::options().write(true).open(&huge).unwrap().set_len(5 << 30).unwrap();
    env.write("huge/small.md", "# Small\n\nstorm\n");
    let output = to_its_end(&env, &["add", "huge"]).expect(0);
    assert!(output.stderr.contains("Added 1 document. 1 failed."), "{}", output.stderr);
    assert!(output.stderr.contains("huge.md"), "{}", output.stderr);
}

#[cfg(unix)]
#[test]
fn special_files_are_skipped_and_never_opened() {
    let env = word_env();
    fs::create_dir(env.path("odd")).unwrap();
    let fifo = env.path("odd/fifo.md");
    let made = Command::new("mkfifo").arg(&fifo).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
    symlink("/dev/zero", env.path("odd/zero.md")).unwrap();
    env.write("odd/good.md", "# Good\n\nstorm anchor\n");
    let output = env.ok(&["add", "odd"]);
    assert!(output.stderr.contains("Added 1 document. 0 failed."), "{}", output.stderr);
    for name in ["odd/fifo.md", "odd/zero.md", "/dev/zero"] {
        let output = env.kb(&["add", name]).expect(1);
        assert!(output.stderr.contains("neither a file nor a directory"), "{}", output.stderr);
    }
}

#[cfg(unix)]
#[test]
fn links_that_leave_a_folder_are_followed_only_on_request() {
    let env = word_env();
    env.write("outside/secret.md", "# Secret\n\nlamp keeper\n");
    env.write("tree/a.md", "# Inside\n\nrope sail\n");
    symlink("../outside", env.path("tree/folder")).unwrap();
    symlink("../outside/secret.md", env.path("tree/file.md")).unwrap();
    env.ok(&["add", "tree"]);
    assert!(!env.ok(&["list"]).stdout.contains("Secret"));
    let output = env.ok(&["add", "tree", "--follow"]);
    assert!(output.stderr.contains("Added 1 document."), "{}", output.stderr);
    assert!(env.ok(&["list"]).stdout.contains("Secret"));
    // The choice for the folder also applies to later updates.
    env.write("outside/secret.md", "# Secret\n\nwinter paint\n");
    env.write("outside/new.md", "# Novel\n\nvalve\n");
    let output = env.ok(&["update"]);
    assert!(output.stdout.contains("1 added, 1 updated"), "{}", output.text());
}

#[test]
fn text_of_a_file_never_reaches_the_terminal_raw() {
    let env = TestEnv::with_runtime();
    crate::word_model::WordModel::default().write(&env.path("tiny"));
    env.ok(&["init", "--model-dir", "tiny"]);
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}";
    env.write(
        "docs/page.md",
        format!("---\ntitle: \"x{}y\"\ntags: [\"t\"]\nauthor: \"\\e[31m\"\n---\n# Head {hostile}\n\nstorm {hostile} rope\n", "\\e[31m"),
    );
    env.write("docs/code.py", format!("def storm():\n    '''{hostile}'''\n    return 1\n"));
    env.ok(&["add", "docs", "--tags", "a\u{1b}[31mb"]);
    env.ok(&["add", "--note", &format!("rope {hostile}"), "--title", &format!("n {hostile}")]);
    for args in [
        &["list"][..],
        &["info", "1"],
        &["info", "2"],
        &["outline", "1"],
        &["outline", "2"],
        &["show", "1"],
        &["show", "2"],
        &["tags"],
        &["search", "storm rope", "--format=human"],
        &["search", "storm rope", "--format=human", "--explain"],
        &["why", "storm", "1"],
        &["grep", "."],
        &["similar", "1"],
        &["status"],
        &["doctor"],
        &["update"],
        &["remove", "1", "2", "3", "--yes"],
    ] {
        let output = env.kb(args).expect(0);
        for text in [&output.stdout, &output.stderr] {
            let raw = text
                .chars()
                .find(|letter| (letter.is_control() && *letter != '\n') || *letter == '\u{202e}');
            assert_eq!(raw, None, "{args:?}: {text:?}");
        }
    }
}
