//! Reads the fields of a form: what somebody has typed, chosen or ticked, and where it is.

use std::collections::HashSet;

use hayro::hayro_syntax::object::{
    Array, Dict, Name, Object, ObjectIdentifier, Stream, String as PdfString,
};

use super::strings;
use crate::document::{WordAccount, WordDestination};
use crate::extract::pdf::clean;
use crate::pdf::layout::entries::{FormEntry, Replaces};
use crate::pdf::layout::sheet::PageArea;

/// Deepest nesting of fields; also ends a chain of parents that is a circle.
const MAX_DEPTH: usize = 32;

/// Most fields of a form that are visited: bounds the time for a hostile tree.
const MAX_FIELDS: usize = 100_000;

/// Most values of a list, and most options: bounds the time for a hostile field, as each value is looked for among
/// them.
const MAX_OPTIONS: usize = 10_000;

/// Flags of fields (ISO 32000-2, 12.7.5).
const MULTILINE: u32 = 1 << 12;
const PASSWORD: u32 = 1 << 13;
const RADIO: u32 = 1 << 15;
const PUSH_BUTTON: u32 = 1 << 16;
const COMB: u32 = 1 << 24;

/// The state of a button that is off.
const OFF: &[u8] = b"Off";

/// The form of a document.
pub(super) struct PdfForm<'a> {
    dict: Dict<'a>,
    /// Whether viewers have to draw the values again.
    needs_appearances: bool,
    /// Fields on pages, and the fields that contain them.
    on_pages: HashSet<ObjectIdentifier>,
}

impl<'a> PdfForm<'a> {
    pub(super) fn of(catalog: &Dict<'a>) -> Self {
        let dict = catalog.get::<Dict<'_>>(b"AcroForm").unwrap_or_default();
        let needs_appearances = dict.get::<bool>(b"NeedAppearances").unwrap_or_default();
        Self { dict, needs_appearances, on_pages: HashSet::new() }
    }

