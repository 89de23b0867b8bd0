//! Writes an item as a message of MIME (RFC 5322, RFC 2045), with the parts that mail programs would write.
//!
//! All texts are in Base64, so that nothing in the item can end a part or a field.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use mail_parser::{DateTime, Message, MessageParser};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use super::compressed_rtf;
use super::field_text::encoded_word;
use super::id::{self, PropertyId};
use super::item::{AttachmentContent, OutlookFile, OutlookItem};
use super::people::{MailPerson, RECIPIENT, people_of, sender};
use super::properties::Properties;
use crate::document::FileParts;
use crate::rtf;
use crate::spaces::on_one_line;

/// An item as a message.
#[derive(Debug, Default)]
pub(super) struct ItemMessage {
    pub(super) bytes: Vec<u8>,
    /// The attachments that are not in the message.
    pub(super) parts: FileParts,
    pub(super) warnings: Vec<String>,
    num_boundaries: usize,
}

/// The kinds of recipients, the properties with their names as Outlook shows them, and the fields of a message.
const FIELDS: [(u32, PropertyId, &str); 2] = [(1, id::SHOWN_TO, "To"), (2, id::SHOWN_CC, "Cc")];

/// The properties of a contact, with their labels.
const CONTACT: [(PropertyId, &str); 8] = [
    (id::JOB, "Role"),
    (id::DEPARTMENT, "Department"),
    (id::COMPANY, "Organization"),
    (id::CONTACT_MAIL, "Email"),
    (id::PHONE, "Phone (work)"),
    (id::HOME_PHONE, "Phone (home)"),
    (id::MOBILE_PHONE, "Phone (mobile)"),
    (id::CONTACT_ADDRESS, "Address"),
];

/// The times of a task.
const TASK: [(PropertyId, &str); 2] = [(id::TASK_START, "Start"), (id::TASK_DUE, "Due")];

/// The flag of an attachment that the page of the message shows (MS-OXCMSG 2.2.2.18).
const IS_SHOWN_BY_PAGE: u32 = 4;

