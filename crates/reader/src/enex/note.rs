//! Collects the notes of an export, one at a time.

use crate::document::{FileParts, WordAccount, WordDestination};
use crate::html;
use crate::mime;
use crate::spaces::on_one_line;
use crate::writer::BlockWriter;
use crate::xml::XmlEvent;

/// Longest content of a note, in bytes: a book of a thousand pages.
pub(super) const MAX_CONTENT_BYTES: usize = 8 << 20;

/// Longest title that names a file, in characters: it is shown in citations.
const MAX_NAME_CHARS: usize = 120;

/// A note.
#[derive(Debug, Default)]
pub(super) struct Note {
    pub(super) title: String,
    /// Its page of XHTML.
    pub(super) content: String,
    /// The day on which it was written, as `2024-05-01`; may be empty.
    created: String,
    author: String,
    source: String,
    tags: Vec<String>,
    /// The titles of its tasks.
    pub(super) tasks: Vec<String>,
    pub(super) attachments: Vec<NoteAttachment>,
    /// The bytes of encrypted texts in it.
    encrypted: Vec<usize>,
    /// The words of content that is too long to be read.
    left_out: WordAccount,
}

/// A file in a note.
#[derive(Debug, Default)]
pub(super) struct NoteAttachment {
    name: String,
    media_type: String,
    /// Its bytes in Base64.
    data: String,
}

impl Note {
    /// Returns the facts about it, one line each.
    pub(super) fn facts(&self) -> Vec<String> {
        let tags = self.tags.join(", ");
        let facts = [
            ("Created", &self.created),
            ("Tags", &tags),
            ("Author", &self.author),
            ("Source", &self.source),
        ];
        let filled = facts.into_iter().filter(|(_, value)| !value.is_empty());
        filled.map(|(name, value)| format!("{name}: {value}")).collect()
    }

    /// Returns its title as the name of a file.
    pub(super) fn file_name(&self) -> String {
        let words = self.title.replace(['/', '\\'], " ");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        // A name that begins with a full stop is that of a hidden file.
        let name: String = words
            .trim_start_matches('.')
            .chars()
            .filter(|c| !c.is_control())
            .take(MAX_NAME_CHARS)
            .collect();
        if name.trim().is_empty() { "note".to_owned() } else { name.trim().to_owned() }
    }

    /// Returns it as Markdown with front matter.
    pub(super) fn markdown(&self) -> String {
        let tags: Vec<String> = self.tags.iter().map(|tag| yaml_text(tag)).collect();
        let mut front = Vec::new();
        if !self.title.is_empty() {
            front.push(format!("title: {}", yaml_text(&self.title)));
        }
        if !self.created.is_empty() {
            front.push(format!("created: {}", self.created));
        }
        if !self.author.is_empty() {
            front.push(format!("author: {}", yaml_text(&self.author)));
        }
        if !tags.is_empty() {
            front.push(format!("tags: [{}]", tags.join(", ")));
        }
        if !self.source.is_empty() {
            front.push(format!("source: {}", yaml_text(&self.source)));
        }
        let mut writer = BlockWriter::default();
        self.write(&mut writer);
        let blocks: Vec<String> = writer.finish().into_iter().map(|block| block.text).collect();
        let body = blocks.join("\n\n") + "\n";
        if front.is_empty() {
            return body;
        }
        format!("---\n{}\n---\n\n{body}", front.join("\n"))
    }

    /// Writes its content and its tasks.
    pub(super) fn write(&self, writer: &mut BlockWriter) {
        writer.left_out.merge(&self.left_out);
        html::write_chapter(&self.content, writer);
        self.tasks.iter().for_each(|task| writer.item(0, "-", task));
        writer.end_item();
    }

    /// Counts the attachments that are not read as text of the note.
    pub(super) fn count(&self, parts: &mut FileParts) {
        self.attachments.iter().for_each(|attachment| attachment.count(parts));
        self.count_encrypted(parts);
    }

    /// Returns the number of encrypted texts in it.
    pub(super) fn num_encrypted(&self) -> usize {
        self.encrypted.len()
    }

    /// Whether its content is too long to be read.
    pub(super) fn is_cut_off(&self) -> bool {
        self.left_out.counts().next().is_some()
    }

    fn count_encrypted(&self, parts: &mut FileParts) {
        for size in &self.encrypted {
            let size_bytes = u64::try_from(*size).unwrap_or(u64::MAX);
            let name = format!("encrypted text in the note `{}`", self.title);
            parts.add_unread(&name, size_bytes, "it is encrypted");
        }
    }
}

