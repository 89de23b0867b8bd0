//! Turns runs into the text that they show.
//!
//! Text is left out if it is hidden or deleted, or belongs to the instructions of a field. Elements
//! without text are shown in words: boxes, lists to choose from, symbols, descriptions of pictures.
//! Paragraphs may be nested in runs, to any depth.

use std::borrow::Cow;

use super::fields::{OpenFields, check_box};
use super::styles::DocxStyles;
use super::symbols::{self, SymbolFont};
use super::values::{is_on, value};
use crate::document::{WordAccount, WordDestination};
use crate::flow::FlowItem;
use crate::parts::is_description;
use crate::xml::Element;

/// Marks a place where a long word may be broken.
const SOFT_HYPHEN: char = '\u{AD}';

/// Elements whose text is not part of the document: properties from before a change, fallbacks for
/// older programs, pronunciations of words.
pub(super) const LEFT_OUT: &[&str] =
    &["Fallback", "pPrChange", "rPrChange", "tblPrChange", "trPrChange", "tcPrChange", "rt"];

/// The elements that an element with properties describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PropertiesOf {
    Paragraph,
    Run,
    Row,
    Cell,
    /// A content control.
    Control,
}

impl PropertiesOf {
    fn named(name: &str) -> Option<Self> {
        match name {
            "pPr" => Some(Self::Paragraph),
            "rPr" => Some(Self::Run),
            "trPr" => Some(Self::Row),
            "tcPr" => Some(Self::Cell),
            "sdtPr" | "sdtEndPr" => Some(Self::Control),
            _ => None,
        }
    }
}

/// Follows the runs of a part.
pub(super) struct Runs<'a> {
    styles: &'a DocxStyles,
    /// Whether hidden text is shown.
    shows_hidden: bool,
    /// Whether any text may be in a symbol font.
    has_symbol_fonts: bool,
    /// Words that are not shown.
    left_out: WordAccount,
    /// The last run of each open paragraph, the innermost last.
    open: Vec<OpenRun>,
    /// The element that the open properties describe.
    properties: Option<PropertiesOf>,
    is_text: bool,
    /// Open elements, counted from one that was deleted.
    num_deleted: usize,
    fields: OpenFields,
    /// The open content controls: a check box has a state.
    controls: Vec<Option<CheckBox>>,
}

/// A run, with its inherited properties.
#[derive(Debug, Clone, Default)]
struct OpenRun {
    /// The style of its paragraph.
    paragraph_style: String,
    /// Whether the paragraph is in a run that is hidden.
    is_in_hidden: bool,
    is_hidden: bool,
    font: Option<SymbolFont>,
}

/// A content control that is a check box.
#[derive(Debug, Clone, Copy, Default)]
struct CheckBox {
    is_checked: bool,
    is_shown: bool,
}

impl<'a> Runs<'a> {
    /// Prepares to read the runs of a part.
    pub(super) fn new(xml: &str, styles: &'a DocxStyles, shows_hidden: bool) -> Self {
        Self {
            styles,
            shows_hidden,
            has_symbol_fonts: xml.contains("Symbol") || xml.contains("dings"),
            left_out: WordAccount::default(),
            open: Vec::new(),
            properties: None,
            is_text: false,
            num_deleted: 0,
            fields: OpenFields::default(),
            controls: Vec::new(),
        }
    }

