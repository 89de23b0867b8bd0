//! Tests what is read of items of Outlook.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use cfb::CompoundFile;

use super::*;
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, DocumentHead};
use crate::members::tests::members;
use crate::testing::output_of;

/// The tables of named properties: the set of appointments, and its place and start as the first two properties.
const SETS: &[u8] = b"\x02\x20\x06\0\0\0\0\0\xC0\0\0\0\0\0\0\x46";
const NAMES: &[u8] = b"\x08\x82\0\0\x06\0\0\0\x0D\x82\0\0\x06\0\x01\0";

/// 2026-02-26T10:30:00Z as a file has it.
const TIME: u64 = (11_644_473_600 + 1_772_101_800) * 10_000_000;

/// Writes a file.
struct TestItem {
    file: CompoundFile<Cursor<Vec<u8>>>,
    /// The folder that properties are written to.
    folder: PathBuf,
    rows: Vec<u8>,
}

impl TestItem {
    fn new() -> Self {
        let file = CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        Self { file, folder: "/".into(), rows: vec![0; 32] }
    }

    fn stream(&mut self, name: &str, bytes: &[u8]) {
        let path = self.folder.join(name);
        self.file.create_stream(path).unwrap().write_all(bytes).unwrap();
    }

    fn text(mut self, id: u16, text: &str) -> Self {
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        self.stream(&format!("__substg1.0_{id:04X}001F"), &bytes);
        self
    }

    fn bytes(mut self, id: u16, bytes: &[u8]) -> Self {
        self.stream(&format!("__substg1.0_{id:04X}0102"), bytes);
        self
    }

    fn row(mut self, kind: u16, id: u16, value: u64) -> Self {
        self.rows.extend([kind, id].into_iter().flat_map(u16::to_le_bytes));
        self.rows.extend([6, 0, 0, 0]);
        self.rows.extend(value.to_le_bytes());
        self
    }

    /// Ends the folder, and begins one in it or next to it.
    fn begin(mut self, folder: &Path, head_bytes: usize) -> Self {
        self.end();
        self.file.create_storage_all(folder).unwrap();
        (self.folder, self.rows) = (folder.to_owned(), vec![0; head_bytes]);
        self
    }

    fn person(self, number: u32, kind: u64, name: &str, address: &str) -> Self {
        let folder = format!("/__recip_version1.0_#{number:08X}");
        let person = self.begin(Path::new(&folder), 8).row(3, id::RECIPIENT_KIND, kind);
        let person = person.text(id::NAME, name);
        if address.is_empty() { person } else { person.text(id::MAIL_ADDRESS, address) }
    }

    fn file(self, number: u32, name: &str, bytes: &[u8]) -> Self {
        let folder = format!("/__attach_version1.0_#{number:08X}");
        let file = self.begin(Path::new(&folder), 8);
        file.text(id::LONG_FILE_NAME, name).bytes(id::DATA, bytes)
    }

    /// Begins an object that is attached to the item in a folder.
    fn inner(self, folder: &str, number: u32) -> (Self, String) {
        let folder = format!("{folder}__attach_version1.0_#{number:08X}");
        let inner = format!("{folder}/__substg1.0_3701000D");
        (self.begin(Path::new(&folder), 8).begin(Path::new(&inner), 24), inner + "/")
    }

    fn end(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        self.stream("__properties_version1.0", &rows);
    }

    fn finish(mut self) -> Vec<u8> {
        self.end();
        self.file.flush().unwrap();
        self.file.into_inner().into_inner()
    }
}

#[track_caller]
fn check(item: TestItem, expected: &[&str]) -> DocumentHead {
    let (head, blocks) = output_of(read, &item.finish()).unwrap();
    assert_eq!(blocks, expected);
    head
}

fn message() -> TestItem {
    TestItem::new().text(id::CLASS, "IPM.Note").text(id::SUBJECT, "Gauge \"12\"\r\n readings")
}

