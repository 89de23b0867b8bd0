//! Tests printed text that comes from outside: it does not control the terminal, its names can be
//! used, its bytes are kept.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use kb_base::text::printable::is_harmful;
use serde_json::Value;

use crate::env::TestEnv;
use crate::left_out::left_out;
use crate::outputs;
use crate::terminal;
use crate::word_model::word_env;

/// Texts with everything that a terminal obeys, that reorders text or that hides it, one of each
/// kind.
const HOSTILE: [&str; 3] = [
    "a\u{1b}]0;owned\u{7}\u{1b}[2J\u{8}\u{b}\u{c}\re",
    "a\u{9b}31m\u{9d}0;owned\u{9c}\u{85}\u{7f}e",
    "a\u{202e}\u{2066}\u{200e}\u{200f}\u{61c}\u{2028}\u{2029}\u{e0041}\u{e007f}e",
];

/// The sequences that kb paints with; none is in `HOSTILE`.
const COLOURS: &[&str] = &["0", "1", "2", "1;4", "32", "36", "35", "33", "1;31"];

/// The sequences that it also uses for bars.
const BAR_COLOURS: &[&str] = &["38;5;8"];

/// Makes a knowledge base and a skill in which every text is hostile.
fn hostile_env() -> TestEnv {
    let env = word_env();
    let all = HOSTILE.concat();
    let yaml: String =
        HOSTILE[..2].concat().chars().map(|c| format!("\\x{:02x}", c as u32)).collect();
    env.write(
        "docs/page.md",
        format!("---\ntitle: \"{yaml}\"\nauthor: \"{yaml}\"\ntags: [\"{yaml}\"]\n---\n# Head {all}\n\nstorm {all} rope\n"),
    );
    env.write(&format!("docs/{all}.md"), format!("# {all}\n\nstorm anchor\n"));
    env.write("docs/code.py", format!("def storm():\n    '''{all}'''\n    return 1\n"));
    env.ok(&["add", "docs", "--tags", &all]);
    env.ok(&["add", "--note", &format!("storm {all}"), "--title", &all, "--tags", &all]);
    // Text that an import could have brought.
    let db = rusqlite::Connection::open(env.database()).unwrap();
    let changed = db.execute(
        "UPDATE documents SET created_at = ?1, updated_at = ?1, language = ?1 WHERE id > 3",
        [&all],
    );
    assert_eq!(changed.unwrap(), 4);
    drop(db);
    env.write(
        ".skillc/skills/evil/SKILL.md",
        format!("---\nname: evil\ndescription: \"{yaml}\"\n---\n# Evil\n\nstorm\n\n## Head {all}\n\nstorm {all}\n"),
    );
    env.write(&format!(".skillc/skills/evil/refs/{all}.md"), format!("# {all}\n\nstorm\n"));
    env.ok(&["skill", "build", "evil"]);
    env.write(&format!("broken/{all}.pdf"), "%PDF-1.7\n");
    env.write(&format!("broken/{all}.md"), b"storm\0\0\0");
    env
}

/// Commands that print stored text; a format is appended to each.
const COMMANDS: &[&[&str]] = &[
    &["list"],
    &["list", "--type=code"],
    &["info", "4"],
    &["info", "5"],
    &["info", "6"],
    &["outline", "4"],
    &["outline", "5"],
    &["show", "4"],
    &["show", "7"],
    &["open", "4"],
    &["open", "4", "--max-lines=6"],
    &["open", "7"],
    &["tags"],
    &["search", "storm", "--fts-only"],
    &["search", "storm", "--fts-only", "--explain"],
    &["search", "storm", "--fts-only", "--budget=900"],
    &["search", "storm", "--vec-only", "--copies"],
    &["why", "storm", "4"],
    &["grep", "storm", "-C1"],
    &["similar", "4"],
    &["status", "--scan"],
    &["init", "--status"],
    &["doctor"],
    &["config"],
    &["cache"],
    &["update", "--dry-run"],
    &["add", "broken"],
    &["add", "broken", "docs", "-v"],
    &["remove", "4"],
    &["backup", "copy.db", "--force"],
    &["backup", "copy.db", "--verify"],
    &["skill", "list"],
    &["skill", "list", "--verbose"],
    &["skill", "build", "evil"],
    &["skill", "outline", "evil"],
    &["skill", "search", "evil", "storm"],
    &["skill", "show", "evil", "--section=Evil"],
    &["skill", "open", "evil", "SKILL.md"],
    &["skill", "sources", "evil"],
    &["skill", "lint", "evil", "--force"],
    &["skill", "stats", "evil"],
    &["skill", "stats", "evil", "--group-by=sections"],
    &["skill", "stats", "evil", "--group-by=errors"],
    &["skill", "stats", "evil", "--group-by=search"],
];

