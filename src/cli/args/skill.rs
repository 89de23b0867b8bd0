//! Builds clap's commands from the table of skill commands and returns the typed values.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use clap::{
    Arg, ArgAction, ArgMatches, Args, Error, FromArgMatches, Parser, Subcommand, value_parser,
};

use crate::app::agents::skills::Arguments;
use crate::cli::args::Global;
use crate::config::OutputFormat;
use crate::skill::commands::{COMMANDS, Parameter, ParameterKind, SkillCommand};
use crate::text::paths;

/// Serve agent skills: list, build, search and read directories with a SKILL.md
#[derive(Debug, Parser)]
#[command(name = "skc", bin_name = "skc", version = concat!("0.2.1 (kb ", env!("CARGO_PKG_VERSION"), ")"))]
#[command(disable_help_subcommand = true)]
pub(crate) struct SkcArgs {
    /// Options of every command.
    #[command(flatten)]
    pub(crate) global: Global,
    /// The command.
    #[command(subcommand)]
    pub(crate) call: SkillCall,
}

#[derive(Debug, Args)]
#[command(after_help = "\
If kb is started through a link named skc, it has only these commands.

Examples:
  kb skill list
  kb skill build SKILL")]
pub(crate) struct SkillArgs {
    /// The command.
    #[command(subcommand)]
    pub(crate) call: SkillCall,
}

/// A skill command as typed.
#[derive(Debug)]
pub(crate) struct SkillCall {
    pub(crate) command: &'static SkillCommand,
    matches: ArgMatches,
}

impl SkillCall {
    /// Returns the argument that names the skill; empty if the command has none.
    pub(crate) fn skill(&self) -> String {
        self.text("skill").unwrap_or_default()
    }

    pub(crate) fn format(&self) -> OutputFormat {
        match self.matches.get_one::<String>("format").map(String::as_str) {
            Some("json") => OutputFormat::Json,
            _ => OutputFormat::Human,
        }
    }

    /// Whether `--verbose` was given.
    pub(crate) fn is_verbose(&self) -> bool {
        self.matches.get_count("verbose") > 0
    }
}

impl Arguments for SkillCall {
    fn text(&self, name: &str) -> Option<String> {
        if let Ok(word) = self.matches.try_get_one::<String>(name) {
            return word.cloned();
        }
        let typed: &OsString = self.matches.try_get_one(name).ok()??;
        Some(paths::path_text(Path::new(typed)))
    }

    fn number(&self, name: &str) -> Option<u32> {
        self.matches.try_get_one::<u32>(name).ok()?.copied()
    }

    fn flag(&self, name: &str) -> bool {
        self.matches.try_get_one::<bool>(name).is_ok_and(|flag| flag.copied().unwrap_or(false))
    }

    fn texts(&self, name: &str) -> Vec<String> {
        let typed = self.matches.try_get_many::<OsString>(name).ok().flatten();
        typed.into_iter().flatten().map(|text| paths::path_text(Path::new(text))).collect()
    }
}

fn missing() -> Error {
    Error::new(clap::error::ErrorKind::MissingSubcommand)
}

impl FromArgMatches for SkillCall {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let (name, matches) = matches.subcommand().ok_or_else(missing)?;
        let command = SkillCommand::find(name).ok_or_else(missing)?;
        Ok(Self { command, matches: matches.clone() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for SkillCall {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        let commands = COMMANDS.iter().map(|command| {
            let parameters = command.parameters.iter().map(arg);
            clap::Command::new(command.name).about(command.about).args(parameters).arg(format())
        });
        command.subcommand_required(true).subcommands(commands)
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        SkillCommand::find(name).is_some()
    }
}

/// Returns `--format`. `human` is accepted for `text`, because the other commands use that word.
fn format() -> Arg {
    let text = clap::builder::PossibleValue::new("text").alias("human");
    Arg::new("format")
        .long("format")
        .short('o')
        .value_name("FORMAT")
        .value_parser(PossibleValuesParser::from([text, "json".into()]))
        .default_value("text")
        .hide_possible_values(true)
        .help("Output as text or for programs (json)")
}

fn arg(parameter: &Parameter) -> Arg {
    let mut arg = Arg::new(parameter.name).help(parameter.about).required(parameter.is_required);
    if parameter.kind != ParameterKind::Flag {
        arg = arg.value_name(parameter.name.to_uppercase());
    }
    if !parameter.is_positional {
        arg = arg.long(parameter.name.replace('_', "-"));
    }
    if let Some(letter) = parameter.letter {
        arg = arg.short(letter);
    }
    if let Some(default) = parameter.default {
        arg = arg.default_value(default);
    }
    match parameter.kind {
        ParameterKind::Flag => arg.action(ArgAction::SetTrue),
        ParameterKind::Text => arg
            .value_parser(value_parser!(OsString))
            // A heading may begin with a hyphen, but a positional word that does could be a flag.
            .allow_hyphen_values(!parameter.is_positional),
        ParameterKind::Texts => arg.value_parser(value_parser!(OsString)).action(ArgAction::Append),
        ParameterKind::CommaTexts => {
            arg.value_parser(value_parser!(OsString)).action(ArgAction::Append).value_delimiter(',')
        }
        ParameterKind::Choice(words) => {
            arg.value_parser(PossibleValuesParser::new(words)).hide_possible_values(false)
        }
        ParameterKind::Number(least, most) => arg.value_parser(
            RangedU64ValueParser::<u32>::new().range(u64::from(least)..=u64::from(most)),
        ),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_tree_is_consistent() {
        SkcArgs::command().debug_assert();
    }

    #[test]
    fn typed_values_are_returned() {
        let args = ["skc", "show", "x", "--section", "-- A", "--max-lines=3", "-v", "-o", "json"];
        let call = SkcArgs::try_parse_from(args).unwrap().call;
        assert_eq!(call.command.name, "show");
        assert_eq!(call.skill(), "x");
        assert_eq!(call.text("section").as_deref(), Some("-- A"));
        assert_eq!(call.number("max_lines"), Some(3));
        assert_eq!(call.text("file"), None);
        assert!(call.is_verbose());
        assert_eq!(call.format(), OutputFormat::Json);
        let args = ["skc", "-v", "build", "x", "-t", "claude,codex", "--target", "dir", "-g"];
        let call = SkcArgs::try_parse_from(args).unwrap().call;
        assert_eq!(call.texts("target"), ["claude", "codex", "dir"]);
        assert!(call.flag("global") && !call.flag("force") && call.is_verbose());
        let call = SkcArgs::try_parse_from(["skc", "list", "--scope", "global"]).unwrap().call;
        assert_eq!(call.text("scope").as_deref(), Some("global"));
        assert_eq!(call.text("status").as_deref(), Some("all"));
        assert_eq!(call.format(), OutputFormat::Human);
    }
}
