//! Adds to the pages of a document the content that people have put there besides their text: entries of forms,
//! remarks, files.

use hayro::hayro_syntax::Pdf;
use hayro::hayro_syntax::object::Dict;
use hayro::hayro_syntax::page::Page as PdfPage;

use super::annotations::{self, FormWidget, PageAnnotations, PageRemark};
use super::attachments::Attachments;
use super::device::PageDevice;
use super::form::PdfForm;
use super::xfa::{self, XfaForm};
use crate::document::{
    BlockKind, FileParts, WordDestination, count_words, embedded_reference as reference,
};
use crate::extract::protocol::{ExtractedPage, PageBlock, PageNote};
use crate::pdf::layout;
use crate::pdf::layout::entries::{self, GlyphPositions};
use crate::pdf::layout::sheet::{Direction, DrawnPage, PageArea};

/// Most words of a page that only says which program shows the document; a longer one is about such programs.
const MAX_COVER_WORDS: u32 = 250;

/// Most letters of pages among which values are looked for, in bytes, and most values: forms have less. Each value is
/// looked for in all letters.
const MAX_LETTERS: usize = 1 << 20;
const MAX_VALUES: usize = 2_000;

/// The contents of a document besides the text of its pages.
pub(super) struct PdfAdditions<'a> {
    catalog: Dict<'a>,
    form: PdfForm<'a>,
    pub(super) attachments: Attachments<'a>,
    pub(super) parts: FileParts,
    pub(super) warnings: Vec<String>,
    omits_remarks: bool,
    /// The letters of all pages, if there is a form whose values may be on them.
    letters: Option<String>,
}

impl<'a> PdfAdditions<'a> {
    pub(super) fn of(pdf: &'a Pdf, omits_remarks: bool) -> Self {
        let catalog = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id()).unwrap_or_default();
        let form = catalog.get::<Dict<'_>>(b"AcroForm");
        Self {
            letters: form.filter(xfa::is_in).map(|_| String::new()),
            form: PdfForm::of(&catalog),
            attachments: Attachments::of(&catalog),
            parts: FileParts::default(),
            warnings: Vec::new(),
            omits_remarks,
            catalog,
        }
    }

    /// Reads the annotations of a page.
    pub(super) fn of_page(&mut self, page: &PdfPage<'a>) -> PageAnnotations<'a> {
        self.attachments.add_associated(page.raw());
        PageAnnotations::of(page, &mut self.parts)
    }

    /// Writes the entries of a form on a page that is drawn completely.
    pub(super) fn write_entries(
        &mut self,
        widgets: Vec<FormWidget<'a>>,
        device: &mut PageDevice<'_>,
    ) {
        let mut entries = Vec::new();
        for FormWidget { dict, area, is_hidden } in widgets {
            entries.extend(self.form.entry(dict, area, is_hidden, &mut device.left_out));
        }
        device.is_blank &= entries.is_empty();
        entries::write(&mut device.sheet, &entries, &mut device.left_out);
    }

    /// Adds remarks and files to a page, which has been read.
    pub(super) fn add_notes(
        &mut self,
        remarks: Vec<PageRemark<'a>>,
        sheet: &DrawnPage,
        direction: Direction,
        page: &mut ExtractedPage,
    ) {
        if remarks.is_empty() {
            return;
        }
        let are_words_marked = remarks.iter().any(PageRemark::marks_words);
        let words = if are_words_marked { annotations::words_of(sheet) } else { Vec::new() };
        let positions = GlyphPositions::of(sheet);
        for mut one in remarks {
            let file = one.file.as_ref().and_then(|file| self.attachments.name_on_page(file));
            let place = Some(one.area).filter(|area| *area != PageArea::new(0.0, 0.0, 0.0, 0.0));
            let place = place.map(|area| layout::turn_area(sheet, direction, area));
            let place = place.as_ref().map(layout::place_of);
            if let Some(name) = &file {
                page.notes.push(PageNote { text: reference(name), place });
            }
            if one.remark.text.is_empty() || Some(&one.remark.text) == file.as_ref() {
                continue;
            }
            self.parts.add_read();
            if one.is_hidden || self.omits_remarks {
                let reason =
                    if one.is_hidden { WordDestination::Hidden } else { WordDestination::Remarks };
                page.left_out.add(reason, &one.remark.text);
                continue;
            }
            one.quote(&words);
            if !one.is_on(sheet, &positions) {
                page.notes.push(PageNote { text: one.remark.paragraph(), place });
            }
        }
    }

    /// Takes note of the content of a page, which is complete.
    pub(super) fn remember(&mut self, page: &ExtractedPage) {
        if let Some(letters) = &mut self.letters
            && letters.len() < MAX_LETTERS
        {
            page.blocks
                .iter()
                .for_each(|block| letters.push_str(&entries::letters_of(&block.text)));
        }
    }

    /// Adds to the last page of a document the content that belongs to no other page.
    pub(super) fn finish(&mut self, page: &mut ExtractedPage, is_only_page: bool) {
        self.form.count_unplaced(&mut page.left_out);
        let names_reader = is_only_page && names_reader(page);
        if names_reader && self.catalog.contains_key(b"Collection") && !self.attachments.is_empty()
        {
            leave_out(page);
        }
        self.add_xfa(page, names_reader);
        let names = self.attachments.other_names();
        let notes = names.map(|name| PageNote { text: reference(name), place: None });
        page.notes.extend(notes);
    }

    /// Adds the content of a form of the kind XFA, which only a few programs show.
    fn add_xfa(&mut self, page: &mut ExtractedPage, is_placeholder: bool) {
        let form = match xfa::read(&self.catalog) {
            None => return,
            Some(Ok(form)) => form,
            Some(Err(unread)) => {
                self.parts.add_unread("XFA", unread.size_bytes, unread.reason);
                self.warnings.push(format!("its XFA form could not be read: {}", unread.reason));
                return;
            }
        };
        self.parts.add_read();
        let XfaForm { lines, hidden } = form;
        if is_placeholder && !lines.is_empty() {
            leave_out(page);
            page.left_out.add(WordDestination::Hidden, &hidden.join("\n"));
            let lines = lines.into_iter();
            let blocks = lines.map(|line| PageBlock::new(BlockKind::Paragraph, 0, line.text));
            page.blocks = blocks.collect();
            return;
        }
        // The pages show the form; only values that are not on them are missing. The rest is lists of choices and texts
        // in other languages, which are longer than the form itself.
        let letters = self.letters.as_deref().unwrap_or_default();
        let lines = lines.into_iter().filter(|line| !line.values.is_empty()).take(MAX_VALUES);
        let missing = lines.filter(|line| {
            line.values.iter().any(|value| !letters.contains(&entries::letters_of(value)))
        });
        page.notes.extend(missing.map(|line| PageNote { text: line.text, place: None }));
    }
}

