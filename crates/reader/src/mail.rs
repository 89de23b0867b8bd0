//! Reads e-mail (`mail-parser`): a message (EML), or the messages of a mailbox (MBOX).
//!
//! Subject, sender and date of a message are metadata. Its text is the plain text, or the page if that says more,
//! followed by the appointments of an invitation. Attachments are separate documents.

mod alternatives;
mod content;
mod enclosed;
mod invitation;
mod mailbox;
mod roles;

use std::borrow::Cow;

use mail_parser::{Address, DateTime, Message, MessageParser};

use self::content::MailContent;
use self::mailbox::messages;
use super::members::Members;
use super::writer::BlockWriter;
use super::{EarlyEnd, Emit, ReaderInput, html, mime};
use crate::document::FileParts;
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, DocumentHead, ReadFailure, ReadingSummary};
use crate::limits;
use crate::text::decode;

/// Most messages that are read of a mailbox as one document: bounds its memory.
const MAX_MESSAGES: usize = 10_000;

/// Most attachments whose names are written: bounds the text of a hostile message.
const MAX_ATTACHMENTS: usize = 100;

/// Most warnings about the messages of a mailbox, so that they are readable.
const MAX_WARNINGS: usize = 10;

/// Why an attachment in a mailbox is not read here.
const OF_MAILBOX: &str = "attachments in a mailbox are not read";

/// How a property list begins.
const PROPERTY_LIST: &[u8] = b"<?xml";

/// Reads a message, and emits its attachments as members.
pub(crate) fn read_message(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let bytes = in_bytes(input.bytes);
    if !is_message(&bytes) {
        let detail = "there is no message in it";
        return Err(ReadFailure::new(FailureKind::WrongFormat, detail).into());
    }
    read_converted(&bytes, FileParts::default(), Vec::new(), emit)
}

/// Reads a message that another format was converted to. `parts` and `warnings` are about the content that is not in
/// it.
pub(crate) fn read_converted(
    bytes: &[u8],
    parts: FileParts,
    mut warnings: Vec<String>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let bytes = mime::readable_headers(bytes);
    let repaired = mime::repair(&bytes);
    let message = MessageParser::default()
        .parse(&*repaired.bytes)
        .ok_or_else(|| ReadFailure::new(FailureKind::WrongFormat, "there is no message in it"))?;
    let mut content = MailContent::of(&message, parts);
    let mut writer = BlockWriter::default();
    let event = write(&message, &mut content, &mut writer);
    emit(AnswerLine::Document(DocumentHead {
        title: subject(&message).or(event),
        author: message.from().map(people).filter(|people| !people.is_empty()),
        created: message.date().map(DateTime::to_rfc3339),
        ..DocumentHead::default()
    }))?;
    emit(AnswerLine::Page(writer.page(1)))?;
    let MailContent { attachments, mut parts, warnings: of_content, encoding, .. } = content;
    warnings.extend(of_content);
    if repaired.is_cut_off {
        warnings.push("the message is cut off: its last part has no end".to_owned());
    }
    let mut members = Members::new(emit);
    for (place, attachment) in attachments.iter().enumerate() {
        if place < limits::MEMBERS {
            members.add_within_limit(&attachment.name, &attachment.bytes)?;
            parts.add_read();
        } else {
            parts.add_unread(&attachment.name, attachment.size_bytes(), "there are too many");
        }
    }
    Ok(ReadingSummary { warnings, parts, encoding, ..ReadingSummary::default() })
}

/// Reads a mailbox: each message is a section with its subject as heading. Attachments are not read.
pub(crate) fn read_mailbox(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let mut writer = BlockWriter::default();
    let mut num_messages = 0;
    let (mut warnings, mut parts, mut encoding) = (Vec::new(), FileParts::default(), None);
    for bytes in messages(&in_bytes(input.bytes)) {
        let bytes = mime::readable_headers(&bytes);
        let repaired = mime::repair(&bytes);
        // The line before it says that it is a message.
        let message = MessageParser::default().parse(&*repaired.bytes);
        let Some(message) = message.filter(|message| !message.headers().is_empty()) else {
            continue;
        };
        if num_messages == MAX_MESSAGES {
            warnings.push(format!("the messages after the first {MAX_MESSAGES} were left out"));
            break;
        }
        num_messages += 1;
        writer.heading(2, subject(&message).as_deref().unwrap_or("(no subject)"));
        let mut content = MailContent::of(&message, parts);
        write(&message, &mut content, &mut writer);
        parts = content.parts;
        encoding = content::least_certain(encoding.into_iter().chain(content.encoding.take()));
        for attachment in &content.attachments {
            parts.add_unread(&attachment.name, attachment.size_bytes(), OF_MAILBOX);
        }
        let num_free = MAX_WARNINGS.saturating_sub(warnings.len());
        warnings.extend(content.warnings.into_iter().take(num_free));
    }
    if num_messages == 0 {
        return Err(ReadFailure::new(FailureKind::WrongFormat, "there is no message in it").into());
    }
    emit(AnswerLine::Document(DocumentHead::default()))?;
    emit(AnswerLine::Page(writer.page(1)))?;
    Ok(ReadingSummary { warnings, parts, encoding, ..ReadingSummary::default() })
}

