//! Reads forms of the kind XFA, which are XML in a PDF: their texts and captions with the values that people have
//! entered.

mod data;
mod template;

use std::collections::HashMap;

use hayro::hayro_syntax::object::{Dict, Object, Stream};

use data::{XfaValue, XfaValues};
use template::{XfaField, XfaKind};

/// Most bytes of a form, unpacked; the largest of tax offices have some megabytes.
const MAX_BYTES: usize = 64 << 20;

/// The content of a form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct XfaForm {
    pub(super) lines: Vec<XfaLine>,
    /// Texts that the form does not show.
    pub(super) hidden: Vec<String>,
}

/// A line of a form: a text, or a caption with its value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct XfaLine {
    pub(super) text: String,
    /// The values in it.
    pub(super) values: Vec<String>,
}

/// A form that cannot be read.
pub(super) struct UnreadXfa {
    pub(super) size_bytes: u64,
    pub(super) reason: &'static str,
}

/// Whether the form of a document has a form of this kind in it.
pub(super) fn is_in(form: &Dict<'_>) -> bool {
    form.contains_key(b"XFA")
}

/// Returns the content of the form in a document; `None` if it has no form of this kind.
pub(super) fn read(catalog: &Dict<'_>) -> Option<Result<XfaForm, UnreadXfa>> {
    let packets = match catalog.get::<Dict<'_>>(b"AcroForm")?.get::<Object<'_>>(b"XFA")? {
        Object::Stream(packet) => vec![packet],
        Object::Array(parts) => {
            parts.iter::<Object<'_>>().filter_map(Object::into_stream).collect()
        }
        _ => return None,
    };
    if packets.is_empty() {
        return None;
    }
    let size = packets.iter().map(|packet| packet.raw_data().len()).sum::<usize>();
    let size_bytes = u64::try_from(size).unwrap_or(u64::MAX);
    let unread = |reason| Some(Err(UnreadXfa { size_bytes, reason }));
    let Some(xml) = joined(&packets) else { return unread("it cannot be unpacked") };
    let (Ok(fields), Ok(values)) = (template::read(&xml), data::read(&xml)) else {
        return unread("it is no XML");
    };
    if fields.is_empty() && values.is_empty() {
        return unread("it has neither fields nor values");
    }
    Some(Ok(form_of(&fields, &values)))
}

/// Returns the packets of a form, which are one XML file in pieces.
fn joined(packets: &[Stream<'_>]) -> Option<String> {
    let mut xml = Vec::new();
    for packet in packets {
        xml.extend_from_slice(&packet.decoded_data().ok()?);
        if xml.len() > MAX_BYTES {
            return None;
        }
    }
    Some(String::from_utf8_lossy(&xml).into_owned())
}

/// Puts the values into the fields of a template.
fn form_of(fields: &[XfaField], values: &[XfaValue]) -> XfaForm {
    let mut filling = XfaFilling::of(fields, values);
    for (idx, field) in fields.iter().enumerate() {
        filling.add(idx, field);
    }
    filling.add_rest();
    filling.form
}

/// A form that is being filled.
struct XfaFilling<'a> {
    fields: &'a [XfaField],
    values: &'a [XfaValue],
    /// Values that no field has taken yet, and whether a value is in the form.
    left: XfaValues,
    is_used: Vec<bool>,
    /// Values by the element that contains them.
    by_parent: HashMap<usize, Vec<usize>>,
    /// The first field of each name.
    by_name: HashMap<&'a str, usize>,
    /// The value of each group of choices.
    of_group: HashMap<usize, String>,
    form: XfaForm,
}

impl<'a> XfaFilling<'a> {
    fn of(fields: &'a [XfaField], values: &'a [XfaValue]) -> Self {
        let mut by_parent: HashMap<usize, Vec<usize>> = HashMap::new();
        for (idx, value) in values.iter().enumerate() {
            by_parent.entry(value.parent).or_default().push(idx);
        }
        let mut by_name = HashMap::new();
        for (idx, field) in fields.iter().enumerate() {
            by_name.entry(&*field.name).or_insert(idx);
        }
        let (left, is_used) = (XfaValues::of(values), vec![false; values.len()]);
        let (of_group, form) = (HashMap::new(), XfaForm::default());
        Self { fields, values, left, is_used, by_parent, by_name, of_group, form }
    }

