//! Decides what becomes of each part of a message: a text of it, an attachment, or a part without text.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use mail_parser::{Message, MimeHeaders, PartType};

use super::alternatives::{self, prefers_page};
use super::enclosed::{self, EnclosedKind};
use super::roles::{MailPart, MailRole, mail_parts};
use crate::document::{FileParts, WordAccount, WordDestination};
use crate::mime;
use crate::text::decode::{Decoded, TextEncoding};

/// Extensions of attachments without a name, by their types, so that their readers are found.
const EXTENSIONS: [(&str, &str); 11] = [
    ("application/ics", "ics"),
    ("application/json", "json"),
    ("application/pdf", "pdf"),
    ("application/xml", "xml"),
    ("text/calendar", "ics"),
    ("text/csv", "csv"),
    ("text/html", "html"),
    ("text/plain", "txt"),
    ("text/rfc822-headers", "eml"),
    ("text/vcard", "vcf"),
    ("text/x-vcard", "vcf"),
];

/// The contents of a message.
#[derive(Debug, Default)]
pub(super) struct MailContent<'a> {
    /// Its text, in order.
    pub(super) bodies: Vec<MailBody>,
    /// The calendars of invitations.
    pub(super) calendars: Vec<String>,
    pub(super) attachments: Vec<Attachment<'a>>,
    /// The names of all that is attached, whether it is read or not.
    pub(super) names: Vec<String>,
    pub(super) parts: FileParts,
    /// The encoding of its text that is least certain.
    pub(super) encoding: Option<TextEncoding>,
    /// The words that are not shown.
    pub(super) left_out: WordAccount,
    pub(super) warnings: Vec<String>,
}

impl Attachment<'_> {
    pub(super) fn size_bytes(&self) -> u64 {
        u64::try_from(self.bytes.len()).unwrap_or(u64::MAX)
    }
}

/// A text of a message.
#[derive(Debug)]
pub(super) struct MailBody {
    /// Whether it is a web page.
    pub(super) is_page: bool,
    pub(super) text: String,
}

/// A file in a message, which becomes a separate document.
#[derive(Debug)]
pub(super) struct Attachment<'a> {
    pub(super) name: String,
    pub(super) bytes: Cow<'a, [u8]>,
}

impl<'a> MailContent<'a> {
    /// Sorts the parts of a message, and counts those that are no attachments.
    pub(super) fn of(message: &'a Message<'a>, counted: FileParts) -> Self {
        let mut content = Self { parts: counted, ..Self::default() };
        let parts = mail_parts(message);
        let decoded: Vec<Option<Decoded>> = parts.iter().map(|part| text(message, part)).collect();
        let encodings = decoded.iter().flatten().filter_map(|decoded| decoded.encoding.clone());
        content.encoding = least_certain(encodings);
        let texts: Vec<Option<String>> =
            decoded.into_iter().map(|decoded| decoded.map(|decoded| decoded.text)).collect();
        let shown = shown(&parts, &texts);
        for (idx, (part, text)) in parts.iter().zip(texts).enumerate() {
            match text {
                Some(text) => content.add_text(part, text, shown.contains(&idx)),
                None => content.add_other(message, part),
            }
            content.warn_of_damage(part);
        }
        content
    }

    fn add_text(&mut self, part: &MailPart<'a>, text: String, is_shown: bool) {
        self.parts.add_read();
        match part.role {
            _ if !is_shown => self.left_out.add(WordDestination::Copy, &without_tags(part, &text)),
            MailRole::Calendar => self.calendars.push(text),
            // Other forms have tags too.
            MailRole::Page | MailRole::OtherForm => {
                self.bodies.push(MailBody { is_page: true, text });
            }
            _ => {
                let opened = enclosed::open(&text);
                if opened.files.is_empty() {
                    self.bodies.push(MailBody { is_page: false, text });
                    return;
                }
                self.bodies.push(MailBody { is_page: false, text: opened.text });
                opened.files.into_iter().for_each(|file| self.add_enclosed(file));
            }
        }
    }

    fn add_enclosed(&mut self, file: enclosed::EnclosedFile) {
        if !file.is_complete {
            self.warnings.push(format!("the attachment `{}` is cut off", file.name));
        }
        match file.kind {
            EnclosedKind::File(bytes) => {
                self.names.push(file.name.clone());
                self.attachments.push(Attachment { name: file.name, bytes: Cow::Owned(bytes) });
            }
            EnclosedKind::WithoutText(kind) => self.parts.add_without_text(kind),
            EnclosedKind::Unread { reason, num_bytes } => {
                self.names.push(file.name.clone());
                let size_bytes = u64::try_from(num_bytes).unwrap_or(u64::MAX);
                self.parts.add_unread(&file.name, size_bytes, reason);
            }
        }
    }