    /// Returns the text that the next item of the part adds to the open paragraph.
    pub(super) fn on<'c>(&mut self, content: &FlowItem<'c>) -> Option<Cow<'c, str>> {
        match content {
            FlowItem::Open(_) if self.num_deleted > 0 => self.num_deleted += 1,
            FlowItem::Close(_) if self.num_deleted > 0 => self.num_deleted -= 1,
            FlowItem::Text(text) if self.num_deleted > 0 => {
                self.left_out.add(WordDestination::Hidden, text);
            }
            FlowItem::Open(element) => return self.open(element).and_then(|text| self.show(text)),
            FlowItem::Close(name) => return self.close(name).and_then(|text| self.show(text)),
            FlowItem::Text(text) if self.is_text => return self.show_text(text),
            FlowItem::Text(_) => {}
            FlowItem::Formula(text) => return self.show(Cow::Owned(text.clone())),
        }
        None
    }

    /// Whether the last item is in a part of the text that was deleted.
    pub(super) fn is_deleted(&self) -> bool {
        self.num_deleted > 0
    }

    /// Whether the last item is one that the document does not show.
    pub(super) fn is_hidden(&self) -> bool {
        self.num_deleted > 0
            || self.fields.is_at_instructions()
            || self.open.last().is_some_and(|run| run.is_hidden && !self.shows_hidden)
    }

    /// The element that the open properties describe.
    pub(super) fn properties(&self) -> Option<PropertiesOf> {
        self.properties
    }

    /// Counts the words of text that is not shown.
    pub(super) fn leave_out(&mut self, text: &str) {
        self.left_out.add(WordDestination::Hidden, text);
    }

    /// Returns the words that were not shown.
    pub(super) fn into_left_out(self) -> WordAccount {
        self.left_out
    }

    fn open(&mut self, element: &Element<'_>) -> Option<Cow<'static, str>> {
        let name = element.name();
        if let Some(described) = self.properties {
            self.property(described, element);
            return None;
        }
        match name {
            "p" => self.begin_paragraph(),
            "r" => self.begin_run(),
            "t" => self.is_text = true,
            "del" | "moveFrom" => self.num_deleted = 1,
            "tab" | "ptab" => return Some("\t".into()),
            "br" | "cr" => return Some("\n".into()),
            "noBreakHyphen" => return Some("-".into()),
            "sym" => {
                let font = element.attribute("font").unwrap_or_default();
                let code = element.attribute("char").unwrap_or_default();
                let symbol = symbols::of_element(&font, &code)?;
                return Some(symbol.to_string().into());
            }
            "fldChar" => {
                let shown = self.fields.mark(element).map(Cow::Owned);
                if let Some(instructions) = self.fields.take_withheld() {
                    self.left_out.add(WordDestination::Hidden, &instructions);
                }
                return shown;
            }
            "ffData" => self.fields.set_in_form(true),
            "checkBox" | "ddList" | "default" | "checked" | "result" | "listEntry" => {
                self.fields.property(element);
            }
            "sdt" => self.controls.push(None),
            "docPr" => {
                if element.attribute("hidden").is_some_and(|on| is_on(Some(&on)))
                    && let Some(run) = self.open.last_mut()
                {
                    run.is_hidden = true;
                }
                return description(element, "descr");
            }
            "shape" => return description(element, "alt"),
            // This text is bent to a shape.
            "textpath" => {
                return element.attribute("string").map(|text| format!(" {text} ").into());
            }
            _ => self.properties = PropertiesOf::named(name),
        }
        None
    }

    fn begin_paragraph(&mut self) {
        let is_in_hidden = self.open.last().is_some_and(|run| run.is_hidden);
        self.open.push(OpenRun { is_in_hidden, ..OpenRun::default() });
        self.begin_run();
    }

    fn begin_run(&mut self) {
        let Some(run) = self.open.last_mut() else { return };
        run.font = None;
        run.is_hidden = run.is_in_hidden;
        if self.styles.hide_text {
            run.is_hidden |= self.styles.hide(&run.paragraph_style, "");
        }
    }

    fn property(&mut self, described: PropertiesOf, element: &Element<'_>) {
        match (described, element.name()) {
            (PropertiesOf::Paragraph, "pStyle") if self.styles.hide_text => {
                if let Some(run) = self.open.last_mut() {
                    run.paragraph_style = value(element).unwrap_or_default();
                    self.begin_run();
                }
            }
            (PropertiesOf::Run, "rStyle") if self.styles.hide_text => {
                if let Some(run) = self.open.last_mut() {
                    let is_hidden =
                        self.styles.hide(&run.paragraph_style, &value(element).unwrap_or_default());
                    run.is_hidden = run.is_in_hidden || is_hidden;
                }
            }
            // The style of a run is its first property, so this one overrides it.
            (PropertiesOf::Run, "vanish") => {
                if let Some(run) = self.open.last_mut() {
                    run.is_hidden = run.is_in_hidden || is_on(value(element).as_deref());
                }
            }
            (PropertiesOf::Run, "rFonts") if self.has_symbol_fonts => {
                let font = element.attribute("ascii").or_else(|| element.attribute("hAnsi"));
                if let Some(run) = self.open.last_mut() {
                    run.font = font.and_then(|font| SymbolFont::named(&font));
                }
            }
            (PropertiesOf::Control, "checkbox") => {
                if let Some(control) = self.controls.last_mut() {
                    *control = Some(CheckBox::default());
                }
            }
            (PropertiesOf::Control, "checked") => {
                if let Some(Some(control)) = self.controls.last_mut() {
                    control.is_checked = is_on(value(element).as_deref());
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) -> Option<Cow<'static, str>> {
        match name {
            "t" => self.is_text = false,
            "p" => {
                self.open.pop();
                return self.fields.end_paragraph().map(Cow::Owned);
            }
            "ffData" => self.fields.set_in_form(false),
            // A check box without a sign.
            "sdtContent" => {
                let is_pending =
                    matches!(self.controls.last(), Some(Some(control)) if !control.is_shown);
                return is_pending.then_some("".into());
            }
            "sdt" => {
                self.controls.pop();
            }
            _ if self.properties.is_some() && PropertiesOf::named(name) == self.properties => {
                self.properties = None;
            }
            _ => {}
        }
        None
    }

    fn show_text<'c>(&mut self, text: &'c str) -> Option<Cow<'c, str>> {
        let font = self.open.last().and_then(|run| run.font);
        let mut text = Cow::Borrowed(text);
        if let Some(font) = font {
            text = Cow::Owned(symbols::of_text(font, &text));
        }
        if text.contains(SOFT_HYPHEN) {
            text = Cow::Owned(text.replace(SOFT_HYPHEN, ""));
        }
        self.show(text)
    }

    /// Returns text as it is shown.
    fn show<'c>(&mut self, text: Cow<'c, str>) -> Option<Cow<'c, str>> {
        let is_hidden = self.open.last().is_some_and(|run| run.is_hidden && !self.shows_hidden);
        if is_hidden || self.num_deleted > 0 {
            self.left_out.add(WordDestination::Hidden, &text);
            return None;
        }
        if self.fields.is_at_instructions() {
            self.fields.withhold(&text);
            return None;
        }
        self.fields.show(&text);
        match self.controls.last_mut() {
            Some(Some(control)) => control.show(text),
            _ => Some(text),
        }
    }
}

impl CheckBox {
    /// Returns the state in words instead of the sign in the text of the control.
    fn show<'c>(&mut self, text: Cow<'c, str>) -> Option<Cow<'c, str>> {
        let is_sign = text.trim().chars().nth(1).is_none();
        let state = if self.is_shown { "" } else { check_box(self.is_checked) };
        self.is_shown = true;
        match (is_sign, state) {
            (true, "") => None,
            (true, state) => Some(state.into()),
            (false, "") => Some(text),
            (false, state) => Some(format!("{state} {text}").into()),
        }
    }
}

/// Returns the words that describe a picture.
fn description(element: &Element<'_>, attribute: &str) -> Option<Cow<'static, str>> {
    let description = element.attribute(attribute)?;
    is_description(&description).then(|| format!(" {description} ").into())
}