/// Emits the messages of a mailbox as members, named by their ids, which do not change when other messages are added or
/// deleted.
pub(crate) fn of_mailbox(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let mut members = Members::new(emit);
    let mut num_messages = 0;
    for (number, contents) in (1..).zip(messages(&in_bytes(input.bytes))) {
        // The line before it says that it is a message.
        let parsed = MessageParser::default().parse_headers(&contents);
        let Some(parsed) = parsed.filter(|message| !message.headers().is_empty()) else {
            continue;
        };
        num_messages += 1;
        let name = match parsed.message_id() {
            Some(id) => id.replace(['/', '\\'], "_"),
            None => format!("message-{number}"),
        };
        members.add(&format!("{name}.eml"), contents)?;
    }
    if num_messages == 0 {
        return Err(ReadFailure::new(FailureKind::WrongFormat, "there is no message in it").into());
    }
    Ok(ReadingSummary::default())
}

/// Returns the bytes of a message or a mailbox: in UTF-8 if it is in UTF-16, and without what Apple Mail adds.
fn in_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
    if decode::has_line_bytes(bytes) {
        return Cow::Borrowed(without_frame(bytes));
    }
    decode::decode(bytes).map_or(Cow::Borrowed(bytes), |text| Cow::Owned(text.into_bytes()))
}

/// Returns the message in a file of Apple Mail (EMLX): between a line with its size and a property list.
fn without_frame(bytes: &[u8]) -> &[u8] {
    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return bytes };
    let (first, message) = (bytes[..end].trim_ascii(), &bytes[end + 1..]);
    let size = str::from_utf8(first).ok().and_then(|first| first.parse::<usize>().ok());
    let Some(size) = size else { return bytes };
    match message.split_at_checked(size) {
        Some((message, list)) if list.trim_ascii_start().starts_with(PROPERTY_LIST) => message,
        // The size is wrong, for example because a program has changed the line ends.
        _ => {
            let mut starts = message.windows(PROPERTY_LIST.len());
            let start = starts.rposition(|window| window == PROPERTY_LIST);
            &message[..start.unwrap_or(message.len())]
        }
    }
}

/// Whether bytes begin with the usual fields of a message.
fn is_message(bytes: &[u8]) -> bool {
    let message = MessageParser::default().parse_headers(bytes);
    message.is_some_and(|message| {
        message.from().is_some() || message.subject().is_some() || message.date().is_some()
    })
}

/// Returns the subject of a message on one line.
fn subject(message: &Message<'_>) -> Option<String> {
    let words: Vec<&str> = message.subject()?.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Writes who sent a message to whom and when, its text, its appointments, and the names of its attachments. Returns
/// the title of the first appointment.
fn write(
    message: &Message<'_>,
    content: &mut MailContent<'_>,
    writer: &mut BlockWriter,
) -> Option<String> {
    let date = message.date().map(|date| format!("Date: {}", date.to_rfc3339()));
    let fields =
        [field("From", message.from()), field("To", message.to()), field("Cc", message.cc()), date];
    writer.paragraph(&fields.into_iter().flatten().collect::<Vec<_>>().join("\n"));
    for body in &content.bodies {
        if body.is_page {
            html::write_message(&body.text, writer);
            continue;
        }
        let text = body.text.replace("\r\n", "\n");
        let paragraphs = text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty());
        paragraphs.for_each(|paragraph| writer.paragraph(paragraph));
    }
    let event = invitation::write(content, subject(message).as_deref(), writer);
    let names: Vec<&str> = content.names.iter().map(String::as_str).take(MAX_ATTACHMENTS).collect();
    if !names.is_empty() {
        writer.paragraph(&format!("Attachments: {}", names.join(", ")));
    }
    writer.left_out.merge(&content.left_out);
    event
}

/// Returns a field with people: `To: Ada Tide <ada@example.org>`; `None` if there are none.
fn field(name: &str, address: Option<&Address<'_>>) -> Option<String> {
    let people = address.map(people).filter(|people| !people.is_empty())?;
    Some(format!("{name}: {people}"))
}

/// Returns the people of a field: `Ada Tide <ada@example.org>, bo@example.org`.
fn people(address: &Address<'_>) -> String {
    let people = address.iter().filter_map(|person| match (person.name(), person.address()) {
        (Some(name), Some(address)) if name != address => Some(format!("{name} <{address}>")),
        (name, address) => address.or(name).map(str::to_owned),
    });
    people.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
