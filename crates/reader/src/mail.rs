//! Reads e-mail (`mail-parser`): a message (EML), or the messages of a mailbox (MBOX).
//!
//! Subject, sender and date of a message are metadata. Its text is the plain one, or the page if
//! there is no other, or if the plain one is much shorter. Of attachments only the names are read.

use std::borrow::Cow;

use mail_parser::decoders::html::html_to_text;
use mail_parser::mailbox::mbox::MessageIterator;
use mail_parser::{Address, DateTime, Message, MessageParser, MessagePart, MimeHeaders, PartType};

use super::writer::Writer;
use super::{Emit, Input, Stop, html, members};
use crate::error::Failure;
use crate::extract::protocol::{Head, Line, ReadFailure, Tail};
use crate::text::decode;

/// Most messages that are read of a mailbox.
const MAX_MESSAGES: usize = 10_000;

/// The page is read if it has more words than this many times those of the plain text, as that then only says that
/// there is a page.
const MIN_PLAIN: usize = 4;

/// Most attachments whose names are written.
const MAX_ATTACHMENTS: usize = 100;

/// Reads a message.
pub(crate) fn read_message(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<Tail, Stop> {
    let bytes = in_bytes(input.bytes);
    let message = parse(&bytes)
        .ok_or_else(|| ReadFailure::new(Failure::WrongFormat, "there is no message in it"))?;
    emit(Line::Document(Head {
        title: subject(&message),
        author: message.from().map(people).filter(|people| !people.is_empty()),
        created: message.date().map(DateTime::to_rfc3339),
        ..Head::default()
    }))?;
    let mut writer = Writer::default();
    write(&message, &mut writer);
    emit(Line::Page(writer.page(1)))?;
    members::of_message(input, emit)
}

/// Reads a mailbox: each message is a section with its subject as heading.
pub(crate) fn read_mailbox(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<Tail, Stop> {
    let mut writer = Writer::default();
    let mut num_messages = 0;
    let mut warnings = Vec::new();
    for message in MessageIterator::new(&*in_bytes(input.bytes)) {
        let Some(contents) = message.ok().map(|message| message.unwrap_contents()) else {
            continue;
        };
        // Its first line says that it is a message.
        let message = MessageParser::default().parse(&contents);
        let Some(message) = message.filter(|message| !message.headers().is_empty()) else {
            continue;
        };
        if num_messages == MAX_MESSAGES {
            warnings.push(format!("the messages after the first {MAX_MESSAGES} were left out"));
            break;
        }
        num_messages += 1;
        writer.heading(2, subject(&message).as_deref().unwrap_or("(no subject)"));
        write(&message, &mut writer);
    }
    if num_messages == 0 {
        return Err(ReadFailure::new(Failure::WrongFormat, "there is no message in it").into());
    }
    emit(Line::Document(Head::default()))?;
    emit(Line::Page(writer.page(1)))?;
    Ok(Tail { warnings, ..Tail::default() })
}

/// Returns a message or a mailbox in UTF-8 if it is in UTF-16; otherwise its bytes.
pub(crate) fn in_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
    match decode::has_line_bytes(bytes) {
        true => Cow::Borrowed(bytes),
        false => {
            decode::decode(bytes).map_or(Cow::Borrowed(bytes), |text| Cow::Owned(text.into_bytes()))
        }
    }
}

/// Parses a message; `None` for bytes without its usual fields.
fn parse(bytes: &[u8]) -> Option<Message<'_>> {
    let message = MessageParser::default().parse(bytes)?;
    let has_fields =
        message.from().is_some() || message.subject().is_some() || message.date().is_some();
    has_fields.then_some(message)
}

/// Returns the subject of a message on one line.
fn subject(message: &Message<'_>) -> Option<String> {
    let words: Vec<&str> = message.subject()?.split_whitespace().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// Writes who sent a message to whom and when, its text, and the names of its attachments.
fn write(message: &Message<'_>, writer: &mut Writer) {
    let of = |name: &str, address: Option<&Address<'_>>| {
        let people = address.map(people).filter(|people| !people.is_empty())?;
        Some(format!("{name}: {people}"))
    };
    let date = message.date().map(|date| format!("Date: {}", date.to_rfc3339()));
    let fields = [of("From", message.from()), of("To", message.to()), of("Cc", message.cc()), date];
    writer.paragraph(&fields.into_iter().flatten().collect::<Vec<_>>().join("\n"));
    for part in bodies(message) {
        match &part.body {
            PartType::Text(text) => text
                .replace("\r\n", "\n")
                .split("\n\n")
                .filter(|paragraph| !paragraph.trim().is_empty())
                .for_each(|paragraph| writer.paragraph(paragraph)),
            PartType::Html(page) => html::write_message(page, writer),
            _ => {}
        }
    }
    let names = message.attachments().filter_map(name).take(MAX_ATTACHMENTS);
    let names = names.collect::<Vec<_>>().join(", ");
    if !names.is_empty() {
        writer.paragraph(&format!("Attachments: {names}"));
    }
}

/// Returns the parts that are the text of a message: the plain ones, unless they only say that there is a page.
fn bodies<'a>(message: &'a Message<'a>) -> Vec<&'a MessagePart<'a>> {
    let num_words = |parts: &[&MessagePart<'_>]| -> usize {
        let words = |part: &&MessagePart<'_>| match &part.body {
            PartType::Text(text) => text.split_whitespace().count(),
            PartType::Html(page) => html_to_text(page).split_whitespace().count(),
            _ => 0,
        };
        parts.iter().map(words).sum()
    };
    let plain: Vec<_> = message.text_bodies().collect();
    let pages: Vec<_> = message.html_bodies().collect();
    if num_words(&plain) * MIN_PLAIN < num_words(&pages) { pages } else { plain }
}

