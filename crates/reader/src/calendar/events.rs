//! Reads the events, tasks and journals of a calendar.

use super::lines::{self, ContentLine, LineGroup};
use super::{leave_out, times, without_scheme, write_paragraphs};
use crate::document::WordDestination;
use crate::spaces::on_one_line;
use crate::writer::BlockWriter;

/// The components of a calendar that are read.
const KINDS: [&str; 4] = ["VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY"];

/// An event, a task or a journal.
#[derive(Debug, Default)]
pub(crate) struct CalendarEntry {
    /// Its subject; may be empty.
    pub(crate) title: String,
    /// When and where it is, and with whom, one line each.
    pub(crate) facts: Vec<String>,
    /// Its description and comments.
    pub(crate) texts: Vec<String>,
}

/// Writes the entries of a calendar: a heading, the facts and the description of each.
pub(crate) fn calendar(text: &str, writer: &mut BlockWriter) {
    let found = lines::groups(text, &KINDS);
    found.other.iter().for_each(|line| leave_out(line, writer));
    for line in &found.outer {
        match line.name.as_str() {
            "X-WR-CALNAME" | "NAME" => writer.heading(1, &line.text()),
            "X-WR-CALDESC" | "DESCRIPTION" => write_paragraphs(&line.text(), writer),
            _ => leave_out(line, writer),
        }
    }
    for group in &found.groups {
        let entry = CalendarEntry::read(group, writer);
        writer.heading(2, if entry.title.is_empty() { kind(group) } else { &entry.title });
        writer.paragraph(&entry.facts.join("\n"));
        entry.texts.iter().for_each(|text| write_paragraphs(text, writer));
    }
}

/// Returns the entries of a calendar.
pub(crate) fn entries(text: &str, writer: &mut BlockWriter) -> Vec<CalendarEntry> {
    let found = lines::groups(text, &KINDS);
    found.outer.iter().chain(&found.other).for_each(|line| leave_out(line, writer));
    found.groups.iter().map(|group| CalendarEntry::read(group, writer)).collect()
}

/// Names an entry without title.
fn kind(group: &LineGroup) -> &'static str {
    match group.kind.as_str() {
        "VTODO" => "Task",
        "VJOURNAL" => "Journal",
        "VFREEBUSY" => "Busy times",
        _ => "Event",
    }
}

impl CalendarEntry {
    fn read(group: &LineGroup, writer: &mut BlockWriter) -> Self {
        let (start, end) = (group.first("DTSTART"), group.first("DTEND").or(group.first("DUE")));
        let duration = group.first("DURATION");
        let mut entry = Self::default();
        let mut people = Vec::new();
        let (mut page, mut has_description) = (None, false);
        for line in &group.lines {
            let text = line.text().trim().to_owned();
            match line.name.as_str() {
                "SUMMARY" if entry.title.is_empty() => entry.title = text,
                "DTSTART" => {
                    let mut when = times::from_to(line, end);
                    if let Some(duration) = duration {
                        when += &format!(", for {}", times::duration(&duration.value));
                    }
                    entry.fact("When", &when);
                }
                "DTEND" | "DURATION" if start.is_some() => {}
                "DUE" => entry.fact("Due", &times::at(line)),
                "COMPLETED" => entry.fact("Completed", &times::at(line)),
                "RRULE" => entry.fact("Repeats", &times::repetition(&line.value)),
                "FREEBUSY" => entry.fact("Busy", &line.value),
                "LOCATION" => entry.fact("Where", &text),
                "ORGANIZER" => entry.fact("Organiser", &person(line)),
                "ATTENDEE" => people.push(person(line)),
                "CONTACT" => entry.fact("Contact", &text),
                "RESOURCES" => entry.fact("Resources", &text),
                "CATEGORIES" => entry.fact("Categories", &text),
                "STATUS" if is_worth_saying(&text) => entry.fact("Status", &text.to_lowercase()),
                "URL" | "CONFERENCE" => entry.fact("Link", &text),
                "ATTACH" if !line.is_encoded() => entry.fact("Attached", &text),
                "DESCRIPTION" => {
                    has_description |= !text.is_empty();
                    entry.texts.push(lines::without_tags(&text).into_owned());
                }
                "COMMENT" => entry.texts.push(lines::without_tags(&text).into_owned()),
                // This is the description as a web page.
                "X-ALT-DESC" => page = Some(lines::without_tags(&text).into_owned()),
                _ => leave_out(line, writer),
            }
        }
        people.retain(|person| !person.is_empty());
        entry.fact("With", &people.join(", "));
        match page {
            Some(page) if has_description => writer.left_out.add(WordDestination::Copy, &page),
            page => entry.texts.extend(page),
        }
        entry
    }

    fn fact(&mut self, name: &str, value: &str) {
        let value = on_one_line(value);
        if !value.is_empty() {
            self.facts.push(format!("{name}: {value}"));
        }
    }
}