    fn add(&mut self, idx: usize, field: &XfaField) {
        let taken = match (field.kind, field.group) {
            (XfaKind::Draw | XfaKind::Button, _) => Vec::new(),
            (_, Some(group)) => return self.add_choice(group, field),
            _ => self.left.take(&field.container, &field.name),
        };
        let taken_here: Vec<usize> =
            taken.iter().copied().filter(|value| !self.is_used[*value]).collect();
        if taken_here.is_empty() && !taken.is_empty() {
            // The value has been written in a row of a table.
            return;
        }
        match taken_here.as_slice() {
            // A default is not a value that was entered.
            [] => self.push(field, XfaLine { values: Vec::new(), ..cell(field, &field.value) }),
            [value] => {
                self.is_used[*value] = true;
                self.push(field, cell(field, &self.values[*value].text));
            }
            several => {
                for value in several {
                    self.add_row(idx, *value);
                }
            }
        }
    }

    /// Adds a row of a table: a value, and those in the same element.
    fn add_row(&mut self, idx: usize, value: usize) {
        let same_row = self.by_parent.remove(&self.values[value].parent).unwrap_or_default();
        let mut row = XfaLine::default();
        for value in same_row {
            if std::mem::replace(&mut self.is_used[value], true) {
                continue;
            }
            let XfaValue { name, text, .. } = &self.values[value];
            let field_idx = self.by_name.get(&**name).copied();
            let line = match field_idx.and_then(|field_idx| self.fields.get(field_idx)) {
                Some(field) if field.is_hidden || field.kind == XfaKind::Password => {
                    self.form.hidden.push(text.clone());
                    continue;
                }
                Some(field) => cell(field, text),
                None => XfaLine { text: text.clone(), values: vec![text.clone()] },
            };
            if !row.text.is_empty() {
                row.text.push_str("; ");
            }
            row.text.push_str(&line.text);
            row.values.extend(line.values);
        }
        if !row.text.is_empty() {
            self.push(&self.fields[idx], row);
        }
    }

    /// Adds one of the choices of a group.
    fn add_choice(&mut self, group: usize, field: &XfaField) {
        if !self.of_group.contains_key(&group) {
            let taken = self.left.take(&field.container, &field.name);
            taken.iter().for_each(|value| self.is_used[*value] = true);
            let text = taken.first().map(|value| self.values[*value].text.clone());
            self.of_group.insert(group, text.unwrap_or_default());
        }
        let chosen = self.of_group.get(&group).map(String::as_str).unwrap_or_default();
        let line = cell(&XfaField { kind: XfaKind::CheckBox, ..field.clone() }, chosen);
        self.push(field, line);
    }

    fn push(&mut self, field: &XfaField, line: XfaLine) {
        if field.kind == XfaKind::Button || line.text.is_empty() {
            return;
        }
        if field.is_hidden || field.kind == XfaKind::Password {
            self.form.hidden.push(line.text);
        } else {
            self.form.lines.push(line);
        }
    }

    /// Adds the values that are in no field: they are not shown, unless no field is known at all.
    fn add_rest(&mut self) {
        let rest = self.values.iter().zip(&self.is_used).filter(|(_, is_used)| !**is_used);
        for (XfaValue { name, text, .. }, _) in rest {
            if self.fields.is_empty() {
                let (line, values) = (format!("{name}: {text}"), vec![text.clone()]);
                self.form.lines.push(XfaLine { text: line, values });
            } else {
                self.form.hidden.push(text.clone());
            }
        }
    }
}

