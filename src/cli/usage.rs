//! Describes a mistake on the command line in one sentence and a hint.
//!
//! The sentence is the first one of the page that clap prints, and the hint is built from the error's
//! context.

use std::ffi::OsString;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::args::{Cli, first_word};
use crate::error::Error;
use crate::wording::{KbCommand, Wording, kb, phrase, wording};

/// Returns the error for arguments that clap rejected.
pub(super) fn explain(error: &clap::Error, args: &[OsString]) -> Error {
    let hint = of_value(error)
        .or_else(|| values(error))
        .or_else(|| other_word(error, args))
        .or_else(|| page_of_command(error, args))
        .or_else(|| excluded(error, args))
        .or_else(|| tip(error, args));
    let hint = match (hint, unknown_command(error, args)) {
        (Some(hint), Some(words)) => {
            Some(hint.then(wording!(" To search instead: `{}`", search_for(words))))
        }
        (None, Some(words)) => {
            let list = wording!("`{}` lists the commands; ", kb("--help"));
            Some(list.then(wording!("to search: `{}`", search_for(words))))
        }
        (hint, None) => hint.or_else(|| usage_line(error)),
    };
    Error::Usage { message: message(error).into(), hint }
}

/// Returns an unknown command and the words after it, up to an option.
fn unknown_command<'a>(error: &clap::Error, args: &'a [OsString]) -> Option<&'a [OsString]> {
    let name = text(error, ContextKind::InvalidSubcommand)?;
    let command = first_word(args).filter(|word| *word == name)?;
    let begin = args.iter().position(|word| word == command)?;
    let words = &args[begin..];
    let option = words.iter().position(|word| word.to_string_lossy().starts_with('-'));
    Some(&words[..option.unwrap_or(words.len())])
}

/// Returns the command that searches for words that are no command.
fn search_for(words: &[OsString]) -> KbCommand {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    kb("search").arg(phrase(words.join(" ")))
}

/// Leads from the manual page of one command to its help page.
fn page_of_command(error: &clap::Error, args: &[OsString]) -> Option<Wording> {
    let name = text(error, ContextKind::InvalidArg)?;
    let is_command = Cli::command().find_subcommand(name).is_some();
    (first_word(args)? == "man" && is_command).then(|| wording!("`{}`", kb("help").arg(name)))
}

/// Says how to exclude a word from a search, which begins with a dash like an option.
fn excluded(error: &clap::Error, args: &[OsString]) -> Option<Wording> {
    let refused = text(error, ContextKind::InvalidArg)?;
    let typed = first_word(args)?;
    let name = ["search", "find"].into_iter().find(|name| typed == *name)?;
    let mut words = args.iter().map(|word| word.to_string_lossy());
    if !words.any(|word| word.starts_with(refused) && is_text(&word)) {
        return None;
    }
    let query = query_words(name, args).join(" ");
    if query.split_whitespace().all(|word| word.starts_with('-')) {
        let example = kb(name).arg(phrase(format!("WORD {query}")));
        return Some(wording!("to exclude a word, search for another one: `{}`", example));
    }
    let command = if query.starts_with('-') { kb(name).flag("--") } else { kb(name) };
    Some(wording!("quote the whole query: `{}`", command.arg(phrase(query))))
}

/// Returns the words of a command line that are neither options of the command nor their values.
fn query_words(name: &str, args: &[OsString]) -> Vec<String> {
    let mut root = Cli::command();
    root.build();
    let Some(command) = root.find_subcommand(name) else { return Vec::new() };
    let mut found = Vec::new();
    let mut words = args.iter().map(|word| word.to_string_lossy());
    words.by_ref().find(|word| *word == name);
    while let Some(word) = words.next() {
        let option = command.get_arguments().find(|arg| {
            let long = arg.get_long().is_some_and(|long| word == format!("--{long}"));
            long || arg.get_short().is_some_and(|short| word == format!("-{short}"))
        });
        if let Some(option) = option {
            if option.get_action().takes_values() && !option.is_require_equals_set() {
                words.next();
            }
        } else if !word.starts_with("--") {
            found.push(word.into_owned());
        }
    }
    found
}