#[test]
fn a_message_has_subject_people_date_and_text() {
    let item = message()
        .text(id::SENDER_NAME, "Ada Tïde")
        .text(id::SENDER_ADDRESS, "/O=EXAMPLE/CN=ADA")
        .text(id::SENDER_MAIL_ADDRESS, "ada@example.org")
        .text(id::BODY, "Low water.\r\nAt ten.\r\n\r\n> Tides?\r\n")
        .row(0x40, id::SUBMITTED, TIME)
        .person(0, 1, "'bo@example.org'", "bo@example.org")
        .person(1, 1, "Wei, 李", "wei@example.org")
        .person(2, 2, "Cy", "")
        .person(3, 3, "Secret", "secret@example.org");
    let people = "From: Ada Tïde <ada@example.org>\nTo: bo@example.org, Wei, 李 <wei@example.org>\n\
                  Cc: Cy\nDate: 2026-02-26T10:30:00Z";
    let head = check(item, &[people, "Low water.\nAt ten.", "> Tides?"]);
    assert_eq!(head.title.as_deref(), Some("Gauge \"12\" readings"));
    assert_eq!(head.author.as_deref(), Some("Ada Tïde <ada@example.org>"));
    assert_eq!(head.created.as_deref(), Some("2026-02-26T10:30:00Z"));
}

#[test]
fn the_head_that_a_server_wrote_has_what_the_properties_lack() {
    let headers = "Microsoft Mail Internet Headers Version 2.0\r\nReceived: from a by b\r\n\
        From: =?utf-8?q?Ada_T=C3=AFde?= <ada@example.org>\r\nTo: bo@example.org\r\nCc: cy@example.org\r\n\
        Subject: Gauge\r\nDate: Thu, 26 Feb 2026 12:30:00 +0200\r\n\r\n";
    let item = TestItem::new()
        .text(id::HEADERS, headers)
        .text(id::BODY, "Low.")
        .row(0x40, id::SUBMITTED, TIME)
        .person(0, 1, "Bo", "");
    let fields = "From: Ada Tïde <ada@example.org>\nTo: Bo\nCc: cy@example.org\nDate: 2026-02-26T12:30:00+02:00";
    assert_eq!(check(item, &[fields, "Low."]).title.as_deref(), Some("Gauge"));
    // The address of a sender within a company is only in the head.
    let within = TestItem::new().text(id::HEADERS, headers).text(id::REPRESENTED_NAME, "Ada");
    let within = within.text(id::REPRESENTED_ADDRESS, "/O=EXAMPLE/CN=ADA");
    let within = output_of(read, &within.finish()).unwrap().0;
    assert_eq!(within.author.as_deref(), Some("Ada Tïde <ada@example.org>"));
    let shown = message().text(id::SHOWN_TO, "Bo; Cy").text(id::BODY, "Low.");
    check(shown, &["To: Bo, Cy", "Low."]);
}

#[test]
fn the_page_is_read_in_its_code_page_if_the_plain_text_says_less() {
    let page =
        b"<html><body><p>\xCF\xF0\xE8\xEB\xE8\xE2 at noon, <b>ebb</b> at six</p></body></html>";
    let page = |plain: &str| {
        let item = message().bytes(id::PAGE, page).row(3, id::PAGE_CODE_PAGE, 1251);
        if plain.is_empty() { item } else { item.text(id::BODY, plain) }
    };
    check(page(""), &["Прилив at noon, ebb at six"]);
    check(page("View in a browser"), &["Прилив at noon, ebb at six"]);
    check(page("Прилив at noon, ebb at six"), &["Прилив at noon, ebb at six"]);
}

#[test]
fn a_draft_without_fields_is_read() {
    check(TestItem::new().text(id::BODY, "Ask Bo about the rope."), &["Ask Bo about the rope."]);
}

/// Returns RTF as it is without compression.
fn rich(text: &str) -> Vec<u8> {
    [&[0; 8][..], b"MELA", &[0; 4], text.as_bytes()].concat()
}

#[test]
fn rich_text_is_read_if_there_is_nothing_better() {
    let page = rich(
        "{\\rtf1\\ansi\\fromhtml1 {\\*\\htmltag64 <p>}High {\\*\\htmltag84 <b>}water{\\*\\htmltag92 </b>}}",
    );
    check(message().bytes(id::COMPRESSED_RTF, &page), &["High water"]);
    let plain = rich("{\\rtf1\\ansi High water\\par at {\\b noon}\\par}");
    check(message().bytes(id::COMPRESSED_RTF, &plain), &["High water", "at noon"]);
    let both = message().text(id::BODY, "High").bytes(id::COMPRESSED_RTF, &plain);
    check(both, &["High"]);
}

