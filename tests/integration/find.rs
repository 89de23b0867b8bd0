//! `kb find` on a terminal: keys, sizes, signals, other programs; and `kb` without a command.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use rustix::process::Signal;

use crate::env::TestEnv;
use crate::patience::status_of;
use crate::schema;
use crate::screen::Screen;
use crate::terminal;

const ESC: &str = "\u{1b}";
const DOWN: &str = "\u{1b}[B";
const ENTER: &str = "\r";

/// Returns a key that is typed with Ctrl.
fn ctrl(letter: char) -> String {
    char::from(letter as u8 & 0x1f).to_string()
}

#[test]
fn every_key_searches_and_esc_gives_the_terminal_back() {
    let env = TestEnv::with_corpus();
    let mut screen = Screen::start(&env, &["find"], 110, 30);
    screen.see("Type to search 8 documents.");
    assert!(screen.is_full());
    screen.keys("charg");
    let shown = screen.see("in the blue box under the");
    assert!(shown.starts_with("› charg"), "{shown}");
    screen.keys("er blue");
    screen.see("› charger blue");
    // The passage is on the right, below its title.
    let shown = screen.see("│ Charger");
    assert!(shown.contains("│ kb show 7  #"), "{shown}");
    let output = screen.leave(ESC, &env);
    assert_eq!((output.status, output.stdout.as_str()), (0, ""));
}

#[test]
fn a_query_and_filters_may_be_given() {
    let env = TestEnv::with_corpus();
    let args = ["find", "gauge", "frozen", "--type", "pdf", "--fts-only", "--tags", "sample"];
    let mut screen = Screen::start(&env, &args, 110, 30);
    let shown = screen.see("passage");
    assert!(shown.contains("› gauge frozen") && shown.contains("keywords only"), "{shown}");
    assert!(shown.contains("pdf  #sample"), "{shown}");
    // All hits are of that type, and without the filters there are others.
    assert!(!shown.contains("markdown"), "{shown}");
    screen.keys(&ctrl('f')).see("t type");
    screen.keys("x").see("markdown");
    screen.leave(&ctrl('c'), &env).expect(0);
}

#[test]
fn a_place_is_printed_for_a_shell_function() {
    let env = TestEnv::new();
    let path =
        env.write("notes/a tide.md", "# Tides\n\nThe moon does it.\n\n## Neap\n\nA neap tide.\n");
    env.ok(&["add", "notes"]);
    let mut screen = Screen::start(&env, &["find", "--print", "neap"], 80, 24);
    screen.see("a tide.md");
    let output = screen.leave(ENTER, &env);
    assert_eq!(output.status, 0);
    let line = output.stdout.strip_prefix(path.to_str().unwrap()).unwrap();
    assert!(line.starts_with(':') && line[1..].trim_end().parse::<u32>().is_ok(), "{line}");

    // Without a choice nothing is printed, and `&&` does not run the next command.
    let mut screen = Screen::start(&env, &["find", "--print", "neap"], 80, 24);
    screen.see("a tide.md");
    let output = screen.leave(ESC, &env);
    assert_eq!((output.status, output.stdout.as_str()), (130, ""));
}

#[test]
fn signals_end_it_and_give_the_terminal_back() {
    let env = TestEnv::with_corpus();
    for (signal, status) in
        [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130), (Signal::QUIT, 131)]
    {
        let mut screen = Screen::start(&env, &["find", "gauge"], 80, 24);
        screen.see("passages");
        screen.signal(signal);
        assert_eq!(screen.end(&env).status, status);
    }
}

#[test]
fn a_panic_ends_it_and_gives_the_terminal_back() {
    let env = TestEnv::with_corpus();
    for thread in ["screen", "worker"] {
        let mut screen = Screen::start(&env, &["find", "gauge"], 100, 24);
        screen.see("passages");
        let output = screen.leave(&format!("{}test-panic-{thread}", ctrl('u')), &env);
        assert_eq!(output.status, 101, "{}", output.stderr);
        // The message is on the screen that people see, not on the alternate screen that kb left.
        let end = output.stderr.rsplit("[?1049l").next().unwrap();
        assert!(end.contains("typed by a test"), "{end}");
    }
}

