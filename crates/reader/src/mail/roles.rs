//! Finds what each part of a message is: a text of it, an attachment, or a part without text.

use std::collections::HashSet;

use mail_parser::{Message, MessagePart, MimeHeaders, PartType};

use crate::mime;

/// Types of calendars.
const CALENDARS: [&str; 2] = ["text/calendar", "application/ics"];

/// Types of parts that cannot be read, by how they begin, and why.
const UNREADABLE: [(&str, &str); 8] = [
    ("application/pgp-encrypted", ENCRYPTED),
    ("application/pkcs7-mime", ENCRYPTED),
    ("application/x-pkcs7-mime", ENCRYPTED),
    ("application/ms-tnef", OF_OUTLOOK),
    ("application/vnd.ms-tnef", OF_OUTLOOK),
    ("application/applefile", "it is for the Finder of macOS"),
    ("message/partial", "it is a part of a longer message"),
    ("message/external-body", "its content is elsewhere"),
];

const ENCRYPTED: &str = "it is encrypted, or signed as a whole";
const OF_OUTLOOK: &str = "it is in a format of Outlook (TNEF)";

/// A part that contains no parts.
#[derive(Debug)]
pub(super) struct MailPart<'a> {
    pub(super) part: &'a MessagePart<'a>,
    pub(super) media_type: String,
    /// The outermost part that offers the same in several forms, of which this is one.
    pub(super) alternative: Option<usize>,
    pub(super) role: MailRole,
}

