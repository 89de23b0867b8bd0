//! Reads contacts.

use std::collections::HashMap;

use super::lines::{self, ContentLine, LineGroup};
use super::{leave_out, times, without_scheme, write_paragraphs};
use crate::spaces::on_one_line;
use crate::writer::BlockWriter;

/// Properties without words for people.
const WITHOUT_WORDS: [&str; 6] = ["PHOTO", "LOGO", "SOUND", "KEY", "VERSION", "X-ABLABEL"];

/// Types that say nothing about a phone or an address.
const PLAIN_TYPES: [&str; 5] = ["voice", "pref", "internet", "x400", "postal"];

/// Writes contacts: a heading for each, their phones, addresses and the like, and their notes.
pub(crate) fn contacts(text: &str, writer: &mut BlockWriter) {
    let found = lines::groups(text, &["VCARD"]);
    found.outer.iter().chain(&found.other).for_each(|line| leave_out(line, writer));
    for group in &found.groups {
        write(group, writer);
    }
}

fn write(group: &LineGroup, writer: &mut BlockWriter) {
    let (title, labels) = (title(group), labels(group));
    writer.heading(2, &title);
    let (mut facts, mut notes) = (Vec::new(), Vec::new());
    for line in &group.lines {
        let value = on_one_line(&value(line));
        match (line.name.as_str(), label(line, &labels)) {
            ("NOTE", _) => notes.push(line.text()),
            (_, Some(label)) if !value.is_empty() && value != title => {
                facts.push(format!("{label}: {value}"));
            }
            (_, Some(_)) => {}
            (name, None) if WITHOUT_WORDS.contains(&name) => {}
            (_, None) => leave_out(line, writer),
        }
    }
    writer.paragraph(&facts.join("\n"));
    notes.iter().for_each(|note| write_paragraphs(note, writer));
}

/// Returns the user's own types by the groups that they are about: Apple writes them on separate lines.
fn labels(group: &LineGroup) -> HashMap<&str, String> {
    let lines =
        group.lines.iter().filter(|line| line.name == "X-ABLABEL" && !line.group.is_empty());
    let labels = lines.map(|line| {
        let text = line.text();
        let text = text.trim().trim_start_matches("_$!<").trim_end_matches(">!$_");
        (line.group.as_str(), text.to_owned())
    });
    labels.collect()
}

/// Returns the value of a line as people read it.
fn value(line: &ContentLine) -> String {
    match line.name.as_str() {
        "N" => name(line),
        "ADR" | "ORG" => joined(&line.fields(';'), ", "),
        "BDAY" | "ANNIVERSARY" => times::at(line),
        _ => without_scheme(&line.text()).to_owned(),
    }
}

/// Returns the name of a contact, or another property that identifies it.
fn title(group: &LineGroup) -> String {
    let candidates = ["FN", "N", "ORG", "NICKNAME", "EMAIL"];
    let lines = candidates
        .iter()
        .flat_map(|wanted| group.lines.iter().filter(move |line| line.name == *wanted));
    let mut titles = lines.map(|line| on_one_line(&value(line)));
    titles.find(|title| !title.is_empty()).unwrap_or_else(|| "Contact".to_owned())
}

/// Returns a name in parts in the order in which it is spoken: `Voss;Maren;;Dr.;` is `Dr. Maren Voss`.
fn name(line: &ContentLine) -> String {
    let fields = line.fields(';');
    let order = [3, 1, 2, 0, 4];
    let parts: Vec<String> = order.iter().filter_map(|at| fields.get(*at).cloned()).collect();
    joined(&parts, " ")
}

fn joined(fields: &[String], separator: &str) -> String {
    let fields = fields.iter().map(String::as_str).filter(|field| !field.is_empty());
    fields.collect::<Vec<_>>().join(separator)
}

