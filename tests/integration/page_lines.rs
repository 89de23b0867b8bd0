//! Finds the command lines of pages: in shell blocks, in code within prose, and in the help that
//! the program prints.

use std::fs;
use std::ops::Range;
use std::path::Path;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::env::TestEnv;

/// Pages besides those of the folder `docs`.
const PAGES: [&str; 6] =
    ["README.md", "SKILL.md", "THREATS.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/// The settings file, whose comments are prose.
const SETTINGS: &str = "config.example.yaml";

/// What surrounds the only table whose lines another test runs: it makes the table.
const MADE_TABLE: [&str; 2] = ["<!-- table: bad input -->", "<!-- end of bad input -->"];

/// A command line of a page.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    /// What is typed, without a prompt or a comment, on one line.
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

/// Returns the command lines of all pages and of the program's help, in order.
pub(crate) fn all() -> Vec<Line> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    let mut names: Vec<String> = PAGES.map(str::to_owned).to_vec();
    let mut docs: Vec<String> = fs::read_dir(root.join("docs"))
        .unwrap()
        .map(|entry| format!("docs/{}", entry.unwrap().file_name().into_string().unwrap()))
        .filter(|name| name.ends_with(".md"))
        .collect();
    docs.sort();
    names.extend(docs);
    let mut lines: Vec<Line> = names.iter().flat_map(|name| in_page(name, &text(name))).collect();
    let comments: Vec<String> = text(SETTINGS).lines().map(comment).collect();
    lines.extend(in_prose(SETTINGS, &comments.join("\n")));
    lines.extend(helps().iter().flat_map(|(name, help)| in_help(name, help)));
    lines
}

/// Returns the command lines of a page in Markdown.
pub(crate) fn in_page(name: &str, page: &str) -> Vec<Line> {
    let page = without_made_table(page);
    let mut lines = Vec::new();
    let mut add = |typed: &str, at: usize, is_in_block: bool| {
        let number = page[..at].matches('\n').count() + 1;
        lines.push(Line {
            typed: typed.to_owned(),
            place: format!("{name}:{number}"),
            is_in_block,
        });
    };
    let mut fence: Option<String> = None;
    for (event, Range { start, .. }) in
        Parser::new_ext(&page, Options::ENABLE_TABLES).into_offset_iter()
    {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                fence = Some(match kind {
                    CodeBlockKind::Fenced(language) => language.to_string(),
                    CodeBlockKind::Indented => String::new(),
                });
            }
            Event::End(TagEnd::CodeBlock) => fence = None,
            Event::Text(text) => {
                let Some(language) = &fence else { continue };
                let mut at = start;
                for line in text.split_inclusive('\n') {
                    if let Some(typed) = in_block(line, language == "sh") {
                        add(typed, at, true);
                    }
                    at += line.len();
                }
            }
            Event::Code(code) if is_command(&code) => add(&code, start, false),
            _ => {}
        }
    }
    lines
}

/// Returns what is typed in a line of a code block: the line itself in a block for the shell, and
/// what follows the prompt in a block that shows output.
fn in_block(line: &str, is_shell: bool) -> Option<&str> {
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
fn is_command(code: &str) -> bool {
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
