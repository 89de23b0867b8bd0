//! Offers skill commands as tools. The table of commands supplies their names, schemas and
//! defaults.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::app::agents::skills::{Arguments, SkillAnswer, SkillRequest};
use crate::app::session::observer::NoteKeeper;
use crate::diagnostic::Program;
use crate::error::{Error, Result};
use crate::mcp::form::{self, LIST_PAGE, PAGE, ReplyOptions, SHORT_PAGE};
use crate::mcp::reporter::ServerReporter;
use crate::mcp::service::{Service, failure};
use crate::mcp::words::in_tools;
use crate::present::json::skill as skill_json;
use crate::present::text::{compact, skill as skill_text};
use crate::server::{Call, Tool, ToolEffect, ToolFailure, ToolReply, UNLISTED};
use crate::skill::commands::{Parameter, ParameterKind, SkillCommand};
use crate::text::json::{Json, JsonLine};
use crate::text::paths;
use crate::text::printable::clean;
use crate::wording::Wording;

/// Returns the title of a skill command, and what it does and when an agent should use it.
fn described(name: &str) -> (&'static str, &'static str) {
    match name {
        "list" => ("List skills", "List the agent skills and what each is for."),
        "outline" => ("Outline a skill", "List the headings of a skill; first step."),
        "search" => ("Search a skill", "Find sections of a skill with all these words."),
        "show" => ("Show a section", "Read one section of a skill, not a whole file."),
        "open" => ("Open a skill's file", "Read a file of a skill; last step, costs most."),
        "build" => {
            ("Index a skill", "Index a skill, when an error says that it is unusable (E002).")
        }
        "init" => ("Create a skill", "Create a skill. Only when the user asks for it."),
        "sources" => ("List a skill's files", "List the files of a skill: scripts, references."),
        "stats" => ("Count reads", "Count which parts of a skill are read most."),
        "lint" => ("Check a skill", "Check a skill that the user is writing, for mistakes."),
        _ => ("", ""),
    }
}

/// Makes a tool from a skill command.
pub(super) fn skill_tool(service: &Arc<Service>, command: &'static SkillCommand) -> Tool {
    let program = service.program;
    let service = Arc::clone(service);
    let properties: Map<String, Value> = tool_parameters(command)
        .map(|parameter| (parameter.name.to_owned(), property(parameter)))
        .collect();
    let required: Vec<&str> = tool_parameters(command)
        .filter(|parameter| parameter.is_required)
        .map(|parameter| parameter.name)
        .collect();
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
    });
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    ReplyOptions::declare(&mut schema, false);
    let (title, description) = described(command.name);
    Tool {
        name: format!("{}{}", program.tool_prefix(), command.name),
        title: title.to_owned(),
        description: description.to_owned(),
        schema,
        effect: match command.name {
            _ if command.is_read_only => ToolEffect::Reads,
            // Building replaces only what kb made from the files.
            name => ToolEffect::Adds { is_idempotent: name == "build" },
        },
        handler: Box::new(move |input, call| called(&service, command, input, call)),
    }
}

/// Runs a skill command with the arguments of a call.
fn called(
    service: &Service,
    command: &'static SkillCommand,
    mut input: Value,
    call: &Call,
) -> Result<ToolReply, ToolFailure> {
    let form = ReplyOptions::take(&mut input);
    let request = SkillRequest::of(command, &ToolInput { command, input: &input });
    let reporter = ServerReporter::new(&*service.observer, call);
    let notes = NoteKeeper::new(&reporter);
    let answer =
        service.skill(&request, &notes).map_err(|error| in_protocol(&error, service.program))?;
    let mut data = Json::value_of(|out| skill_json::answer(&answer, out))
        .map_err(|error| failure(&Error::Output(error)))?;
    // Warnings go into the answer: on the command line they are on stderr, which an agent does not see.
    let mut warnings = notes.kept(Vec::new());
    warnings.retain(|note| note.starts_with("warning["));
    if let (Value::Object(data), false) = (&mut data, warnings.is_empty()) {
        data.insert("warnings".into(), warnings.clone().into());
    }
    if service.program == Program::Skc {
        let text = as_skc(command, &answer, &data)?;
        return Ok(ToolReply { text: Some(text), ..ToolReply::default() });
    }
    formed(&answer, data, &warnings, form).map_err(|error| failure(&error))
}

