//! Renders pages of a PDF as pictures for OCR.

use hayro::hayro_interpret::InterpreterSettings;
use hayro::hayro_syntax::page::Page;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings, render};

use super::numbering::Numbering;
use super::open;
use crate::extract::protocol::{Head, Line, Tail};
use crate::pdf::ocr::{self, Raster};
use crate::{Emit, Input, Stop};

/// Tesseract is trained for resolutions from here on; a higher one makes it slower but not better.
const DPI: f64 = 200.0;

const POINTS_PER_INCH: f64 = 72.0;

/// Runs OCR on the pages that the job names.
pub(crate) fn recognise(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<(), Stop> {
    let pdf = open(input.bytes, input.password)?;
    let pages = pdf.pages();
    let numbering = Numbering::of(&pdf);
    emit(Line::Document(Head { page_count: numbering.page_count, ..Head::default() }))?;
    let cache = RenderCache::new();
    ocr::read(input, emit, |number| {
        let page = numbering.idx_of(number).and_then(|idx| pages.get(idx));
        Ok(page.map(|page| picture(page, &cache)))
    })?;
    emit(Line::Done(Tail::default()))?;
    Ok(())
}

fn picture<'a>(page: &'a Page<'a>, cache: &RenderCache<'a>) -> Raster {
    let (width, height) = page.render_dimensions();
    let (width, height) = (f64::from(width).max(1.0), f64::from(height).max(1.0));
    let scale = (DPI / POINTS_PER_INCH).min(ocr::max_scale(width, height));
    #[expect(clippy::cast_possible_truncation, reason = "a scale between 0 and 3")]
    let factor = scale as f32;
    let pixmap = render(
        page,
        cache,
        &InterpreterSettings::default(),
        &RenderSettings::default(),
        &PixmapSettings { x_scale: factor, y_scale: factor, bg_color: WHITE },
    );
    let pixels = pixmap.data().iter().map(|pixel| ocr::grey(pixel.r, pixel.g, pixel.b)).collect();
    Raster {
        width: pixmap.width().into(),
        height: pixmap.height().into(),
        dpi: Some(scale * POINTS_PER_INCH),
        pixels,
    }
}
