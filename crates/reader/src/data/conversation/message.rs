//! Reads a message of a conversation: its speaker and its text. A conversation is the text of all its messages.

use crate::characters::visible_text;
use crate::data::json_value::{JsonObject, JsonValue};

/// How deep the texts of a message may be nested: bounds the recursion on a hostile file.
const MAX_DEPTH: usize = 8;

/// Longest name of a speaker, in characters; a longer one is text.
const MAX_NAME_CHARS: usize = 80;

/// The speaker of the results of a tool.
const TOOL: &str = "Tool";

/// A conversation.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// The title that the file gives it.
    pub(super) name: Option<String>,
    /// When it began, if that is stated as a text.
    pub(super) created: Option<String>,
    /// The turns of all speakers, in order.
    pub(super) turns: Vec<ChatTurn>,
}

/// The words of one speaker, without an interruption.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChatTurn {
    /// Who says it; empty if that is not known.
    pub(super) speaker: String,
    pub(super) text: String,
    /// Where it is in the file.
    pub(super) at: usize,
}

impl ChatTurn {
    /// Whether a person may have typed it: not an assistant, a tool, or a program that adds text between tags.
    pub(super) fn is_question(&self) -> bool {
        const PROGRAMS: [&str; 9] =
            ["Assistant", "Ai", "Model", "Gemini", "Bot", "System", "Developer", TOOL, "Summary"];
        let is_person = !PROGRAMS.contains(&self.speaker.as_str());
        let text = self.text.trim_start();
        is_person && !text.starts_with('<') && !text.starts_with("# AGENTS.md")
    }
}

/// Returns who says a message, by the members that programs have for it.
pub(super) fn speaker(message: &JsonObject<'_>) -> Option<String> {
    const NAMES: [&str; 10] = [
        "from", "sender_name", "sender", "speaker", "author", "creator", "user_profile", "user",
        "username", "role",
    ];
    let found = NAMES.iter().find_map(|key| {
        let value = message.get(key)?;
        value.string().or_else(|| name_of(&value.object()?))
    });
    found
        // Gemini and others state it as the type of a message.
        .or_else(|| message.string("type").filter(|kind| is_role(kind)))
        .map(|name| to_speaker(&name))
        .filter(|name| !name.is_empty())
}

/// Returns the name of a person or a program.
fn name_of(person: &JsonObject<'_>) -> Option<String> {
    const NAMES: [&str; 7] =
        ["real_name", "display_name", "nickname", "global_name", "name", "username", "role"];
    NAMES.iter().find_map(|key| person.string(key).filter(|name| !name.trim().is_empty()))
}

fn is_role(word: &str) -> bool {
    const ROLES: [&str; 9] =
        ["user", "human", "assistant", "ai", "model", "gemini", "bot", "system", "tool"];
    ROLES.contains(&word)
}

/// Returns a name on one line; a role begins with a capital letter.
pub(super) fn to_speaker(name: &str) -> String {
    let words = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut letters = words.chars().take(MAX_NAME_CHARS);
    match letters.next() {
        Some(first) if is_role(&words) || words == "developer" => {
            first.to_uppercase().chain(letters).collect()
        }
        Some(first) => std::iter::once(first).chain(letters).collect(),
        None => String::new(),
    }
}

/// The members in which programs write the text of a message.
const TEXTS: [&str; 5] = ["content", "text", "message", "parts", "body"];

/// Whether a message has a member for its text, even if that is empty.
pub(super) fn may_say(message: &JsonObject<'_>) -> bool {
    TEXTS.iter().any(|key| message.get(key).is_some())
}

/// Returns the turns in a message.
pub(super) fn turns(speaker: &str, message: &JsonObject<'_>) -> Vec<ChatTurn> {
    let mut turns = Vec::new();
    for key in TEXTS {
        let Some(value) = message.get(key) else { continue };
        // Other programs write the pieces of a text, of which some are links.
        if key == "text" && value.is_array() {
            add(&mut turns, speaker, value.at(), &joined(value));
        } else {
            said(&mut turns, speaker, value, 0);
        }
        if !turns.is_empty() {
            break;
        }
    }
    turns
}

