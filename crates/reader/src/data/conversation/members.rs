//! Unpacks an export of several conversations, each of which is a separate document.

use crate::data::json_value::JsonValue;
use crate::document::Data;
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, DocumentHead, ReadFailure, ReadingSummary};
use crate::limits;
use crate::members::Members;
use crate::text::decode;
use crate::{EarlyEnd, Emit, ReaderInput};

use super::export;

/// Longest name of a conversation, in characters: programs name one by its first words, and it becomes the name of a
/// file.
const MAX_NAME_CHARS: usize = 100;

/// Emits each conversation of an export, unchanged. For any other file, and for an export that is over the limits of a
/// container, emits only the format: the file is then read as one document of data.
pub(crate) fn chats(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let text = decode::decode(input.bytes)
        .ok_or_else(|| ReadFailure::new(FailureKind::NotText, String::new()))?;
    let root = JsonValue::only(&text, 0, text.len());
    let found = root.into_iter().flat_map(JsonValue::items).filter_map(|item| {
        let conversation = export::conversation(&item.object()?)?;
        (!conversation.turns.is_empty()).then_some((conversation.name, item))
    });
    let mut found = found.peekable();
    let num_items = root.into_iter().flat_map(JsonValue::items).count();
    let is_large = num_items > limits::MEMBERS || text.len() as u64 > limits::MEMBER_BYTES;
    if is_large || found.peek().is_none() {
        let format = Some(Data::Json.as_str().to_owned());
        emit(AnswerLine::Document(DocumentHead { format, ..DocumentHead::default() }))?;
        return Ok(ReadingSummary::default());
    }
    let mut members = Members::new(emit);
    for (name, item) in found {
        let name = format!("{}.json", file_name(&name.unwrap_or_default()));
        members.add(&name, item.as_written())?;
    }
    Ok(ReadingSummary::default())
}

/// Returns the title of a conversation as the name of a file, which begins with no full stop.
fn file_name(title: &str) -> String {
    let words = title.replace(['/', '\\'], " ");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let name: String = words.trim_start_matches('.').chars().take(MAX_NAME_CHARS).collect();
    if name.trim().is_empty() { "conversation".to_owned() } else { name.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names and the bytes of the members, and the format of a file that has none.
    fn unpacked(text: &str) -> (Vec<(String, String)>, Option<String>) {
        let (mut members, mut format) = (Vec::new(), None);
        let outcome = chats(&ReaderInput::of(text.as_bytes()), &mut |line| {
            match line {
                AnswerLine::Member(found) => {
                    members.push((found.name, String::from_utf8(found.bytes).unwrap()));
                }
                AnswerLine::Document(head) => format = head.format,
                _ => {}
            }
            Ok(())
        });
        assert!(outcome.is_ok());
        (members, format)
    }

    #[test]
    fn each_conversation_is_a_file() {
        let tide =
            r#"{"name": "Tide/Ebb", "chat_messages": [{"sender": "human", "text": "High?"}]}"#;
        let other = r#"{"name": "", "chat_messages": [{"sender": "human", "text": "Low?"}]}"#;
        let empty = r#"{"name": "Empty", "chat_messages": []}"#;
        let (members, format) = unpacked(&format!("[{tide}, {empty},\n{other}]"));
        let expected = [("Tide Ebb.json", tide), ("conversation.json", other)];
        assert_eq!(members, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
        assert_eq!(format, None);
    }

    #[test]
    fn a_file_without_conversations_is_data() {
        let many = r#"{"chat_messages":[{"sender":"a","text":"b"}]},"#.repeat(limits::MEMBERS + 1);
        let many = format!("[{}]", many.trim_end_matches(','));
        for text in ["[{\"mapping\": 1}]", "[]", "{", "", &many] {
            assert_eq!(unpacked(text), (Vec::new(), Some("json".to_owned())), "{text}");
        }
    }
}