/// Returns an answer in the form that the call wants.
fn formed(
    answer: &SkillAnswer,
    data: Value,
    warnings: &[String],
    form: ReplyOptions,
) -> Result<ToolReply> {
    if form.is_full {
        return form::whole(data);
    }
    let text = form::drawn(|out| {
        for warning in warnings {
            writeln!(out, "{}", clean(warning))?;
        }
        compact::skill(answer, out)
    })?;
    match answer {
        // The contract of the registry also requires its data.
        SkillAnswer::List(_) => {
            let data = if form::fits(&data)? { Some(data) } else { None };
            Ok(ToolReply { data, ..form.page(LIST_PAGE, &text)? })
        }
        SkillAnswer::Outline(_) => form.page(SHORT_PAGE, &text),
        _ => form.page(PAGE, &text),
    }
}

/// Returns the text that the tool of the other program gives: a section or file itself, or JSON.
fn as_skc(
    command: &SkillCommand,
    answer: &SkillAnswer,
    data: &Value,
) -> Result<String, ToolFailure> {
    if let Some(bytes) = skill_text::own_bytes(answer) {
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    let mut data = data.clone();
    if let (Value::Object(data), "init" | "build") = (&mut data, command.name) {
        data.insert("success".into(), true.into());
    }
    let line = JsonLine::of(&data).map_err(|error| failure(&Error::Output(error)))?;
    Ok(line.as_str().trim_end().to_owned())
}

/// Returns the parameters that an agent may set: not those that write where the user did not look.
fn tool_parameters(command: &SkillCommand) -> impl Iterator<Item = &Parameter> {
    command.parameters.iter().filter(|parameter| !parameter.is_for_people)
}

/// Returns what a model cannot guess of a parameter from its name. The help of the command line says more, but a
/// model pays for every word in every conversation.
fn explained(name: &str) -> Option<&'static str> {
    Some(match name {
        "search" => "Text in name or description",
        "query" => "Words",
        "section" => "Its heading",
        "path" => "Relative path, such as SKILL.md",
        "group_by" => "summary, sections, files, commands, projects, errors or search",
        _ => return None,
    })
}

fn property(parameter: &Parameter) -> Value {
    let mut schema = match parameter.kind {
        ParameterKind::Text => json!({ "type": "string" }),
        ParameterKind::Number(least, most) => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        ParameterKind::Choice(words) => json!({ "type": "string", "enum": words }),
        ParameterKind::Flag => json!({ "type": "boolean" }),
        ParameterKind::Texts | ParameterKind::CommaTexts => {
            json!({ "type": "array", "items": { "type": "string" } })
        }
    };
    if let Some(about) = explained(parameter.name) {
        schema["description"] = about.into();
    }
    if parameter.is_rare {
        schema[UNLISTED] = true.into();
    }
    schema
}

/// Converts an error to the form that clients get; one of the protocol's, to its line.
fn in_protocol(error: &Error, program: Program) -> ToolFailure {
    match error {
        Error::Skill(diagnostic) => ToolFailure {
            message: diagnostic.line(program),
            code: diagnostic.code().to_owned(),
            fix: diagnostic
                .hint()
                .or_else(|| diagnostic.suggestions().map(Wording::from))
                .map(|hint| in_tools(&hint, &Map::new())),
        },
        error => failure(error),
    }
}

/// Input that matches a command's schema.
pub(super) struct ToolInput<'a> {
    pub(super) command: &'a SkillCommand,
    pub(super) input: &'a Value,
}

impl ToolInput<'_> {
    fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.command.parameters.iter().find(|parameter| parameter.name == name)
    }

    fn default(&self, name: &str) -> Option<&'static str> {
        self.parameter(name)?.default
    }
}

impl Arguments for ToolInput<'_> {
    fn text(&self, name: &str) -> Option<String> {
        let given = self.input[name].as_str().map(|text| paths::path_text(Path::new(text)));
        given.or_else(|| self.default(name).map(str::to_owned))
    }

    fn number(&self, name: &str) -> Option<u32> {
        let given = self.input[name].as_u64().and_then(|number| u32::try_from(number).ok());
        given.or_else(|| self.default(name)?.parse().ok())
    }

    fn flag(&self, name: &str) -> bool {
        self.input[name] == true
    }

    fn texts(&self, name: &str) -> Vec<String> {
        let given = self.input[name].as_array().into_iter().flatten().filter_map(Value::as_str);
        let has_commas = self
            .parameter(name)
            .is_some_and(|parameter| parameter.kind == ParameterKind::CommaTexts);
        let split =
            given.flat_map(|text| if has_commas { text.split(',').collect() } else { vec![text] });
        split.map(|text| paths::path_text(Path::new(text))).collect()
    }
}
