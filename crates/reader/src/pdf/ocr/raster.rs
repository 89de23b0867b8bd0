//! Holds a grey picture, turns it and rotates it.

use image::{ImageBuffer, Luma, imageops};

use crate::pdf::layout::sheet::{POINTS_PER_INCH, PageArea};

/// A picture: one byte per pixel, 0 for black, row by row from the top.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Raster {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Dots per inch, if known.
    pub(crate) dpi: Option<f64>,
    /// The pixels, `width * height` of them.
    pub(crate) pixels: Vec<u8>,
}

const WHITE: u8 = 255;

impl Raster {
    /// Returns its width and height in pixels.
    pub(super) fn size(&self) -> (usize, usize) {
        (self.width as usize, self.height as usize)
    }

    /// Returns the picture with only these areas of it, in points; the rest is white.
    pub(crate) fn only_within(mut self, areas: &[PageArea]) -> Self {
        let scale = self.dpi.unwrap_or(POINTS_PER_INCH) / POINTS_PER_INCH;
        let width = (self.width as usize).max(1);
        for (y, row) in self.pixels.chunks_mut(width).enumerate() {
            let level: Vec<&PageArea> = areas
                .iter()
                .filter(|area| (area.top * scale..area.bottom * scale).contains(&(y as f64)))
                .collect();
            for (x, pixel) in row.iter_mut().enumerate() {
                let is_kept = level
                    .iter()
                    .any(|area| (area.left * scale..area.right * scale).contains(&(x as f64)));
                if !is_kept {
                    *pixel = WHITE;
                }
            }
        }
        self
    }

    /// Returns the picture turned clockwise by 90, 180 or 270 degrees.
    pub(super) fn turned(&self, degrees: u32) -> Self {
        let pixels = self.pixels.as_slice();
        let image = ImageBuffer::<Luma<u8>, _>::from_raw(self.width, self.height, pixels);
        let Some(image) = image else { return self.clone() };
        let turned = match degrees {
            90 => imageops::rotate90(&image),
            180 => imageops::rotate180(&image),
            _ => imageops::rotate270(&image),
        };
        let (width, height) = turned.dimensions();
        Self { width, height, dpi: self.dpi, pixels: turned.into_raw() }
    }

    /// Returns the picture rotated anticlockwise around its centre by a few degrees, in the same
    /// size: lines that descend to the right by `degrees` become level. Corners become white.
    pub(super) fn rotated(&self, degrees: f64) -> Self {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let centre = (f64::from(self.width) / 2.0, f64::from(self.height) / 2.0);
        let mut pixels = Vec::with_capacity(self.pixels.len());
        for y in 0..self.height {
            let dy = f64::from(y) + 0.5 - centre.1;
            for x in 0..self.width {
                let dx = f64::from(x) + 0.5 - centre.0;
                let from = (centre.0 + dx * cos - dy * sin, centre.1 + dx * sin + dy * cos);
                pixels.push(self.between(from.0 - 0.5, from.1 - 0.5));
            }
        }
        Self { pixels, ..*self }
    }

    /// Returns the brightness between four pixels (bilinear); white outside the picture.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "inside the picture, and a mean of bytes"
    )]
    fn between(&self, x: f64, y: f64) -> u8 {
        let (width, height) = self.size();
        if x < 0.0
            || y < 0.0
            || x >= f64::from(self.width) - 1.0
            || y >= f64::from(self.height) - 1.0
        {
            return WHITE;
        }
        let (left, top) = (x as usize, y as usize);
        debug_assert!(left + 1 < width && top + 1 < height);
        let (right_share, low_share) = (x - x.floor(), y - y.floor());
        let upper = self.between_two(top * width + left, right_share);
        let lower = self.between_two((top + 1) * width + left, right_share);
        (upper + (lower - upper) * low_share).round() as u8
    }

    /// Returns the brightness between the pixel at `start` and the next one.
    fn between_two(&self, start: usize, share: f64) -> f64 {
        let (one, other) = (f64::from(self.pixels[start]), f64::from(self.pixels[start + 1]));
        one + (other - one) * share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raster(width: u32, pixels: &[u8]) -> Raster {
        let height = u32::try_from(pixels.len()).unwrap() / width;
        Raster { width, height, dpi: None, pixels: pixels.to_vec() }
    }

    #[test]
    fn turns_are_clockwise() {
        let picture = raster(3, &[1, 2, 3, 4, 5, 6]);
        assert_eq!(picture.turned(90), raster(2, &[4, 1, 5, 2, 6, 3]));
        assert_eq!(picture.turned(180), raster(3, &[6, 5, 4, 3, 2, 1]));
        assert_eq!(picture.turned(270), raster(2, &[3, 6, 2, 5, 1, 4]));
    }

    #[test]
    fn a_rotation_by_nothing_changes_nothing_but_the_last_row_and_column() {
        let picture = raster(3, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let white = WHITE;
        let expected = raster(3, &[1, 2, white, 4, 5, white, white, white, white]);
        assert_eq!(picture.rotated(0.0), expected);
    }
}
