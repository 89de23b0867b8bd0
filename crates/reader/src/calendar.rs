//! Reads calendars (iCalendar, RFC 5545) and contacts (vCard, RFC 6350) as text.
//!
//! Lines that have nothing for people, such as identifiers, and components nested in an event, such as alarms, are
//! counted as markup.

mod contacts;
mod events;
mod lines;
mod read;
mod times;

pub(crate) use contacts::contacts;
pub(crate) use events::{CalendarEntry, calendar, entries};
pub(crate) use read::{read_calendar, read_contacts};

use self::lines::ContentLine;
use crate::document::WordDestination;
use crate::writer::BlockWriter;

/// Counts the words of a line that is not shown. Encoded pictures and keys have no words.
fn leave_out(line: &ContentLine, writer: &mut BlockWriter) {
    if !line.is_encoded() {
        writer.left_out.add(WordDestination::Markup, &line.value);
    }
}

/// Returns an address without the scheme in front of it.
fn without_scheme(address: &str) -> &str {
    let schemes = ["mailto:", "tel:"];
    let scheme = schemes.iter().find(|scheme| {
        address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });
    scheme.map_or(address, |scheme| &address[scheme.len()..]).trim()
}

/// Adds the paragraphs of a text, which are separated by empty lines.
fn write_paragraphs(text: &str, writer: &mut BlockWriter) {
    text.replace("\r\n", "\n").split("\n\n").for_each(|paragraph| writer.paragraph(paragraph));
}