/// Its library for keys would read from such a terminal forever.
#[test]
fn it_ends_when_its_terminal_is_closed() {
    let env = TestEnv::with_corpus();
    let (mut master, terminal) = terminal::pair(80, 24);
    let mut command = env.command(&["find", "gauge"]);
    command.stdin(terminal.try_clone().unwrap()).stdout(Stdio::null()).stderr(terminal);
    let mut child = command.spawn().unwrap();
    drop(command);
    // It has begun to draw.
    let mut shown = [0; 1024];
    while !String::from_utf8_lossy(&shown).contains('›') {
        assert!(master.read(&mut shown).unwrap() > 0);
    }
    drop(master);
    assert_eq!(status_of(&mut child).code(), Some(129));
}

#[test]
fn the_screen_follows_the_size_of_the_terminal() {
    let env = TestEnv::with_corpus();
    let mut screen = Screen::start(&env, &["find", "gauge"], 120, 30);
    let wide = screen.see("│ ");
    assert!(wide.lines().all(|line| line.chars().count() <= 120));
    for (columns, rows) in [(60, 20), (20, 8), (3, 2), (200, 50), (60, 15)] {
        screen.resize(columns, rows);
        let fits = |shown: &str| {
            let widest = shown.lines().map(|line| line.chars().count()).max().unwrap_or(0);
            shown.lines().count() <= rows.into() && widest <= columns.into()
        };
        screen.wait("a screen of this size", fits);
        // It still listens, even if there is no room for what is typed.
        screen.keys("x").wait("the letter", |shown| shown.contains('x') || columns < 10);
        screen.keys("\u{7f}");
    }
    let narrow = screen.wait("no bar", |shown| !shown.contains('│') && shown.contains("^O"));
    assert_eq!(narrow.lines().last().map(|line| line.starts_with("Enter open")), Some(true));
    screen.leave(ESC, &env).expect(0);
}

#[test]
fn wide_characters_keep_the_columns() {
    let env = TestEnv::new();
    env.write("docs/ja.md", "# 東京の潮位\n\n東京都の潮位計は冬に凍る。塩水を管に注ぐこと。\n");
    env.write("docs/en.md", "# Tokyo\n\nThe gauge of 東京 freezes in winter.\n");
    env.ok(&["add", "docs"]);
    let mut screen = Screen::start(&env, &["find"], 100, 20);
    screen.keys("東京");
    let shown = screen.see("2 documents");
    // The bar is in one column, whatever text is to its left.
    let column = |line: &&str| -> Option<usize> {
        let left = line.split_once('│')?.0;
        Some(left.chars().map(|c| if c > '\u{2e80}' { 2 } else { 1 }).sum())
    };
    let columns: Vec<usize> = shown.lines().collect::<Vec<_>>().iter().filter_map(column).collect();
    assert!(columns.len() > 10 && columns.iter().all(|at| *at == columns[0]), "{shown}");
    // A wide character is deleted as one.
    screen.keys("\u{7f}").see("› 東 ");
    screen.leave(ESC, &env).expect(0);
}

#[test]
fn documents_cannot_control_the_terminal() {
    let env = TestEnv::new();
    let bad = "# Red \u{1b}]0;owned\u{7} herring\n\nred \u{1b}[2J\u{9b}31m\u{202e} herring\n";
    env.write("docs/red \u{1b}[31m.md", bad);
    env.ok(&["add", "docs"]);
    let mut screen = Screen::start(&env, &["find", "herring"], 110, 30);
    // Other control sequences than those of kb end the test, see `screen`.
    screen.see("red \u{fffd}[2J");
    screen.keys(&ctrl('s')).see("› ");
    let output = screen.leave(&ctrl('c'), &env);
    assert!(!output.stderr.contains("]0;owned\u{7}"));
    assert_eq!(output.status, 0);
}

#[test]
fn the_editor_opens_the_place_and_the_screen_comes_back() {
    let mut env = TestEnv::with_corpus();
    // It waits for a key, so that what is shown before it can be seen.
    let editor = env.write("bin/vi", "#!/bin/sh\necho \"$@\" > \"$HOME/opened\"\nread -r line\n");
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    env.set("EDITOR", "vi");
    let mut screen = Screen::start(&env, &["find", "--type", "markdown", "frozen gauge"], 110, 30);
    screen.see("passage");
    screen.keys(ENTER);
    screen.see("Opening ");
    screen.keys(ENTER).see("› frozen gauge");
    screen.keys(" pipe").see("› frozen gauge pipe");
    screen.leave(ESC, &env).expect(0);
    let opened = fs::read_to_string(env.path("opened")).unwrap();
    let line = opened.strip_prefix('+').and_then(|rest| rest.split_once(' ')).unwrap();
    assert!(line.0.parse::<u32>().is_ok() && line.1.trim_end().ends_with(".md"), "{opened}");
}

