//! Describes a mistake on the command line in one sentence and a hint.
//!
//! The sentence is the first one of the page that clap prints, and the hint is built from the error's
//! context.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::error::Error;

/// Returns the error for arguments that clap rejected.
pub(super) fn explain(error: &clap::Error, args: &[OsString]) -> Error {
    let hint = values(error)
        .or_else(|| other_word(error, args))
        .or_else(|| tip(error, args))
        .or_else(|| usage_line(error));
    Error::Usage { message: message(error), hint }
}

/// Describes the mistake in clap's words, on one line.
fn message(error: &clap::Error) -> String {
    let page = error.render().to_string();
    let below = ["\n\n  tip:", "\n\nUsage:", "\n\nFor more information"];
    let end = below.iter().filter_map(|mark| page.find(mark)).min().unwrap_or(page.len());
    let is_list =
        |line: &&str| line.starts_with("[possible values") || line.starts_with("[subcommands");
    let lines = page[..end].trim_start_matches("error: ").lines().map(str::trim);
    let message = lines.take_while(|line| !is_list(line)).collect::<Vec<_>>().join(" ");
    match error.kind() {
        ErrorKind::InvalidSubcommand => message.replacen("subcommand", "command", 1),
        _ => message,
    }
}

/// Lists the allowed values of an argument.
fn values(error: &clap::Error) -> Option<String> {
    let values = texts(error, ContextKind::ValidValue).filter(|values| !values.is_empty())?;
    Some(format!("one of {}", values.join(", ")))
}

/// Commands by words that other programs have for them.
const OTHER_WORDS: [(&str, &[&str]); 7] = [
    ("remove", &["delete", "del", "forget"]),
    ("add --note TEXT", &["note", "new"]),
    ("add", &["index", "ingest"]),
    ("update", &["sync", "refresh", "rescan"]),
    ("search", &["query", "ask"]),
    ("show", &["read", "cat", "view"]),
    ("init", &["install", "setup"]),
];

/// Names the command that is called otherwise here.
fn other_word(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let name = text(error, ContextKind::InvalidSubcommand)?;
    let (command, _) = OTHER_WORDS.iter().find(|(_, words)| words.contains(&name))?;
    args.get(1).is_some_and(|first| first == name).then(|| format!("it is called `kb {command}`"))
}

/// Suggests what the user may have meant, if clap has a guess.
fn tip(error: &clap::Error, args: &[OsString]) -> Option<String> {
    let similar = [
        (ContextKind::SuggestedSubcommand, "command"),
        (ContextKind::SuggestedArg, "argument"),
        (ContextKind::SuggestedValue, "value"),
    ];
    for (kind, noun) in similar {
        match error.get(kind) {
            Some(ContextValue::String(name)) => {
                return Some(format!("a similar {noun} exists: '{name}'"));
            }
            Some(ContextValue::Strings(names)) if !names.is_empty() => {
                let known = match names.len() {
                    1 => format!("a similar {noun} exists"),
                    _ => format!("some similar {noun}s exist"),
                };
                // The nearest is the last one of clap.
                let names: Vec<&str> = names.iter().rev().map(String::as_str).collect();
                return Some(format!("{known}: '{}'", names.join("', '")));
            }
            _ => {}
        }
    }
    let Some(ContextValue::StyledStrs(tips)) = error.get(ContextKind::Suggested) else {
        return None;
    };
    let tip = tips.first()?.to_string();
    let Some(refused) = text(error, ContextKind::InvalidArg) else { return Some(tip) };
    if !tip.contains(&format!("-- {refused}'")) {
        return Some(tip);
    }
    // For a word that begins with a dash, clap only reports its first letter.
    let words = args.iter().map(|word| word.to_string_lossy());
    let word = words.into_iter().find(|word| word.starts_with(refused))?;
    is_text(&word)
        .then(|| format!("put `--` before a value that begins with a dash: `-- '{word}'`"))
}

/// Whether a word that begins with a dash is text rather than a mistyped flag.
fn is_text(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    word.contains(char::is_whitespace) || !word.starts_with("--") && name.chars().count() > 1
}

/// Returns the first usage line of the command.
fn usage_line(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return None };
    let usage = usage.to_string();
    let line = usage.lines().next()?;
    Some(format!("usage: {}", line.strip_prefix("Usage: ").unwrap_or(line)))
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