impl NoteAttachment {
    /// Returns its name and its bytes; `None` for a picture or a recording.
    pub(super) fn file(&self) -> Option<(String, Vec<u8>)> {
        if mime::without_text(&self.media_type).is_some() {
            return None;
        }
        Some((self.name(), mime::base64(self.data.as_bytes())))
    }

    /// Counts it as a file that has no text or is not read.
    pub(super) fn count(&self, parts: &mut FileParts) {
        match mime::without_text(&self.media_type) {
            Some(kind) => parts.add_without_text(kind),
            None => {
                // Four letters are three bytes.
                let size_bytes = u64::try_from(self.data.len() / 4 * 3).unwrap_or(u64::MAX);
                parts.add_unread(&self.name(), size_bytes, "it is attached to a note");
            }
        }
    }

    fn name(&self) -> String {
        if !self.name.is_empty() {
            return self.name.replace(['/', '\\'], " ");
        }
        match self.media_type.rsplit('/').next() {
            Some("plain") | None => "attachment.txt".to_owned(),
            Some(kind) => format!("attachment.{kind}"),
        }
    }
}

/// Makes notes of the items of an export.
#[derive(Debug, Default)]
pub(super) struct ExportedNotes {
    pub(super) is_export: bool,
    note: Option<Note>,
    attachment: Option<NoteAttachment>,
    is_task: bool,
    /// The text of the open element.
    text: String,
}

impl ExportedNotes {
    /// Takes the next item; returns a note that ends with it.
    pub(super) fn on(&mut self, event: XmlEvent<'_>) -> Option<Note> {
        match event {
            XmlEvent::Open(element) => {
                self.text.clear();
                match element.name() {
                    "en-export" => self.is_export = true,
                    "note" => self.note = Some(Note::default()),
                    "resource" => self.attachment = Some(NoteAttachment::default()),
                    "task" => self.is_task = true,
                    _ => {}
                }
            }
            XmlEvent::Text(text) => self.text.push_str(text),
            XmlEvent::Close("note") => return self.note.take(),
            XmlEvent::Close(name) => {
                let text = std::mem::take(&mut self.text);
                self.close(name, text);
            }
        }
        None
    }

    fn close(&mut self, name: &str, text: String) {
        let Some(note) = &mut self.note else { return };
        if name == "resource" {
            note.attachments.extend(self.attachment.take());
            return;
        }
        if let Some(attachment) = &mut self.attachment {
            match name {
                "data" => attachment.data = text,
                "mime" => attachment.media_type = text.trim().to_lowercase(),
                "file-name" => attachment.name = text.trim().to_owned(),
                _ => {}
            }
            return;
        }
        match name {
            "task" => self.is_task = false,
            "title" if self.is_task => note.tasks.push(on_one_line(&text)),
            _ if self.is_task => {}
            "title" => note.title = on_one_line(&text),
            "tag" => note.tags.push(on_one_line(&text)),
            "author" => note.author = on_one_line(&text),
            "source-url" => note.source = on_one_line(&text),
            "created" => note.created = day(text.trim()),
            "content" => note.set_content(&text),
            _ => {}
        }
    }
}

impl Note {
    /// Takes the page, without encrypted texts and without text beyond the limit.
    fn set_content(&mut self, page: &str) {
        let mut end = page.len().min(MAX_CONTENT_BYTES);
        while !page.is_char_boundary(end) {
            end -= 1;
        }
        self.left_out.add(WordDestination::TooLong, &page[end..]);
        let mut rest = &page[..end];
        while let Some((before, encrypted)) = rest.split_once("<en-crypt") {
            self.content.push_str(before);
            let (inside, after) = encrypted.split_once("</en-crypt>").unwrap_or((encrypted, ""));
            self.encrypted.push(inside.len());
            rest = after;
        }
        self.content.push_str(rest);
    }
}

/// Quotes a text of the front matter. Texts in quotes of JSON are texts of YAML.
fn yaml_text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns the day of a time: `20240501T101112Z`.
fn day(time: &str) -> String {
    match (time.get(..4), time.get(4..6), time.get(6..8)) {
        (Some(year), Some(month), Some(day))
            if time.bytes().take(8).all(|byte| byte.is_ascii_digit()) =>
        {
            format!("{year}-{month}-{day}")
        }
        _ => String::new(),
    }
}