#[test]
fn attachments_are_members_and_pictures_of_the_page_are_none() {
    let mut item = message().bytes(id::PAGE, b"<p>Low<img src='cid:sketch'><img src=\"cid:logo\">");
    item = item.file(0, "tide gäuge.csv", b"a,b").file(1, "sketch.png", b"PNG");
    item = item.text(id::CONTENT_ID, "sketch").file(2, "logo", b"GIF");
    item = item
        .text(id::CONTENT_ID, "logo")
        .row(3, id::ATTACH_FLAGS, 4)
        .text(id::MEDIA_TYPE, "image/gif");
    let bytes = item.file(3, "scan.JPG", b"JPEG").finish();
    let found = members(read, &bytes).unwrap();
    assert_eq!(
        found,
        [("tide gäuge.csv", "a,b"), ("scan.JPG", "JPEG")]
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
    );
    let (_, blocks) = output_of(read, &bytes).unwrap();
    assert_eq!(blocks, ["Low", "Attachments: logo, tide gäuge.csv, sketch.png, scan.JPG"]);
    let parts = read(&ReaderInput::of(&bytes), &mut |_| Ok(())).unwrap().parts;
    assert_eq!(
        (parts.num_read, parts.without_text.get("picture"), parts.num_unread),
        (3, Some(&2), 0)
    );
}

#[test]
fn an_attached_message_is_a_member_with_its_own_attachments() {
    let (item, inner) = message().text(id::BODY, "Outer.").inner("/", 0);
    let item = item.text(id::SUBJECT, "in/ner").text(id::BODY, "Inner.\r\n--_-part-00000001--");
    let (item, _) = item.inner(&inner, 0);
    let bytes = item.text(id::SUBJECT, "Innermost").text(id::BODY, "Deep.").finish();
    let found = members(read, &bytes).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, "in ner.eml");
    let (head, blocks) = output_of(mail::read_message, found[0].1.as_bytes()).unwrap();
    assert_eq!(head.title.as_deref(), Some("in/ner"));
    assert_eq!(blocks, ["Inner.\n--_-part-00000001--", "Attachments: Innermost"]);
    let found = members(mail::read_message, found[0].1.as_bytes()).unwrap();
    let (_, blocks) = output_of(mail::read_message, found[0].1.as_bytes()).unwrap();
    assert_eq!(blocks, ["Deep."]);
}

#[test]
fn messages_in_messages_end_at_a_limit() {
    let (mut item, mut folder) = (message(), "/".to_owned());
    for _ in 0..12 {
        (item, folder) = item.inner(&folder, 0);
        item = item.text(id::SUBJECT, "Again");
    }
    let parts = read(&ReaderInput::of(&item.finish()), &mut |_| Ok(())).unwrap().parts;
    assert_eq!(parts.num_unread, 1);
    assert_eq!(parts.unread[0].reason, "messages are attached to messages too deeply");
}

#[test]
fn what_is_attached_and_not_read_is_named() {
    let path = "/__attach_version1.0_#00000000";
    let item = message().text(id::BODY, "Low.").begin(Path::new(path), 8).text(id::NAME, "Drawing");
    let item = item.begin(Path::new(&format!("{path}/__substg1.0_3701000D")), 8);
    let item = item.begin(Path::new("/__attach_version1.0_#00000001"), 8);
    let mut item = item.text(id::LONG_FILE_NAME, "plan.docx");
    item.rows.clear();
    let parts = read(&ReaderInput::of(&item.finish()), &mut |_| Ok(())).unwrap().parts;
    let unread: Vec<_> = parts.unread.iter().map(|part| (&*part.name, &*part.reason)).collect();
    // An object has no table of properties, which the test writes.
    assert_eq!(unread, [("plan.docx", "its content is elsewhere")]);
}