    /// Returns the value of the field that an annotation shows; counts the words of one that the page hides.
    pub(super) fn entry(
        &mut self,
        widget: Dict<'a>,
        area: PageArea,
        is_hidden: bool,
        left_out: &mut WordAccount,
    ) -> Option<FormEntry> {
        let field = PdfField::of(widget);
        self.on_pages.extend(field.levels.iter().filter_map(Dict::obj_id));
        let (text, is_password) = field.text()?;
        if is_hidden || is_password {
            left_out.add(WordDestination::Hidden, &text);
            return None;
        }
        let is_box = field.is_button();
        let style = field.find(|level| level.get::<PdfString<'_>>(b"DA"));
        let style = style.or_else(|| self.dict.get(b"DA"));
        let size = style.filter(|_| !is_box).and_then(|style| font_size(&style));
        // A field that is formatted when it is shown has another value than it shows.
        let is_formatted = field.find(|level| level.get::<Dict<'_>>(b"AA"));
        let is_formatted = is_formatted.is_some_and(|on| on.contains_key(b"F"));
        let replaces = if is_box || field.flags() & COMB != 0 {
            Replaces::All
        } else if self.needs_appearances && !is_formatted {
            Replaces::Outdated
        } else {
            Replaces::Part
        };
        Some(FormEntry {
            area,
            text,
            size: size.unwrap_or_default(),
            is_multiline: !is_box && field.flags() & MULTILINE != 0,
            replaces,
        })
    }

    /// Counts the words in fields that no page shows.
    pub(super) fn count_unplaced(&self, left_out: &mut WordAccount) {
        let roots = self.dict.get::<Array<'_>>(b"Fields");
        let roots = roots.iter().flat_map(Array::iter::<Dict<'_>>);
        let mut pending: Vec<Dict<'_>> = roots.collect();
        let mut seen: HashSet<ObjectIdentifier> = HashSet::new();
        let mut num_fields = 0;
        while let Some(dict) = pending.pop()
            && num_fields < MAX_FIELDS
        {
            num_fields += 1;
            let Some(id) = dict.obj_id().filter(|id| seen.insert(*id)) else { continue };
            let kids = dict.get::<Array<'_>>(b"Kids");
            pending.extend(kids.iter().flat_map(Array::iter::<Dict<'_>>));
            if self.on_pages.contains(&id) || !dict.contains_key(b"V") {
                continue;
            }
            if let Some((text, _)) = PdfField::of(dict).text() {
                left_out.add(WordDestination::Hidden, &text);
            }
        }
    }
}

/// A field: its dictionary and those of the fields that contain it, from which it inherits.
struct PdfField<'a> {
    levels: Vec<Dict<'a>>,
}

impl<'a> PdfField<'a> {
    fn of(dict: Dict<'a>) -> Self {
        let mut levels = vec![dict];
        while levels.len() < MAX_DEPTH
            && let Some(parent) = levels.last().and_then(|last| last.get::<Dict<'_>>(b"Parent"))
        {
            levels.push(parent);
        }
        Self { levels }
    }

    /// Returns the value in the innermost dictionary that has it.
    fn find<T>(&self, of_level: impl Fn(&Dict<'a>) -> Option<T>) -> Option<T> {
        self.levels.iter().find_map(of_level)
    }

    fn flags(&self) -> u32 {
        self.find(|level| level.get::<u32>(b"Ff")).unwrap_or_default()
    }

    fn kind(&self) -> Option<Name<'a>> {
        self.find(|level| level.get::<Name<'_>>(b"FT"))
    }

    fn value(&self) -> Option<Object<'a>> {
        self.find(|level| level.get::<Object<'_>>(b"V"))
    }

    fn is_button(&self) -> bool {
        self.kind().is_some_and(|kind| &*kind == b"Btn")
    }

    /// Returns the value of the field, if it is text or the state of a box, and whether it is a password.
    fn text(&self) -> Option<(String, bool)> {
        let flags = self.flags();
        match &*self.kind()? {
            b"Btn" if flags & PUSH_BUTTON == 0 => {
                let text = match (flags & RADIO != 0, self.is_on()) {
                    (false, true) => "[x]",
                    (false, false) => "[ ]",
                    (true, true) => "(x)",
                    (true, false) => "( )",
                };
                Some((text.to_owned(), false))
            }
            kind @ (b"Tx" | b"Ch") => {
                let values = texts(self.value()?);
                let values: Vec<String> = if kind == b"Ch" {
                    values.into_iter().map(|value| self.option(&value).unwrap_or(value)).collect()
                } else {
                    values
                };
                let text = values.join(", ").replace('\r', "\n");
                let text = clean::text(&text).split_whitespace().collect::<Vec<_>>().join(" ");
                let is_password = kind == b"Tx" && flags & PASSWORD != 0;
                text.contains(char::is_alphanumeric).then_some((text, is_password))
            }
            _ => None,
        }
    }

    /// Whether a box is ticked. Some programs only set the value of the field, others only the state of the box.
    fn is_on(&self) -> bool {
        let widget = &self.levels[0];
        let state = widget.get::<Name<'_>>(b"AS");
        let value = match self.value() {
            Some(Object::Name(value)) => value.to_vec(),
            Some(Object::String(value)) => value.to_vec(),
            _ => OFF.to_vec(),
        };
        let states = widget.get::<Dict<'_>>(b"AP").and_then(|all| all.get::<Dict<'_>>(b"N"));
        let states = states.iter().flat_map(|states| states.keys().collect::<Vec<_>>());
        let mut on_states = states.filter(|state| &**state != OFF).peekable();
        let is_named = on_states.peek().is_some();
        match state {
            Some(state) if &*state != OFF => true,
            Some(_) if !is_named => false,
            None if !is_named => value != OFF,
            _ => on_states.any(|state| *state == *value),
        }
    }

    /// Returns the text that a list shows for a value.
    fn option(&self, value: &str) -> Option<String> {
        let options = self.find(|level| level.get::<Array<'_>>(b"Opt"))?;
        let shown = options.iter::<Object<'_>>().take(MAX_OPTIONS).find_map(|option| {
            let Object::Array(pair) = option else { return None };
            let mut pair = pair.iter::<PdfString<'_>>();
            let is_value = pair.next().is_some_and(|first| strings::decode(&first) == value);
            pair.next().filter(|_| is_value)
        });
        shown.map(|shown| strings::decode(&shown))
    }
}

/// Returns the texts of a value.
fn texts(value: Object<'_>) -> Vec<String> {
    match value {
        Object::String(text) => vec![strings::decode(&text)],
        Object::Stream(stream) => text_of(&stream).into_iter().collect(),
        Object::Array(all) => {
            let all = all.iter::<PdfString<'_>>().take(MAX_OPTIONS);
            all.map(|text| strings::decode(&text)).collect()
        }
        _ => Vec::new(),
    }
}

fn text_of(stream: &Stream<'_>) -> Option<String> {
    stream.decoded_data().ok().map(|bytes| strings::decode(&bytes))
}

/// Returns the size of the font in a default appearance: `/Helv 12 Tf 0 g`.
fn font_size(appearance: &[u8]) -> Option<f64> {
    let text = String::from_utf8_lossy(appearance);
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let at = words.iter().position(|word| *word == "Tf")?;
    let size: f64 = words.get(at.checked_sub(1)?)?.parse().ok()?;
    Some(size).filter(|size| size.is_finite() && *size > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::with_hayro::testing::{pdf, read};

    /// Checks the texts of a page with a label next to a field, whose other entries are given.
    #[track_caller]
    fn check(field: &str, expected: &[&str]) {
        let catalog =
            "<</Type/Catalog/Pages PAGES/AcroForm<</Fields[2 0 R]/NeedAppearances true>>>>";
        let field = format!("<</Type/Annot/Subtype/Widget/Rect[100 695 200 709]{field}>>");
        let file = pdf(&[catalog, &field], "/Annots[2 0 R]", &[("Berth", 700)]);
        let output = read(&file);
        assert_eq!([output.texts(), output.left_out()].concat(), expected);
    }

    #[test]
    fn what_somebody_typed_or_chose_is_next_to_its_label() {
        check("/FT/Tx/V(North pier)", &["Berth North pier"]);
        check("/FT/Tx/V(two\\rlines)/Ff 4096", &["Berth two lines"]);
        check("/FT/Ch/V(n)/Opt[[(n)(North)][(s)(South)]]", &["Berth North"]);
        check("/FT/Ch/V[(n)(s)]/Opt[[(n)(North)][(s)(South)]]", &["Berth North, South"]);
        check("/FT/Tx", &["Berth"]);
    }

    #[test]
    fn boxes_have_their_states() {
        let states = "/AP<</N<</Yes null/Off null>>>>";
        check("/FT/Btn/V/Yes/AS/Yes", &["Berth [x]"]);
        check("/FT/Btn/V/Off/AS/Off", &["Berth [ ]"]);
        check("/FT/Btn", &["Berth [ ]"]);
        check(&format!("/FT/Btn/V/Yes/AS/Off{states}"), &["Berth [x]"]);
        check(&format!("/FT/Btn/Ff 32768/V/No/AS/Off{states}"), &["Berth ( )"]);
        check("/FT/Btn/Ff 65536/V(pushed)/MK<</CA(Send)>>", &["Berth"]);
    }

    #[test]
    fn hidden_fields_and_passwords_are_counted() {
        check("/FT/Tx/V(two words)/F 2", &["Berth", "hidden 2"]);
        check("/FT/Tx/V(secret)/Ff 8192", &["Berth", "hidden 1"]);
    }

    #[test]
    fn a_field_inherits_and_one_on_no_page_is_counted() {
        let catalog = "<</Type/Catalog/Pages PAGES/AcroForm<</Fields[2 0 R 4 0 R]>>>>";
        let parent = "<</FT/Tx/T(a)/V(North pier)/Kids[3 0 R]>>";
        let widget = "<</Type/Annot/Subtype/Widget/Parent 2 0 R/Rect[100 695 200 709]>>";
        let unplaced = "<</FT/Tx/T(b)/V(nowhere at all)>>";
        let objects = [catalog, parent, widget, unplaced];
        let output = read(&pdf(&objects, "/Annots[3 0 R]", &[("Berth", 700)]));
        assert_eq!(output.texts(), ["Berth North pier"]);
        assert_eq!(output.left_out(), ["hidden 3"]);
    }

    #[test]
    fn the_size_of_a_font_is_before_its_operator() {
        assert_eq!(font_size(b"0 g /Helv 9.5 Tf"), Some(9.5));
        assert_eq!(font_size(b"/Helv 0 Tf 0 g"), None);
        assert_eq!(font_size(b"Tf"), None);
    }
}
