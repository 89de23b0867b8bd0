//! Reads the pictures of an image file as pages for OCR (`image`).
//!
//! Each picture is a page: one per file, except for TIFF, which may have several, such as the pages
//! of a fax.

use std::borrow::Cow;
use std::io::Cursor;

use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder as _, ImageError, ImageReader, Limits, Rgba, RgbaImage};

use super::ocr::{self, Raster};
use super::picture::{self, PageMarks};
use crate::error::FailureKind;
use crate::extract::protocol::{
    AnswerLine, DocumentHead, ExtractedPage, ReadFailure, ReadingSummary,
};
use crate::{EarlyEnd, Emit, ReaderInput};

/// Most pictures that are read from one file: bounds the chain of directories, which the file controls.
const MAX_PICTURES: usize = 2_000;

/// Most memory for one picture, in bytes: its size is stated in a few bytes of the file.
const MAX_PICTURE_BYTES: u64 = 512 << 20;

/// Pictures whose longer side has fewer pixels are enlarged to twice their size: letters on
/// screenshots are too small for Tesseract, which needs capitals about 30 pixels high.
const SMALL_SIDE: u32 = 1_600;

/// Returns the pages of the file without text, as none has been read yet.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let pictures = pictures(input.bytes);
    let page_count = u32::try_from(pictures.len()).unwrap_or(u32::MAX);
    emit(AnswerLine::Document(DocumentHead { page_count, ..DocumentHead::default() }))?;
    for (number, start) in (1..).zip(pictures) {
        let size = decoder(&with_first(input.bytes, start)).map(|decoder| decoder.dimensions());
        let (width, height) = size.map_err(|error| to_failure(&error))?;
        emit(AnswerLine::Page(ExtractedPage {
            number,
            width: width.into(),
            height: height.into(),
            image_coverage: 1.0,
            ..ExtractedPage::default()
        }))?;
    }
    Ok(ReadingSummary::default())
}

/// Runs OCR on the pictures that the job names.
pub(crate) fn recognise(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let pictures = pictures(input.bytes);
    let page_count = u32::try_from(pictures.len()).unwrap_or(u32::MAX);
    emit(AnswerLine::Document(DocumentHead { page_count, ..DocumentHead::default() }))?;
    ocr::read(input, emit, |number| {
        let idx = usize::try_from(number).unwrap_or(usize::MAX).wrapping_sub(1);
        let Some(start) = pictures.get(idx) else { return Ok(None) };
        let bytes = with_first(input.bytes, *start);
        let image = decoder(&bytes).and_then(DynamicImage::from_decoder);
        Ok(Some(to_raster(image.map_err(|error| to_failure(&error))?)))
    })?;
    Ok(ReadingSummary::default())
}

/// Draws the picture that the request names.
pub(crate) fn draw(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    emit(AnswerLine::Document(DocumentHead { page_count: 1, ..DocumentHead::default() }))?;
    let page = input.request.drawing.as_ref().map_or(0, |drawing| drawing.page);
    let idx = usize::try_from(page).unwrap_or(usize::MAX).wrapping_sub(1);
    if let Some(start) = pictures(input.bytes).get(idx) {
        let bytes = with_first(input.bytes, *start);
        let image = decoder(&bytes).and_then(DynamicImage::from_decoder);
        let image = image.map_err(|error| to_failure(&error))?;
        let most = picture::MAX_SIDE;
        let image = if image.width().max(image.height()) > most {
            image.resize(most, most, FilterType::CatmullRom)
        } else {
            image
        };
        let mut on_white = RgbaImage::from_pixel(image.width(), image.height(), Rgba([255; 4]));
        image::imageops::overlay(&mut on_white, &image.into_rgba8(), 0, 0);
        let (width, height) = on_white.dimensions();
        let colours = DynamicImage::ImageRgba8(on_white).into_rgb8().into_raw();
        picture::send(width, height, colours, &PageMarks::default(), emit)?;
    }
    Ok(ReadingSummary::default())
}

fn decoder(bytes: &[u8]) -> Result<impl image::ImageDecoder + '_, ImageError> {
    let mut reader = ImageReader::new(Cursor::new(bytes));
    let mut limits = Limits::default();
    limits.max_alloc = Some(MAX_PICTURE_BYTES);
    reader.limits(limits);
    reader.with_guessed_format()?.into_decoder()
}

fn to_failure(error: &ImageError) -> ReadFailure {
    let failure = match error {
        ImageError::Limits(_) => FailureKind::OutOfMemory,
        _ => FailureKind::Damaged,
    };
    ReadFailure::new(failure, error.to_string())
}