    /// Adds a part that is not text of the message.
    fn add_other(&mut self, message: &'a Message<'a>, part: &MailPart<'a>) {
        let stated = part.stated_name();
        self.names
            .extend(stated.clone().filter(|_| part.role != MailRole::WithoutText("signature")));
        match part.role {
            MailRole::WithoutText(kind) => self.parts.add_without_text(kind),
            MailRole::Unread(reason) => {
                let size_bytes = mime::contents(message, part.part).len();
                let size_bytes = u64::try_from(size_bytes).unwrap_or(u64::MAX);
                let name = stated.as_deref().unwrap_or(&part.media_type);
                self.parts.add_unread(name, size_bytes, reason);
            }
            _ => {
                let name = self.file_name(part, stated);
                let bytes = match &part.part.body {
                    PartType::Message(inner) => Cow::Borrowed(inner.raw_message()),
                    // In UTF-8, because a reader of this part alone cannot know the encoding that the message states.
                    PartType::Text(_) | PartType::Html(_) if part.states_charset() => {
                        Cow::Owned(mime::text(message, part.part).text.into_bytes())
                    }
                    _ => mime::contents(message, part.part),
                };
                self.attachments.push(Attachment { name, bytes });
            }
        }
    }

    /// Returns the name of an attachment as a file.
    fn file_name(&self, part: &MailPart<'_>, stated: Option<String>) -> String {
        if part.is_message() {
            let name = stated.unwrap_or_else(|| "message".to_owned());
            return name.trim_end_matches(".eml").replace(['/', '\\'], " ") + ".eml";
        }
        stated.unwrap_or_else(|| {
            let number = self.attachments.len() + 1;
            match EXTENSIONS.iter().find(|(known, _)| *known == part.media_type) {
                Some((_, extension)) => format!("attachment-{number}.{extension}"),
                None => format!("attachment-{number}"),
            }
        })
    }

    /// Warns of a part whose bytes are not all known. A mistake in quoted-printable text loses nothing.
    fn warn_of_damage(&mut self, part: &MailPart<'_>) {
        let encoding = part.part.content_transfer_encoding().unwrap_or_default();
        if part.part.is_encoding_problem && encoding.trim().eq_ignore_ascii_case("base64") {
            let name = part.stated_name().unwrap_or_else(|| part.media_type.clone());
            self.warnings.push(format!(
                "the part `{name}` of the message is damaged: not all of it is base64"
            ));
        }
    }
}

/// Returns the encoding of which kb is least certain.
pub(super) fn least_certain(
    encodings: impl IntoIterator<Item = TextEncoding>,
) -> Option<TextEncoding> {
    encodings.into_iter().max_by_key(TextEncoding::is_uncertain)
}

/// Returns the text of a part that is one; `None` for any other part.
fn text(message: &Message<'_>, part: &MailPart<'_>) -> Option<Decoded> {
    let is_text = matches!(
        part.role,
        MailRole::Plain | MailRole::Page | MailRole::OtherForm | MailRole::Calendar
    );
    is_text.then(|| mime::text(message, part.part))
}

fn without_tags<'a>(part: &MailPart<'_>, text: &'a str) -> Cow<'a, str> {
    match part.role {
        MailRole::Page | MailRole::OtherForm => Cow::Owned(alternatives::without_tags(text)),
        _ => Cow::Borrowed(text),
    }
}

/// Returns the positions of the texts that are shown: all, but one form of those that the message offers in several.
fn shown(parts: &[MailPart<'_>], texts: &[Option<String>]) -> HashSet<usize> {
    let mut shown = HashSet::new();
    let mut forms: BTreeMap<usize, BTreeMap<MailRole, Vec<usize>>> = BTreeMap::new();
    for (idx, part) in parts.iter().enumerate().filter(|(idx, _)| texts[*idx].is_some()) {
        match part.alternative {
            Some(group) if part.role != MailRole::Calendar => {
                forms.entry(group).or_default().entry(part.role).or_default().push(idx);
            }
            _ => drop(shown.insert(idx)),
        }
    }
    for mut forms in forms.into_values() {
        let mut order = [MailRole::Plain, MailRole::Page, MailRole::OtherForm];
        let plain = joined_texts(forms.get(&MailRole::Plain), parts, texts);
        let page = joined_texts(forms.get(&MailRole::Page), parts, texts);
        if prefers_page(&plain, &page) {
            order.swap(0, 1);
        }
        let chosen = order
            .into_iter()
            .find(|role| !joined_texts(forms.get(role), parts, texts).trim().is_empty());
        shown.extend(chosen.and_then(|role| forms.remove(&role)).unwrap_or_default());
    }
    shown
}

/// Returns the texts of the parts of a form without their tags.
fn joined_texts(
    form: Option<&Vec<usize>>,
    parts: &[MailPart<'_>],
    texts: &[Option<String>],
) -> String {
    let texts = form
        .into_iter()
        .flatten()
        .map(|idx| without_tags(&parts[*idx], texts[*idx].as_deref().unwrap_or_default()));
    texts.collect::<Vec<_>>().join("\n")
}
