//! Reads the fields and texts in the template of an XFA form, in the order in which they are shown.

use crate::extract::protocol::ReadFailure;
use crate::xml::{self, Element, XmlEvent};

/// Most options of a list: bounds the memory for a hostile form.
const MAX_OPTIONS: usize = 5_000;

/// How a field is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum XfaKind {
    #[default]
    Text,
    /// A text that cannot be filled in.
    Draw,
    CheckBox,
    Password,
    /// A button or a signature.
    Button,
}

/// A field of a form, or a text on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct XfaField {
    pub(super) kind: XfaKind,
    /// Name of its value; empty if it has none.
    pub(super) name: String,
    /// Name of the innermost container that has one.
    pub(super) container: String,
    /// Number of the group of which it is a choice.
    pub(super) group: Option<usize>,
    pub(super) is_hidden: bool,
    pub(super) caption: String,
    /// The text of a draw, or the value from the start.
    pub(super) value: String,
    /// The choices of a list as it shows them, and as it saves them.
    pub(super) shown: Vec<String>,
    pub(super) saved: Vec<String>,
}

/// A part of the form that contains others and is open.
struct XfaContainer {
    depth: usize,
    name: String,
    is_hidden: bool,
    /// Its number, if one of its fields is chosen.
    group: Option<usize>,
}

/// The part of a field that text is added to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TextTarget {
    Caption,
    Value,
    Shown,
    Saved,
}

/// Reads a template as the parser goes through it.
#[derive(Default)]
struct TemplateReader {
    fields: Vec<XfaField>,
    containers: Vec<XfaContainer>,
    field: Option<XfaField>,
    /// How many elements are open in the template, and in the field.
    depth: usize,
    depth_in_field: usize,
    is_in_caption: bool,
    target: Option<TextTarget>,
    num_groups: usize,
}

/// Returns the fields and texts of a template.
pub(super) fn read(xml: &str) -> Result<Vec<XfaField>, ReadFailure> {
    let mut reader = TemplateReader::default();
    xml::each(xml, |event| match event {
        XmlEvent::Open(element) => reader.open(element),
        XmlEvent::Close(name) => reader.close(name),
        XmlEvent::Text(text) => reader.text(text),
    })?;
    Ok(reader.fields)
}

impl TemplateReader {
    fn open(&mut self, element: &Element<'_>) {
        let name = element.name();
        if self.depth == 0 && name != "template" {
            return;
        }
        self.depth += 1;
        if self.field.is_some() {
            self.depth_in_field += 1;
            self.open_in_field(element);
            return;
        }

        let outer = self.containers.last();
        let is_hidden = outer.is_some_and(|outer| outer.is_hidden)
            || element.attribute("presence").is_some_and(|presence| presence != "visible");
        match name {
            "subform" | "subformSet" | "area" | "pageSet" | "pageArea" | "exclGroup" => {
                let group = (name == "exclGroup").then_some(self.num_groups);
                self.num_groups += usize::from(group.is_some());
                let depth = self.depth;
                self.containers.push(XfaContainer {
                    depth,
                    name: element.attribute("name").unwrap_or_default(),
                    is_hidden,
                    group,
                });
            }
            "field" | "draw" => {
                let kind = if name == "draw" { XfaKind::Draw } else { XfaKind::Text };
                let group = outer.and_then(|outer| outer.group);
                let mut named = self.containers.iter().rev().filter(|outer| !outer.name.is_empty());
                let innermost = named.next().map(|outer| outer.name.clone()).unwrap_or_default();
                // The value of a choice is that of its group.
                let (own, container) = match group {
                    Some(_) => (innermost, named.next().map(|outer| outer.name.clone())),
                    None => (element.attribute("name").unwrap_or_default(), Some(innermost)),
                };
                let container = container.unwrap_or_default();
                let field = XfaField {
                    kind,
                    name: own,
                    container,
                    group,
                    is_hidden,
                    ..XfaField::default()
                };
                self.field = Some(field);
                self.depth_in_field = 0;
            }
            _ => {}
        }
    }

