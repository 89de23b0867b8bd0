//! Adds the appointments of an invitation to the text of a message, except for facts that the message states itself.

use std::collections::HashSet;

use super::alternatives::{share_of_words, without_tags, words};
use super::content::MailContent;
use crate::calendar::{self, CalendarEntry};
use crate::document::WordDestination;
use crate::writer::BlockWriter;

/// A paragraph of a description is left out if the text of the message has this share of its words.
const COPY_SHARE: f64 = 0.9;

/// Level of the heading of an appointment: a message may be a section of a mailbox.
const LEVEL: u8 = 3;

/// Writes the appointments of a message, and returns the title of the first one.
pub(super) fn write(
    content: &MailContent<'_>,
    subject: Option<&str>,
    writer: &mut BlockWriter,
) -> Option<String> {
    if content.calendars.is_empty() {
        return None;
    }
    let known = words_of_bodies(content);
    let subject = subject.unwrap_or_default().to_lowercase();
    let (mut title, mut seen) = (None, HashSet::new());
    for calendar in &content.calendars {
        for entry in calendar::entries(calendar, writer) {
            // Some programs send the same calendar in two parts.
            if !seen.insert((entry.title.clone(), entry.facts.clone())) {
                leave_out(&entry, writer);
                continue;
            }
            if !subject.contains(&entry.title.to_lowercase()) {
                writer.heading(LEVEL, &entry.title);
            }
            writer.paragraph(&entry.facts.join("\n"));
            for paragraph in entry.texts.iter().flat_map(|text| text.split("\n\n")) {
                if share_of_words(paragraph, &known) < COPY_SHARE {
                    writer.paragraph(paragraph);
                } else {
                    writer.left_out.add(WordDestination::Copy, paragraph);
                }
            }
            title = title.or(Some(entry.title).filter(|title| !title.is_empty()));
        }
    }
    title
}

fn words_of_bodies(content: &MailContent<'_>) -> HashSet<String> {
    let bodies = content.bodies.iter();
    let texts =
        bodies.map(
            |body| {
                if body.is_page { words(&without_tags(&body.text)) } else { words(&body.text) }
            },
        );
    texts.flatten().collect()
}

fn leave_out(entry: &CalendarEntry, writer: &mut BlockWriter) {
    let texts = [&entry.title].into_iter().chain(&entry.facts).chain(&entry.texts);
    texts.for_each(|text| writer.left_out.add(WordDestination::Copy, text));
}
