//! Reads exports of chats: of `ChatGPT`, Claude, Gemini, Slack, Telegram, Discord, Facebook, editors, and others that have a
//! list of messages with a speaker and a text.

use std::collections::HashMap;

use crate::data::json_value::{JsonObject, JsonValue};

use super::message::{ChatTurn, Conversation, may_say, repaired, speaker, turns};

/// Returns the conversations of a file; `None` if it has something else.
pub(super) fn read(text: &str) -> Option<Vec<Conversation>> {
    let root = JsonValue::only(text, 0, text.len())?;
    if root.is_array() {
        let first = root.items().next()?.object()?;
        if is_conversation(&first) {
            return root.items().map(|item| conversation(&item.object()?)).collect();
        }
        let turns = match slack(root) {
            Some(turns) => turns,
            None if speaker(&first).is_some() && may_say(&first) => messages(root)?,
            None => return None,
        };
        return Some(vec![Conversation { turns, ..Conversation::default() }]);
    }
    let root_object = root.object()?;
    if let Some(chats) = root_object.object("chats").and_then(|chats| chats.get("list")) {
        let found = chats.items().filter_map(|chat| conversation(&chat.object()?));
        return Some(found.collect::<Vec<_>>()).filter(|found| !found.is_empty());
    }
    // A file of settings may have a list of messages too.
    let main = ["mapping", "chat_messages", "messages", "requests"];
    let main = main.iter().filter_map(|name| root_object.get(name)).next()?;
    let is_main = main.num_bytes() * 2 > root.num_bytes();
    conversation(&root_object).filter(|_| is_main).map(|found| vec![found])
}

/// Whether an object in a list of them has a list of messages.
fn is_conversation(object: &JsonObject<'_>) -> bool {
    conversation(object).is_some()
}

/// Reads an object that has a list of messages.
pub(super) fn conversation(object: &JsonObject<'_>) -> Option<Conversation> {
    let turns = if let Some(mapping) = object.get("mapping") {
        of_mapping(mapping)?
    } else if let Some(messages) = object.get("chat_messages") {
        self::messages(messages).unwrap_or_default()
    } else if let Some(messages) = object.get("messages") {
        self::messages(messages)?
    } else {
        of_requests(object)?
    };
    let name = object
        .string("title")
        .or_else(|| object.string("name"))
        .or_else(|| object.object("channel")?.string("name"));
    let created = ["created_at", "create_time", "startTime"];
    let created = created.iter().find_map(|name| object.string(name));
    Some(Conversation { name, created, turns })
}

/// Reads the tree of messages that `ChatGPT` writes.
fn of_mapping(mapping: JsonValue<'_>) -> Option<Vec<ChatTurn>> {
    let mut found: Vec<(f64, Vec<ChatTurn>)> = Vec::new();
    let mut is_tree = false;
    for (_, node) in mapping.members() {
        let node = node.object()?;
        let Some(message) = node.get("message") else { continue };
        is_tree = true;
        let Some(message) = message.object() else { continue };
        let metadata = message.object("metadata");
        let is_hidden = metadata
            .and_then(|metadata| metadata.get("is_visually_hidden_from_conversation"))
            .is_some_and(JsonValue::is_true);
        let time = message.get("create_time").and_then(JsonValue::number);
        // A message without a time is next to the one before it.
        let time = time.or(found.last().map(|(time, _)| *time)).unwrap_or(0.0);
        if !is_hidden {
            found.push((time, turns(&speaker(&message).unwrap_or_default(), &message)));
        }
    }
    found.sort_by(|(first, _), (second, _)| first.total_cmp(second));
    is_tree.then(|| found.into_iter().flat_map(|(_, turns)| turns).collect())
}

/// Reads a list of messages; `None` if at least half of its items are none.
fn messages(list: JsonValue<'_>) -> Option<Vec<ChatTurn>> {
    let (mut found, mut num_items, mut num_messages) = (Vec::new(), 0_usize, 0_usize);
    for item in list.items() {
        num_items += 1;
        let Some(message) = item.object() else { continue };
        let Some(speaker) = speaker(&message) else { continue };
        let said = match of_facebook(&message) {
            Some(turn) => vec![turn],
            None => turns(&speaker, &message),
        };
        num_messages += usize::from(may_say(&message));
        found.extend(said);
    }
    (!found.is_empty() && num_messages * 2 >= num_items).then_some(found)
}

/// Reads a message of Facebook, which writes each byte of UTF-8 as a character.
fn of_facebook(message: &JsonObject<'_>) -> Option<ChatTurn> {
    message.get("timestamp_ms")?;
    let content = message.get("content")?;
    let speaker = message.get("sender_name")?.raw_string()?;
    Some(ChatTurn {
        speaker: repaired(&speaker),
        text: repaired(&content.raw_string()?),
        at: content.at(),
    })
}

/// Reads a chat with the assistant of an editor: what is asked, and the parts of the answer.
fn of_requests(object: &JsonObject<'_>) -> Option<Vec<ChatTurn>> {
    let user = object.string("requesterUsername").unwrap_or("User".to_owned());
    let assistant = object.string("responderUsername").unwrap_or("Assistant".to_owned());
    let mut found = Vec::new();
    for request in object.get("requests")?.items() {
        let request = request.object()?;
        found.extend(turns(&user, &request.object("message")?));
        for part in request.get("response")?.items() {
            let Some(part) = part.object() else { continue };
            let Some(text) = part.get("value").filter(|value| value.string().is_some()) else {
                continue;
            };
            found.push(ChatTurn {
                speaker: assistant.clone(),
                text: text.string().unwrap_or_default(),
                at: text.at(),
            });
        }
    }
    Some(found)
}

/// Reads a day of a channel of Slack; `None` for any other list.
fn slack(list: JsonValue<'_>) -> Option<Vec<ChatTurn>> {
    let mut items = list.items().map(JsonValue::object);
    if !items.all(|item| item.is_some_and(|message| is_slack_message(&message))) {
        return None;
    }
    let all: Vec<JsonObject<'_>> = list.items().filter_map(JsonValue::object).collect();
    let named = all.iter().filter_map(|message| {
        message.object("user_profile")?;
        Some((message.string("user")?, speaker(message)?))
    });
    let names: HashMap<String, String> = named.collect();
    let mut found = Vec::new();
    for message in &all {
        let speaker = speaker(message).unwrap_or_default();
        let speaker = names.get(&speaker).unwrap_or(&speaker);
        let said = turns(speaker, message).into_iter();
        found.extend(said.map(|turn| ChatTurn { text: slack_text(&turn.text, &names), ..turn }));
    }
    Some(found)
}

fn is_slack_message(message: &JsonObject<'_>) -> bool {
    message.string("type").as_deref() == Some("message") && message.has("ts")
}

/// Returns a text of Slack without its marks: `<@U1>`, `<address|words>` and the three escaped characters.
fn slack_text(text: &str, names: &HashMap<String, String>) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        written += before;
        let Some((mark, behind)) = after.split_once('>') else {
            written.push('<');
            rest = after;
            break;
        };
        let (target, words) = mark.split_once('|').unwrap_or((mark, ""));
        match target.strip_prefix(['@', '#', '!']) {
            Some(id) => {
                written += &target[..1];
                written +=
                    if words.is_empty() { names.get(id).map_or(id, String::as_str) } else { words };
            }
            None if words.is_empty() || words == target => written += target,
            None => written += &format!("{words} ({target})"),
        }
        rest = behind;
    }
    written += rest;
    written.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}
