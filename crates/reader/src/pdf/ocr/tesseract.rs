//! Asks the parent what Tesseract reads on a picture: this process can start no program.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::raster::{Raster, Turn};
use crate::Ask;
use crate::extract::protocol::{Picture, Recognised, Wanted};

/// Returns the words that Tesseract reads, as a table, or why it fails.
pub(super) fn words(raster: &Raster, ask: &Ask<'_>) -> Recognised {
    recognise(raster, Wanted::Words, ask)
}

/// Returns by how much a picture must be turned to be upright; `None` if it is upright, or if
/// Tesseract does not know: its data for that, `osd`, is a package of its own on some systems.
pub(super) fn turn(raster: &Raster, ask: &Ask<'_>) -> Option<Turn> {
    let report = recognise(raster, Wanted::Turn, ask).ok()?;
    let degrees = report.lines().find_map(|line| line.strip_prefix("Rotate: "))?;
    match degrees.trim() {
        "90" => Some(Turn::Quarter),
        "180" => Some(Turn::Half),
        "270" => Some(Turn::ThreeQuarters),
        _ => None,
    }
}

fn recognise(raster: &Raster, wanted: Wanted, ask: &Ask<'_>) -> Recognised {
    let Raster { width, height, dpi, ref pixels } = *raster;
    ask(Picture { wanted, width, height, dpi, pixels: BASE64_STANDARD.encode(pixels) })
        .unwrap_or_else(|error| Err(error.to_string()))
}