#[test]
fn an_appointment_has_time_and_place() {
    let item = TestItem::new().text(id::CLASS, "IPM.Appointment").text(id::SUBJECT, "Dry dock");
    let item = item.text(id::BODY, "Bring the drawings.").text(0x8000, "Pier 9, north; left");
    let item = item.row(0x40, 0x8001, TIME).begin(Path::new("/__nameid_version1.0"), 8);
    let item = item.bytes(2, SETS).bytes(3, NAMES);
    let head = check(
        item,
        &["Bring the drawings.", "When: 2026-02-26 10:30 UTC\nWhere: Pier 9, north; left"],
    );
    assert_eq!(head.title.as_deref(), Some("Dry dock"));
}

#[test]
fn a_contact_has_its_facts() {
    let item = TestItem::new().text(id::CLASS, "IPM.Contact").text(id::SUBJECT, "Ada Tide");
    let item = item
        .text(id::COMPANY, "Harbour")
        .text(id::MOBILE_PHONE, "+44 1")
        .text(id::BODY, "Calls at noon.");
    check(item, &["Organization: Harbour\nPhone (mobile): +44 1", "Calls at noon."]);
}

#[test]
fn a_message_that_is_signed_as_a_whole_is_read() {
    let signed = b"Content-Type: multipart/signed; boundary=s\r\n\r\n--s\r\nContent-Type: text/plain\r\n\r\nLow water.\r\n--s\r\n\
        Content-Type: application/pkcs7-signature; name=smime.p7s\r\n\r\nMIA\r\n--s--\r\n";
    let item = message().file(0, "smime.p7m", signed).text(id::MEDIA_TYPE, "multipart/signed");
    check(item, &["Low water."]);
}

#[test]
fn other_compound_files_are_refused() {
    let mut other = CompoundFile::create(Cursor::new(Vec::new())).unwrap();
    other.create_stream("/WordDocument").unwrap().write_all(b"words").unwrap();
    let other = other.into_inner().into_inner();
    let mut damaged = message().text(id::BODY, "Low.").finish();
    // Where the directory begins.
    damaged[48..52].fill(0xFD);
    for (bytes, expected) in [
        (&*other, FailureKind::WrongFormat),
        (&TestItem::new().finish(), FailureKind::WrongFormat),
        (&damaged, FailureKind::Damaged),
        (&damaged[..700], FailureKind::Damaged),
        (b"", FailureKind::Damaged),
    ] {
        match output_of(read, bytes) {
            Err(EarlyEnd::Failed(failed)) => assert_eq!(failed.failure, expected, "{failed:?}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_file_that_is_cut_off_is_read_as_far_as_it_goes() {
    let long = "Low water at noon. ".repeat(1000);
    let bytes = message().text(id::BODY, &long).finish();
    let cut = &bytes[..bytes.len() / 3 * 2];
    let (head, blocks) = output_of(read, cut).unwrap();
    assert_eq!(head.title.as_deref(), Some("Gauge \"12\" readings"));
    assert!(blocks[0].starts_with("Low water at noon. Low") && blocks[0].len() < long.len());
    let warnings = read(&ReaderInput::of(cut), &mut |_| Ok(())).unwrap().warnings;
    assert_eq!(warnings, ["a part of the message is damaged: the file is cut off"]);
}

#[test]
fn a_damaged_stream_is_reported() {
    let long = "Low water at noon. ".repeat(1000);
    let mut bytes = message().text(id::BODY, &long).finish();
    // The end of the chain of the long text, in the table of sectors behind the head.
    let end = bytes[4096..8192].chunks_exact(4).rposition(|next| next == [0xFE, 0xFF, 0xFF, 0xFF]);
    let at = 4096 + end.unwrap() * 4;
    bytes[at - 4..at].copy_from_slice(&[0xFF; 4]);
    let mut words = 0;
    let tail = read(&ReaderInput::of(&bytes), &mut |line| {
        if let AnswerLine::Page(page) = line {
            words = page.blocks.iter().map(|block| block.text.split(' ').count()).sum();
        }
        Ok(())
    });
    let warnings = tail.unwrap().warnings;
    assert!(warnings[0].starts_with("a part of the message is damaged: "), "{warnings:?}");
}
