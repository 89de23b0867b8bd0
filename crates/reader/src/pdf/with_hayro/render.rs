//! Renders pages of a PDF as pictures, for OCR and for readers.

use hayro::hayro_interpret::InterpreterSettings;
use hayro::hayro_syntax::page::Page;
use hayro::vello_cpu::Pixmap;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings, render};

use super::numbering::Numbering;
use super::{PageInterpreter, open};
use crate::extract::protocol::{AnswerLine, BlockPlace, DocumentHead, ReadingSummary};
use crate::pdf::layout;
use crate::pdf::layout::sheet::{POINTS_PER_INCH, PageArea};
use crate::pdf::ocr::{self, Raster};
use crate::pdf::picture::{self, PageMarks};
use crate::{EarlyEnd, Emit, ReaderInput};

/// Resolution of pictures. Tesseract is trained for this one and higher ones, which make it slower but not better.
const DPI: f64 = 200.0;

/// Runs OCR on the pages that the job names.
pub(crate) fn recognise(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let pdf = open(input.bytes, input.request.password.as_deref())?;
    let pages = pdf.pages();
    let numbering = Numbering::of(&pdf);
    emit(AnswerLine::Document(DocumentHead {
        page_count: numbering.page_count,
        ..DocumentHead::default()
    }))?;
    let cache = RenderCache::new();
    ocr::read(input, emit, |number| {
        let page = numbering.idx_of(number).and_then(|idx| pages.get(idx));
        let areas = input.request.ocr_areas.iter().filter(|(page, _)| *page == number);
        let areas: Vec<PageArea> = areas.map(|(_, place)| area_of(place)).collect();
        Ok(page.map(|page| {
            let raster = raster(page, &cache);
            if areas.is_empty() { raster } else { raster.only_within(&areas) }
        }))
    })?;
    Ok(ReadingSummary::default())
}

/// Draws the page that the request names, with its text marked.
pub(crate) fn draw(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let pdf = open(input.bytes, input.request.password.as_deref())?;
    emit(AnswerLine::Document(DocumentHead { page_count: 1, ..DocumentHead::default() }))?;
    let wanted = input.request.drawing.clone().unwrap_or_default();
    let page = Numbering::of(&pdf).idx_of(wanted.page).and_then(|idx| pdf.pages().get(idx));
    if let Some(page) = page {
        let (width, height) = page.render_dimensions();
        let longer = f64::from(width.max(height)).max(1.0);
        let scale = (DPI / POINTS_PER_INCH).min(f64::from(picture::MAX_SIDE) / longer);
        let pixmap = pixels(page, &RenderCache::new(), scale);
        let colours = pixmap.data().iter().flat_map(|pixel| [pixel.r, pixel.g, pixel.b]).collect();
        let words = if wanted.marked.is_empty() {
            Vec::new()
        } else {
            layout::words(&PageInterpreter::of(&pdf, true).draw(page, true).sheet)
        };
        let marks = PageMarks { words, scale, text: &wanted.marked };
        picture::send(pixmap.width().into(), pixmap.height().into(), colours, &marks, emit)?;
    }
    Ok(ReadingSummary::default())
}

fn area_of(place: &BlockPlace) -> PageArea {
    PageArea::new(place.left, place.top, place.right, place.bottom)
}

fn raster<'a>(page: &'a Page<'a>, cache: &RenderCache<'a>) -> Raster {
    let (width, height) = page.render_dimensions();
    let (width, height) = (f64::from(width).max(1.0), f64::from(height).max(1.0));
    let scale = (DPI / POINTS_PER_INCH).min(ocr::max_scale(width, height));
    let pixmap = pixels(page, cache, scale);
    let pixels = pixmap.data().iter().map(|pixel| ocr::grey(pixel.r, pixel.g, pixel.b)).collect();
    Raster {
        width: pixmap.width().into(),
        height: pixmap.height().into(),
        dpi: Some(scale * POINTS_PER_INCH),
        pixels,
    }
}

/// Renders a page on white, with `scale` pixels per point.
fn pixels<'a>(page: &'a Page<'a>, cache: &RenderCache<'a>, scale: f64) -> Pixmap {
    #[expect(clippy::cast_possible_truncation, reason = "a scale between 0 and 3")]
    let scale = scale as f32;
    render(
        page,
        cache,
        &InterpreterSettings::default(),
        &RenderSettings::default(),
        &PixmapSettings { x_scale: scale, y_scale: scale, bg_color: WHITE },
    )
}
