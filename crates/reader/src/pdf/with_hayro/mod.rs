//! Reads PDF pages with `hayro`, which renders PDF: each page is drawn on a sheet of glyphs, which
//! `layout` analyses. Scanned pages are rendered as pictures for OCR.

mod additions;
mod annotations;
mod attachments;
mod catalog;
mod characters;
mod device;
mod form;
mod hidden;
mod labels;
mod names;
mod numbering;
mod place;
mod render;
mod strings;
mod tags;
#[cfg(test)]
mod testing;
mod xfa;

use std::sync::Arc;

use hayro::hayro_interpret::util::TransformExt;
use hayro::hayro_interpret::{
    Context, InterpreterCache, InterpreterSettings, RenderContent, interpret_page,
};
use hayro::hayro_syntax::page::Page as PdfPage;
use hayro::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use hayro::kurbo::Rect;

use super::layout;
use super::layout::sheet::Direction;
use crate::error::FailureKind;
use crate::extract::protocol::{
    AnswerLine, BlockPlace, ExtractedPage, ReadFailure, ReadingSummary,
};
use crate::{EarlyEnd, Emit, ReaderInput};
use additions::PdfAdditions;
use characters::Characters;
use device::{PageDevice, Shapes};
use numbering::Numbering;

pub(crate) use render::{draw, recognise};

/// Reads a PDF page by page.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let pdf = open(input.bytes, input.request.password.as_deref())?;
    if pdf.pages().is_empty() {
        return Err(ReadFailure::new(FailureKind::NoPages, "").into());
    }
    let numbering = Numbering::of(&pdf);
    emit(AnswerLine::Document(catalog::head(&pdf, &numbering)))?;

    let mut sheets = PageInterpreter::of(&pdf, input.request.keeps_all);
    let mut additions = PdfAdditions::of(&pdf, input.request.omits_remarks);
    let mut next = 1;
    // The last page gets the content that belongs to no other.
    let mut last: Option<ExtractedPage> = None;
    for (number, page) in numbering.numbers.iter().copied().zip(pdf.pages().iter()) {
        if let Some(page) = last.take() {
            emit(AnswerLine::Page(page))?;
        }
        for missing in next..number {
            emit(AnswerLine::Page(missing_page(missing)))?;
        }
        next = number.saturating_add(1);
        last = Some(convert(number, page, &mut sheets, &mut additions));
    }
    if let Some(mut page) = last {
        additions.finish(&mut page, numbering.page_count == 1);
        emit(AnswerLine::Page(page))?;
    }
    for missing in next..=numbering.page_count {
        emit(AnswerLine::Page(missing_page(missing)))?;
    }
    let PdfAdditions { attachments, mut parts, warnings, .. } = additions;
    attachments.send(emit, &mut parts)?;
    Ok(ReadingSummary {
        declared_page_count: numbering.declared,
        pages_lost: numbering.lacks_pages(),
        rebuilt: is_rebuilt(input.bytes),
        warnings,
        parts,
        ..ReadingSummary::default()
    })
}

/// Draws pages of a document on sheets of glyphs.
struct PageInterpreter<'a> {
    pdf: &'a Pdf,
    settings: InterpreterSettings,
    cache: InterpreterCache<'a>,
    shapes: Shapes,
    characters: Characters,
    tags: tags::TaggedHeadings,
    keeps_all: bool,
}

impl<'a> PageInterpreter<'a> {
    fn of(pdf: &'a Pdf, keeps_all: bool) -> Self {
        Self {
            pdf,
            settings: InterpreterSettings::default(),
            cache: InterpreterCache::new(),
            shapes: Shapes::default(),
            characters: Characters::default(),
            tags: tags::read(pdf),
            keeps_all,
        }
    }

    /// Returns a page with its content; its annotations are drawn over it.
    fn draw(&mut self, page: &'a PdfPage<'a>, has_annotations: bool) -> PageDevice<'_> {
        // Infinite sizes are not valid, and cannot be serialised.
        let (width, height) = page.render_dimensions();
        let is_finite = width.is_finite() && height.is_finite();
        let size = if is_finite { (width, height) } else { (0.0, 0.0) };
        let frame = Rect::new(0.0, 0.0, size.0.into(), size.1.into());
        let transform = page.initial_transform(true).to_kurbo();
        let context = |content| {
            let settings = InterpreterSettings { render_content: content, ..self.settings.clone() };
            Context::new(transform, frame, &self.cache, self.pdf.xref(), settings)
        };
        self.characters.add_page(page.resources());
        let levels = self.tags.of_page(page.raw().obj_id());
        let mut device = PageDevice::new(size, &mut self.shapes, &self.characters, levels);
        device.keeps_all = self.keeps_all;
        // The page comes before its annotations, as its first glyphs must be its own.
        interpret_page(page, &mut context(RenderContent::PAGE), &mut device);
        device.sheet.num_of_page = device.sheet.glyphs.len();
        if has_annotations {
            interpret_page(page, &mut context(RenderContent::ANNOTATIONS), &mut device);
        }
        // Content that hides text may be drawn after it, so this waits until everything is drawn.
        device.remove_hidden();
        device
    }
}

