//! Reads the annotations of a page: remarks of people, fields of forms, attached files.

use std::collections::HashMap;

use hayro::hayro_interpret::util::TransformExt;
use hayro::hayro_syntax::object::{
    Array, Dict, Name, Object, ObjectIdentifier, Rect as PdfRect, String as PdfString,
};
use hayro::hayro_syntax::page::Page as PdfPage;
use hayro::kurbo::{Affine, Point, Rect};

use super::strings;
use crate::document::FileParts;
use crate::extract::pdf::clean;
use crate::pdf::layout;
use crate::pdf::layout::entries::{GlyphPositions, letters_of};
use crate::pdf::layout::sheet::{DrawnPage, PageArea};
use crate::remarks::Remark;
use crate::xml::{self, XmlEvent};

/// Most annotations of a page that are read: bounds the work on a hostile page.
const MAX_ANNOTATIONS: usize = 20_000;

/// Most areas of the remarks on a page, one per line of marked text; beyond, no words are quoted. Each word of the
/// page is compared with each area.
const MAX_QUADS: usize = 2_000;

/// Longest chain of replies; also ends one that is a circle.
const MAX_REPLIES: usize = 100;

/// Most words that are quoted of the text that a remark marks: enough to find it on the page, where it is read in
/// full.
const MAX_QUOTED: usize = 8;

/// Flags of annotations (ISO 32000-2, 12.5.3).
const HIDDEN: u32 = 1 << 1;
const NO_VIEW: u32 = 1 << 5;

/// Kinds with which people write on a page.
const REMARKS: &[&str] = &[
    "Text", "FreeText", "Line", "Square", "Circle", "Polygon", "PolyLine", "Highlight",
    "Underline", "Squiggly", "StrikeOut", "Stamp", "Caret", "Ink", "Redact", "FileAttachment",
];

/// Those that mark words.
const MARKED: &[&str] = &["Highlight", "Underline", "Squiggly", "StrikeOut", "Redact"];

/// Kinds that have no text but are a part of the document.
const MEDIA: &[&str] = &["Sound", "Movie", "Screen", "3D", "RichMedia"];

/// The annotations that people have put on a page.
#[derive(Default)]
pub(super) struct PageAnnotations<'a> {
    pub(super) remarks: Vec<PageRemark<'a>>,
    pub(super) widgets: Vec<FormWidget<'a>>,
    /// Whether there is anything to draw.
    pub(super) are_drawn: bool,
}

/// A field of a form on a page.
pub(super) struct FormWidget<'a> {
    pub(super) dict: Dict<'a>,
    pub(super) area: PageArea,
    pub(super) is_hidden: bool,
}

/// A remark, or a file that is attached to a page.
pub(super) struct PageRemark<'a> {
    pub(super) area: PageArea,
    /// The file that it has, if it is one.
    pub(super) file: Option<Dict<'a>>,
    pub(super) remark: Remark,
    pub(super) is_hidden: bool,
    /// The areas of the text that it marks.
    quads: Vec<PageArea>,
    /// The letters of that text.
    marked: String,
    id: Option<ObjectIdentifier>,
    parent: Option<ObjectIdentifier>,
}

impl<'a> PageAnnotations<'a> {
    /// Reads the annotations of a page, and counts those that have no text.
    pub(super) fn of(page: &PdfPage<'a>, parts: &mut FileParts) -> Self {
        let mut found = Self::default();
        let Some(all) = page.raw().get::<Array<'_>>(b"Annots") else { return found };
        let transform = page.initial_transform(true).to_kurbo();
        let mut quads_left = MAX_QUADS;
        for dict in all.iter::<Dict<'_>>().take(MAX_ANNOTATIONS) {
            found.are_drawn |= dict.contains_key(b"AP");
            let Some(kind) = dict.get::<Name<'_>>(b"Subtype") else { continue };
            let kind = kind.as_str();
            let flags = dict.get::<u32>(b"F").unwrap_or_default();
            let is_hidden = flags & (HIDDEN | NO_VIEW) != 0;
            if kind == "Widget" {
                if let Some(area) = area_of(&dict, transform) {
                    found.widgets.push(FormWidget { dict, area, is_hidden });
                }
            } else if REMARKS.contains(&kind) {
                let remark = remark_of(&dict);
                let file = dict.get::<Dict<'_>>(b"FS").filter(|_| kind == "FileAttachment");
                if remark.text.is_empty() && file.is_none() {
                    parts.add_without_text(&kind.to_lowercase());
                    continue;
                }
                let mut quads =
                    if MARKED.contains(&kind) { quads(&dict, transform) } else { Vec::new() };
                quads.truncate(quads_left);
                quads_left -= quads.len();
                let (id, parent) = (dict.obj_id(), dict.get_ref(b"IRT").map(Into::into));
                // A remark without a place is also shown.
                let area = area_of(&dict, transform).unwrap_or(PageArea::new(0.0, 0.0, 0.0, 0.0));
                found.remarks.push(PageRemark {
                    area,
                    file,
                    remark,
                    is_hidden,
                    quads,
                    marked: String::new(),
                    id,
                    parent,
                });
            } else if MEDIA.contains(&kind) {
                parts.add_without_text(&kind.to_lowercase());
            }
        }
        found.sort_replies();
        found
    }

    /// Puts replies after the remarks that they reply to. They are hidden if that is: their own flag only says that
    /// they have no icon.
    fn sort_replies(&mut self) {
        let all = self.remarks.iter().enumerate();
        let by_id: HashMap<ObjectIdentifier, usize> =
            all.filter_map(|(idx, one)| Some((one.id?, idx))).collect();
        let parents: Vec<Option<usize>> =
            self.remarks.iter().map(|one| by_id.get(&one.parent?).copied()).collect();
        let roots: Vec<usize> = (0..parents.len()).map(|idx| root_of(idx, &parents)).collect();
        let are_hidden: Vec<bool> = self.remarks.iter().map(|one| one.is_hidden).collect();
        let mut sorted: Vec<((usize, bool), PageRemark<'a>)> = Vec::new();
        for (idx, (root, mut one)) in roots.into_iter().zip(self.remarks.drain(..)).enumerate() {
            one.is_hidden = are_hidden[root];
            sorted.push(((root, root != idx), one));
        }
        // The sort is stable, so replies keep their order.
        sorted.sort_by_key(|(key, _)| *key);
        self.remarks = sorted.into_iter().map(|(_, one)| one).collect();
    }
}