/// The types of attachments that state none, by their extensions, where the type says that there is no text.
const TYPES: [(&str, &str); 14] = [
    ("bmp", "image/bmp"),
    ("emf", "image/emf"),
    ("gif", "image/gif"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("mp3", "audio/mpeg"),
    ("mp4", "video/mp4"),
    ("p7m", "application/pkcs7-mime"),
    ("png", "image/png"),
    ("tif", "image/tiff"),
    ("tiff", "image/tiff"),
    ("wav", "audio/wav"),
    ("webp", "image/webp"),
    ("wmf", "image/wmf"),
];

const ANY_TYPE: &str = "application/octet-stream";

impl ItemMessage {
    pub(super) fn of(item: &OutlookItem) -> Self {
        let mut message = Self::default();
        message.item(item);
        message
    }

    fn item(&mut self, item: &OutlookItem) {
        self.fields(item);
        let (shown, attached): (Vec<_>, Vec<_>) =
            item.files.iter().partition(|file| file.is_shown_by_page());
        let outer = self.begin("mixed");
        self.separate(&outer);
        let related = (!shown.is_empty()).then(|| self.begin("related"));
        if let Some(related) = &related {
            self.separate(related);
        }
        self.texts(item);
        if let Some(related) = related {
            shown.into_iter().for_each(|file| self.file(file, &related));
            self.end(&related);
        }
        if let Some(calendar) = calendar(&item.properties) {
            self.separate(&outer);
            self.encoded("text/calendar; method=PUBLISH; charset=utf-8", calendar.as_bytes());
        }
        attached.into_iter().for_each(|file| self.file(file, &outer));
        self.end(&outer);
        for _ in 0..item.num_more_files {
            self.parts.add_unread("attachment", 0, "there are too many");
        }
    }

    fn fields(&mut self, item: &OutlookItem) {
        let properties = &item.properties;
        let headers = properties.text(id::HEADERS).unwrap_or_default();
        // A message without fields cannot be asked for one.
        let headers = MessageParser::default().parse_headers(headers.as_bytes());
        let headers = headers.as_ref();
        let subject =
            properties.text(id::SUBJECT).or_else(|| headers?.subject().map(str::to_owned));
        if let Some(subject) = subject {
            self.line(&format!("Subject: {}", encoded_word(&subject)));
        }
        let stated = people_of(headers.and_then(Message::from));
        self.people("From", &sender(properties, stated));
        for (kind, shown, field) in FIELDS {
            let recipients = item.people.iter().filter(|person| {
                // In the outbox, Outlook sets further bits.
                person.number(id::RECIPIENT_KIND).unwrap_or(1) & 0x0F == kind
            });
            let mut people: Vec<_> =
                recipients.filter_map(|person| MailPerson::of(person, &RECIPIENT)).collect();
            if people.is_empty() {
                people =
                    people_of(headers.and_then(if kind == 1 { Message::to } else { Message::cc }));
            }
            if people.is_empty() {
                let names = properties.text(shown).unwrap_or_default();
                people = names.split(';').filter_map(MailPerson::named).collect();
            }
            self.people(field, &people);
        }
        if let Some(date) = date(properties, headers) {
            self.line(&format!("Date: {}", date.to_rfc822()));
        }
        self.line("MIME-Version: 1.0");
    }

    fn people(&mut self, field: &str, people: &[MailPerson]) {
        if !people.is_empty() {
            let people: Vec<String> = people.iter().map(MailPerson::to_field).collect();
            self.line(&format!("{field}: {}", people.join(",\r\n ")));
        }
    }

    /// Writes the forms of the text of an item.
    fn texts(&mut self, item: &OutlookItem) {
        let properties = &item.properties;
        let mut plain = properties.text(id::BODY).or_else(|| properties.text(id::REPORT));
        let mut page = properties.page(id::PAGE);
        if page.is_none()
            && let Some(rich) = properties.bytes(id::COMPRESSED_RTF)
        {
            let rich = compressed_rtf::decompress(rich).unwrap_or_default();
            page = rtf::enclosed_page(&rich);
            if page.is_none() && plain.is_none() {
                plain = rtf::text(&rich);
            }
        }
        let facts = facts(properties);
        if !facts.is_empty() {
            let text = plain.unwrap_or_default();
            plain = Some(format!("{}\r\n\r\n{text}", facts.join("\r\n")));
        }
        match (plain, page) {
            (Some(plain), Some(page)) => {
                let forms = self.begin("alternative");
                self.separate(&forms);
                self.encoded("text/plain; charset=utf-8", plain.as_bytes());
                self.separate(&forms);
                self.encoded("text/html; charset=utf-8", page.as_bytes());
                self.end(&forms);
            }
            (None, Some(page)) => self.encoded("text/html; charset=utf-8", page.as_bytes()),
            (plain, None) => {
                self.encoded("text/plain; charset=utf-8", plain.unwrap_or_default().as_bytes());
            }
        }
    }

    /// Writes an attachment as a part of an enclosing one.
    fn file(&mut self, file: &OutlookFile, outer: &str) {
        let name = file.name();
        let bytes = file.properties.bytes(id::DATA).unwrap_or_default();
        match &file.object {
            AttachmentContent::Unread(reason) => {
                let size_bytes = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
                self.parts.add_unread(name.as_deref().unwrap_or("attachment"), size_bytes, reason);
            }
            AttachmentContent::Item(inner) => {
                self.separate(outer);
                self.line("Content-Type: message/rfc822\r\nContent-Transfer-Encoding: 8bit\r\n");
                self.item(inner);
            }
            // The attachment of a message that is signed as a whole is a MIME message itself.
            AttachmentContent::Bytes if file.is_signed_message(bytes) => {
                self.separate(outer);
                self.bytes.extend_from_slice(bytes);
                self.line("");
            }
            AttachmentContent::Bytes => {
                self.separate(outer);
                let mut kind = file.media_type(name.as_deref());
                if let Some(name) = name {
                    let name = utf8_percent_encode(&name, NON_ALPHANUMERIC);
                    kind += &format!(";\r\n name*=utf-8''{name}");
                }
                if let Some(content_id) = file.content_id() {
                    kind += &format!("\r\nContent-ID: <{content_id}>");
                }
                self.encoded(&kind, bytes);
            }
        }
    }

    fn line(&mut self, line: &str) {
        self.bytes.extend_from_slice(line.as_bytes());
        self.bytes.extend_from_slice(b"\r\n");
    }

    /// Begins a part with parts, and returns what separates them. It has no letter of Base64, and a fixed length.
    fn begin(&mut self, kind: &str) -> String {
        self.num_boundaries += 1;
        let boundary = format!("_-part-{:08}", self.num_boundaries);
        self.line(&format!("Content-Type: multipart/{kind}; boundary=\"{boundary}\"\r\n"));
        boundary
    }

    fn separate(&mut self, boundary: &str) {
        self.line(&format!("--{boundary}"));
    }

    fn end(&mut self, boundary: &str) {
        self.line(&format!("--{boundary}--"));
    }

    /// Writes the head and the content of a part.
    fn encoded(&mut self, kind: &str, bytes: &[u8]) {
        self.line(&format!("Content-Type: {kind}\r\nContent-Transfer-Encoding: base64\r\n"));
        self.line(&BASE64_STANDARD.encode(bytes));
    }
}

impl OutlookFile {
    fn name(&self) -> Option<String> {
        let names = [id::LONG_FILE_NAME, id::SHORT_FILE_NAME, id::NAME, id::LONG_PATH];
        let name = names.iter().find_map(|number| self.properties.text(*number))?;
        let name = on_one_line(&name);
        (!name.is_empty()).then_some(name)
    }

    fn content_id(&self) -> Option<String> {
        let content_id = self.properties.text(id::CONTENT_ID)?;
        let content_id = content_id.trim_matches(['<', '>', ' ']);
        let is_plain = content_id.chars().all(|c| c.is_ascii_graphic() && !"<>".contains(c));
        is_plain.then(|| content_id.to_owned())
    }

    /// Whether the page of the message shows it, so that the list of attachments does not.
    fn is_shown_by_page(&self) -> bool {
        let number = |number| self.properties.number(number).unwrap_or(0);
        self.properties.bytes(id::CONTENT_ID).is_some()
            && (number(id::IS_HIDDEN) & 0xFF != 0
                || number(id::ATTACH_FLAGS) & IS_SHOWN_BY_PAGE != 0)
    }

    fn stated_type(&self) -> Option<String> {
        let stated = self.properties.text(id::MEDIA_TYPE)?.trim().to_ascii_lowercase();
        let is_type = stated.contains('/')
            && stated.chars().all(|c| c.is_ascii_alphanumeric() || "-+._/".contains(c));
        is_type.then_some(stated)
    }

    fn is_signed_message(&self, bytes: &[u8]) -> bool {
        const FIELD: &[u8] = b"content-type:";
        let is_field =
            bytes.get(..FIELD.len()).is_some_and(|start| start.eq_ignore_ascii_case(FIELD));
        is_field && self.stated_type().is_some_and(|stated| stated == "multipart/signed")
    }

    /// Returns the type that the attachment states, or that of its name.
    fn media_type(&self, name: Option<&str>) -> String {
        if let Some(stated) = self.stated_type()
            && !stated.starts_with("multipart/")
            && !stated.starts_with("message/")
        {
            return stated;
        }
        let extension = name.and_then(|name| name.rsplit_once('.')).map(|(_, extension)| extension);
        let known = TYPES
            .iter()
            .find(|(known, _)| extension.is_some_and(|name| name.eq_ignore_ascii_case(known)));
        known.map_or(ANY_TYPE, |(_, kind)| kind).to_owned()
    }
}

/// Returns when an item was sent. The head that a mail server wrote has the time as it was at the place of the sender.
fn date(properties: &Properties, headers: Option<&Message<'_>>) -> Option<DateTime> {
    let seconds =
        [id::SUBMITTED, id::DELIVERED].iter().find_map(|number| properties.seconds(*number));
    headers.and_then(Message::date).cloned().or(seconds.map(DateTime::from_timestamp))
}

/// Returns the calendar of an appointment.
fn calendar(properties: &Properties) -> Option<String> {
    let class = properties.text(id::CLASS)?.to_ascii_lowercase();
    if !class.starts_with("ipm.appointment") && !class.starts_with("ipm.schedule.meeting") {
        return None;
    }
    let mut lines = vec!["BEGIN:VCALENDAR".to_owned(), "BEGIN:VEVENT".to_owned()];
    let times = [("DTSTART", [id::EVENT_START, id::START]), ("DTEND", [id::EVENT_END, id::END])];
    for (field, numbers) in times {
        if let Some(time) = numbers.iter().find_map(|number| properties.seconds(*number)) {
            let time = DateTime::from_timestamp(time).to_rfc3339().replace(['-', ':'], "");
            lines.push(format!("{field}:{time}"));
        }
    }
    let texts =
        [("SUMMARY", id::SUBJECT), ("LOCATION", id::PLACE), ("DESCRIPTION", id::RECURRENCE)];
    for (field, number) in texts {
        if let Some(text) = properties.text(number) {
            lines.push(format!("{field}:{}", escaped(&text)));
        }
    }
    lines.extend(["END:VEVENT".to_owned(), "END:VCALENDAR".to_owned()]);
    Some(lines.join("\r\n"))
}

/// Escapes a text of a calendar (RFC 5545, 3.3.11).
fn escaped(text: &str) -> String {
    let text = on_one_line(text).replace('\\', "\\\\");
    text.replace(';', "\\;").replace(',', "\\,")
}

/// Returns the facts about a contact or a task, one line each.
fn facts(properties: &Properties) -> Vec<String> {
    let class = properties.text(id::CLASS).unwrap_or_default().to_ascii_lowercase();
    if class.starts_with("ipm.contact") {
        let texts = CONTACT.iter().filter_map(|(number, name)| {
            properties.text(*number).map(|text| format!("{name}: {}", on_one_line(&text)))
        });
        return texts.collect();
    }
    if class.starts_with("ipm.task") {
        let days = TASK.iter().filter_map(|(number, name)| {
            let day = DateTime::from_timestamp(properties.seconds(*number)?).to_rfc3339();
            let (day, _) = day.split_once('T')?;
            Some(format!("{name}: {day}"))
        });
        return days.collect();
    }
    Vec::new()
}