/// Converts a picture to grey as it is displayed: light text on a dark background is kept, and
/// transparent areas become white.
fn to_raster(image: DynamicImage) -> Raster {
    let (width, height) = (image.width().max(1), image.height().max(1));
    let most = ocr::max_scale(width.into(), height.into());
    let scale = if width.max(height) < SMALL_SIDE { most.min(2.0) } else { most.min(1.0) };
    let is_opaque = !image.color().has_alpha();
    let grey = if is_opaque { image.into_luma8() } else { on_white(&image) };
    let grey = if (scale - 1.0).abs() < 1e-3 {
        grey
    } else {
        let (width, height) = (scaled(width, scale), scaled(height, scale));
        image::imageops::resize(&grey, width, height, FilterType::CatmullRom)
    };
    Raster { width: grey.width(), height: grey.height(), dpi: None, pixels: grey.into_raw() }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive, and no longer than what OCR takes"
)]
fn scaled(side: u32, scale: f64) -> u32 {
    ((f64::from(side) * scale) as u32).max(1)
}

fn on_white(image: &DynamicImage) -> image::GrayImage {
    let image = image.to_luma_alpha8();
    image::GrayImage::from_fn(image.width(), image.height(), |x, y| {
        let [luma, alpha] = image.get_pixel(x, y).0;
        let (luma, alpha) = (u32::from(luma), u32::from(alpha));
        let blended = (luma * alpha + 255 * (255 - alpha)) / 255;
        image::Luma([u8::try_from(blended).unwrap_or(u8::MAX)])
    })
}

/// Returns the offset of each picture's directory in a TIFF file; a single zero for any other file.
///
/// A directory ends with the offset of the next one (TIFF 6.0, section 2). The file controls the
/// chain, so an offset that occurs again ends it.
fn pictures(bytes: &[u8]) -> Vec<u32> {
    let mut offsets = Vec::new();
    let mut next = number(bytes, 4, 4);
    while let Some(offset) = next.filter(|offset| *offset != 0 && !offsets.contains(offset))
        && offsets.len() < MAX_PICTURES
    {
        offsets.push(offset);
        next = (|| {
            let start = usize::try_from(offset).ok()?;
            let num_entries = usize::try_from(number(bytes, start, 2)?).ok()?;
            number(bytes, start.checked_add(2 + num_entries * 12)?, 4)
        })();
    }
    if offsets.is_empty() { vec![0] } else { offsets }
}

/// Returns the file changed so that the picture at `offset` is its first; 0 changes nothing.
fn with_first(bytes: &[u8], offset: u32) -> Cow<'_, [u8]> {
    match number(bytes, 4, 4) {
        Some(first) if offset != 0 && offset != first => {
            let is_little = bytes.starts_with(b"II");
            let mut changed = bytes.to_vec();
            let offset = if is_little { offset.to_le_bytes() } else { offset.to_be_bytes() };
            changed[4..8].copy_from_slice(&offset);
            Cow::Owned(changed)
        }
        _ => Cow::Borrowed(bytes),
    }
}

/// Returns a number of `len` bytes in an ordinary TIFF file; `None` beyond its end, and for any other file.
fn number(bytes: &[u8], at: usize, len: usize) -> Option<u32> {
    let digits = bytes.get(at..at.checked_add(len)?)?;
    match bytes.get(..4)? {
        b"II*\0" => Some(digits.iter().rev().fold(0, append_byte)),
        b"MM\0*" => Some(digits.iter().fold(0, append_byte)),
        _ => None,
    }
}

fn append_byte(number: u32, byte: &u8) -> u32 {
    (number << 8) | u32::from(*byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Creates a TIFF file of directories without entries at 8, 14, …, each with the offset of the
    /// next.
    fn tiff(nexts: &[u32]) -> Vec<u8> {
        let mut bytes = b"II*\0\x08\0\0\0".to_vec();
        for next in nexts {
            bytes.extend([0, 0]);
            bytes.extend(next.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn every_picture_of_a_tiff_file_is_found() {
        assert_eq!(pictures(&tiff(&[14, 20, 0])), [8, 14, 20]);
        assert_eq!(pictures(b"\x89PNG\r\n\x1A\n"), [0]);
    }

    #[test]
    fn a_circular_chain_ends() {
        assert_eq!(pictures(&tiff(&[14, 8])), [8, 14]);
        assert_eq!(pictures(&tiff(&[u32::MAX])), [8, u32::MAX]);
    }

    #[test]
    fn transparent_areas_become_white() {
        let image = image::GrayAlphaImage::from_fn(2, 1, |x, _| {
            image::LumaA(if x == 0 { [0, 0] } else { [0, 255] })
        });
        assert_eq!(on_white(&DynamicImage::ImageLumaA8(image)).into_raw(), [255, 0]);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(tail in proptest::collection::vec(any::<u8>(), 0..200)) {
            let bytes = [b"MM\0*", tail.as_slice()].concat();
            for offset in pictures(&bytes) {
                let _ = decoder(&with_first(&bytes, offset)).map(|decoder| decoder.dimensions());
            }
        }
    }
}
