//! Reads references with a tag on each line: RIS, and the format of PubMed.

use super::{Field, Reference, References, Role};
use crate::document::{Document, Reason};
use crate::markup::writer::Line;

/// Tags and what their fields are; a field with another tag is labelled with its tag.
const TAGS: &[(&str, Role)] = &[
    ("TI", Role::Title),
    ("T1", Role::Title),
    ("CT", Role::Title),
    ("BT", Role::Title),
    ("AU", Role::Person("Authors")),
    ("A1", Role::Person("Authors")),
    ("FAU", Role::Person("Authors")),
    ("A2", Role::Person("Editors")),
    ("ED", Role::Person("Editors")),
    ("A3", Role::Person("Series editors")),
    ("A4", Role::Person("Translators")),
    ("PY", Role::Labelled("Year")),
    ("Y1", Role::Labelled("Year")),
    ("DA", Role::Labelled("Date")),
    ("DP", Role::Labelled("Date")),
    ("T2", Role::Labelled("In")),
    ("T3", Role::Labelled("Series")),
    ("JO", Role::Labelled("Journal")),
    ("JF", Role::Labelled("Journal")),
    ("JT", Role::Labelled("Journal")),
    ("JA", Role::Labelled("Journal (short)")),
    ("J2", Role::Labelled("Journal (short)")),
    ("TA", Role::Labelled("Journal (short)")),
    ("VL", Role::Labelled("Volume")),
    ("VI", Role::Labelled("Volume")),
    ("IS", Role::Labelled("Number")),
    ("IP", Role::Labelled("Number")),
    ("SP", Role::Labelled("First page")),
    ("EP", Role::Labelled("Last page")),
    ("PG", Role::Labelled("Pages")),
    ("PB", Role::Labelled("Publisher")),
    ("CY", Role::Labelled("Place")),
    ("PP", Role::Labelled("Place")),
    ("ET", Role::Labelled("Edition")),
    ("LA", Role::Labelled("Language")),
    ("SN", Role::Labelled("ISSN or ISBN")),
    ("DO", Role::Labelled("DOI")),
    ("UR", Role::Labelled("URL")),
    ("PMID", Role::Labelled("PMID")),
    ("LID", Role::Labelled("DOI")),
    ("AN", Role::Labelled("Accession number")),
    ("KW", Role::Listed("Keywords")),
    ("MH", Role::Listed("Keywords")),
    ("OT", Role::Listed("Keywords")),
    ("AB", Role::Prose),
    ("N2", Role::Prose),
    ("N1", Role::Prose),
    ("RN", Role::Prose),
    // Paths on a computer, and what a database notes for itself.
    ("L1", Role::Internal),
    ("L4", Role::Internal),
    ("OWN", Role::Internal),
    ("STAT", Role::Internal),
    ("DCOM", Role::Internal),
    ("LR", Role::Internal),
    ("EDAT", Role::Internal),
    ("MHDA", Role::Internal),
    ("CRDT", Role::Internal),
    ("PHST", Role::Internal),
    ("AID", Role::Internal),
    ("SO", Role::Internal),
];

/// Tags with short names of authors whose full names are in other fields.
const SHORT: (&str, &str) = ("AU", "FAU");

pub(in crate::markup) fn extract(text: &str) -> Document {
    let mut references = References::default();
    let mut open: Option<Reference> = None;
    for line in Line::all(text) {
        let Some((tag, value)) = tagged(line.text) else {
            let last = open.as_mut().and_then(|reference| reference.fields.last_mut());
            match last {
                Some(field) if !line.is_blank() => {
                    field.text.push(' ');
                    field.text.push_str(line.text.trim());
                }
                Some(_) => {}
                None => references.left_out.add(Reason::Markup, line.text),
            }
            continue;
        };
        match tag {
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
        let role = known.map_or(Role::Labelled(""), |(_, role)| *role);
        let text = match role {
            Role::Person(_) => in_order(value),
            _ => value.to_owned(),
        };
        let name = tag.to_owned();
        reference.fields.push(Field { number: line.number, name, role, text });
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