#[test]
fn a_hit_leads_to_its_outline_its_section_and_what_is_similar() {
    let env = TestEnv::with_corpus();
    let args = ["find", "--type", "markdown", "frozen gauge"];
    let mut screen = Screen::start(&env, &args, 110, 30);
    screen.see("passage");
    screen.keys(&ctrl('o')).see("outline of ");
    screen.keys(DOWN).see("│ ");
    screen.keys(ESC).see("passage");
    screen.keys(&ctrl('s')).see("PgDn scroll");
    screen.keys(ESC).see("passage");
    screen.keys(&ctrl('r')).see("similar to ");
    screen.keys(ESC).see("passage");
    screen.keys(&ctrl('g')).see("copy its citation");
    screen.keys("q");
    screen.keys(&ctrl('y')).see("copied");
    let output = screen.leave(&ctrl('c'), &env);
    assert!(output.stderr.contains("\u{1b}]52;c;"));
}

#[test]
fn without_colours_matches_are_underlined() {
    let mut env = TestEnv::with_corpus();
    env.set("NO_COLOR", "1");
    let mut screen = Screen::start(&env, &["find", "gauge"], 110, 30);
    screen.see("passage");
    let output = screen.leave(ESC, &env);
    let colours = ["[0;1;31m", "[0;32m", "[0;36m", "[0;35m"];
    assert!(colours.iter().all(|colour| !output.stderr.contains(colour)));
    assert!(output.stderr.contains("[0;1;4m"));
}

#[test]
fn without_a_model_keywords_are_searched_and_the_reason_is_shown() {
    let env = TestEnv::without_model();
    env.install_sample();
    let mut screen = Screen::start(&env, &["find", "gauge"], 110, 30);
    let shown = screen.see("kb init");
    assert!(shown.contains("passage"), "{shown}");
    screen.keys("\t").see("keywords only");
    screen.wait("no message", |shown| shown.contains("passage") && !shown.contains("kb init"));
    screen.leave(ESC, &env).expect(0);
}

#[test]
fn it_needs_a_terminal() {
    let env = TestEnv::with_corpus();
    let output = env.kb(&["find", "gauge"]).expect(1);
    assert!(output.stderr.contains("needs a terminal") && output.stderr.contains("kb search"));
    let output = env.kb(&["find", "--print", "gauge"]).expect(1);
    assert_eq!(output.stdout, "");
}

#[test]
fn kb_alone_finds_or_says_what_to_type_first() {
    let env = TestEnv::new();
    let output = terminal::run(&env, &[], "", true);
    let lines: Vec<&str> = output.stderr.lines().collect();
    assert_eq!((output.status, lines.len()), (0, 7), "{}", output.stderr);
    assert_eq!(lines[1], "Nothing has been added yet. `kb add DIRECTORY` adds documents.");
    assert!(lines[3].trim_start().starts_with("kb add"), "{}", output.stderr);

    env.install_sample();
    let data_dir = env.path(".kb");
    for args in [&[][..], &["--data-dir", data_dir.to_str().unwrap()]] {
        let mut screen = Screen::of(env.command(args), 80, 24, true);
        screen.see("Type to search");
        screen.leave(ESC, &env).expect(0);
    }

    // Without a terminal, it is the help.
    let output = env.kb::<&str>(&[]).expect(1);
    assert!(output.stderr.contains("Usage:") && output.stdout.is_empty());
    let output = terminal::run(&env, &[], "", false);
    assert!(output.stderr.contains("Usage:") && output.stdout.is_empty());
}

#[test]
fn the_default_format_may_depend_on_who_reads() {
    let mut env = TestEnv::with_corpus();
    env.set("KB_DEFAULT_FORMAT", "auto");
    let args = ["search", "gauge", "--fts-only", "--no-pager"];
    let output = terminal::run(&env, &args, "", true);
    assert!(output.stderr.contains("Search: \"gauge\""), "{}", output.stderr);
    let output = env.ok(&args);
    schema::check("search", &output.json());
}