/// Whether a page says no more than that another program shows the document.
fn names_reader(page: &ExtractedPage) -> bool {
    let num_words =
        page.blocks.iter().fold(0_u32, |sum, block| sum.saturating_add(count_words(&block.text)));
    num_words <= MAX_COVER_WORDS
        && page
            .blocks
            .iter()
            .any(|block| block.text.contains("Acrobat") || block.text.contains("Adobe Reader"))
}

/// Leaves out the text of a page, so that no other reader and no OCR looks for it.
fn leave_out(page: &mut ExtractedPage) {
    (page.num_text_ops, page.image_coverage, page.is_blank) = (0, 0.0, true);
    for block in page.blocks.drain(..) {
        page.left_out.add(WordDestination::Frame, &block.text);
    }
}

#[cfg(test)]
mod tests {
    use crate::pdf::with_hayro::testing::{pdf, read};

    const FIELD: &str =
        "<field name='a'><caption><value><text>Berth</text></value></caption></field>";

    /// Checks the texts of a page with this line and a form of the kind XFA.
    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let xml = format!(
            "<xdp><template><subform>{FIELD}</subform></template>\
             <datasets><data><a>North pier</a></data></datasets></xdp>"
        );
        let catalog = "<</Type/Catalog/Pages PAGES/AcroForm<</XFA 2 0 R>>>>";
        let packet = format!("<</Length {}>>stream\n{xml}\nendstream", xml.len());
        let output = read(&pdf(&[catalog, &packet], "", &[(line, 700)]));
        assert_eq!([output.texts(), output.left_out()].concat(), expected);
        assert_eq!(output.tail.parts.num_read, 1);
    }

    #[test]
    fn a_form_takes_the_place_of_the_page_that_asks_for_its_program() {
        let wait = "Please wait. You can upgrade to the latest version of Adobe Reader.";
        check(wait, &["Berth: North pier", "frame 12"]);
    }

    #[test]
    fn a_page_that_shows_the_form_gets_what_it_lacks() {
        check("Berth North pier", &["Berth North pier"]);
        check("Berth", &["Berth", "+Berth: North pier"]);
    }

    #[test]
    fn a_form_that_cannot_be_read_is_reported() {
        let catalog = "<</Type/Catalog/Pages PAGES/AcroForm<</XFA[(a)2 0 R]>>>>";
        let packet = "<</Length 4>>stream\n<a<b\nendstream";
        let output = read(&pdf(&[catalog, packet], "", &[("Please wait", 700)]));
        assert_eq!(output.texts(), ["Please wait"]);
        assert_eq!(output.tail.warnings, ["its XFA form could not be read: it is no XML"]);
        assert_eq!(output.tail.parts.num_unread, 1);
    }
}