/// Returns the remark with which a thread of replies begins.
fn root_of(idx: usize, parents: &[Option<usize>]) -> usize {
    let chain = std::iter::successors(Some(idx), |idx| parents.get(*idx).copied().flatten());
    chain.take(MAX_REPLIES).last().unwrap_or(idx)
}

impl PageRemark<'_> {
    /// Whether its text is on the page: it is drawn where it is, or repeats the words that it marks.
    pub(super) fn is_on(&self, sheet: &DrawnPage, positions: &GlyphPositions) -> bool {
        let drawn = positions.drawn_in(sheet, &self.area);
        let text = letters_of(&self.remark.text);
        [&drawn, &self.marked]
            .into_iter()
            .any(|letters| !letters.is_empty() && letters.contains(&text))
    }

    /// Quotes the words that it marks.
    pub(super) fn quote(&mut self, words: &[(String, PageArea)]) {
        let marked = words
            .iter()
            .filter(|(_, area)| self.quads.iter().any(|quad| quad.contains_centre_of(area)));
        let marked: Vec<&str> = marked.map(|(word, _)| word.as_str()).collect();
        self.marked = letters_of(&marked.concat());
        let quoted = marked.get(..MAX_QUOTED).unwrap_or(&marked).join(" ");
        let rest = if marked.len() > MAX_QUOTED { "\u{2026}" } else { "" };
        let quoted = clean::text(&quoted);
        if !quoted.is_empty() {
            self.remark.about = format!("\u{201C}{quoted}{rest}\u{201D}");
        }
    }

    pub(super) fn marks_words(&self) -> bool {
        !self.quads.is_empty()
    }
}

/// Returns the words of a page, for quoting them.
pub(super) fn words_of(sheet: &DrawnPage) -> Vec<(String, PageArea)> {
    let of_page = DrawnPage {
        glyphs: sheet.glyphs.iter().take(sheet.num_of_page).cloned().collect(),
        rules: Vec::new(),
        ..*sheet
    };
    layout::words(&of_page)
}

fn remark_of(dict: &Dict<'_>) -> Remark {
    // A remark that was changed later is as old as its last words.
    let date = string(dict, b"M").or_else(|| string(dict, b"CreationDate")).unwrap_or_default();
    let plain = string(dict, b"Contents").unwrap_or_default();
    let is_ticked = string(dict, b"StateModel").is_some_and(|model| model == "Marked");
    let text = if is_ticked {
        String::new()
    } else if plain.trim().is_empty() {
        rich_text(dict).unwrap_or_default()
    } else {
        plain
    };
    Remark {
        author: clean::join_lines(&clean::text(&string(dict, b"T").unwrap_or_default())),
        date: strings::day(&date),
        about: String::new(),
        text: clean::join_lines(&clean::text(&text.replace('\r', "\n"))),
    }
}

fn string(dict: &Dict<'_>, key: &[u8]) -> Option<String> {
    dict.get::<PdfString<'_>>(key).map(|text| strings::decode(&text))
}

/// Returns the text of a remark that is written with its style, as XHTML.
fn rich_text(dict: &Dict<'_>) -> Option<String> {
    let xhtml = match dict.get::<Object<'_>>(b"RC")? {
        Object::String(text) => strings::decode(&text),
        Object::Stream(stream) => strings::decode(&stream.decoded_data().ok()?),
        _ => return None,
    };
    let mut text = String::new();
    // The text before damage is kept.
    let _ = xml::each(&xhtml, |event| match event {
        XmlEvent::Text(part) => text.push_str(part),
        XmlEvent::Close("p" | "br" | "div" | "li") => text.push('\n'),
        _ => {}
    });
    Some(text)
}

