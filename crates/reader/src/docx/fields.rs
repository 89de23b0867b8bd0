//! Follows fields: their instructions are not shown, and the fields of forms show their state.
//!
//! A field is three marks in the text (ECMA-376, 17.16.18): its instructions are between the first
//! and the second, its result between the second and the third. A check box or a list in a form
//! usually has no result, but properties.

use super::values::is_on;
use crate::xml::Element;

/// The texts that are shown for a box that is checked, and for one that is not.
pub(super) const CHECKED: &str = "[x]";
pub(super) const UNCHECKED: &str = "[ ]";

/// Returns the text that is shown for a check box.
pub(super) fn check_box(is_checked: bool) -> &'static str {
    if is_checked { CHECKED } else { UNCHECKED }
}

/// The open fields, the innermost last.
#[derive(Debug, Default)]
pub(super) struct OpenFields {
    open: Vec<OpenField>,
    /// How many of them are at their instructions.
    num_at_instructions: usize,
    /// Text among the instructions.
    withheld: String,
    /// Whether the properties of a form field are open.
    is_in_form: bool,
}

#[derive(Debug, Default)]
struct OpenField {
    is_at_result: bool,
    /// Whether its result has any text.
    has_text: bool,
    form: Option<FormField>,
}

/// A check box or a list to choose from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FormField {
    CheckBox { default: bool, checked: Option<bool> },
    List { default: usize, chosen: Option<usize>, entries: Vec<String> },
}

impl OpenFields {
    /// Whether text at this place belongs to instructions, which are not shown.
    pub(super) fn is_at_instructions(&self) -> bool {
        self.num_at_instructions > 0
    }

    /// Takes text that belongs to instructions.
    pub(super) fn withhold(&mut self, text: &str) {
        self.withheld.push_str(text);
    }

    /// Returns the text of instructions that have ended.
    pub(super) fn take_withheld(&mut self) -> Option<String> {
        let has_ended = self.num_at_instructions == 0 && !self.withheld.is_empty();
        has_ended.then(|| std::mem::take(&mut self.withheld))
    }

    /// Takes note of text that is shown.
    pub(super) fn show(&mut self, text: &str) {
        if let Some(field) = self.open.last_mut() {
            field.has_text |= !text.trim().is_empty();
        }
    }

    /// Reads a mark of a field; returns the text that the field shows without a result.
    pub(super) fn mark(&mut self, element: &Element<'_>) -> Option<String> {
        match element.attribute("fldCharType").as_deref() {
            Some("begin") => {
                self.open.push(OpenField::default());
                self.num_at_instructions += 1;
            }
            Some("separate") => {
                if let Some(field) = self.open.last_mut().filter(|field| !field.is_at_result) {
                    field.is_at_result = true;
                    self.num_at_instructions = self.num_at_instructions.saturating_sub(1);
                }
            }
            Some("end") => {
                let field = self.open.pop()?;
                if !field.is_at_result {
                    self.num_at_instructions = self.num_at_instructions.saturating_sub(1);
                }
                if let Some(outer) = self.open.last_mut() {
                    outer.has_text |= field.has_text;
                }
                return field.form.filter(|_| !field.has_text).map(|form| form.text());
            }
            _ => {}
        }
        None
    }

    /// Lets instructions end with their paragraph. Returns their text, which is shown: nothing says that
    /// it is not a part of the paragraph.
    pub(super) fn end_paragraph(&mut self) -> Option<String> {
        // Those at their instructions are the innermost, as all others have ended a paragraph.
        for field in self.open.iter_mut().rev() {
            if self.num_at_instructions == 0 {
                break;
            }
            self.num_at_instructions -= usize::from(!field.is_at_result);
            field.is_at_result = true;
        }
        self.take_withheld()
    }

    /// Begins or ends the properties of a form field.
    pub(super) fn set_in_form(&mut self, is_in_form: bool) {
        self.is_in_form = is_in_form;
    }

