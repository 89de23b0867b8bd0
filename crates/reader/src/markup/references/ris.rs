//! Reads references with a tag on each line: RIS, and the format of `PubMed`.

use super::{Reference, ReferenceField, ReferenceRole, References};
use crate::document::{Document, WordDestination};
use crate::markup::writer::SourceLine;

/// Tags and what their fields are; a field with another tag is labelled with its tag.
const TAGS: &[(&str, ReferenceRole)] = &[
    ("TI", ReferenceRole::Title),
    ("T1", ReferenceRole::Title),
    ("CT", ReferenceRole::Title),
    ("BT", ReferenceRole::Title),
    ("AU", ReferenceRole::Person("Authors")),
    ("A1", ReferenceRole::Person("Authors")),
    ("FAU", ReferenceRole::Person("Authors")),
    ("A2", ReferenceRole::Person("Editors")),
    ("ED", ReferenceRole::Person("Editors")),
    ("A3", ReferenceRole::Person("Series editors")),
    ("A4", ReferenceRole::Person("Translators")),
    ("PY", ReferenceRole::Labelled("Year")),
    ("Y1", ReferenceRole::Labelled("Year")),
    ("DA", ReferenceRole::Labelled("Date")),
    ("DP", ReferenceRole::Labelled("Date")),
    ("T2", ReferenceRole::Labelled("In")),
    ("T3", ReferenceRole::Labelled("Series")),
    ("JO", ReferenceRole::Labelled("Journal")),
    ("JF", ReferenceRole::Labelled("Journal")),
    ("JT", ReferenceRole::Labelled("Journal")),
    ("JA", ReferenceRole::Labelled("Journal (short)")),
    ("J2", ReferenceRole::Labelled("Journal (short)")),
    ("TA", ReferenceRole::Labelled("Journal (short)")),
    ("VL", ReferenceRole::Labelled("Volume")),
    ("VI", ReferenceRole::Labelled("Volume")),
    ("IS", ReferenceRole::Labelled("Number")),
    ("IP", ReferenceRole::Labelled("Number")),
    ("SP", ReferenceRole::Labelled("First page")),
    ("EP", ReferenceRole::Labelled("Last page")),
    ("PG", ReferenceRole::Labelled("Pages")),
    ("PB", ReferenceRole::Labelled("Publisher")),
    ("CY", ReferenceRole::Labelled("Place")),
    ("PP", ReferenceRole::Labelled("Place")),
    ("ET", ReferenceRole::Labelled("Edition")),
    ("LA", ReferenceRole::Labelled("Language")),
    ("SN", ReferenceRole::Labelled("ISSN or ISBN")),
    ("DO", ReferenceRole::Labelled("DOI")),
    ("UR", ReferenceRole::Labelled("URL")),
    ("PMID", ReferenceRole::Labelled("PMID")),
    ("LID", ReferenceRole::Labelled("DOI")),
    ("AN", ReferenceRole::Labelled("Accession number")),
    ("KW", ReferenceRole::Listed("Keywords")),
    ("MH", ReferenceRole::Listed("Keywords")),
    ("OT", ReferenceRole::Listed("Keywords")),
    ("AB", ReferenceRole::Prose),
    ("N2", ReferenceRole::Prose),
    ("N1", ReferenceRole::Prose),
    ("RN", ReferenceRole::Prose),
    // Paths on a computer, and notes of a database for its own use.
    ("L1", ReferenceRole::Internal),
    ("L4", ReferenceRole::Internal),
    ("OWN", ReferenceRole::Internal),
    ("STAT", ReferenceRole::Internal),
    ("DCOM", ReferenceRole::Internal),
    ("LR", ReferenceRole::Internal),
    ("EDAT", ReferenceRole::Internal),
    ("MHDA", ReferenceRole::Internal),
    ("CRDT", ReferenceRole::Internal),
    ("PHST", ReferenceRole::Internal),
    ("AID", ReferenceRole::Internal),
    ("SO", ReferenceRole::Internal),
];

/// Tags with short names of authors whose full names are in other fields.
const SHORT: (&str, &str) = ("AU", "FAU");

pub(crate) fn extract(text: &str) -> Document {
    let mut references = References::default();
    let mut open: Option<Reference> = None;
    for line in SourceLine::all(text) {
        let Some((tag, value)) = tagged(line.text) else {
            let last = open.as_mut().and_then(|reference| reference.fields.last_mut());
            match last {
                Some(field) if !line.is_blank() => {
                    field.text.push(' ');
                    field.text.push_str(line.text.trim());
                }
                Some(_) => {}
                None => references.left_out.add(WordDestination::Markup, line.text),
            }
            continue;
        };
        match tag {
            // RIS begins an entry with its kind, MEDLINE with its number.
            "TY" | "PMID" => {
                write(open.take(), &mut references);
                let kind = if tag == "TY" { value } else { "" };
                open = Some(Reference {
                    number: line.number,
                    kind: kind.to_owned(),
                    ..Reference::default()
                });
            }
            "ER" => write(open.take(), &mut references),
            _ => {}
        }
        let Some(reference) = open.as_mut().filter(|_| tag != "TY") else { continue };
        if tag == "ID" {
            value.clone_into(&mut reference.key);
            continue;
        }
        let known = TAGS.iter().find(|(known, _)| *known == tag);
        let role = known.map_or(ReferenceRole::Labelled(""), |(_, role)| *role);
        let text = match role {
            ReferenceRole::Person(_) => in_order(value),
            _ => value.to_owned(),
        };
        let name = tag.to_owned();
        reference.fields.push(ReferenceField { number: line.number, name, role, text });
    }
    write(open, &mut references);
    references.finish()
}

fn write(reference: Option<Reference>, references: &mut References) {
    let Some(mut reference) = reference else { return };
    let (short, full) = SHORT;
    if reference.fields.iter().any(|field| field.name == full) {
        reference.fields.retain(|field| field.name != short);
    }
    references.write(&reference);
}

/// Returns the tag of a line and its value: `TI  - Words`, `PMID- 7`.
fn tagged(line: &str) -> Option<(&str, &str)> {
    /// Bytes of a tag with the blanks after it.
    const TAG: usize = 4;
    let (tag, rest) = line.split_at_checked(TAG)?;
    let value = rest.strip_prefix('-')?;
    let tag = tag.trim_end();
    let is_tag =
        tag.len() > 1 && tag.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    is_tag.then_some((tag, value.trim()))
}

/// Returns a name with the first name before the last.
fn in_order(name: &str) -> String {
    match name.split(',').map(str::trim).collect::<Vec<_>>().as_slice() {
        [last, first] => format!("{first} {last}"),
        [last, first, suffix] => format!("{first} {last} {suffix}"),
        _ => name.to_owned(),
    }
}