/// Returns the area of an annotation on the page as it is displayed.
fn area_of(dict: &Dict<'_>, transform: Affine) -> Option<PageArea> {
    let PdfRect { x0, y0, x1, y1 } = dict.get::<PdfRect>(b"Rect")?;
    let rect = transform.transform_rect_bbox(Rect::new(x0, y0, x1, y1));
    rect.is_finite().then(|| PageArea::new(rect.x0, rect.y0, rect.x1, rect.y1))
}

/// Returns the areas of the lines that an annotation marks.
fn quads(dict: &Dict<'_>, transform: Affine) -> Vec<PageArea> {
    let numbers = dict.get::<Array<'_>>(b"QuadPoints");
    let numbers = numbers.iter().flat_map(Array::iter::<f32>).map(f64::from);
    let numbers: Vec<f64> = numbers.take(8 * MAX_QUADS).collect();
    numbers.as_chunks::<8>().0.iter().map(|corners| quad(corners, transform)).collect()
}

fn quad(corners: &[f64; 8], transform: Affine) -> PageArea {
    let corners = corners.as_chunks::<2>().0.iter();
    let corners = corners.map(|[x, y]| transform * Point::new(*x, *y));
    PageArea::around(corners.map(|corner| PageArea::new(corner.x, corner.y, corner.x, corner.y)))
}

#[cfg(test)]
mod tests {
    use crate::pdf::with_hayro::testing::{pdf, read};

    const CATALOG: &str = "<</Type/Catalog/Pages PAGES>>";

    /// Checks the texts of a page with two lines and these annotations, which are the objects from 2 on.
    #[track_caller]
    fn check(annotations: &[&str], expected: &[&str]) {
        let objects: Vec<String> =
            annotations.iter().map(|annotation| format!("<</Type/Annot{annotation}>>")).collect();
        let refs: String = (0..objects.len()).map(|idx| format!("{} 0 R ", idx + 2)).collect();
        let objects: Vec<&str> =
            std::iter::once(CATALOG).chain(objects.iter().map(String::as_str)).collect();
        let lines = [("The tide turns.", 700), ("The boat waits at the pier.", 600)];
        let output = read(&pdf(&objects, &format!("/Annots[{refs}]"), &lines));
        let mut found = output.texts();
        assert_eq!(found.drain(..2).collect::<Vec<_>>(), lines.map(|(text, _)| text));
        found.extend(output.left_out());
        let parts = &output.tail.parts;
        found.extend(parts.without_text.iter().map(|(kind, count)| format!("{kind} {count}")));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_remark_has_its_author_its_day_and_the_words_that_it_marks() {
        let marked =
            "/Subtype/Highlight/Rect[50 595 92 610]/QuadPoints[50 610 92 610 50 595 92 595]";
        let note = format!("{marked}/Contents(Which one?)/T(Ada)/M(D:20240501101500Z)");
        let remark = "+Comment by Ada, 2024-05-01, on \u{201C}The boat\u{201D}: Which one?";
        check(&[&note], &[remark]);
        check(&[&format!("{marked}/Contents(The boat)")], &[]);
        check(&[marked], &["highlight 1"]);
    }

    #[test]
    fn a_reply_follows_its_remark_and_is_shown_like_it() {
        let place = "/Subtype/Text/Rect[500 500 520 520]";
        let reply = format!("{place}/Contents(Tomorrow)/F 30/IRT 4 0 R");
        let state = format!("{place}/Contents(Marked set by Bo)/F 30/IRT 4 0 R/StateModel(Marked)");
        let first = format!("{place}/Contents(When?)");
        let other = format!("{place}/Contents(Sold out)");
        let texts = ["+Comment: When?", "+Comment: Tomorrow", "+Comment: Sold out", "text 1"];
        check(&[&reply, &state, &first, &other], &texts);
        let hidden = format!("{first}/F 2");
        check(&[&reply, &state, &hidden], &["hidden 2", "text 1"]);
    }

    #[test]
    fn links_and_windows_are_no_remarks() {
        let rest = "/Rect[50 50 90 90]/Contents(words)";
        let kinds = ["Link", "Popup", "PrinterMark"].map(|kind| format!("/Subtype/{kind}{rest}"));
        check(&kinds.each_ref().map(String::as_str), &[]);
        check(&["/Subtype/Sound/Rect[0 0 9 9]"], &["sound 1"]);
    }

    #[test]
    fn formatted_text_is_read_if_there_is_no_other() {
        let rich = "<body><p>High &amp; <b>low</b></p><p>water</p></body>";
        let note = format!("/Subtype/Text/Rect[500 500 520 520]/RC({rich})");
        check(&[&note], &["+Comment: High & low water"]);
    }

    #[test]
    fn a_remark_without_a_place_is_shown() {
        check(&["/Subtype/Text/Contents(When?)"], &["+Comment: When?"]);
    }
}