    fn open_in_field(&mut self, element: &Element<'_>) {
        let Some(field) = &mut self.field else { return };
        match element.name() {
            "caption" => {
                self.is_in_caption =
                    element.attribute("presence").is_none_or(|presence| presence == "visible");
            }
            "checkButton" => field.kind = XfaKind::CheckBox,
            "passwordEdit" => field.kind = XfaKind::Password,
            "button" | "signature" => field.kind = XfaKind::Button,
            "bind" => {
                let path = element.attribute("ref").unwrap_or_default();
                let last = path.rsplit('.').next().unwrap_or_default();
                let last = last.split('[').next().unwrap_or_default();
                if !last.is_empty() && last != "$" {
                    last.clone_into(&mut field.name);
                }
            }
            "items" => {
                let is_saved = element.attribute("save").is_some_and(|save| save == "1");
                self.target = Some(if is_saved { TextTarget::Saved } else { TextTarget::Shown });
            }
            "text" | "exData" | "integer" | "float" | "decimal" | "date" | "time" | "dateTime"
            | "boolean" => match self.target {
                Some(TextTarget::Shown) if field.shown.len() < MAX_OPTIONS => {
                    field.shown.push(String::new());
                }
                Some(TextTarget::Saved) if field.saved.len() < MAX_OPTIONS => {
                    field.saved.push(String::new());
                }
                Some(TextTarget::Shown | TextTarget::Saved) => self.target = None,
                _ if self.is_in_caption => self.target = Some(TextTarget::Caption),
                _ => {}
            },
            "value" if !self.is_in_caption => self.target = Some(TextTarget::Value),
            "image" => self.target = None,
            // These elements define what the field does, not its text.
            "event" | "calculate" | "validate" | "extras" | "desc" | "assist" | "format" => {
                self.target = None;
                self.is_in_caption = false;
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        if self.depth == 0 {
            return;
        }
        if self.field.is_some() && self.depth_in_field == 0 {
            self.fields.extend(self.field.take());
            (self.is_in_caption, self.target) = (false, None);
        } else if self.field.is_some() {
            self.depth_in_field -= 1;
            match name {
                "caption" => (self.is_in_caption, self.target) = (false, None),
                "value" | "items" => self.target = None,
                // Between paragraphs of formatted text.
                "p" | "div" | "br" | "li" => self.text(" "),
                _ => {}
            }
        }
        if self.containers.last().is_some_and(|last| last.depth == self.depth) {
            self.containers.pop();
        }
        self.depth -= 1;
    }

    fn text(&mut self, text: &str) {
        let (Some(field), Some(target)) = (&mut self.field, self.target) else { return };
        let into = match target {
            TextTarget::Caption => Some(&mut field.caption),
            TextTarget::Value => Some(&mut field.value),
            TextTarget::Shown => field.shown.last_mut(),
            TextTarget::Saved => field.saved.last_mut(),
        };
        into.into_iter().for_each(|into| into.push_str(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_captions_values_and_options() {
        let xml = "<template><subform name='a'><subform><draw><value><exData><body><p>One</p>\
                   <p>two</p></body></exData></value></draw>\
                   <field name='f'><ui><choiceList/></ui><caption><value><text>Berth</text></value>\
                   </caption><items><text>North</text></items><items save='1'><text>N</text></items>\
                   <event><script>x</script></event></field></subform>\
                   <field name='g' presence='hidden'><bind ref='$.x.y[*]'/><value><text>v</text>\
                   </value></field></subform></template>";
        let fields = read(xml).unwrap();
        let parts: Vec<[&str; 4]> = fields
            .iter()
            .map(|field| [&*field.name, &*field.container, &*field.caption, field.value.trim()])
            .collect();
        assert_eq!(parts, [["", "a", "", "One two"], ["f", "a", "Berth", ""], ["y", "a", "", "v"]]);
        assert_eq!(
            (&fields[1].shown[..], &fields[1].saved[..]),
            (&["North".into()][..], &["N".into()][..])
        );
        let hidden: Vec<bool> = fields.iter().map(|field| field.is_hidden).collect();
        assert_eq!(hidden, [false, false, true]);
    }

    #[test]
    fn the_choices_of_a_group_share_its_value() {
        let xml = "<template><subform name='a'><exclGroup name='kind'><field><ui><checkButton/></ui>\
                   <items><text>1</text></items></field></exclGroup></subform></template>";
        let fields = read(xml).unwrap();
        assert_eq!(
            (&*fields[0].name, &*fields[0].container, fields[0].group),
            ("kind", "a", Some(0))
        );
        assert_eq!(fields[0].kind, XfaKind::CheckBox);
    }
}