/// Commands with a hostile argument instead of `{}`.
const ARGUMENTS: &[&[&str]] = &[
    &["info", "{}"],
    &["outline", "{}"],
    &["show", "{}"],
    &["show", "4", "--section={}"],
    &["open", "{}"],
    &["grep", "{}"],
    &["grep", "storm", "--path={}"],
    &["similar", "{}"],
    &["why", "{}", "4"],
    &["search", "{}", "--fts-only"],
    &["search", "storm", "--tags={}", "--fts-only"],
    &["search", "storm", "--path={}", "--fts-only"],
    &["search", "storm", "--language={}"],
    &["search", "storm", "--top={}"],
    &["search", "--{}"],
    &["remove", "{}", "--yes"],
    &["tag", "{}", "--add=x"],
    &["tag", "4", "--add={}"],
    &["list", "--since={}"],
    &["add", "{}"],
    &["import", "{}"],
    &["backup", "--verify", "{}"],
    &["schema", "{}"],
    &["help", "{}"],
    &["config", "set", "{}", "1"],
    &["config", "set", "search.default_top", "{}"],
    &["reindex", "--model={}"],
    &["eval", "{}"],
    &["--data-dir={}", "status"],
    &["{}"],
    &["skill", "show", "{}", "--section=x"],
    &["skill", "show", "evil", "--section={}"],
    &["skill", "open", "evil", "{}"],
    &["skill", "search", "evil", "{}"],
    &["skill", "build", "{}"],
    &["skill", "init", "{}"],
    &["skill", "stats", "evil", "--since={}"],
    &["skill", "{}"],
];

/// Commands that answer with the bytes of a file, which are cleaned only on a terminal.
fn is_verbatim(args: &[String]) -> bool {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let is_human = !words.contains(&"--format=json");
    is_human && matches!(words.as_slice(), ["open", ..] | ["skill", "open" | "show", ..])
}

/// Where text was printed, which decides what sequences of kb's it may contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Pipe,
    Terminal,
    /// A terminal on which a bar is drawn.
    TerminalWithBar,
}

/// Returns the first character that is harmful where it was printed, with the text around it.
fn raw(text: &str, place: Place) -> Option<String> {
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| is_harmful(c) && !matches!(c, '\n' | '\t')) {
        let found = &rest[at..];
        match own_sequence(found, place) {
            Some(len) => rest = &found[len..],
            None => return Some(format!("{:?}", found.chars().take(40).collect::<String>())),
        }
    }
    None
}

/// Returns the length of a sequence that kb itself sends to a terminal (a colour, the end of a
/// link, a cursor movement next to a bar), or that the terminal makes of a line end.
fn own_sequence(text: &str, place: Place) -> Option<usize> {
    let has_bar = place == Place::TerminalWithBar;
    if place == Place::Pipe {
        return None;
    }
    if text.starts_with("\r\n") || has_bar && text.starts_with('\r') {
        return Some(1);
    }
    if let Some(link) = text.strip_prefix("\u{1b}]8;;") {
        let (target, _) = link.split_once("\u{1b}\\")?;
        let is_ours = target.is_empty() || target.starts_with("file:///");
        let is_clean = target.bytes().all(|byte| byte.is_ascii_graphic());
        return (is_ours && is_clean).then(|| "\u{1b}]8;;\u{1b}\\".len() + target.len());
    }
    let code = text.strip_prefix("\u{1b}[")?;
    let end = code.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    let (code, letter) = (&code[..end], &code[end..=end]);
    let is_ours = match letter {
        "m" => COLOURS.contains(&code) || has_bar && BAR_COLOURS.contains(&code),
        "J" => has_bar && code.is_empty(),
        letter => has_bar && letter == "A",
    };
    is_ours.then(|| "\u{1b}[m".len() + code.len())
}

