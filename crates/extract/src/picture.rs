//! Draws a page of a PDF or a picture file in the child process, for figures that text cannot carry.

use super::pdf::from_header;
use super::protocol::{
    Drawing, MAX_MARKED_BYTES, PICTURE_OF_IMAGE, PICTURE_OF_PDF, ReadFailure, RenderedPage, Request,
};
use super::sandbox::{ReadOptions, parent};
use crate::document::Format;
use crate::error::{FailureKind, Result};

/// Whether the pages of documents in this format can be drawn.
pub fn is_drawn(format: Format) -> bool {
    matches!(format, Format::Pdf | Format::Image(_))
}

/// Draws a page, from 1, and marks the words of `marked` on it; `None` if there is no such page. Words of pictures
/// have no known place and are not marked.
///
/// Four of its words in a row are marked wherever they follow each other on the page, or all of them if there
/// are fewer; if nothing is found, each word with four letters or a digit.
///
/// # Errors
///
/// [`Error::Extract`](crate::error::Error::Extract) with the class of failure, or if the format has no pages;
/// [`Error::Io`](crate::error::Error::Io) if no process can be started.
pub fn draw(
    bytes: &[u8],
    format: Format,
    page: u32,
    marked: &str,
    options: &ReadOptions,
) -> Result<Option<RenderedPage>> {
    let reader = match format {
        Format::Pdf => PICTURE_OF_PDF,
        Format::Image(_) => PICTURE_OF_IMAGE,
        _ => return Err(ReadFailure::new(FailureKind::NoPages, "").into()),
    };
    let bytes = if format == Format::Pdf { from_header(bytes)? } else { bytes.into() };
    // A request is one line, and a longer text would not fit on a page.
    let marked = marked[..marked.floor_char_boundary(MAX_MARKED_BYTES)].to_owned();
    let drawing = Some(Drawing { page, marked });
    let request = Request { drawing, ..parent::request(reader, &bytes, options) };
    Ok(parent::answer(&request, &bytes, options)?.drawn)
}
