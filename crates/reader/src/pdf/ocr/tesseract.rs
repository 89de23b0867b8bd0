//! Asks the parent what Tesseract reads on pictures: this process can start no program.

use super::raster::Raster;
use crate::Ask;
use crate::extract::protocol::{OcrTask, Picture, Pictures, Recognised};

/// Returns the words that Tesseract reads on each picture, as a table, or why it fails.
pub(super) fn words<'a>(
    rasters: impl Iterator<Item = &'a Raster>,
    ask: &Ask<'_>,
) -> Vec<Recognised> {
    recognise(rasters, OcrTask::Words, ask)
}

/// Returns by how many degrees a picture must be turned to be upright; `None` if it is upright, or if
/// Tesseract does not know: its data for that, `osd`, is a package of its own on some systems.
pub(super) fn turn(raster: &Raster, ask: &Ask<'_>) -> Option<u32> {
    let report = recognise([raster].into_iter(), OcrTask::Turn, ask).pop()?.ok()?;
    let degrees = report.lines().find_map(|line| line.strip_prefix("Rotate: "))?;
    degrees.trim().parse().ok().filter(|degrees| matches!(degrees, 90 | 180 | 270))
}

fn recognise<'a>(
    rasters: impl Iterator<Item = &'a Raster>,
    wanted: OcrTask,
    ask: &Ask<'_>,
) -> Vec<Recognised> {
    let pictures: Vec<Picture> = rasters
        .map(|raster| {
            let Raster { width, height, dpi, pixels } = raster.clone();
            Picture { width, height, dpi, pixels }
        })
        .collect();
    let num_pictures = pictures.len();
    if num_pictures == 0 {
        return Vec::new();
    }
    match ask(Pictures { wanted, pictures }) {
        Ok(recognised) if recognised.len() == num_pictures => recognised,
        Ok(_) => vec![Err("the answer is not complete".to_owned()); num_pictures],
        Err(error) => vec![Err(error.to_string()); num_pictures],
    }
}