/// A command line, and what is typed while it runs.
type Run = (Vec<String>, &'static str);

/// Counts the commands that were run.
#[derive(Default)]
struct Tally {
    num_runs: AtomicUsize,
    num_on_terminal: AtomicUsize,
}

impl Tally {
    /// Runs a command in a pipe and on a terminal, and returns where raw characters came out.
    fn run(&self, env: &TestEnv, (args, typed): &Run) -> Vec<String> {
        let mut broken = Vec::new();
        let output = env.kb(args);
        let stdout = if is_verbatim(args) { "" } else { &output.stdout };
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        let has_bar = ["add", "reindex"].contains(&words[0]);
        let place = if has_bar { Place::TerminalWithBar } else { Place::Terminal };
        let shown = terminal::run(env, &words, typed, true);
        for (name, text, place) in [
            ("stdout", stdout, Place::Pipe),
            ("stderr", &output.stderr, Place::Pipe),
            ("pty", &shown.stderr, place),
        ] {
            broken.extend(raw(text, place).map(|found| format!("{args:?}, {name}: {found}")));
        }
        for status in [output.status, shown.status] {
            assert!(status <= 2, "{args:?}: {status}: {}", output.text());
        }
        self.num_runs.fetch_add(2, Ordering::Relaxed);
        self.num_on_terminal.fetch_add(1, Ordering::Relaxed);
        broken
    }
}

/// Returns every command line: each command in both formats, each argument with each kind of text.
fn runs() -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for format in ["--format=human", "--format=json"] {
        for args in COMMANDS {
            let args = args.iter().copied().chain([format]);
            runs.push((args.map(str::to_owned).collect(), "n\n"));
        }
        let is_other = |line: &Vec<String>| COMMANDS.iter().all(|args| args[0] != line[0]);
        for line in outputs::simple_lines().into_iter().filter(is_other) {
            runs.push((line.into_iter().chain([format.to_owned()]).collect(), "n\n"));
        }
        for (args, hostile) in ARGUMENTS.iter().flat_map(|args| HOSTILE.map(|text| (args, text))) {
            let args = args.iter().map(|arg| arg.replace("{}", hostile));
            runs.push((args.chain([format.to_owned()]).collect(), ""));
        }
    }
    for format in ["jsonl", "paths", "md"] {
        let args = ["search", "storm", "--fts-only", "--format", format];
        runs.push((args.map(str::to_owned).into(), ""));
    }
    for args in [&["export"][..], &["export", "-q"], &["export", "--log-file=kb.log", "-vv"]] {
        runs.push((args.iter().copied().map(str::to_owned).collect(), ""));
    }
    runs
}

#[test]
#[expect(clippy::print_stdout, reason = "with --nocapture it counts for docs/reliability.md")]
fn no_text_from_outside_controls_a_terminal() {
    let (env, runs) = (hostile_env(), runs());
    let tally = Tally::default();
    // Each half has a separate home: writers would wait for each other.
    let (first, second) = runs.split_at(runs.len() / 2);
    let broken: Vec<String> = thread::scope(|scope| {
        let other = scope.spawn(|| {
            let env = hostile_env();
            second.iter().flat_map(|run| tally.run(&env, run)).collect::<Vec<_>>()
        });
        let mut broken: Vec<String> = first.iter().flat_map(|run| tally.run(&env, run)).collect();
        broken.extend(other.join().unwrap());
        broken
    });
    let (num_runs, num_on_terminal) =
        (tally.num_runs.into_inner(), tally.num_on_terminal.into_inner());
    println!(
        "terminal injection: {num_runs} runs, {num_on_terminal} of them on a pty, {} raw",
        broken.len()
    );
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(num_on_terminal >= 240, "{num_on_terminal}");
}

