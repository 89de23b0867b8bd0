//! Checks that every option in the pages, with its value, is accepted by a command that the page
//! names next to it.

use std::collections::{BTreeMap, BTreeSet};

use crate::command_lines::INCOMPLETE;
use crate::docs::in_shell;
use crate::env::TestEnv;
use crate::line_table::Table;
use crate::page_lines::{Code, code_of, in_block, is_command, pages};

/// An option as a page writes it.
struct PageOption {
    /// With its value, if the page gives one.
    typed: String,
    place: String,
    /// The commands it may belong to, the nearest first.
    commands: Vec<String>,
}

/// The answers of the commands so far.
struct Commands {
    env: TestEnv,
    /// The options of each command, as its help lists them.
    options: BTreeMap<String, BTreeSet<String>>,
    /// Why a line was refused.
    refusals: BTreeMap<String, Option<String>>,
}

impl Commands {
    /// Returns why a command refuses an option.
    fn refusal(&mut self, table: &Table, command: &str, option: &str) -> Option<String> {
        let Self { env, options, refusals } = self;
        let known = options.entry(command.to_owned()).or_insert_with(|| {
            options_in(&in_shell(env, &format!("{command} --help")).expect(0).stdout)
        });
        let name = option.split([' ', '=']).next().unwrap();
        let is_known = match name.strip_prefix("--") {
            Some(_) => known.contains(name),
            None => name.chars().skip(1).all(|letter| known.contains(&format!("-{letter}"))),
        };
        if !is_known {
            return Some(format!("`{command}` has no option {name}"));
        }
        if name == option {
            return None;
        }
        let typed = table.filled(&format!("{command} {option} --help")).remove(0);
        refusals.entry(typed).or_insert_with_key(|typed| refusal_of(env, typed)).clone()
    }
}

/// Returns the options that a help lists, short and long.
fn options_in(help: &str) -> BTreeSet<String> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let heads = lines.map(|line| line.split("  ").next().unwrap());
    let words = heads.flat_map(|head| head.split([' ', ',', '[', '.']));
    words.filter(|word| is_option(word)).map(str::to_owned).collect()
}

/// Asks for the help of a command after an option, and returns why the option is refused. Nothing is
/// done, but the option and its value are read first.
fn refusal_of(env: &TestEnv, typed: &str) -> Option<String> {
    let output = in_shell(env, typed);
    let text = output.text();
    let is_incomplete = INCOMPLETE.iter().any(|words| text.contains(words));
    (output.status != 0 && !is_incomplete).then(|| format!("`{typed}`: {}", output.stderr.trim()))
}

#[test]
fn every_option_in_the_pages_belongs_to_a_command_that_they_name() {
    let table = Table::read();
    let env = TestEnv::without_model();
    let mut commands = Commands { env, options: BTreeMap::new(), refusals: BTreeMap::new() };
    let mut failures = Vec::new();
    let mut num_options = 0;
    for (name, page) in pages() {
        for option in options_of(&name, &page) {
            num_options += 1;
            let own = option.commands.iter().chain(table.also_about(&name)).map(String::as_str);
            let own: Vec<&str> = own.chain(["kb"]).collect();
            let refusals =
                own.iter().map(|command| commands.refusal(&table, command, &option.typed));
            let refusals: Vec<String> = refusals.map_while(|refusal| refusal).collect();
            if refusals.len() == own.len() && !table.is_of_others(&option.typed) {
                failures.push(format!("{}: `{}`: {}", option.place, option.typed, refusals[0]));
            }
        }
    }
    assert!(num_options > 300, "{num_options}");
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), failures.join("\n"));
}

/// Returns the options of a page: those between backticks, and those in comments of shell blocks.
///
/// In a comment, they belong to the command before it, in a row of a table to those that the row names
/// before them, and elsewhere to any command of the page.
fn options_of(name: &str, page: &str) -> Vec<PageOption> {
    let code = code_of(page);
    let command_of = |code: &Code| match &code.block {
        Some(language) => in_block(&code.text, language == "sh").map(command_words),
        None => is_command(&code.text).then(|| command_words(&code.text)),
    };
    let commands: Vec<Option<String>> = code.iter().map(command_of).collect();
    let mut found = Vec::new();
    for (at, span) in code.iter().enumerate() {
        let place = format!("{name}:{}", span.number);
        let mut add = |typed: &str, commands: Vec<String>| {
            found.push(PageOption { typed: typed.to_owned(), place: place.clone(), commands });
        };
        if span.block.is_some() {
            let comment = span.text.split_once(" #").map_or("", |(_, comment)| comment);
            for option in options_in_comment(comment) {
                add(&option, commands[at].iter().cloned().collect());
            }
        } else if is_option(&span.text) {
            let in_row = (0..at).rev().take_while(|index| code[*index].row == span.row);
            let mut near: Vec<String> = in_row
                .filter(|_| span.row.is_some())
                .filter_map(|index| commands[index].clone())
                .collect();
            if near.is_empty() {
                let all = (0..at).rev().chain(at..code.len());
                near = all.filter_map(|index| commands[index].clone()).collect();
            }
            add(&span.text, near);
        }
    }
    found
}

/// Returns the names that a command line begins with.
fn command_words(line: &str) -> String {
    let line = &line[line.find("kb").unwrap_or(0)..];
    let is_name = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase());
    line.split(' ').take_while(is_name).take(LONGEST_COMMAND).collect::<Vec<_>>().join(" ")
}

/// Words of the longest command, such as `kb tags rename`.
const LONGEST_COMMAND: usize = 3;

/// Whether code is an option, and not a hyphen or the end of all options.
fn is_option(code: &str) -> bool {
    let name = code.strip_prefix("--").or_else(|| code.strip_prefix('-'));
    name.is_some_and(|name| name.starts_with(|letter: char| letter.is_ascii_alphanumeric()))
}

/// Returns the options in a comment, with the values that are placeholders, numbers or formats.
fn options_in_comment(comment: &str) -> Vec<String> {
    let comment = comment.split("kb ").next().unwrap();
    let words: Vec<&str> = comment.split(' ').collect();
    let plain = |word: &str| word.trim_end_matches([',', ';', ':']).to_owned();
    let is_value = |word: &str| {
        word.starts_with(|letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit())
            || ["json", "md"].contains(&plain(word).as_str())
    };
    let options = words.iter().enumerate().filter(|(_, word)| is_option(word));
    options
        .map(|(at, word)| match words.get(at + 1) {
            Some(value) if plain(word) == *word && is_value(value) => {
                format!("{word} {}", plain(value))
            }
            _ => plain(word),
        })
        .collect()
}
