//! Says what a user could type in the words of tools. The messages and hints of errors have commands and options in
//! backticks; here a command that is a tool becomes the tool with its arguments, and an option the argument that it is.

use serde_json::{Map, Value};

use crate::mcp::tools;
use crate::server::ToolEffect;
use crate::skill::commands::SkillCommand;
use crate::text::command;

/// Options whose argument has another name.
const OPTIONS: [(&str, &str); 3] =
    [("-F", "fixed_strings"), ("-i", "ignore_case"), ("--also", "queries")];

/// Returns a text in the words of a tool with these arguments. What no tool does stays: the user can type it.
pub(super) fn in_tools(text: &str, arguments: &Map<String, Value>) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return text.to_owned();
    }
    let shown = parts.iter().enumerate().map(|(number, part)| match number % 2 {
        0 => (*part).to_owned(),
        _ => format!("`{}`", called(part, arguments).unwrap_or_else(|| (*part).to_owned())),
    });
    shown.collect()
}

/// Returns what is typed as a call or an argument; `None` if it is neither.
fn called(typed: &str, arguments: &Map<String, Value>) -> Option<String> {
    if typed.starts_with('-') {
        return Some(argument(typed)).filter(|name| arguments.contains_key(name));
    }
    let typed = typed.strip_prefix("kb ")?;
    let (prefix, typed) = match typed.strip_prefix("skill ") {
        Some(rest) => ("skill", rest),
        None => ("kb", typed),
    };
    let words = command::words(typed);
    let (name, words) = words.split_first()?;
    let tool = format!("{prefix}_{name}");
    if !is_reading(&tool) {
        return None;
    }
    // This argument is typed without an option.
    let positional = match name.as_str() {
        _ if prefix == "skill" => "skill",
        "search" => "query",
        "grep" => "pattern",
        _ => "document",
    };
    let mut given = Map::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let (name, value) = if word.starts_with('-') {
            let next = words.next_if(|next| !next.starts_with('-'));
            (argument(word), next.map_or(Value::Bool(true), |next| typed_value(next)))
        } else {
            (positional.to_owned(), typed_value(word))
        };
        given.insert(name, value);
    }
    Some(if given.is_empty() { tool } else { format!("{tool} {}", Value::Object(given)) })
}

/// Whether a tool of this name only reads. Such a tool is named as its command.
fn is_reading(tool: &str) -> bool {
    match tool.strip_prefix("skill_") {
        Some(name) => {
            SkillCommand::find(name).is_some_and(|command| command.is_tool && command.is_read_only)
        }
        None => tools::rows().iter().any(|row| row.name == tool && row.effect == ToolEffect::Reads),
    }
}

/// Returns a typed word as a number or a text.
fn typed_value(word: &str) -> Value {
    word.parse::<i64>().map_or_else(|_| word.into(), Value::from)
}

/// Returns the name of the argument that an option is.
fn argument(option: &str) -> String {
    let named = OPTIONS.iter().find(|(known, _)| *known == option);
    named.map_or_else(
        || option.trim_start_matches('-').replace('-', "_"),
        |(_, name)| (*name).into(),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let arguments = json!({ "fixed_strings": {}, "top": {}, "budget": {}, "tags": {} });
        assert_eq!(in_tools(text, arguments.as_object().unwrap()), expected);
    }

    #[test]
    fn commands_that_are_tools_become_calls_and_others_stay() {
        check("`kb list` shows all ids", "`kb_list` shows all ids");
        check("`kb outline 1` lists all parts", "`kb_outline {\"document\":1}` lists all parts");
        let hint = "type some words: `kb search \"how to install git\"`";
        check(hint, "type some words: `kb_search {\"query\":\"how to install git\"}`");
        check("`kb show --chunk 7 --around 1`", "`kb_show {\"chunk\":7,\"around\":1}`");
        check("`kb search --fts-only` needs", "`kb_search {\"fts_only\":true}` needs");
        check("`kb skill sources pdf` lists", "`skill_sources {\"skill\":\"pdf\"}` lists");
        check("`kb skill list`; `kb init`", "`skill_list`; `kb init`");
        // Those that write have other arguments.
        check("`kb add notes`, `kb skill build pdf`", "`kb add notes`, `kb skill build pdf`");
        for same in ["run `kb init`", "`kb listing`", "an odd ` mark", "no command", "`kb`"] {
            check(same, same);
        }
    }

    #[test]
    fn options_of_the_tool_become_arguments() {
        check("`-F` (fixed) searches", "`fixed_strings` (fixed) searches");
        check("with `--budget`, `--top` must", "with `budget`, `top` must");
        check("`--tags` or `--data-dir`", "`tags` or `--data-dir`");
    }
}