/// Returns the pieces of a text as one.
fn joined(pieces: JsonValue<'_>) -> String {
    let texts = pieces
        .items()
        .filter_map(|piece| piece.string().or_else(|| piece.object()?.string("text")));
    texts.collect()
}

/// Adds the turns in a value: a text, or a list of texts, calls of tools and their results.
fn said(turns: &mut Vec<ChatTurn>, speaker: &str, value: JsonValue<'_>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    if let Some(text) = value.string() {
        return add(turns, speaker, value.at(), &text);
    }
    value.items().for_each(|item| said(turns, speaker, item, depth + 1));
    if let Some(object) = value.object() {
        said_in(turns, speaker, &object, depth);
    }
}

/// Adds the turns in an object.
fn said_in(turns: &mut Vec<ChatTurn>, speaker: &str, object: &JsonObject<'_>, depth: usize) {
    const ARGUMENTS: [&str; 4] = ["input", "arguments", "args", "action"];
    const SAID: [&str; 7] = ["text", "thinking", "content", "parts", "output", "summary", "value"];
    let kind = object.string("type").unwrap_or_default();
    let argument = ARGUMENTS.iter().find_map(|key| object.get(key));
    if let Some(argument) = argument.filter(|_| object.get("text").is_none()) {
        let name = object.string("name").unwrap_or_else(|| kind.clone());
        let text = format!("{name}: {}", leaves(argument).join("\n"));
        return add(turns, speaker, argument.at(), &text);
    }
    if kind.contains("image") {
        return;
    }
    let is_result = kind.ends_with("_result") || kind.ends_with("_output");
    let speaker = if is_result { TOOL } else { speaker };
    let Some(text) = SAID.iter().find_map(|key| object.get(key)) else { return };
    match text.string().and_then(|text| output(&text)) {
        Some(output) => add(turns, speaker, text.at(), &output),
        None => said(turns, speaker, text, depth + 1),
    }
}

/// Returns the output in the result of a tool, if that is JSON.
fn output(text: &str) -> Option<String> {
    let text = text.trim_start().starts_with('{').then_some(text)?;
    JsonValue::only(text, 0, text.len())?.object()?.string("output")
}

/// Adds a turn, without the white space around its text.
fn add(turns: &mut Vec<ChatTurn>, speaker: &str, at: usize, text: &str) {
    let lines: Vec<&str> = text.trim().split('\n').map(str::trim_end).collect();
    let text = lines.join("\n");
    if !text.is_empty() {
        turns.push(ChatTurn { speaker: speaker.to_owned(), text, at });
    }
}

/// Returns the texts in the argument of a tool; some programs write it as a text of JSON.
fn leaves(argument: JsonValue<'_>) -> Vec<String> {
    let mut found = Vec::new();
    match argument.string() {
        Some(text) => match JsonValue::only(&text, 0, text.len()).filter(|_| text.starts_with('{'))
        {
            Some(inner) => add_leaves(inner, 0, &mut found),
            None => found.push(text),
        },
        None => add_leaves(argument, 0, &mut found),
    }
    found
}

fn add_leaves(value: JsonValue<'_>, depth: usize, found: &mut Vec<String>) {
    if depth > MAX_DEPTH {
        return;
    }
    found.extend(value.string());
    value.items().for_each(|item| add_leaves(item, depth + 1, found));
    value.members().for_each(|(_, member)| add_leaves(member, depth + 1, found));
}

/// Repairs a text whose bytes in UTF-8 were each written as a character; any other text is left unchanged.
pub(super) fn repaired(text: &str) -> String {
    let bytes: Option<Vec<u8>> =
        text.chars().map(|letter| u8::try_from(u32::from(letter)).ok()).collect();
    let repaired = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    visible_text(repaired.as_deref().unwrap_or(text))
}

/// Reads an item that is not a message: a call of a tool, its result, or a thought.
pub(super) fn of_tool(item: &JsonObject<'_>) -> Vec<ChatTurn> {
    let mut turns = Vec::new();
    said_in(&mut turns, "Assistant", item, 0);
    turns
}
