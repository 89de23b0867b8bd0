//! Documents kb itself: the topics and commands of `kb help`, the grouped commands of `kb --help`, manual pages
//! and schemas.
//!
//! The topics are pages of the documentation.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::StyledStr;
use clap::{CommandFactory, Parser};
use clap_mangen::Man;

use crate::cli::args::{self, Cli, Command};
use crate::cli::exit::ExitStatus;
use crate::cli::{context, messages, streams};
use crate::error::{Error, Result};
use crate::files::{private, write};
use crate::present::schema::{self, PUBLISHED};
use crate::present::terminal::columns;
use crate::present::text::page;
use crate::text::json::Json;
use crate::wording::{kb, wording};

/// A help page about a topic rather than a command.
pub(super) struct Topic {
    pub(super) name: &'static str,
    /// In Markdown.
    page: &'static str,
    /// Printed unchanged below the page.
    appendix: &'static str,
}

pub(super) const TOPICS: &[Topic] = &[
    Topic { name: "query", page: include_str!("../../docs/query.md"), appendix: "" },
    Topic {
        name: "config",
        page: include_str!("../../docs/config.md"),
        appendix: include_str!("../../config.example.yaml"),
    },
    Topic { name: "limits", page: include_str!("../../docs/limits.md"), appendix: "" },
    Topic { name: "json", page: include_str!("../../docs/json.md"), appendix: "" },
    Topic { name: "exit", page: include_str!("../../docs/exit.md"), appendix: "" },
];

/// Options of any command that `-h` leaves out, so that its page fits on a screen of 24 lines. `--help` has all.
#[rustfmt::skip]
const UNCOMMON: &[&str] = &[
    "added-since", "around", "backups", "batch", "capability", "check-obsolete", "chunks", "context",
    "copies", "count", "exclude-tag", "explain", "export", "files-from", "follow", "force", "fresh", "from",
    "include-ignored", "keep-all", "language", "model", "null", "page-marks", "pages", "password",
    "pattern", "per-doc", "print", "query", "recent", "replace", "skills-root", "threshold", "until",
    "vec-only", "vectors", "word-regexp",
];

/// Most possible values that the page of `-h` lists.
const MAX_VALUES: usize = 3;

/// Columns of the titles of groups in the page of `kb -h`.
const TITLE: usize = 19;

/// Most columns of the lines with the names of commands in the page of `kb -h`.
const NAMES: usize = 80 - TITLE;

/// Returns what `-h` prints for the command that `args` name: the usual options and how to get all.
pub(super) fn short_page(args: &[OsString]) -> StyledStr {
    let mut command = Cli::command();
    command.build();
    let mut found = &mut command;
    let mut name = "kb".to_owned();
    for word in args.iter().skip(1).filter_map(|word| word.to_str()) {
        if found.find_subcommand(word).is_some() {
            name = format!("{name} {word}");
            found = found.find_subcommand_mut(word).expect("it was found");
        }
    }
    if name == "kb" {
        return root_page(true);
    }
    let short = found.clone().mut_args(|arg| {
        let is_uncommon = arg.get_long().is_some_and(|long| UNCOMMON.contains(&long));
        let is_hidden = arg.is_hide_set() || arg.is_global_set() || is_uncommon;
        let has_many = arg.get_possible_values().len() > MAX_VALUES;
        let hides_values = arg.is_hide_possible_values_set() || has_many;
        arg.hide(is_hidden).hide_possible_values(hides_values)
    });
    short.after_help(format!("`{name} --help` explains all options.")).render_help()
}

/// Returns what `kb --help` prints, or the short form of `kb -h`.
pub(super) fn root_page(is_short: bool) -> StyledStr {
    let mut command = Cli::command();
    let groups = groups(&command, is_short);
    let all = if is_short { "" } else { "{all-args}" };
    command = command
        .mut_subcommands(|command| command.hide(true))
        .override_usage("kb [OPTIONS] <COMMAND>")
        .help_template(format!(
            "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{groups}{all}{{after-help}}"
        ));
    command.render_help()
}

/// Returns the commands by group, each on a line, or in the short form each group.
fn groups(command: &clap::Command, is_short: bool) -> String {
    let header = command.get_styles().get_header();
    let name = command.get_styles().get_literal();
    let mut commands = command.get_subcommands();
    let mut groups = String::new();
    for (group, num_commands) in Command::GROUPS {
        if is_short {
            let names = commands.by_ref().take(*num_commands).map(clap::Command::get_name);
            let title = format!("{group}:");
            let line_end = if groups.is_empty() { "" } else { "\n" };
            groups += &format!("{line_end}{header}{title:<TITLE$}{header:#}{}", listed(names));
            continue;
        }
        groups += &format!("{header}{group}:{header:#}\n");
        for command in commands.by_ref().take(*num_commands) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            groups += &format!("  {name}{:<11}{name:#}  {about}\n", command.get_name());
        }
        groups += "\n";
    }
    groups
}

/// Lists names with commas between them, on lines of at most [`NAMES`] columns that begin below the first one.
fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names = names.collect::<Vec<_>>().join(", ");
    let lines: Vec<&str> = columns::wrap(&names, NAMES).map(|line| &names[line]).collect();
    lines.join(&format!("\n{:TITLE$}", ""))
}

