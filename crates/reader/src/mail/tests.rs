//! Tests what is read of messages and mailboxes.

use super::*;
use crate::members::tests::{members, names};
use crate::testing::output_of;

#[track_caller]
fn check(message: &str, expected: &[&str]) -> DocumentHead {
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
        part("text/plain", "Low water at ten."),
        part("text/html", "<p>Low water at ten. Reply</p>")
    );
    check(&alternative, &["Low water at ten."]);
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

/// Returns a part of a message with separator `x`.
fn part(headers: &str, body: &str) -> String {
    format!("--x\nContent-Type: {headers}\n\n{body}\n")
}

fn mixed(parts: &[String]) -> String {
    let head = "Subject: a\nContent-Type: multipart/mixed; boundary=x\n\n";
    format!("{head}{}--x--\n", parts.concat())
}

/// Returns what a reader says at the end, and the names of the members.
#[track_caller]
fn tail(read: crate::Read, bytes: &[u8]) -> (ReadingSummary, Vec<String>) {
    let mut names = Vec::new();
    let input = ReaderInput::of(bytes);
    let outcome = read(&input, &mut |line| {
        if let AnswerLine::Member(member) = line {
            names.push(member.name);
        }
        Ok(())
    });
    (outcome.unwrap(), names)
}

#[test]
fn every_part_of_a_message_is_counted() {
    let alternative = "multipart/alternative; boundary=y\n\n--y\n\nHigh water at noon.\n--y\n\
         Content-Type: text/html\n\n<p>High water at noon.<img src='cid:sketch'></p>\n--y\n\
         Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VEVENT\nSUMMARY:Ebb\nEND:VEVENT\n--y--";
    let message = mixed(&[
        part(alternative, ""),
        part("image/png\nContent-ID: <sketch>", "PNG"),
        part("image/jpeg; name=scan.jpg", "JPEG"),
        part("audio/mpeg; name=bell.mp3", "ID3"),
        part("video/mp4", "MP4"),
        part("font/woff2", "WOFF"),
        part("text/csv; name=tide.csv", "a,b"),
        part("text/html; name=page.html", "<p>Attached."),
        part("message/rfc822", "Subject: inner\n\nInner."),
        part("message/delivery-status", "Status: 5.1.1"),
        part("message/external-body; access-type=URL", "Content-Type: text/plain\n\n"),
        part("application/pkcs7-mime; name=smime.p7m", "MIAG"),
        part("application/ms-tnef; name=winmail.dat", "TNEF"),
        part("application/pdf", "%PDF-"),
        part("application/pgp-signature; name=signature.asc", "iQE"),
        part("application/octet-stream; name=smime.p7s", "MIA"),
    ]);
    let parsed = MessageParser::default().parse(&message).unwrap();
    let is_leaf = |part: &&mail_parser::MessagePart<'_>| {
        !matches!(part.body, mail_parser::PartType::Multipart(_))
    };
    let num_leaves = parsed.parts.iter().filter(is_leaf).count();
    let (tail, members) = tail(read_message, message.as_bytes());
    let parts = tail.parts;
    assert_eq!(usize::try_from(parts.num_parts()).unwrap(), num_leaves);
    assert_eq!(members, ["scan.jpg", "tide.csv", "page.html", "inner.eml", "attachment-5.pdf"]);
    // Both texts, the calendar, the report of the server, and the members.
    assert_eq!(parts.num_read, 9);
    let kinds: Vec<_> =
        parts.without_text.iter().map(|(kind, num)| (kind.as_str(), *num)).collect();
    assert_eq!(kinds, [("film", 1), ("font", 1), ("picture", 1), ("signature", 2), ("sound", 1)]);
    let unread: Vec<_> = parts.unread.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(unread, ["message/external-body", "smime.p7m", "winmail.dat"]);
    assert_eq!(tail.warnings, Vec::<String>::new());
}

#[test]
fn the_attachments_of_a_mailbox_are_counted_as_unread() {
    let message = mixed(&[part("text/csv; name=tide.csv", "a,b"), part("image/gif", "GIF")]);
    let mailbox = format!("From ada Mon\n{message}\nFrom bo Tue\nSubject: b\n\nHigh.\n");
    let (tail, members) = tail(read_mailbox, mailbox.as_bytes());
    let unread: Vec<_> = tail.parts.unread.iter().map(|part| part.name.as_str()).collect();
    assert_eq!((unread, tail.parts.num_read), (vec!["tide.csv", "attachment-2"], 1));
    assert!(members.is_empty());
}

