//! Finds the command lines of pages: in shell blocks, in code within prose, and in the help that
//! the program prints.

use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::env::TestEnv;
use crate::source_lines;

/// Pages besides those of [`FOLDERS`].
const PAGES: [&str; 6] =
    ["README.md", "SKILL.md", "THREATS.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/// Folders whose pages are read.
const FOLDERS: [&str; 2] = ["docs", "references"];

/// The settings file, whose comments are prose.
const SETTINGS: &str = "config.example.yaml";

/// The recipe of the image, whose comments show how it is run.
const IMAGE: &str = "packaging/Containerfile";

/// Languages of blocks whose lines would not be found.
const OTHER_SHELLS: [&str; 5] = ["bash", "console", "shell", "shell-session", "zsh"];

/// The comments around the only table whose lines another test runs: that test makes the table.
const MADE_TABLE: [&str; 2] = ["<!-- table: bad input -->", "<!-- end of bad input -->"];

/// A command line of a page.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// The command as typed, without a prompt or a comment, on one line.
    pub(crate) typed: String,
    /// The page and, where it has one, the number of the line.
    pub(crate) place: String,
    /// Whether it is in a block of code, and not in prose.
    pub(crate) is_in_block: bool,
}

impl Line {
    /// The page's name.
    pub(crate) fn page(&self) -> &str {
        self.place.split(':').next().unwrap()
    }
}

/// Code of a page in Markdown.
pub(crate) struct Code {
    /// A span of code, or a line of a block.
    pub(crate) text: String,
    /// The number of its line, counted from 1.
    pub(crate) number: usize,
    /// The language of the block it is in; none in prose.
    pub(crate) block: Option<String>,
    /// Where the row of the table begins that it is in.
    pub(crate) row: Option<usize>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn file(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

/// Returns the names of the files in a folder that end so, in order.
pub(crate) fn names_in(folder: &str, end: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names = names.filter(|name| name.ends_with(end)).map(|name| format!("{folder}/{name}"));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Returns the names and texts of all pages in Markdown.
pub(crate) fn pages() -> Vec<(String, String)> {
    let below = FOLDERS.iter().flat_map(|folder| names_in(folder, ".md"));
    let names = PAGES.map(str::to_owned).into_iter().chain(below);
    let read = |name: String| {
        let text = file(&name);
        (name, text)
    };
    names.map(read).collect()
}

/// Returns the command lines of all pages and of the program's help, in order.
pub(crate) fn all() -> &'static [Line] {
    static LINES: OnceLock<Vec<Line>> = OnceLock::new();
    LINES.get_or_init(found)
}

fn found() -> Vec<Line> {
    let mut lines: Vec<Line> =
        pages().iter().flat_map(|(name, page)| in_page(name, page)).collect();
    let comments: Vec<String> = file(SETTINGS).lines().map(comment).collect();
    lines.extend(in_prose(SETTINGS, &comments.join("\n")));
    lines.extend(names_in("examples", "").iter().flat_map(|name| in_prose(name, &file(name))));
    lines.extend(in_image(&file(IMAGE)));
    lines.extend(source_lines::all());
    lines.extend(helps().iter().flat_map(|(name, help)| in_help(name, help)));
    lines
}

/// Returns the command lines of a page in Markdown.
pub(crate) fn in_page(name: &str, page: &str) -> Vec<Line> {
    let code = code_of(page);
    let lines = code.iter().filter_map(|code| {
        let language = code.block.as_deref().unwrap_or_default();
        assert!(!OTHER_SHELLS.contains(&language), "{name}: a block for the shell is marked `sh`");
        let typed = match &code.block {
            Some(language) => in_block(&code.text, language == "sh")?,
            None => is_command(&code.text).then_some(code.text.as_str())?,
        };
        let place = format!("{name}:{}", code.number);
        Some(Line { typed: typed.to_owned(), place, is_in_block: code.block.is_some() })
    });
    lines.collect()
}

/// Returns the code of a page in Markdown, in order.
pub(crate) fn code_of(page: &str) -> Vec<Code> {
    let page = without_made_table(page);
    let number = |at: usize| page[..at].matches('\n').count() + 1;
    let mut found = Vec::new();
    let (mut block, mut row) = (None, None);
    let events = Parser::new_ext(&page, Options::ENABLE_TABLES).into_offset_iter();
    for (event, Range { start, .. }) in events {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language))) => {
                block = Some(language.to_string());
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)) => block = Some(String::new()),
            Event::End(TagEnd::CodeBlock) => block = None,
            Event::Start(Tag::TableRow) => row = Some(start),
            Event::End(TagEnd::TableRow) => row = None,
            Event::Text(text) if block.is_some() => {
                let first = number(start);
                found.extend(text.lines().enumerate().map(|(at, line)| {
                    let (text, block) = (line.to_owned(), block.clone());
                    Code { text, number: first + at, block, row: None }
                }));
            }
            Event::Code(code) => {
                found.push(Code {
                    text: code.to_string(),
                    number: number(start),
                    block: None,
                    row,
                });
            }
            _ => {}
        }
    }
    found
}