#[test]
fn shell_completions_are_clean() {
    let env = hostile_env();
    for words in [&["show", ""][..], &["list", "--tags", ""], &["skill", "open", ""]] {
        let index = words.len().to_string();
        let variables =
            [("KB_COMPLETE", "zsh"), ("_CLAP_COMPLETE_INDEX", &index), ("_CLAP_IFS", "\n")];
        let output = env.kb_with(&variables, &[&["--", "kb"], words].concat()).expect(0);
        assert!(!output.stdout.is_empty(), "{words:?}");
        assert_eq!(raw(&output.stdout, Place::Pipe), None, "{words:?}");
    }
}

#[test]
fn values_in_json_are_those_of_the_documents() {
    let env = hostile_env();
    let all = HOSTILE.concat();
    let note = env.json(&["info", "7", "--format=json"]);
    assert_eq!(note["title"], all.trim());
    let listed = env.json(&["list", "--format=json"]);
    let path = env.path(format!("docs/{all}.md"));
    let paths: BTreeSet<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|document| document["path"].as_str())
        .collect();
    assert!(paths.contains(path.to_str().unwrap()), "{paths:?}");
    let unknown = format!("{all}, which is unknown");
    let error = env.kb(&["info", &unknown, "--format=json"]).expect(1).json_error();
    assert!(error["error"].as_str().unwrap().contains(&unknown), "{error}");
}

/// Returns names that are odd but legal; the last is not UTF-8.
fn odd_names() -> Vec<OsString> {
    let names = [
        "plain.md",
        "two  spaces.md",
        " lead.md",
        "nbsp\u{a0}x.md",
        "Screenshot\u{202f}PM.md",
        "tab\tx.md",
        "line\nx.md",
        "escape\u{1b}[31m.md",
        "bidi\u{202e}x.md",
        "mark\u{200f}x.md",
        "tag\u{e0041}.md",
        "para\u{2029}.md",
        "don't.md",
        "say \"x\".md",
        "don't \"x\".md",
        "back\\slash.md",
        "\\x41.md",
        "-dash.md",
        "--help.md",
        "#hash.md",
        "~home.md",
        "a$HOME`id`.md",
        "star*?[a].md",
        "semi;colon&.md",
        "brace{}.md",
        "c1\u{9b}x.md",
        "Größe 東京.md",
        "!bang.md",
        "end'.md",
        "a:12.md",
        "cr\r.md",
        "(1).md",
        "a=b.md",
        "^x|y.md",
        "<x>.md",
    ];
    let mut names: Vec<OsString> = names.map(OsString::from).into();
    names.push(OsString::from_vec(b"caf\xe9 x.md".to_vec()));
    names
}

/// Makes a folder of files with odd names, all about a storm, and adds it.
fn odd_env() -> (TestEnv, Vec<PathBuf>) {
    let env = word_env();
    let mut paths = Vec::new();
    for (number, name) in odd_names().iter().enumerate() {
        let path = env.path("odd").join(name);
        fs::create_dir_all(env.path("odd")).unwrap();
        fs::write(&path, format!("# Number {number}\n\nstorm {number}\n")).unwrap();
        paths.push(path);
    }
    env.ok(&["add", "odd"]);
    (env, paths)
}

/// Runs a shell script and returns what it printed.
fn shell(script: &str) -> Vec<u8> {
    let output = Command::new("bash").args(["-c", script]).output().expect("there is bash");
    assert!(output.status.success(), "{script}");
    output.stdout
}