/// Returns the label of a line, with its type: `Phone (work)`; `None` for a line that is not shown.
fn label(line: &ContentLine, labels: &HashMap<&str, String>) -> Option<String> {
    let label = match line.name.as_str() {
        "FN" | "N" => "Name",
        "NICKNAME" => "Nickname",
        "ORG" => "Organisation",
        "TITLE" => "Title",
        "ROLE" => "Role",
        "TEL" => "Phone",
        "EMAIL" => "Mail",
        "ADR" | "LABEL" => "Address",
        "URL" | "X-SOCIALPROFILE" => "Link",
        "IMPP" | "X-SKYPE" | "X-JABBER" | "X-ICQ" | "X-AIM" => "Chat",
        "BDAY" => "Birthday",
        "ANNIVERSARY" => "Anniversary",
        "CATEGORIES" => "Categories",
        "RELATED" | "X-ABRELATEDNAMES" | "X-SPOUSE" | "AGENT" => "Related",
        "X-MANAGER" => "Manager",
        "X-ASSISTANT" => "Assistant",
        "X-ABDATE" => "Date",
        _ => return None,
    };
    let mut types = line.types();
    types.retain(|name| !PLAIN_TYPES.contains(&name.as_str()));
    types.extend(labels.get(line.group.as_str()).cloned());
    if types.is_empty() {
        return Some(label.to_owned());
    }
    Some(format!("{label} ({})", types.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::WordDestination;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut writer = BlockWriter::default();
        contacts(text, &mut writer);
        let blocks: Vec<String> = writer.finish().into_iter().map(|block| block.text).collect();
        assert_eq!(blocks, expected);
    }

    #[test]
    fn a_contact_has_name_phones_addresses_and_note() {
        check(
            "BEGIN:VCARD\r\nVERSION:3.0\r\nN:Voss;Maren;;Dr.;\r\nFN:Dr. Maren Voss\r\nORG:Skerry Ltd;Repairs\r\n\
             TITLE:Master rigger\r\nTEL;TYPE=WORK,VOICE:+49 40 1234\r\nTEL;type=CELL;type=pref:0170 9\r\n\
             EMAIL;TYPE=INTERNET:maren@example.org\r\nADR;TYPE=home:;;Quay 5;Kiel;;24103;Germany\r\n\
             BDAY:19800229\r\nitem1.URL:https://example.org\r\nitem1.X-ABLabel:_$!<HomePage>!$_\r\n\
             PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQ\r\n SkZJRg\r\nNOTE:prefers calls\\, before nine\\n\\nLeft-handed.\r\n\
             END:VCARD\r\n",
            &[
                "## Dr. Maren Voss",
                "Organisation: Skerry Ltd, Repairs\nTitle: Master rigger\nPhone (work): +49 40 1234\n\
                 Phone (cell): 0170 9\nMail: maren@example.org\nAddress (home): Quay 5, Kiel, 24103, Germany\n\
                 Birthday: 1980-02-29\nLink (HomePage): https://example.org",
                "prefers calls, before nine",
                "Left-handed.",
            ],
        );
    }

    #[test]
    fn an_old_contact_in_quoted_printable_is_read() {
        check(
            "BEGIN:VCARD\nVERSION:2.1\nN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=B6rg\n\
             TEL;HOME;VOICE:12\nADR;WORK;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-1:;;Fischg=E4sschen=\n 3;Kiel\n\
             END:VCARD\nBEGIN:VCARD\nEMAIL:a@example.org\nEND:VCARD",
            &[
                "## Jörg Müller",
                "Phone (home): 12\nAddress (work): Fischgässchen 3, Kiel",
                "## a@example.org",
            ],
        );
    }

    #[test]
    fn lines_that_are_not_shown_are_counted() {
        let mut writer = BlockWriter::default();
        contacts(
            "BEGIN:VCARD\nFN:Ada\nX-MOOD:merry soul\nPHOTO;ENCODING=b:AAAA\nEND:VCARD",
            &mut writer,
        );
        let counts: Vec<_> = writer.left_out.counts().collect();
        assert_eq!(counts, [(WordDestination::Markup, 2)]);
    }
}
