//! Rewrites commands that a user could type as calls of tools: a command that is a tool becomes the tool with its
//! arguments, and an option becomes the argument.

use serde_json::{Map, Value};

use crate::mcp::tools;
use crate::server::ToolEffect;
use crate::skill::commands::SkillCommand;
use crate::wording::{ArgumentValue, CommandArgument, KbCommand, UserAction, Wording};

/// Options whose argument has another name.
const OPTIONS: [(&str, &str); 3] =
    [("-F", "fixed_strings"), ("-i", "ignore_case"), ("--also", "queries")];

/// Returns a text in the words of a tool with these arguments. A command without a tool is left unchanged: the user can
/// type it.
pub(super) fn in_tools(wording: &Wording, arguments: &Map<String, Value>) -> String {
    wording.in_words(|action| match action {
        UserAction::Command(command) => call(command),
        UserAction::Option(name) => {
            Some(argument(name)).filter(|name| arguments.contains_key(name))
        }
    })
}

/// Returns a command as a call; `None` if no tool does it.
fn call(command: &KbCommand) -> Option<String> {
    let (prefix, name) = match command.name().strip_prefix("skill ") {
        Some(name) => ("skill", name),
        None => ("kb", command.name()),
    };
    let tool = format!("{prefix}_{name}");
    if !is_reading(&tool) {
        return None;
    }
    // This argument is typed without an option.
    let positional = match name {
        _ if prefix == "skill" => "skill",
        "search" => "query",
        "grep" => "pattern",
        _ => "document",
    };
    let given: Map<_, _> = command
        .args()
        .iter()
        .map(|given| match given {
            CommandArgument::Positional(value) => (positional.to_owned(), json(value)),
            CommandArgument::Option(name, value) => (argument(name), json(value)),
            CommandArgument::Flag(name) => (argument(name), true.into()),
        })
        .collect();
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

fn json(value: &ArgumentValue) -> Value {
    match value {
        ArgumentValue::Number(number) => (*number).into(),
        ArgumentValue::Word(text) | ArgumentValue::Phrase(text) => text.as_str().into(),
    }
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
    use crate::error::Error;
    use crate::wording::{kb, option, phrase, wording};

    #[track_caller]
    fn check(wording: &Wording, expected: &str) {
        let arguments = json!({ "fixed_strings": {}, "top": {}, "budget": {}, "tags": {} });
        assert_eq!(in_tools(wording, arguments.as_object().unwrap()), expected);
    }

    #[test]
    fn commands_that_are_tools_become_calls_and_others_stay() {
        check(&wording!("`{}` shows all ids", kb("list")), "`kb_list` shows all ids");
        let outline = kb("outline").arg(1);
        check(&wording!("`{}` lists", outline), "`kb_outline {\"document\":1}` lists");
        let search = kb("search").arg(phrase("how to install git"));
        check(&search.into(), "kb_search {\"query\":\"how to install git\"}");
        let show = kb("show").option("--chunk", 7).option("--around", 1);
        check(&show.into(), "kb_show {\"chunk\":7,\"around\":1}");
        check(&kb("search").flag("--fts-only").into(), "kb_search {\"fts_only\":true}");
        check(&kb("grep").arg(".").into(), "kb_grep {\"pattern\":\".\"}");
        check(&kb("skill sources").arg("pdf").into(), "skill_sources {\"skill\":\"pdf\"}");
        let two = wording!("`{}`; `{}`", kb("skill list"), kb("init").flag("--here"));
        check(&two, "`skill_list`; `kb init --here`");
        // Those that write have other arguments.
        let writing = wording!("`{}`, `{}`", kb("add").arg("notes"), kb("skill build").arg("pdf"));
        check(&writing, "`kb add notes`, `kb skill build pdf`");
    }

    #[test]
    fn text_is_not_taken_for_a_command() {
        for same in ["run `kb list`", "the tag `--top`", "an odd ` mark", "no command", "`kb`"] {
            check(&same.into(), same);
        }
        let error = Error::usage("no document has the tag `kb list`")
            .with_hint(wording!("`{}` lists all tags", kb("tags")));
        check(&error.message(), "no document has the tag `kb list`");
        check(&error.hint().unwrap(), "`kb_tags` lists all tags");
    }

    #[test]
    fn options_of_the_tool_become_arguments() {
        check(&wording!("`{}` (fixed) searches", option("-F")), "`fixed_strings` (fixed) searches");
        let several = wording!("with `{}`, `{}` must", option("--budget"), option("--top"));
        check(&several, "with `budget`, `top` must");
        let unknown = wording!("`{}` or `{}`", option("--tags"), option("--data-dir"));
        check(&unknown, "`tags` or `--data-dir`");
    }
}