#[test]
fn every_printed_path_names_its_file() {
    let (env, paths) = odd_env();
    let args = ["search", "storm", "--fts-only", "--top=99", "--copies", "--format=paths"];
    let printed = env.ok(&args).stdout;
    let mut named = BTreeSet::new();
    for line in printed.lines() {
        let (word, number) = line.rsplit_once(':').unwrap();
        assert!(number.parse::<u32>().is_ok(), "{line}");
        let path = shell(&format!("eval \"printf %s $(cat <<'END'\n{word}\nEND\n)\""));
        let path = PathBuf::from(OsString::from_vec(path));
        assert!(path.is_file(), "{line} is no file: {path:?}");
        named.insert(path);
    }
    assert_eq!(named, paths.iter().cloned().collect());

    // Each exactly once.
    let null = env.command(&[&args[..], &["-0"]].concat()).output().unwrap();
    assert!(null.status.success());
    let mut bare: Vec<&[u8]> = null.stdout.split(|byte| *byte == 0).collect();
    assert_eq!(bare.pop(), Some(&b""[..]));
    assert_eq!(bare.len(), paths.len());
    let bare: BTreeSet<PathBuf> =
        bare.iter().map(|bytes| OsStr::from_bytes(bytes).into()).collect();
    assert_eq!(bare, paths.iter().cloned().collect());
    let error = env.kb(&["search", "storm", "-0", "--format=human"]).expect(1);
    assert!(
        error.stderr.starts_with("error: `--null` needs `--format paths`\n"),
        "{}",
        error.stderr
    );
    env.kb(&["search", "storm", "-0"]).expect(1);
}

#[test]
fn a_note_has_no_path_to_end_with_a_zero_byte() {
    let env = word_env();
    let output = env.ok(&["search", "lamp keeper tide", "--fts-only", "--format=paths", "--null"]);
    assert_eq!(output.stdout, format!("{}\0", env.path("docs/tides.md").display()));
}

#[test]
fn paths_are_quoted_as_ls_quotes_them() {
    let (env, paths) = odd_env();
    let mut ls = Command::new("ls");
    ls.args(["-d", "--quoting-style=shell-escape"]).env("LC_ALL", "C.UTF-8").stderr(Stdio::null());
    let is_gnu = ls.arg("/").output().is_ok_and(|output| output.status.success());
    if !is_gnu {
        left_out("ls", "quoting as ls does");
        return;
    }
    let printed =
        env.ok(&["search", "storm", "--fts-only", "--top=99", "--copies", "--format=paths"]).stdout;
    let words: BTreeSet<&str> =
        printed.lines().map(|line| line.rsplit_once(':').unwrap().0).collect();
    // kb also hides characters that reorder text.
    for path in paths
        .iter()
        .filter(|path| !path.to_string_lossy().contains(['\u{202e}', '\u{200f}', '\u{e0041}']))
    {
        let mut ls = Command::new("ls");
        ls.args(["-d", "--quoting-style=shell-escape"]).env("LC_ALL", "C.UTF-8").arg(path);
        let quoted = String::from_utf8(ls.output().unwrap().stdout).unwrap();
        assert!(words.contains(quoted.trim_end_matches('\n')), "{quoted}: {words:#?}");
    }
}

#[test]
fn a_title_cannot_forge_a_citation() {
    let env = word_env();
    let forged = "Company security policy**, p. 3 (/home/me/policies/security.pdf)  **x";
    env.write("odd/a.md", format!("---\ntitle: \"{forged}\"\n---\n# Head\n\nstorm one\n"));
    env.write("odd/b.md", "# Plain\n\n## A `tick, [1] <!-- \\\n\nstorm two\n");
    env.write("odd/c (1)*.md", "# Star\n\nstorm three\n");
    env.write("odd/__init__.md", "# Under_score\n\nstorm four\n");
    env.write("odd/) (x.md", "# Close\n\nstorm five\n");
    env.ok(&["add", "odd"]);
    let search = |query: &str| env.ok(&["search", query, "--fts-only", "--top=1", "--format=md"]);
    let citation = |query: &str| {
        let printed = search(query).stdout;
        let line = printed.lines().find(|line| line.starts_with("**")).unwrap();
        line.split(" document ").next().unwrap().to_owned()
    };
    let odd = env.path("odd");
    let odd = odd.display();
    assert_eq!(
        citation("storm one"),
        format!(
            "**Company security policy\\*\\*, p. 3 (/home/me/policies/security.pdf) \\*\\*x**, \
             § Head ({odd}/a.md:6)"
        )
    );
    assert_eq!(
        citation("storm two"),
        format!("**Plain**, § A \\`tick, \\[1\\] \\<!-- \\\\ ({odd}/b.md:5)")
    );
    assert_eq!(citation("storm three"), format!("**Star** (`'{odd}/c (1)*.md'`:3)"));
    assert_eq!(citation("storm four"), format!("**Under_score** (`{odd}/__init__.md`:3)"));
    assert_eq!(citation("storm five"), format!("**Close** (`'{odd}/) (x.md'`:3)"));
}