/// Returns the typed part of a line of a code block: the line itself in a block for the shell, and
/// the text after the prompt in a block that shows output.
pub(crate) fn in_block(line: &str, is_shell: bool) -> Option<&str> {
    let line = line.trim_end();
    let typed = match line.strip_prefix("$ ") {
        Some(typed) => typed,
        None if is_shell => line,
        None => return None,
    };
    let typed = without_comment(typed);
    assert!(!typed.ends_with('\\'), "a command line is one line: {typed}");
    typed
        .split(|c: char| c.is_whitespace() || "(|&;".contains(c))
        .any(|word| word == "kb")
        .then_some(typed)
}

/// Whether code within prose is a command line, and not the bare name of the program.
pub(crate) fn is_command(code: &str) -> bool {
    let is_variable = |word: &&str| {
        word.split_once('=')
            .is_some_and(|(name, _)| name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'))
    };
    let mut words = code.split(' ').skip_while(is_variable);
    words.next() == Some("kb") && words.next().is_some()
}

fn without_comment(line: &str) -> &str {
    line.find(" #").map_or(line, |at| &line[..at]).trim_end()
}

/// Returns the text of a comment of a settings file.
fn comment(line: &str) -> String {
    line.split_once('#').map(|(_, text)| text.trim().to_owned()).unwrap_or_default()
}

/// Returns the command lines between backticks, which may be broken anywhere.
fn in_prose(name: &str, text: &str) -> Vec<Line> {
    let mut found = Vec::new();
    for paragraph in text.split("\n\n") {
        let joined = paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
        let spans = joined.split('`').skip(1).step_by(2);
        found.extend(spans.filter(|span| is_command(span)).map(|span| prose_line(name, span)));
    }
    found
}

/// Returns the command lines of the program's help: those between backticks, and lines that are
/// indented or have a label.
fn in_help(name: &str, help: &str) -> Vec<Line> {
    let mut lines = in_prose(name, help);
    for line in help.lines() {
        let is_label = |label: &str| label.bytes().all(|byte| byte.is_ascii_lowercase());
        let typed = match line.split_once(": ") {
            Some((label, rest)) if is_label(label) => Some(rest),
            _ => line.strip_prefix("  "),
        };
        let typed = typed.map_or("", |line| without_comment(line.trim_start()));
        if typed.starts_with("kb ") || typed.contains("(kb ") {
            lines.push(prose_line(name, typed));
        }
    }
    lines
}

/// Returns what kb gets from the lines that run the image called `kb`.
fn in_image(recipe: &str) -> Vec<Line> {
    let lines = recipe.lines().filter(|line| line.contains(" podman run "));
    let args = lines.map(|line| line.rsplit_once(" kb ").unwrap().1);
    args.map(|args| prose_line(IMAGE, &format!("kb {args}"))).collect()
}

fn prose_line(name: &str, typed: &str) -> Line {
    Line { typed: typed.to_owned(), place: name.to_owned(), is_in_block: false }
}

/// Returns the page without the lines that another test runs; the others keep their numbers.
fn without_made_table(page: &str) -> String {
    let [begin, end] = MADE_TABLE;
    let Some((before, rest)) = page.split_once(begin) else { return page.to_owned() };
    let (table, after) = rest.split_once(end).unwrap();
    [before, &"\n".repeat(table.matches('\n').count()), after].concat()
}

/// Returns the help of every command, without the usage, under what is typed to read it.
fn helps() -> Vec<(String, String)> {
    let env = TestEnv::without_model();
    env.ok(&["man", "--dir", "man"]);
    let pages = fs::read_dir(env.path("man")).unwrap();
    let mut names: Vec<String> =
        pages.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
        .iter()
        .map(|name| {
            // Only skill commands and a few others have two words, and no word has a hyphen.
            let words = name.strip_suffix(".1").unwrap().replace('-', " ");
            let args: Vec<&str> = words.split(' ').skip(1).chain(["--help"]).collect();
            let help = env.ok(&args).stdout;
            let is_usage =
                |line: &str| line.starts_with("Usage:") || line.starts_with("       kb ");
            let kept: Vec<&str> = help.lines().filter(|line| !is_usage(line)).collect();
            (format!("{words} --help"), kept.join("\n"))
        })
        .collect()
}
