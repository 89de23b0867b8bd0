//! Explains a topic or a command (`kb help`). The pages of topics are those of the documentation.

use std::ffi::OsString;

use clap::{CommandFactory, Parser};

use crate::cli::args::{self, Cli};
use crate::cli::exit::ExitStatus;
use crate::cli::streams;
use crate::error::{Error, Result};
use crate::present::text::page;

/// Something that is explained beside the commands.
pub(super) struct Topic {
    pub(super) name: &'static str,
    /// In Markdown, but for what follows.
    page: &'static str,
    /// As it stands, below the page.
    appendix: &'static str,
}

/// Every topic there is.
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

pub(super) fn run(args: &args::Help) -> Result<ExitStatus> {
    let topic = match args.words.as_slice() {
        [name] => TOPICS.iter().find(|it| it.name == name),
        _ => None,
    };
    match topic {
        Some(topic) => streams::text(|out| {
            page::plain(topic.page, out)?;
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

/// Returns what `--help` says of a command.
fn of_command(words: &[String]) -> Result<String> {
    let args = ["kb"].into_iter().chain(words.iter().map(String::as_str)).chain(["--help"]);
    let args: Vec<OsString> = args.map(OsString::from).collect();
    let mut command = Cli::command();
    let mut found = Some(&mut command);
    for word in words {
        found = found.and_then(|it| it.find_subcommand_mut(word));
    }
    if found.is_none() {
        let names: Vec<&str> = TOPICS.iter().map(|it| it.name).collect();
        return Err(Error::Usage {
            message: format!("there is no topic or command `{}`", words.join(" ")),
            hint: Some(format!(
                "a topic is one of {}; `kb --help` lists the commands",
                names.join(", ")
            )),
        });
    }
    match Cli::try_parse_from(args) {
        Err(page) => Ok(page.render().to_string()),
        Ok(_) => Ok(String::new()),
    }
}