fn open(bytes: &[u8], password: Option<&str>) -> Result<Pdf, ReadFailure> {
    // Shared, so that the second attempt does not copy the bytes.
    let bytes: Arc<Vec<u8>> = Arc::new(bytes.to_vec());
    let outcome = match (Pdf::new(Arc::clone(&bytes)), password) {
        (Err(LoadPdfError::Decryption(_)), Some(password)) => {
            Pdf::new_with_password(bytes, password)
        }
        (outcome, _) => outcome,
    };
    outcome.map_err(|error| {
        let failure = match error {
            LoadPdfError::Decryption(DecryptionError::PasswordProtected) => {
                let detail = if password.is_some() { "the given one is wrong" } else { "" };
                return ReadFailure::new(FailureKind::PasswordNeeded, detail);
            }
            LoadPdfError::Decryption(DecryptionError::UnsupportedAlgorithm) => {
                FailureKind::EncryptionNotSupported
            }
            LoadPdfError::Decryption(_) | LoadPdfError::Invalid => FailureKind::Damaged,
        };
        ReadFailure::new(failure, "")
    })
}

/// Reads a page with what people have added to it.
fn convert<'a>(
    number: u32,
    page: &'a PdfPage<'a>,
    sheets: &mut PageInterpreter<'a>,
    additions: &mut PdfAdditions<'a>,
) -> ExtractedPage {
    let annotations = additions.of_page(page);
    let mut device = sheets.draw(page, annotations.are_drawn);
    additions.write_entries(annotations.widgets, &mut device);
    let mut left_out = std::mem::take(&mut device.left_out);
    let sheet = &device.sheet;
    let arranged = layout::arrange(sheet, &mut left_out);
    let coverage = device.image_area / (sheet.width * sheet.height).max(1.0);
    let mut page = ExtractedPage {
        number,
        width: arranged.width,
        height: arranged.height,
        blocks: arranged.blocks,
        num_copied_words: arranged.num_copied_words,
        pictures: pictures_without_text(&device, arranged.direction),
        num_text_ops: device.num_text_ops,
        is_blank: device.is_blank,
        image_coverage: coverage.min(1.0),
        failed: None,
        ocr: None,
        num_words: 0,
        num_unsure: 0,
        is_soup: false,
        notes: Vec::new(),
        left_out,
        ..ExtractedPage::default()
    };
    additions.add_notes(annotations.remarks, sheet, arranged.direction, &mut page);
    additions.remember(&page);
    page
}

/// Fewest letters over a picture that are its text; fewer are a page number or a stamp, as in `FEW_CHARACTERS` of the
/// parent.
const MIN_LETTERS_OVER: usize = 15;

/// Returns the large pictures of a page over which it has no text; a scan has text over its picture.
fn pictures_without_text(device: &PageDevice<'_>, direction: Direction) -> Vec<BlockPlace> {
    if direction != Direction::Right {
        return Vec::new();
    }
    let mut places = Vec::new();
    for picture in &device.pictures {
        let over = device.sheet.glyphs.iter().filter(|glyph| {
            (picture.left..=picture.right).contains(&glyph.x)
                && (picture.top..=picture.bottom).contains(&glyph.y)
        });
        if over.take(MIN_LETTERS_OVER).count() < MIN_LETTERS_OVER {
            places.push(layout::place_of(picture));
        }
    }
    places
}

/// Returns a page that is missing from the file.
fn missing_page(number: u32) -> ExtractedPage {
    let failed = Some("it is missing from the file".to_owned());
    ExtractedPage { number, is_blank: true, failed, ..ExtractedPage::default() }
}

/// Whether there is no object table at the declared position, so that it had to be rebuilt.
fn is_rebuilt(bytes: &[u8]) -> bool {
    const KEYWORD: &[u8] = b"startxref";
    let tail_start = bytes.len().saturating_sub(2048);
    let tail = &bytes[tail_start..];
    let Some(at) = tail.windows(KEYWORD.len()).rposition(|window| window == KEYWORD) else {
        return true;
    };
    let digits: String = tail[at + KEYWORD.len()..]
        .iter()
        .map(|byte| char::from(*byte))
        .skip_while(char::is_ascii_whitespace)
        .take_while(char::is_ascii_digit)
        .collect();
    let table = digits.parse().ok().and_then(|start: usize| bytes.get(start..));
    let table = table.unwrap_or_default().trim_ascii_start();
    !(table.starts_with(b"xref") || table.first().is_some_and(u8::is_ascii_digit))
}