/// The role of a part in its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MailRole {
    /// Plain text.
    Plain,
    /// A web page.
    Page,
    /// A form of a text that is only read if there is no other.
    OtherForm,
    /// The calendar of an invitation.
    Calendar,
    /// A file, or a message in the message.
    Attached,
    /// A part without text, and its kind: `picture`.
    WithoutText(&'static str),
    /// Why it cannot be read.
    Unread(&'static str),
}

/// The properties that a part gets from the parts around it.
#[derive(Debug, Clone, Copy, Default)]
struct PartEnclosure {
    alternative: Option<usize>,
    /// Whether the part is what another part shows.
    is_related: bool,
    is_encrypted: bool,
    /// Whether the part is not the whole message.
    is_nested: bool,
}

impl PartEnclosure {
    /// Returns the enclosure of a part of `part`.
    fn within(self, part: &MessagePart<'_>, idx: usize, is_first: bool) -> Self {
        let kind = mime::media_type(part);
        let is_alternative = kind == "multipart/alternative";
        Self {
            alternative: self.alternative.or(is_alternative.then_some(idx)),
            is_related: self.is_related || kind == "multipart/related" && !is_first,
            is_encrypted: self.is_encrypted || kind == "multipart/encrypted",
            is_nested: true,
        }
    }
}

/// Returns the parts of a message that contain no parts, in order.
pub(super) fn mail_parts<'a>(message: &'a Message<'a>) -> Vec<MailPart<'a>> {
    let mut enclosures = vec![PartEnclosure::default(); message.parts.len()];
    let mut leaves = Vec::new();
    for (idx, part) in message.parts.iter().enumerate() {
        // A part comes before the parts within it.
        let enclosure = enclosures[idx];
        let PartType::Multipart(children) = &part.body else {
            leaves.push((part, enclosure));
            continue;
        };
        for (place, child) in children.iter().enumerate() {
            let child = usize::try_from(*child).ok().and_then(|child| enclosures.get_mut(child));
            if let Some(child) = child {
                *child = enclosure.within(part, idx, place == 0);
            }
        }
    }
    let shown = shown_pictures(message);
    let leaves = leaves.into_iter();
    leaves.map(|(part, enclosure)| MailPart::new(message, part, enclosure, &shown)).collect()
}

/// Returns the ids of the pictures that the pages of a message show.
fn shown_pictures(message: &Message<'_>) -> HashSet<String> {
    let mut ids = HashSet::new();
    for part in &message.parts {
        let PartType::Html(page) = &part.body else { continue };
        let references = page.split("cid:").skip(1);
        ids.extend(references.map(|rest| {
            let mut words = rest.split(|c: char| c.is_whitespace() || "\"'<>()".contains(c));
            words.next().unwrap_or_default().to_owned()
        }));
    }
    ids
}

impl<'a> MailPart<'a> {
    fn new(
        message: &'a Message<'a>,
        part: &'a MessagePart<'a>,
        enclosure: PartEnclosure,
        shown_pictures: &HashSet<String>,
    ) -> Self {
        let media_type = mime::media_type(part);
        let alternative = enclosure.alternative;
        let mut found = Self { part, media_type, alternative, role: MailRole::Attached };
        let is_shown = part.content_id().is_some_and(|id| shown_pictures.contains(id));
        found.role = found.role(
            message,
            PartEnclosure { is_related: enclosure.is_related || is_shown, ..enclosure },
        );
        found
    }

    fn role(&self, message: &Message<'_>, enclosure: PartEnclosure) -> MailRole {
        let name = self.part.attachment_name().map(str::to_lowercase);
        let name = name.as_deref().unwrap_or_default();
        let unreadable = UNREADABLE.iter().find(|(start, _)| self.media_type.starts_with(start));
        if self.is_message() {
            return MailRole::Attached;
        }
        if name.ends_with(".p7s") {
            return MailRole::WithoutText("signature");
        }
        if let Some((_, reason)) = unreadable {
            return MailRole::Unread(reason);
        }
        if enclosure.is_encrypted {
            return MailRole::Unread(ENCRYPTED);
        }
        if name == "winmail.dat" {
            return MailRole::Unread(OF_OUTLOOK);
        }
        match mime::without_text(&self.media_type) {
            // A picture that nothing shows may be a scan.
            Some("picture") if !enclosure.is_related => return MailRole::Attached,
            Some(kind) => return MailRole::WithoutText(kind),
            None => {}
        }
        let is_file = self.is_file(enclosure);
        if CALENDARS.contains(&self.media_type.as_str()) {
            let is_shown = !is_file || self.is_invitation(message);
            return if is_shown { MailRole::Calendar } else { MailRole::Attached };
        }
        let is_referred_to =
            self.part.content_id().is_some() || self.part.content_location().is_some();
        if is_file || enclosure.is_related && is_referred_to {
            return MailRole::Attached;
        }
        match self.media_type.split_once('/').unwrap_or_default() {
            ("text", "plain" | "markdown" | "x-markdown") => MailRole::Plain,
            ("text", "html") | ("application", "xhtml+xml") => MailRole::Page,
            ("text", "enriched" | "richtext" | "x-amp-html" | "watch-html") => MailRole::OtherForm,
            ("text", _) if enclosure.alternative.is_some() => MailRole::OtherForm,
            // The report of a mail server; or text where parts should be.
            ("message" | "multipart", _) => MailRole::Plain,
            _ => MailRole::Attached,
        }
    }

    /// Whether the message offers a part as a file: it calls the part an attachment, or names it.
    fn is_file(&self, enclosure: PartEnclosure) -> bool {
        let disposition = self.part.content_disposition();
        let is_named = self.part.attachment_name().is_some();
        disposition.is_some_and(mail_parser::ContentType::is_attachment)
            || is_named && enclosure.is_nested && enclosure.alternative.is_none()
    }

    /// Whether a calendar is about meeting somebody, and not a list of dates.
    fn is_invitation(&self, message: &Message<'_>) -> bool {
        let stated = self.part.content_type().and_then(|kind| kind.attribute("method"));
        if stated.is_some() {
            return true;
        }
        let bytes = mime::contents(message, self.part);
        bytes.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"METHOD:"))
    }

    /// Whether the part is a message.
    pub(super) fn is_message(&self) -> bool {
        matches!(self.part.body, PartType::Message(_))
            || ["message/rfc822", "message/global"].contains(&self.media_type.as_str())
    }

    /// Returns the name that the message gives a part; of a message its subject.
    pub(super) fn stated_name(&self) -> Option<String> {
        let name = self.part.attachment_name().or_else(|| match &self.part.body {
            PartType::Message(message) => message.subject(),
            _ => None,
        })?;
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        (!name.is_empty()).then_some(name)
    }

    pub(super) fn states_charset(&self) -> bool {
        self.part.content_type().is_some_and(|kind| kind.attribute("charset").is_some())
    }
}
