//! Skill commands as tools, made from their table: names, schemas, and what would be typed.

use std::ffi::OsString;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::cli::skill;
use crate::cli::tools::{Service, failure, parsed};
use crate::diagnostic::Program;
use crate::mcp::{Call, Failure, Tool};
use crate::skill::commands::{Command, Kind, Parameter};

/// What agents are told of a skill command, beside what it does.
fn when_to_use(name: &str) -> &'static str {
    match name {
        "list" => "Use it to learn which skills there are; search and capability narrow the list.",
        "outline" => "Use it first, before reading anything of a skill.",
        "search" => "Use it to find the section that tells about something.",
        "show" => "Use it to read one section instead of a whole file.",
        "open" => "Use it last: it costs most.",
        "build" => "Use it when an error says that the index is unusable (E002).",
        "init" => "Only when the user asks for it.",
        "sources" => "Use it to learn what else a skill brings: scripts, references, assets.",
        "stats" => "Use it when the user asks what of a skill is read.",
        "lint" => "Use it when the user writes a skill.",
        _ => "",
    }
}

/// Makes a tool of a skill command.
pub(super) fn skill_tool(service: &Arc<Service>, command: &'static Command) -> Tool {
    let service = Arc::clone(service);
    let handler = move |input: Value, _: &Call| {
        let args = skill_args(command, &input);
        let context = &service.context;
        let outcome = skill::answer(&context.session.environment, &service.global, &args);
        let answer = outcome.map_err(|error| match skill::diagnostic(error) {
            Ok(diagnostic) => Failure {
                message: diagnostic.line(Program::Kb),
                code: diagnostic.code().to_owned(),
                fix: diagnostic.hint(),
            },
            Err(error) => failure(&error),
        })?;
        parsed(&answer)
    };
    let properties: Map<String, Value> =
        command.parameters.iter().map(|it| (it.name.to_owned(), property(it))).collect();
    let required: Vec<&str> =
        command.parameters.iter().filter(|it| it.is_required).map(|it| it.name).collect();
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let description = format!("{}. {}", command.about, when_to_use(command.name));
    Tool {
        name: format!("skill_{}", command.name),
        description: description.trim_end().to_owned(),
        schema: schema.as_object().cloned().unwrap_or_default(),
        is_read_only: command.is_read_only,
        handler: Box::new(handler),
    }
}

fn property(parameter: &Parameter) -> Value {
    let mut schema = match parameter.kind {
        Kind::Text => json!({ "type": "string" }),
        Kind::Number(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Kind::Choice(words) => json!({ "type": "string", "enum": words }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Texts | Kind::CommaTexts => {
            json!({ "type": "array", "items": { "type": "string" } })
        }
    };
    schema["description"] = parameter.about.into();
    schema
}

/// Returns checked input as it would be typed.
pub(super) fn skill_args(command: &Command, input: &Value) -> Vec<OsString> {
    let mut words: Vec<OsString> =
        vec!["kb skill".into(), command.name.into(), "--format=json".into()];
    let mut places: Vec<OsString> = Vec::new();
    for parameter in command.parameters {
        let value = &input[parameter.name];
        let text = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        let flag = parameter.name.replace('_', "-");
        match value {
            Value::Null | Value::Bool(false) => {}
            Value::Bool(true) => words.push(format!("--{flag}").into()),
            Value::Array(values) => {
                words.extend(values.iter().map(|it| format!("--{flag}={}", text(it)).into()));
            }
            value if parameter.is_positional => places.push(text(value).into()),
            value => words.push(format!("--{flag}={}", text(value)).into()),
        }
    }
    words.push("--".into());
    words.extend(places);
    words
}