/// Describes the mistake in clap's words, on one line.
fn message(error: &clap::Error) -> String {
    let page = error.render().to_string();
    let below = ["\n\n  tip:", "\n\nUsage:", "\n\nFor more information"];
    let end = below.iter().filter_map(|mark| page.find(mark)).min().unwrap_or(page.len());
    let lines =
        page[..end].trim_start_matches("error: ").lines().map(str::trim).take_while(|line| {
            !line.starts_with("[possible values") && !line.starts_with("[subcommands")
        });
    let message = lines.collect::<Vec<_>>().join(" ");
    match error.kind() {
        ErrorKind::InvalidSubcommand => message.replacen("subcommand", "command", 1),
        _ => message,
    }
}

/// Returns the hint of an error with which a value was refused.
fn of_value(error: &clap::Error) -> Option<Wording> {
    std::error::Error::source(error)?.downcast_ref::<Error>()?.hint()
}

/// Lists names as alternatives: `` `a`, `b` or `c` ``.
fn either(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Lists the allowed values of an argument.
fn values(error: &clap::Error) -> Option<Wording> {
    let values = texts(error, ContextKind::ValidValue).filter(|values| !values.is_empty())?;
    Some(format!("use one of {}", values.join(", ")).into())
}

/// Commands by words that other programs have for them.
const OTHER_WORDS: [(&str, &[&str]); 9] = [
    ("remove", &["delete", "del", "forget"]),
    ("add", &["index", "ingest"]),
    ("add", NOTE),
    ("relocate", &["move", "mv", "rename"]),
    ("update", &["sync", "refresh", "rescan"]),
    ("search", &["query", "ask"]),
    ("show", &["read", "cat", "view", "get"]),
    ("init", &["install", "setup"]),
    ("--version", &["version"]),
];

/// Words for adding a note.
const NOTE: &[&str] = &["note", "new"];

/// Names the command that has another name here.
fn other_word(error: &clap::Error, args: &[OsString]) -> Option<Wording> {
    let name = text(error, ContextKind::InvalidSubcommand)?;
    let (command, _) = OTHER_WORDS.iter().find(|(_, words)| words.contains(&name))?;
    let is_note = NOTE.contains(&name);
    let command = if is_note { kb(command).option("--note", "TEXT") } else { kb(command) };
    (first_word(args)? == name).then(|| wording!("did you mean `{}`?", command))
}

/// Suggests what the user may have meant, if clap has a guess.
fn tip(error: &clap::Error, args: &[OsString]) -> Option<Wording> {
    let similar =
        [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue];
    for kind in similar {
        match error.get(kind) {
            Some(ContextValue::String(name)) => {
                return Some(format!("did you mean `{name}`?").into());
            }
            Some(ContextValue::Strings(names)) if !names.is_empty() => {
                // clap lists the nearest name last.
                let names: Vec<&str> = names.iter().rev().map(String::as_str).collect();
                return Some(format!("did you mean {}?", either(&names)).into());
            }
            _ => {}
        }
    }
    let Some(ContextValue::StyledStrs(tips)) = error.get(ContextKind::Suggested) else {
        return None;
    };
    let tip = tips.first()?.to_string();
    let Some(refused) = text(error, ContextKind::InvalidArg) else { return Some(tip.into()) };
    if !tip.contains(&format!("-- {refused}'")) {
        return Some(tip.into());
    }
    // For a word that begins with a dash, clap only reports its first letter.
    let words = args.iter().map(|word| word.to_string_lossy());
    let word = words.into_iter().find(|word| word.starts_with(refused))?;
    is_text(&word)
        .then(|| format!("put `--` before a value that begins with a dash: `-- '{word}'`").into())
}

/// Whether a word that begins with a dash is text rather than a mistyped flag.
fn is_text(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    word.contains(char::is_whitespace) || !word.starts_with("--") && name.chars().count() > 1
}

/// Returns the first usage line of the command.
fn usage_line(error: &clap::Error) -> Option<Wording> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return None };
    let usage = usage.to_string();
    let line = usage.lines().next()?;
    Some(format!("usage: {}", line.strip_prefix("Usage: ").unwrap_or(line)).into())
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
    use clap::Parser;

    use super::*;

    #[track_caller]
    fn check(line: &str, message: &str, hint: &str) {
        let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = explain(&Cli::try_parse_from(&args).err().unwrap(), &args);
        assert_eq!(error.to_string(), message, "{line}");
        let found = error.hint().map(|hint| hint.to_string()).unwrap_or_default();
        assert_eq!(found, hint, "{line}");
    }

    #[test]
    fn an_invalid_value_is_reported_with_the_allowed_ones() {
        let yaml = "invalid value 'yaml' for '--format <FORMAT>'";
        check("kb list --format yaml", yaml, "use one of json, human");
        let none = "a value is required for '--format <FORMAT>' but none was supplied";
        check("kb list --format", none, "use one of json, human");
        let zero = "invalid value '0' for '--top <N>': must be a whole number from 1 to 1000000";
        check("kb search a --top 0", zero, "");
        let date = "invalid value 'last-week' for '--since <DATE>': not a date";
        let dates = "write 2026-11-01, 2026-11 or 2026; 1.11.2026, 7d, yesterday and 'last month' also work";
        check("kb list --since last-week", date, dates);
        let day = "invalid value '2026-11-31' for '--until <DATE>': November has 30 days";
        check("kb list --until 2026-11-31", day, "");
        let empty = "invalid value '' for '--add <TAGS>': a tag must not be empty";
        check("kb tag 1 --add=", empty, "");
        let more = "unexpected value '1' for '--fix' found; no more were expected";
        check("kb doctor --fix=1", more, "usage: kb doctor --fix");
    }

    #[test]
    fn a_mistyped_name_gets_the_nearest_one() {
        let lst = "unrecognized command 'lst'";
        let search = "To search instead: `kb search \"lst\"`";
        check("kb lst", lst, &format!("did you mean `list`? {search}"));
        let serch = "unrecognized command 'serch'";
        let similar = "did you mean `search` or `schema`?";
        let search = "To search instead: `kb search \"serch the tides\"`";
        check("kb serch the tides", serch, &format!("{similar} {search}"));
        let unlike = "`kb --help` lists the commands; to search: `kb search \"xyzzy\"`";
        check("kb --base work xyzzy --top 3", "unrecognized command 'xyzzy'", unlike);
        let formt = "unexpected argument '--formt' found";
        check("kb list --formt json", formt, "did you mean `--format`?");
        assert_eq!(either(&["model", "convert", "remove"]), "`model`, `convert` or `remove`");
        let frob = "unrecognized command 'frob'";
        check("kb cache frob", frob, "usage: kb cache [OPTIONS] [COMMAND]");
        check("kb list -x", "unexpected argument '-x' found", "usage: kb list [OPTIONS]");
    }

    #[test]
    fn the_words_of_other_programs_lead_to_a_command() {
        for (line, command) in [
            ("kb delete 1", "remove"),
            ("kb note hello", "add --note TEXT"),
            ("kb get 3", "show"),
            ("kb move old new", "relocate"),
            ("kb version", "--version"),
        ] {
            let (_, words) = line.split_once(' ').unwrap();
            let name = words.split(' ').next().unwrap();
            let search = format!("To search instead: `kb search \"{words}\"`");
            let hint = format!("did you mean `kb {command}`? {search}");
            check(line, &format!("unrecognized command '{name}'"), &hint);
        }
        let usage = "usage: kb cache [OPTIONS] [COMMAND]";
        check("kb cache delete", "unrecognized command 'delete'", usage);
        let names: Vec<String> =
            Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
        for (command, words) in OTHER_WORDS {
            let is_command = names.iter().any(|name| name == command);
            assert!(is_command || command == "--version", "{command}");
            assert!(!words.iter().any(|word| names.iter().any(|name| name == word)), "{words:?}");
        }
    }

    #[test]
    fn a_word_that_a_search_excludes_is_a_part_of_the_query() {
        let unexpected = "unexpected argument '-b' found";
        let quote = |query: &str| format!("quote the whole query: `kb search {query}`");
        check("kb search bread -baking", unexpected, &quote("\"bread -baking\""));
        let line = "kb --base work search --top 3 rye bread -baking --fts-only --recent -begun";
        check(line, unexpected, &quote("\"rye bread -baking -begun\""));
        check("kb search $HOME -baking", unexpected, &quote("'$HOME -baking'"));
        let hint = "to exclude a word, search for another one: `kb search \"WORD -baking\"`";
        check("kb search -baking", unexpected, hint);
    }

    #[test]
    fn the_manual_page_of_a_command_leads_to_its_help() {
        check("kb man search", "unexpected argument 'search' found", "`kb help search`");
        check("kb man frob", "unexpected argument 'frob' found", "usage: kb man [OPTIONS]");
    }

    #[test]
    fn a_word_with_a_dash_goes_after_two_dashes() {
        let hint = "put `--` before a value that begins with a dash: `-- '-zebra'`";
        check("kb grep -zebra", "unexpected argument '-z' found", hint);
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
        let usage = "usage: kb tag [--add <TAGS>] [--remove <TAGS>] <DOC>..., or filters";
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
