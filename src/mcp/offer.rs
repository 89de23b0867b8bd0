//! Offers tools to agents: makes them from their rows, runs them, and says what failed in their words.

use std::sync::Arc;

use serde_json::Value;

use crate::app::{Observer, ToolSet};
use crate::error::Result;
use crate::files::program;
use crate::mcp::form::ReplyOptions;
use crate::mcp::reporter::ServerReporter;
use crate::mcp::service::{Service, failure_of};
use crate::mcp::tools::{self, DocumentTool, ToolCallContext};
use crate::mcp::{bases, skill_tools};
use crate::server::{Call, Schema, Tool, ToolEffect, ToolReply, UNLISTED};
use crate::skill::commands::COMMANDS;

/// The options that determine how tools are offered.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToolListOptions {
    /// Whether tools may change something.
    pub(super) allows_writing: bool,
    /// Whether there are several knowledge bases.
    pub(super) has_several: bool,
}

/// Returns the tools of a set. Tools that change something are included only if that is allowed.
pub(super) fn tools(service: &Arc<Service>, set: ToolSet, options: ToolListOptions) -> Vec<Tool> {
    let allows_writing = options.allows_writing;
    let (has_kb, has_skills) = (set != ToolSet::Skills, set != ToolSet::Kb);
    let documents = tools::rows()
        .into_iter()
        .filter(|row| has_kb && (allows_writing || row.effect == ToolEffect::Reads));
    let documents = documents.map(|row| document_tool(service, row, options.has_several));
    let commands = COMMANDS.iter().filter(|command| {
        has_skills && command.is_tool && (command.is_read_only || allows_writing)
    });
    let commands = commands.map(|command| skill_tools::skill_tool(service, command));
    documents.chain(commands).collect()
}

/// Makes a tool from its row.
fn document_tool(service: &Arc<Service>, row: DocumentTool, has_several_bases: bool) -> Tool {
    let service = Arc::clone(service);
    let mut schema = (row.schema)();
    ReplyOptions::declare(&mut schema, row.name == bases::SEARCH);
    let arguments =
        schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    bases::declare(&mut schema, row.name, has_several_bases);
    row.unlisted.iter().for_each(|name| unlist(&mut schema, name));
    Tool {
        name: row.name.to_owned(),
        title: row.title.to_owned(),
        description: row.description.to_owned(),
        schema,
        effect: row.effect,
        handler: Box::new(move |input, call| {
            called(&service, &row, input, call).map_err(|error| failure_of(&error, &arguments))
        }),
    }
}

/// Accepts an argument of a tool without listing it.
fn unlist(schema: &mut Schema, name: &str) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    if let Some(Value::Object(property)) = properties.and_then(|known| known.get_mut(name)) {
        property.insert(UNLISTED.to_owned(), true.into());
    }
}

/// Answers a call about the knowledge bases that it names.
fn called(
    service: &Service,
    row: &DocumentTool,
    mut input: Value,
    call: &Call,
) -> Result<ToolReply> {
    let form = ReplyOptions::take(&mut input);
    let sessions = service.bases.take(row.name, &mut input)?;
    let observer: &dyn Observer = &ServerReporter::new(&*service.observer, call);
    if let Some(news) = program::news_of_replacement() {
        observer.warn(news);
    }
    (row.answer)(input, &ToolCallContext { bases: &service.bases, sessions, observer, form })
}