/// Returns the name of an attachment; of a message its subject.
fn name<'a>(part: &'a mail_parser::MessagePart<'_>) -> Option<&'a str> {
    let subject = || match &part.body {
        PartType::Message(message) => message.subject(),
        _ => None,
    };
    part.attachment_name().or_else(subject)
}

/// Returns the people of a field: `Ada Tide <ada@example.org>, bo@example.org`.
fn people(address: &Address<'_>) -> String {
    let one = |person: &mail_parser::Addr<'_>| match (person.name(), person.address()) {
        (Some(name), Some(address)) if name != address => Some(format!("{name} <{address}>")),
        (name, address) => address.or(name).map(str::to_owned),
    };
    address.iter().filter_map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::output_of;

    #[track_caller]
    fn check(message: &str, expected: &[&str]) -> Head {
        let (head, blocks) = output_of(read_message, message.as_bytes()).unwrap();
        assert_eq!(blocks, expected);
        head
    }

    #[test]
    fn a_message_has_subject_sender_date_and_text() {
        let head = check(
            "From: =?utf-8?q?Ada_T=C3=AFde?= <ada@example.org>\r\nTo: bo@example.org, Cy <cy@example.org>\r\n\
             Date: Mon, 26 Feb 2024 10:30:00 -0400\r\nSubject: =?utf-8?b?R2F1Z2Ug?=\r\n readings\r\n\r\n\
             Low water.\r\nAt ten.\r\n\r\n> Tides?\r\n",
            &[
                "From: Ada Tïde <ada@example.org>\nTo: bo@example.org, Cy <cy@example.org>\nDate: 2024-02-26T10:30:00-04:00",
                "Low water.\nAt ten.",
                "> Tides?",
            ],
        );
        assert_eq!(head.title.as_deref(), Some("Gauge readings"));
        assert_eq!(head.author.as_deref(), Some("Ada Tïde <ada@example.org>"));
        assert_eq!(head.created.as_deref(), Some("2024-02-26T10:30:00-04:00"));
    }

    #[test]
    fn the_plain_text_is_preferred_and_attachments_are_named() {
        let part = |kind: &str, body: &str| format!("--x\nContent-Type: {kind}\n\n{body}\n");
        let alternative = format!(
            "Subject: a\nContent-Type: multipart/alternative; boundary=x\n\n{}{}--x--\n",
            part("text/plain", "Plain."),
            part("text/html", "<p>Page.</p>")
        );
        check(&alternative, &["Plain."]);
        let mixed = format!(
            "Subject: a\nContent-Type: multipart/mixed; boundary=x\n\n{}{}{}--x--\n",
            part("text/html", "<h1>Gauge</h1><p>Page.</p>"),
            part("application/pdf; name=tide.pdf", "%PDF-"),
            part("message/rfc822", "Subject: inner\n\nInner."),
        );
        check(&mixed, &["# Gauge", "Page.", "Attachments: tide.pdf, inner"]);
    }

    #[test]
    fn the_page_is_read_whole_and_if_the_plain_text_only_mentions_it() {
        let page = "<p>Low water at ten.</p><button>Reply</button><div aria-hidden=true>Boats wait \
                    below.</div><p hidden>secret</p><script>code</script><select><option>Noon</select>";
        let words = ["Low water at ten.", "Reply", "Boats wait below.", "Noon"];
        check(&format!("Subject: a\nContent-Type: text/html\n\n{page}"), &words);
        let both = |plain: &str| {
            format!(
                "Subject: a\nContent-Type: multipart/alternative; boundary=x\n\n--x\n\
                 Content-Type: text/plain\n\n{plain}\n--x\nContent-Type: text/html\n\n{page}\n--x--\n"
            )
        };
        check(&both(" "), &words);
        check(&both("Below."), &words);
        check(&both("Low water at ten. Boats wait."), &["Low water at ten. Boats wait."]);
    }

    #[test]
    fn a_message_in_utf_16_is_read() {
        let text = "\u{FEFF}From: ada@example.org\r\nSubject: a\r\n\r\nLow water.\r\n";
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (head, blocks) = output_of(read_message, &bytes).unwrap();
        assert_eq!(head.title.as_deref(), Some("a"));
        assert_eq!(blocks, ["From: ada@example.org", "Low water."]);
    }

    #[test]
    fn each_message_of_a_mailbox_is_a_section() {
        let mailbox = "From ada Mon Feb 26 10:30:00 2024\nSubject: Gauge\n\nLow.\n>From here.\n\n\
                       From bo Tue Feb 27 10:30:00 2024\nFrom: bo@example.org\n\nHigh.\n";
        let (_, blocks) = output_of(read_mailbox, mailbox.as_bytes()).unwrap();
        assert_eq!(
            blocks,
            ["## Gauge", "Low.\nFrom here.", "## (no subject)", "From: bo@example.org", "High."]
        );
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bytes in ["", "words", "a: b\n\nwords", "From words\n"] {
            for read in [read_message, read_mailbox] {
                match output_of(read, bytes.as_bytes()) {
                    Err(Stop::Failed(failed)) => assert_eq!(failed.failure, Failure::WrongFormat),
                    other => panic!("{bytes}: {other:?}"),
                }
            }
        }
    }
}
