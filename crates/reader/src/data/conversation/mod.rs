//! Recognises sessions of agents and exports of chats, and writes their text, without keys and braces.
//!
//! A file is a conversation only if most of it is messages; any other file is data.

mod export;
mod members;
mod message;
mod session;

use crate::data::prose::{LineNumbers, ProseWriter};
use crate::document::{BlockKind, Data, Document};

pub(crate) use members::chats;
use message::{ChatTurn, Conversation};

/// Reads a file that is a conversation, or several; `None` for any other file.
pub(super) fn extract(text: &str, kind: Data) -> Option<Document> {
    let mut conversations = match kind {
        Data::Json => export::read(text)?,
        Data::JsonLines => vec![session::read(text)?],
        _ => return None,
    };
    conversations.retain(|conversation| !conversation.turns.is_empty());
    let lines = LineNumbers::of(text);
    let mut writer = ProseWriter::default();
    if let [only] = &conversations[..] {
        let mut questions = only.turns.iter().filter(|turn| turn.is_question());
        let first = questions.next().or(only.turns.first());
        writer.title(first.and_then(|turn| turn.text.lines().next()).unwrap_or_default());
        writer.created(only.created.clone());
    }
    for Conversation { name, turns, .. } in conversations {
        let start = turns.first().map_or(0, |turn| turn.at);
        writer.heading(lines.at(start), 1, &name.unwrap_or_default());
        for ChatTurn { speaker, text, at } in turns {
            let text = if speaker.is_empty() { text } else { format!("{speaker}: {text}") };
            writer.block(lines.at(at), BlockKind::Paragraph, &text);
        }
    }
    writer.finish()
}

#[cfg(test)]
mod tests;