/// Whether a status is not that of nearly all entries.
fn is_worth_saying(status: &str) -> bool {
    !status.is_empty() && !status.eq_ignore_ascii_case("CONFIRMED")
}

/// Returns a person with their answer: `Ada Tide <ada@example.org> (declined)`.
fn person(line: &ContentLine) -> String {
    let address = without_scheme(line.value.trim());
    // An address of a directory is not for people.
    let address = if address.contains('@') { address } else { "" };
    let name = line.parameter("CN").unwrap_or_default().trim_matches('\'');
    let person = match (name, address) {
        ("", address) => address.to_owned(),
        (name, "") => name.to_owned(),
        (name, address) if name.eq_ignore_ascii_case(address) => address.to_owned(),
        (name, address) => format!("{name} <{address}>"),
    };
    let answer = line.parameter("PARTSTAT").unwrap_or_default().to_lowercase();
    match answer.as_str() {
        "accepted" | "declined" | "tentative" | "delegated" => format!("{person} ({answer})"),
        _ => person,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut writer = BlockWriter::default();
        calendar(text, &mut writer);
        let blocks: Vec<String> = writer.finish().into_iter().map(|block| block.text).collect();
        assert_eq!(blocks, expected);
    }

    #[test]
    fn an_event_has_title_facts_and_description() {
        check(
            "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nX-WR-CALNAME:Yard\r\nBEGIN:VTIMEZONE\r\nTZID:Europe/Berlin\r\n\
             BEGIN:STANDARD\r\nDTSTART:19701025T030000\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nUID:1@x\r\n\
             DTSTART;TZID=Europe/Berlin:20260504T090000\r\nDTEND;TZID=Europe/Berlin:20260504T103000\r\n\
             SUMMARY:Dry dock\\, part 2\r\nLOCATION:Pier 9\\; room B\r\nRRULE:FREQ=WEEKLY;BYDAY=MO\r\n\
             ORGANIZER;CN=\"Tide, Ada\":mailto:ada@example.org\r\nATTENDEE;CN=Bo;PARTSTAT=DECLINED:MAILTO:bo@exa\r\n \
             mple.org\r\nATTENDEE:mailto:cy@example.org\r\nDESCRIPTION:Bring the dra\r\n\twings.\\n\\nAsk Bo\\, too.\r\n\
             BEGIN:VALARM\r\nDESCRIPTION:Reminder\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
            &[
                "# Yard",
                "## Dry dock, part 2",
                "When: 2026-05-04 09:00 to 10:30 (Europe/Berlin)\nWhere: Pier 9; room B\n\
                 Repeats: every week on Monday\nOrganiser: Tide, Ada <ada@example.org>\n\
                 With: Bo <bo@example.org> (declined), cy@example.org",
                "Bring the drawings.",
                "Ask Bo, too.",
            ],
        );
    }

    #[test]
    fn several_entries_are_separate_even_if_one_is_not_ended() {
        check(
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Ebb\nBEGIN:VEVENT\nDTSTART:20260504\nDURATION:PT2H\n\
             END:VEVENT\nBEGIN:VTODO\nSUMMARY:Paint\nDUE:20260601\nSTATUS:NEEDS-ACTION\nEND:VTODO\nBEGIN:VJOURNAL\n\
             DESCRIPTION:Rain",
            &[
                "## Ebb",
                "## Event",
                "When: 2026-05-04, for 2 h",
                "## Paint",
                "Due: 2026-06-01\nStatus: needs-action",
                "## Journal",
                "Rain",
            ],
        );
    }

    #[test]
    fn a_description_in_html_or_quoted_printable_is_text() {
        check(
            "BEGIN:VEVENT\nSUMMARY:A\nDESCRIPTION:<p><b>Bring</b> rope.</p><br>At&nbsp;ten.\nEND:VEVENT",
            &["## A", "Bring rope.", "At ten."],
        );
        check(
            "BEGIN:VEVENT\nSUMMARY;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:Gr=C3=BC=\n=C3=9Fe=0A\nEND:VEVENT",
            &["## Grüße"],
        );
        check(
            "BEGIN:VEVENT\nSUMMARY:A\nDESCRIPTION:Rope.\nX-ALT-DESC;FMTTYPE=text/html:<p>Rope.</p>\nEND:VEVENT",
            &["## A", "Rope."],
        );
    }

    #[test]
    fn lines_that_are_not_shown_are_counted() {
        let mut writer = BlockWriter::default();
        calendar("BEGIN:VEVENT\nUID:one\nSUMMARY:Ebb\nX-NEW:two words\nEND:VEVENT", &mut writer);
        let counts: Vec<_> = writer.left_out.counts().collect();
        assert_eq!(counts, [(WordDestination::Markup, 3)]);
    }
}