fn texts(error: &clap::Error, kind: ContextKind) -> Option<&[String]> {
    match error.get(kind) {
        Some(ContextValue::Strings(texts)) => Some(texts),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::args::Cli;

    #[track_caller]
    fn check(line: &str, message: &str, hint: &str) {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = explain(&Cli::try_parse_from(&args).err().unwrap(), &args);
        assert_eq!(error.to_string(), message, "{line}");
        assert_eq!(error.hint().unwrap_or_default(), hint, "{line}");
    }

    #[test]
    fn an_invalid_value_is_reported_with_the_allowed_ones() {
        let yaml = "invalid value 'yaml' for '--format <FORMAT>'";
        check("kb list --format yaml", yaml, "one of json, human");
        let none = "a value is required for '--format <FORMAT>' but none was supplied";
        check("kb list --format", none, "one of json, human");
        let zero = "invalid value '0' for '--top <N>': must be a whole number from 1 to 1000000";
        check("kb search a --top 0", zero, "");
        let empty = "invalid value '' for '--add <TAGS>': a tag must not be empty";
        check("kb tag 1 --add=", empty, "");
        let more = "unexpected value '1' for '--fix' found; no more were expected";
        check("kb doctor --fix=1", more, "usage: kb doctor --fix");
    }

    #[test]
    fn a_mistyped_name_gets_the_nearest_one() {
        let lst = "unrecognized command 'lst'";
        check("kb lst", lst, "a similar command exists: 'list'");
        let serch = "unrecognized command 'serch'";
        check("kb serch", serch, "some similar commands exist: 'search', 'schema'");
        let formt = "unexpected argument '--formt' found";
        check("kb list --formt json", formt, "a similar argument exists: '--format'");
        let frob = "unrecognized command 'frob'";
        check("kb cache frob", frob, "usage: kb cache [OPTIONS] [COMMAND]");
        check("kb list -x", "unexpected argument '-x' found", "usage: kb list [OPTIONS]");
    }

    #[test]
    fn the_words_of_other_programs_lead_to_a_command() {
        check("kb delete 1", "unrecognized command 'delete'", "it is called `kb remove`");
        check("kb note hello", "unrecognized command 'note'", "it is called `kb add --note TEXT`");
        let usage = "usage: kb cache [OPTIONS] [COMMAND]";
        check("kb cache delete", "unrecognized command 'delete'", usage);
        let names: Vec<String> =
            Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
        for (command, words) in OTHER_WORDS {
            assert!(names.iter().any(|name| command.split(' ').next() == Some(name)), "{command}");
            assert!(!words.iter().any(|word| names.iter().any(|name| name == word)), "{words:?}");
        }
    }

    #[test]
    fn a_word_with_a_dash_goes_after_two_dashes() {
        let hint = "put `--` before a value that begins with a dash: `-- '-zebra'`";
        check("kb search -zebra", "unexpected argument '-z' found", hint);
        // A mistyped flag is not a value.
        let usage = "usage: kb show <DOC>";
        check("kb show 1 --lines", "unexpected argument '--lines' found", usage);
        let usage = "usage: kb add [OPTIONS] <PATH>..., or --note <TEXT>";
        check("kb add -n x", "unexpected argument '-n' found", usage);
    }

    #[test]
    fn missing_and_conflicting_arguments_come_with_the_usage() {
        let both = "the following required arguments were not provided: <KEY> <VALUE>";
        check("kb config set", both, "usage: kb config set <KEY> <VALUE>");
        let usage = "usage: kb tag [--add <TAGS>] [--remove <TAGS>] <DOC>..., or filters such as --query <TEXT>";
        let either =
            "the following required arguments were not provided: <--add <TAGS>|--remove <TAGS>>";
        check("kb tag 1", either, usage);
        let usage = "usage: kb remove [OPTIONS] <DOC|DIR>..., or filters such as --query <TEXT>";
        check(
            "kb remove",
            "the following required arguments were not provided: <DOC|DIR>...",
            usage,
        );
        let usage = "usage: kb add [OPTIONS] <PATH>..., or --note <TEXT>";
        check("kb add", "the following required arguments were not provided: <PATH>...", usage);
        let usage = "usage: kb show --page <N> <DOC>";
        let conflict = "the argument '--page <N>' cannot be used with '--chunk <ID>'";
        check("kb show 1 --page 1 --chunk 2", conflict, usage);
        let twice = "the argument '--top <N>' cannot be used multiple times";
        check("kb search --top 3 --top 4 a", twice, "usage: kb search [OPTIONS] [QUERY]...");
    }
}
