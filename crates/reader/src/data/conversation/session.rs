//! Reads the session of an agent: one object per line, of which some are messages.

use crate::data::json_value::{JsonObject, JsonValue};

use super::message::{ChatTurn, Conversation, of_tool, speaker, to_speaker, turns};

/// How many of ten lines may be neither messages nor notes of a program next to them; with more, the file is a log of
/// something else.
const MAX_OTHER_OF_TEN: usize = 1;

/// One in this many lines must be a message: programs log much more than messages.
const MIN_SHARE: usize = 20;

/// The kind of a line of a session.
enum SessionLine {
    /// A message.
    Said(Vec<ChatTurn>),
    /// A message as the user interface shows it; it counts only if no other line has messages.
    Shown(Vec<ChatTurn>),
    /// Something that a program notes.
    Note,
    Other,
}

/// Reads lines that are a session; `None` for any other lines.
pub(super) fn read(text: &str) -> Option<Conversation> {
    let mut conversation = Conversation::default();
    let mut shown = Vec::new();
    let (mut num_lines, mut num_said, mut num_other) = (0_usize, 0_usize, 0_usize);
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let object = JsonValue::only(text, start, end).and_then(JsonValue::object);
        start = end;
        if line.trim().is_empty() {
            continue;
        }
        num_lines += 1;
        let Some(object) = object else {
            num_other += 1;
            continue;
        };
        match line_of(&object) {
            SessionLine::Said(turns) => {
                num_said += 1;
                conversation.turns.extend(turns);
                let created = &mut conversation.created;
                *created = created.take().or_else(|| object.string("timestamp"));
            }
            SessionLine::Shown(turns) => shown.extend(turns),
            SessionLine::Note => {}
            SessionLine::Other => num_other += 1,
        }
    }
    // The messages that a program shows repeat the others, so they count only if there are no others.
    if conversation.turns.is_empty() {
        num_said += shown.len();
        conversation.turns = shown;
    }
    let is_session = num_other * 10 <= num_lines * MAX_OTHER_OF_TEN
        && num_said > 0
        && num_said * MIN_SHARE >= num_lines;
    is_session.then_some(conversation)
}

fn line_of(object: &JsonObject<'_>) -> SessionLine {
    let kind = object.string("type").unwrap_or_default();
    // Claude Code and other programs write messages in this form.
    if let Some(message) = object.object("message")
        && let Some(found) = of_role(&message)
    {
        return SessionLine::Said(found);
    }
    // Codex puts each message into a payload.
    if let Some(payload) = object.object("payload") {
        return match kind.as_str() {
            "response_item" => SessionLine::Said(of_item(&payload)),
            "event_msg" => SessionLine::Shown(of_event(&payload)),
            _ => SessionLine::Note,
        };
    }
    // Slack, with one message per line.
    if kind == "message" && object.has("ts") && object.has("text") {
        let speaker = speaker(object).unwrap_or_default();
        return SessionLine::Said(turns(&speaker, object));
    }
    if let Some(found) = of_role(object) {
        return SessionLine::Said(found);
    }
    if kind == "summary"
        && let Some(text) = object.get("summary").filter(|_| object.has("leafUuid"))
    {
        let summary = text.string().unwrap_or_default();
        let turn = ChatTurn { speaker: "Summary".to_owned(), text: summary, at: text.at() };
        return SessionLine::Said(vec![turn]);
    }
    if is_item(&kind) {
        return SessionLine::Said(of_item(object));
    }
    const NOTED: [&str; 6] =
        ["sessionId", "session_id", "uuid", "timestamp", "messageId", "record_type"];
    let is_note = NOTED.iter().any(|name| object.has(name))
        && (!kind.is_empty() || object.has("record_type"));
    // An older Codex begins a session with such a line.
    if is_note || (object.has("instructions") && object.has("id")) {
        return SessionLine::Note;
    }
    SessionLine::Other
}

/// Reads a message that has a role; `None` for anything else.
fn of_role(message: &JsonObject<'_>) -> Option<Vec<ChatTurn>> {
    let role = message.string("role")?;
    let content = message.get("content").or_else(|| message.get("parts"))?;
    let is_content = content.is_array() || content.string().is_some();
    is_content.then(|| turns(&to_speaker(&role), message))
}

/// Whether a line of this type is a call of a tool, or the like, of an older Codex.
fn is_item(kind: &str) -> bool {
    kind == "reasoning" || kind.ends_with("_call") || kind.ends_with("_call_output")
}

/// Reads an item of an answer: a message, a call of a tool, or its result.
fn of_item(item: &JsonObject<'_>) -> Vec<ChatTurn> {
    let kind = item.string("type").unwrap_or_default();
    match item.string("role") {
        Some(role) => turns(&to_speaker(&role), item),
        None if is_item(&kind) => of_tool(item),
        None => Vec::new(),
    }
}

/// Reads a message that the user interface of Codex shows.
fn of_event(event: &JsonObject<'_>) -> Vec<ChatTurn> {
    match event.string("type").as_deref() {
        Some("user_message") => turns("User", event),
        Some("agent_message") => turns("Assistant", event),
        _ => Vec::new(),
    }
}