#[test]
fn an_invitation_has_subject_time_and_place_but_its_text_only_once() {
    let calendar = "BEGIN:VEVENT\nDTSTART:20260504T090000Z\nSUMMARY:Dry dock\nLOCATION:Pier 9\n\
         DESCRIPTION:Bring the drawings.\\n\\nAsk Bo.\nEND:VEVENT\n";
    let facts = "When: 2026-05-04 09:00 UTC\nWhere: Pier 9";
    let invitation = |subject: &str, text: &str| {
        let kind = "multipart/alternative; boundary=y";
        format!(
            "From: a@b\n{subject}Content-Type: {kind}\n\n--y\n\n{text}\n--y\n\
             Content-Type: text/calendar\n\n{calendar}\n--y--\n"
        )
    };
    let head = check(
        &invitation("", ""),
        &["From: a@b", "### Dry dock", facts, "Bring the drawings.", "Ask Bo."],
    );
    assert_eq!(head.title.as_deref(), Some("Dry dock"));
    check(
        &invitation("Subject: RE: dry dock\n", "Please bring the drawings."),
        &["From: a@b", "Please bring the drawings.", facts, "Ask Bo."],
    );
    let twice = mixed(&[part("text/calendar", calendar), part("text/calendar", calendar)]);
    check(&twice, &["### Dry dock", facts, "Bring the drawings.", "Ask Bo."]);
}

#[test]
fn a_file_in_the_text_is_an_attachment() {
    let message = "Subject: a\n\nHere.\n\nbegin 644 cat.txt\n#0V%T\n`\nend\n\nAfter.\n";
    check(message, &["Here.", "After.", "Attachments: cat.txt"]);
    let (tail, members) = tail(read_message, message.as_bytes());
    assert_eq!((members, tail.parts.num_read), (vec!["cat.txt".to_owned()], 2));
}

#[test]
fn a_message_that_is_cut_off_is_read_as_far_as_it_goes() {
    let head = "Subject: a\nContent-Type: multipart/alternative; boundary=y\n\n--y\n\
         Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n";
    let message = format!("{head}PHA+SGln\naCB3YXRlcjxwPmF0");
    check(&message, &["High water", "at"]);
    let (tail, _) = tail(read_message, message.as_bytes());
    assert_eq!(tail.warnings, ["the message is cut off: its last part has no end"]);
}

#[test]
fn a_part_that_is_not_encoded_as_it_says_is_read_as_far_as_possible() {
    let part = part("text/html\nContent-Transfer-Encoding: base64", "PHA+SGln*\naCB3YXRlcg==");
    let message = mixed(&[part]);
    check(&message, &["High water"]);
    let (tail, _) = tail(read_message, message.as_bytes());
    assert_eq!(
        tail.warnings,
        ["the part `text/html` of the message is damaged: not all of it is base64"]
    );
}

#[test]
fn a_file_of_apple_mail_is_a_message() {
    let message = "Subject: a\n\nLow water.\n";
    let list = "<?xml version=\"1.0\"?><plist><dict/></plist>";
    let size = message.len();
    check(&format!("{size}      \n{message}{list}"), &["Low water."]);
    check(&format!("9\n{message}{list}"), &["Low water."]);
    check(&format!("{size}\n{message}"), &["Low water."]);
}

#[test]
fn another_form_of_a_text_is_read_if_it_is_the_only_one() {
    let forms = |plain: &str| {
        let kind = "multipart/alternative; boundary=y";
        format!(
            "Subject: a\nContent-Type: {kind}\n\n--y\n\n{plain}\n--y\n\
             Content-Type: text/enriched\n\nBring rope. <bold>Today.</bold>\n--y--\n"
        )
    };
    check(&forms(""), &["Bring rope.", "Today."]);
    check(&forms("Low."), &["Low."]);
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
                Err(EarlyEnd::Failed(failed)) => {
                    assert_eq!(failed.failure, FailureKind::WrongFormat);
                }
                other => panic!("{bytes}: {other:?}"),
            }
        }
    }
}

#[test]
fn attachments_have_their_names_and_bytes() {
    let part = |head: &str, body: &str| format!("--x\n{head}\n\n{body}\n");
    let message = format!(
        "Subject: a\nContent-Type: multipart/mixed; boundary=x\n\n{}{}{}{}--x--\n",
        part("Content-Type: text/plain", "Text."),
        part("Content-Type: text/csv; name=tide.csv\nContent-Disposition: attachment", "a,b"),
        part("Content-Type: message/rfc822", "Subject: in/ner\n\nInner."),
        part("Content-Type: application/x\nContent-Transfer-Encoding: base64", "aGFyYm91cg=="),
    );
    let found = members(read_message, message.as_bytes()).unwrap();
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["tide.csv", "in ner.eml", "attachment-3"]);
    assert_eq!(found[0].1.trim_end(), "a,b");
    assert!(found[1].1.starts_with("Subject: in/ner"), "{found:?}");
    assert_eq!(found[2].1, "harbour");
}

#[test]
fn messages_are_named_by_their_ids() {
    let message = |id: &str, text: &str| {
        format!("From ada Mon Feb 26 10:30:00 2024\n{id}Subject: Gauge\n\n{text}\n\n")
    };
    let (one, two) = (message("Message-ID: <a/1@x>\n", "Low."), message("", "High."));
    assert_eq!(names(of_mailbox, format!("{one}{two}").as_bytes()), ["a_1@x.eml", "message-2.eml"]);
    let more = format!("{}{one}", message("Message-ID: <b@x>\n", "New."));
    assert_eq!(names(of_mailbox, more.as_bytes()), ["b@x.eml", "a_1@x.eml"]);
}

#[test]
fn a_text_without_messages_is_no_mailbox() {
    assert_eq!(members(of_mailbox, b"words"), Err(FailureKind::WrongFormat));
}