pub(super) fn help(args: &args::Help) -> Result<ExitStatus> {
    if args.words.is_empty() {
        streams::text(|out| out.text(&root_page(false).to_string()))?;
        return Ok(ExitStatus::Success);
    }
    let topic = match args.words.as_slice() {
        [name] => TOPICS.iter().find(|topic| topic.name == name),
        _ => None,
    };
    match topic {
        Some(topic) => streams::text(|out| {
            page::plain(topic.page, context::width(), out)?;
            match topic.appendix {
                "" => Ok(()),
                text => write!(out, "\n{text}"),
            }
        })?,
        None => {
            let page = of_command(&args.words)?;
            streams::text(|out| out.text(&page))?;
        }
    }
    Ok(ExitStatus::Success)
}

/// Returns the help page of a command.
fn of_command(words: &[String]) -> Result<String> {
    let args = ["kb"].into_iter().chain(words.iter().map(String::as_str)).chain(["--help"]);
    let args: Vec<OsString> = args.map(OsString::from).collect();
    let mut command = Cli::command();
    command.build();
    let mut found = Some(&mut command);
    for word in words {
        found = found.and_then(|command| command.find_subcommand_mut(word));
    }
    if found.is_none() {
        let names: Vec<&str> = TOPICS.iter().map(|topic| topic.name).collect();
        return Err(Error::usage(format!("there is no topic or command `{}`", words.join(" ")))
            .with_hint(wording!(
                "the topics are {}; `{}` lists the commands",
                names.join(", "),
                kb("--help")
            )));
    }
    match Cli::try_parse_from(args) {
        Err(page) => Ok(page.render().to_string()),
        Ok(_) => Ok(String::new()),
    }
}

pub(super) fn man(args: &args::Man) -> Result<ExitStatus> {
    match &args.dir {
        Some(dir) => {
            private::create_output_folder(dir).map_err(|source| Error::of_file(dir, source))?;
            let mut command = Cli::command().disable_help_subcommand(true);
            command.build();
            write_pages(command, dir)?;
            messages::info(format!("Wrote the man pages to {}", dir.display()));
        }
        None => {
            let mut page = Vec::new();
            Man::new(Cli::command()).render(&mut page).map_err(Error::Output)?;
            streams::bytes(&page)?;
        }
    }
    Ok(ExitStatus::Success)
}

fn write_pages(command: clap::Command, dir: &Path) -> Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        write_pages(below.clone(), dir)?;
    }
    let man = Man::new(command);
    let mut page = Vec::new();
    man.render(&mut page).map_err(Error::Output)?;
    let path = dir.join(man.get_filename());
    write::replace_output(&path, &page).map_err(|source| Error::Io { path, source })
}

pub(super) fn schema(args: &args::Schema) -> Result<ExitStatus> {
    if let Some(dir) = &args.dir {
        write_all(dir)?;
        return Ok(ExitStatus::Success);
    }
    if args.name.is_empty() {
        let mut shapes = PUBLISHED.iter();
        streams::text(|out| {
            shapes.try_for_each(|shape| writeln!(out, "{:16}  {}", shape.name, shape.printed_by()))
        })?;
    } else {
        let name = args.name.join("-");
        let Some(schema) = PUBLISHED.iter().find(|published| published.name == name) else {
            let names: Vec<&str> = PUBLISHED.iter().map(|published| published.name).collect();
            return Err(Error::usage(format!("there is no schema `{name}`"))
                .with_hint(format!("the schemas are {}", names.join(", "))));
        };
        streams::json(|out| schema.write(out))?;
    }
    Ok(ExitStatus::Success)
}

/// Writes each schema to a separate file, and a page with all their fields.
fn write_all(dir: &Path) -> Result<()> {
    private::create_output_folder(dir).map_err(|error| Error::of_file(dir, error))?;
    for published in PUBLISHED {
        let mut bytes = Vec::new();
        published.write(&mut Json::new(&mut bytes)).map_err(Error::Output)?;
        write_file(&dir.join(format!("{}.json", published.name)), &bytes)?;
    }
    let mut bytes = Vec::new();
    schema::page(&mut bytes).map_err(Error::Output)?;
    write_file(&dir.join("README.md"), &bytes)?;
    messages::info(format!("Wrote {} schemas to {}", PUBLISHED.len(), dir.display()));
    Ok(())
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
    write::replace_output(path, bytes).map_err(|error| Error::of_file(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_that_short_pages_leave_out_is_one() {
        let mut root = Cli::command();
        root.build();
        let all: Vec<&clap::Command> = root
            .get_subcommands()
            .flat_map(|command| command.get_subcommands().chain([command]))
            .collect();
        for name in UNCOMMON {
            let has = |command: &&clap::Command| {
                command.get_arguments().any(|arg| arg.get_long() == Some(name))
            };
            assert!(all.iter().any(has), "no command has --{name}");
        }
    }

    #[test]
    fn the_lines_of_the_short_page_fit_80_columns() {
        let page = root_page(true).to_string();
        let groups = page.lines().skip_while(|line| !line.starts_with("Find:"));
        let groups: Vec<&str> = groups.take_while(|line| !line.is_empty()).collect();
        assert!(groups.iter().all(|line| line.len() <= 80), "{groups:?}");
        let names = groups.join(" ").replace(',', " ");
        for command in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            assert!(names.split_whitespace().any(|word| word == name), "{name}: {groups:?}");
        }
    }

    #[test]
    fn the_line_of_every_command_is_short() {
        for line in root_page(false).to_string().lines().take_while(|line| *line != "Options:") {
            let is_command = line.starts_with("  ") && !line.trim_start().starts_with('-');
            assert!(!is_command || line.len() < 60, "{line}");
        }
    }
}