/// Returns a field with its value, as the form shows it.
fn cell(field: &XfaField, value: &str) -> XfaLine {
    let caption = field.caption.split_whitespace().collect::<Vec<_>>().join(" ");
    let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
    let saved = if field.saved.is_empty() { &field.shown } else { &field.saved };
    let position = saved.iter().position(|saved| saved.trim() == value);
    if field.kind == XfaKind::CheckBox {
        let is_on = if saved.is_empty() { value == "1" } else { position == Some(0) };
        let state = match (field.group.is_some(), is_on) {
            (false, true) => "[x]",
            (false, false) => "[ ]",
            (true, true) => "(x)",
            (true, false) => "( )",
        };
        return XfaLine {
            text: format!("{state} {caption}").trim().to_owned(),
            values: Vec::new(),
        };
    }
    let shown = position.and_then(|position| field.shown.get(position));
    let value = shown.map_or(value, |shown| shown.trim().to_owned());
    if field.kind == XfaKind::Draw {
        return XfaLine { text: value, values: Vec::new() };
    }
    let text = match (caption.trim_end_matches(':'), &*value) {
        ("", value) => value.to_owned(),
        (_, "") => caption,
        (caption, value) => format!("{caption}: {value}"),
    };
    let values = Some(value).filter(|value| !value.is_empty()).into_iter().collect();
    XfaLine { text, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the lines of a form with these fields and data, and after `/` the hidden text.
    #[track_caller]
    fn check(fields: &str, values: &str, expected: &[&str]) {
        let xml = format!(
            "<xdp><template><subform name='f'>{fields}</subform></template>\
             <datasets><data><f>{values}</f></data></datasets></xdp>"
        );
        let form = form_of(&template::read(&xml).unwrap(), &data::read(&xml).unwrap());
        let lines = form.lines.into_iter().map(|line| line.text);
        let hidden = form.hidden.into_iter().map(|text| format!("/{text}"));
        assert_eq!(lines.chain(hidden).collect::<Vec<_>>(), expected);
    }

    fn field(name: &str, caption: &str, rest: &str) -> String {
        format!(
            "<field name='{name}'><caption><value><text>{caption}</text></value></caption>{rest}</field>"
        )
    }

    #[test]
    fn captions_have_their_values() {
        let fields = [
            "<draw><value><text>Berths</text></value></draw>".to_owned(),
            field("a", "Surname:", ""),
            field(
                "b",
                "Pier",
                "<items><text>North</text></items><items save='1'><text>N</text></items>",
            ),
            field("c", "Date", ""),
            field("d", "Send", "<ui><button/></ui>"),
        ];
        let values = "<a>Kittiwake</a><b>N</b><spare>x y</spare>";
        let expected = ["Berths", "Surname: Kittiwake", "Pier: North", "Date", "/x y"];
        check(&fields.concat(), values, &expected);
    }

    #[test]
    fn boxes_and_choices_have_their_states() {
        let check_box = "<ui><checkButton/></ui><items><integer>1</integer></items>";
        let choice = |caption: &str, value: &str| {
            field("", caption, &format!("<items><text>{value}</text></items>"))
        };
        let fields = [
            field("a", "Fish", check_box),
            field("b", "Meat", check_box),
            format!(
                "<exclGroup name='g'>{}{}</exclGroup>",
                choice("Full", "F"),
                choice("Guest", "G")
            ),
        ];
        let expected = ["[x] Fish", "[ ] Meat", "( ) Full", "(x) Guest"];
        check(&fields.concat(), "<a>1</a><b>0</b><g>G</g>", &expected);
    }

    #[test]
    fn rows_of_a_table_stay_together() {
        let fields = format!(
            "<subform name='row'>{}{}</subform>",
            field("a", "Fish", ""),
            field("b", "kg", "")
        );
        let values = "<row><a>Cod</a><b>5</b></row><row><a>Eel</a><b>7</b></row>";
        check(&fields, values, &["Fish: Cod; kg: 5", "Fish: Eel; kg: 7"]);
    }

    #[test]
    fn values_without_a_template_have_their_names() {
        let values = data::read("<datasets><data><f><a>Cod</a></f></data></datasets>").unwrap();
        assert_eq!(form_of(&[], &values).lines[0].text, "a: Cod");
    }

    #[test]
    fn passwords_and_hidden_fields_are_hidden() {
        let hidden = "<field name='b' presence='hidden'/>".to_owned();
        let fields = [field("a", "Pin", "<ui><passwordEdit/></ui>"), hidden];
        check(&fields.concat(), "<a>1234</a><b>7</b>", &["/Pin: 1234", "/7"]);
    }
}