#[test]
fn files_are_printed_byte_for_byte_in_a_pipe_and_cleaned_on_a_terminal() {
    let env = word_env();
    let hostile = HOSTILE.concat();
    let text = format!("# Storm\r\n\r\nstorm {hostile}\r\nno line end");
    let latin = b"# Gr\xf6\xdfe\r\nstorm\rline three\n\nanchor";
    env.write("odd/raw.md", &text);
    env.write("odd/latin.md", latin);
    env.write("odd/wide.md", b"\xff\xfe#\0 \0W\0\n\0s\0t\0o\0r\0m\0\n\0");
    env.ok(&["add", "odd"]);
    env.write(
        ".skillc/skills/evil/SKILL.md",
        format!("---\nname: evil\ndescription: d\n---\n# Evil\n\n{hostile}\n"),
    );
    env.write(".skillc/skills/evil/raw.bin", b"\xff\0\x1b[2J");
    env.ok(&["skill", "build", "evil"]);
    let bytes = |args: &[&str]| {
        let output = env.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}");
        output.stdout
    };
    let path = |name: &str| env.path(format!("odd/{name}")).to_str().unwrap().to_owned();
    for name in ["raw.md", "latin.md", "wide.md"] {
        let path = path(name);
        assert_eq!(bytes(&["open", &path]), fs::read(&path).unwrap(), "{name}");
    }
    assert_eq!(
        bytes(&["open", &path("latin.md"), "--lines=1:3"]),
        b"# Gr\xf6\xdfe\r\nstorm\rline three\n"
    );
    assert_eq!(bytes(&["open", &path("latin.md"), "--lines=5:5"]), b"anchor");
    assert_eq!(
        bytes(&["open", &path("latin.md"), "--max-lines=1"]),
        b"# Gr\xf6\xdfe\r\n... (4 more lines)\n"
    );
    assert_eq!(bytes(&["open", &path("wide.md"), "--lines=2:2"]), b"storm\n");
    let section = format!("# Evil\n\n{hostile}\n");
    assert_eq!(bytes(&["skill", "show", "evil", "--section=Evil"]), section.as_bytes());
    assert_eq!(bytes(&["skill", "open", "evil", "raw.bin"]), b"\xff\0\x1b[2J");

    let shown = |args: &[&str]| terminal::run(&env, args, "", true).expect(0).stderr;
    assert_eq!(shown(&["skill", "open", "evil", "raw.bin"]), "\u{fffd}\u{fffd}\u{fffd}[2J");
    let page = shown(&["open", &path("raw.md")]);
    assert!(page.starts_with("# Storm\r\n\r\nstorm a\u{fffd}]0;owned"), "{page:?}");
    assert!(page.ends_with("no line end"), "{page:?}");
    for args in
        [&["open", path("raw.md").as_str()][..], &["skill", "show", "evil", "--section=Evil"]]
    {
        assert_eq!(raw(&shown(args), Place::Terminal), None);
    }
    let json: Value = env.json(&["skill", "show", "evil", "--section=Evil", "--format=json"]);
    assert_eq!(json["text"], section);
}
