//! Reads the values in the data of an XFA form: its elements without children.

use std::collections::HashMap;

use crate::extract::protocol::ReadFailure;
use crate::xml::{self, XmlEvent};

/// A value of a form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct XfaValue {
    pub(super) name: String,
    pub(super) text: String,
    /// The element that contains it: its name, and its number among all elements.
    pub(super) parent_name: String,
    pub(super) parent: usize,
}

/// An element that is open.
struct DataElement {
    name: String,
    number: usize,
    has_children: bool,
    text: String,
}

/// Returns the values in the data of a form, in order.
pub(super) fn read(xml: &str) -> Result<Vec<XfaValue>, ReadFailure> {
    let mut values = Vec::new();
    let mut open: Vec<DataElement> = Vec::new();
    let (mut is_in_datasets, mut is_in_data, mut num_elements) = (false, false, 0);
    // How many elements of formatted text are open; its text is the value.
    let mut num_formatted = 0_usize;
    xml::each(xml, |event| match event {
        XmlEvent::Open(element) if !is_in_data => {
            is_in_data = is_in_datasets && element.name() == "data";
            is_in_datasets |= element.name() == "datasets";
        }
        XmlEvent::Open(element) => {
            if num_formatted > 0 || (element.name() == "body" && !open.is_empty()) {
                num_formatted += 1;
                return;
            }
            if let Some(parent) = open.last_mut() {
                parent.has_children = true;
            }
            num_elements += 1;
            let name = element.name().to_owned();
            open.push(DataElement {
                name,
                number: num_elements,
                has_children: false,
                text: String::new(),
            });
        }
        XmlEvent::Close(name) => {
            if num_formatted > 0 {
                num_formatted -= 1;
                open.last_mut().into_iter().for_each(|element| element.text.push(' '));
                return;
            }
            let Some(element) = open.pop() else {
                is_in_data &= name != "data";
                is_in_datasets &= name != "datasets";
                return;
            };
            let text = element.text.split_whitespace().collect::<Vec<_>>().join(" ");
            if !element.has_children && !text.is_empty() {
                let parent = open.last();
                values.push(XfaValue {
                    name: element.name,
                    text,
                    parent_name: parent.map(|parent| parent.name.clone()).unwrap_or_default(),
                    parent: parent.map_or(0, |parent| parent.number),
                });
            }
        }
        XmlEvent::Text(text) => {
            if let Some(element) = open.last_mut() {
                element.text.push_str(text);
            }
        }
    })?;
    Ok(values)
}

/// The values of a form that no field has taken yet, by their names and those of the elements that contain them.
#[derive(Debug, Default)]
pub(super) struct XfaValues {
    by_name: HashMap<String, HashMap<String, Vec<usize>>>,
}

impl XfaValues {
    pub(super) fn of(values: &[XfaValue]) -> Self {
        let mut all = Self::default();
        for (idx, value) in values.iter().enumerate() {
            let same_name = all.by_name.entry(value.name.clone()).or_default();
            same_name.entry(value.parent_name.clone()).or_default().push(idx);
        }
        all
    }

    /// Takes the values of a field: those of its name in an element of the name of its container; else all of its name.
    pub(super) fn take(&mut self, container: &str, name: &str) -> Vec<usize> {
        let Some(same_name) = self.by_name.get_mut(name) else { return Vec::new() };
        if let Some(found) = same_name.remove(container) {
            return found;
        }
        let mut found: Vec<usize> = std::mem::take(same_name).into_values().flatten().collect();
        found.sort_unstable();
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_elements_without_children() {
        let xml = "<x:datasets><x:data><f><row><a>1</a><b>two  words</b></row>\
                   <row><a>3</a><b><body><p>in</p><p>style</p></body></b><c/></row></f></x:data>\
                   <dd:dataDescription><f><a>no</a></f></dd:dataDescription></x:datasets>";
        let values = read(xml).unwrap();
        let texts: Vec<(&str, &str, usize)> = values
            .iter()
            .map(|value| (value.name.as_str(), value.text.as_str(), value.parent))
            .collect();
        assert_eq!(
            texts,
            [("a", "1", 2), ("b", "two words", 2), ("a", "3", 5), ("b", "in style", 5)]
        );
        let mut all = XfaValues::of(&values);
        assert_eq!(all.take("other", "b"), [1, 3]);
        assert_eq!(all.take("row", "a"), [0, 2]);
        assert!(all.take("row", "a").is_empty());
    }
}