    /// Reads a property of a form field.
    pub(super) fn property(&mut self, element: &Element<'_>) {
        let Some(field) = self.open.last_mut().filter(|_| self.is_in_form) else { return };
        let value = element.attribute("val");
        let number = || value.as_deref().and_then(|value| value.parse().ok());
        match (element.name(), &mut field.form) {
            ("checkBox", form) => {
                *form = Some(FormField::CheckBox { default: false, checked: None });
            }
            ("ddList", form) => {
                *form = Some(FormField::List { default: 0, chosen: None, entries: Vec::new() });
            }
            ("default", Some(FormField::CheckBox { default, .. })) => {
                *default = is_on(value.as_deref());
            }
            ("checked", Some(FormField::CheckBox { checked, .. })) => {
                *checked = Some(is_on(value.as_deref()));
            }
            ("default", Some(FormField::List { default, .. })) => *default = number().unwrap_or(0),
            ("result", Some(FormField::List { chosen, .. })) => *chosen = number(),
            ("listEntry", Some(FormField::List { entries, .. })) => entries.extend(value),
            _ => {}
        }
    }
}

impl FormField {
    /// Returns the text that the field shows.
    fn text(self) -> String {
        match self {
            Self::CheckBox { default, checked } => check_box(checked.unwrap_or(default)).to_owned(),
            Self::List { default, chosen, mut entries } => {
                let chosen = chosen.unwrap_or(default);
                if chosen < entries.len() { entries.swap_remove(chosen) } else { String::new() }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::{self, XmlEvent};

    /// Returns the text that the fields show, and whether any is at its instructions at the end.
    fn shown(marks: &str) -> (Vec<String>, bool) {
        let (mut fields, mut shown) = (OpenFields::default(), Vec::new());
        xml::each(marks, |event| match event {
            XmlEvent::Open(element) if element.name() == "fldChar" => {
                shown.extend(fields.mark(element));
            }
            XmlEvent::Open(element) if element.name() == "ffData" => fields.set_in_form(true),
            XmlEvent::Open(element) => fields.property(element),
            XmlEvent::Text(text) => fields.show(text),
            XmlEvent::Close("ffData") => fields.set_in_form(false),
            XmlEvent::Close("p") => shown.extend(fields.end_paragraph()),
            XmlEvent::Close(_) => {}
        })
        .unwrap();
        (shown, fields.is_at_instructions())
    }

    const SEPARATE: &str = "<w:fldChar w:fldCharType='separate'/>";
    const END: &str = "<w:fldChar w:fldCharType='end'/>";

    fn begin(form: &str) -> String {
        format!("<w:fldChar w:fldCharType='begin'><w:ffData>{form}</w:ffData></w:fldChar>")
    }

    #[track_caller]
    fn check(form: &str, expected: &str) {
        let (texts, _) = shown(&format!("<w:p>{}{END}</w:p>", begin(form)));
        assert_eq!(texts, [expected]);
    }

    #[test]
    fn a_check_box_shows_its_state() {
        check("<w:checkBox><w:default w:val='1'/></w:checkBox>", "[x]");
        check("<w:checkBox><w:default w:val='1'/><w:checked w:val='0'/></w:checkBox>", "[ ]");
        check("<w:checkBox><w:default w:val='0'/><w:checked/></w:checkBox>", "[x]");
        check("<w:checkBox/>", "[ ]");
    }

    #[test]
    fn a_list_shows_the_chosen_entry() {
        let entries = "<w:listEntry w:val='Porto'/><w:listEntry w:val='Lisboa'/>";
        check(&format!("<w:ddList><w:result w:val='1'/>{entries}</w:ddList>"), "Lisboa");
        check(&format!("<w:ddList><w:default w:val='1'/>{entries}</w:ddList>"), "Lisboa");
        check(&format!("<w:ddList>{entries}</w:ddList>"), "Porto");
        check(&format!("<w:ddList><w:result w:val='7'/>{entries}</w:ddList>"), "");
    }

    #[test]
    fn a_result_is_shown_instead_of_the_state() {
        let list = "<w:ddList><w:listEntry w:val='Porto'/></w:ddList>";
        let with_result = format!("<w:p>{}{SEPARATE}Faro{END}</w:p>", begin(list));
        assert_eq!(shown(&with_result).0, [""; 0]);
    }

    #[test]
    fn instructions_end_with_their_paragraph() {
        let open = begin("");
        assert!(shown(&open).1);
        assert!(!shown(&format!("<w:p>{open}</w:p>")).1);
        assert!(!shown(&format!("{open}{SEPARATE}")).1);
        assert!(shown(&format!("{open}{open}{SEPARATE}{END}")).1);
        assert!(!shown(&format!("{open}{open}{END}{SEPARATE}{END}{END}")).1);
    }
}
