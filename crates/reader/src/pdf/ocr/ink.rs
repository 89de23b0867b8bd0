//! Decides which pixels of a picture are ink.

use super::raster::Raster;
use crate::pdf::layout::sheet::PageArea;

/// The pixels of a picture: ink or paper, row by row from the top.
#[derive(Debug, Clone)]
pub(super) struct Ink {
    pub(super) width: usize,
    pub(super) height: usize,
    pixels: Vec<bool>,
}

/// A rectangle of pixels; `right` and `bottom` are outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) right: usize,
    pub(super) bottom: usize,
}

/// Side of the places in which ink is looked for, as a fraction of the text size, and the fraction of one that a letter
/// fills: the rest of erased rules fills less.
const LETTER: f64 = 0.5;
const INKED: f64 = 0.12;

/// How far the blurred edge of ink reaches beyond the box of its word, in pixels.
const EDGE: usize = 2;

impl Frame {
    pub(super) fn width(&self) -> usize {
        self.right.saturating_sub(self.left)
    }

    pub(super) fn height(&self) -> usize {
        self.bottom.saturating_sub(self.top)
    }

    /// Returns its area in points; `scale` is the number of points per pixel.
    pub(super) fn scaled(&self, scale: f64) -> PageArea {
        let [left, top, right, bottom] =
            [self.left, self.top, self.right, self.bottom].map(|position| position as f64 * scale);
        PageArea::new(left, top, right, bottom)
    }

    /// Whether two frames share more than half of the smaller one's width and height.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let wide = self.right.min(other.right).saturating_sub(self.left.max(other.left));
        let high = self.bottom.min(other.bottom).saturating_sub(self.top.max(other.top));
        wide * 2 > self.width().min(other.width()) && high * 2 > self.height().min(other.height())
    }

    /// Exchanges `x` and `y`.
    pub(super) fn transposed(self) -> Self {
        Self { left: self.top, top: self.left, right: self.bottom, bottom: self.right }
    }
}

impl Ink {
    /// Separates ink from paper. Most of a page is paper.
    pub(super) fn of(raster: &Raster) -> Self {
        let (width, height) = raster.size();
        let threshold = threshold(raster);
        let mut pixels: Vec<bool> = raster.pixels.iter().map(|grey| *grey < threshold).collect();
        pixels.resize(width * height, false);
        // Light text on a dark page: the ink is the rarer colour.
        if pixels.iter().filter(|is_dark| **is_dark).count() * 2 > pixels.len() {
            pixels.iter_mut().for_each(|is_dark| *is_dark = !*is_dark);
        }
        Self { width, height, pixels }
    }

    pub(super) fn row(&self, y: usize) -> &[bool] {
        &self.pixels[y * self.width..(y + 1) * self.width]
    }

    /// Exchanges rows and columns.
    pub(super) fn transposed(&self) -> Self {
        let mut pixels = Vec::with_capacity(self.pixels.len());
        for x in 0..self.width {
            pixels.extend((0..self.height).map(|y| self.pixels[y * self.width + x]));
        }
        Self { width: self.height, height: self.width, pixels }
    }

    /// Returns a frame without its upper and lower rows that have no ink; unchanged if none has ink.
    pub(super) fn tightened(&self, frame: Frame) -> Frame {
        let (right, bottom) = (frame.right.min(self.width), frame.bottom.min(self.height));
        let (left, top) = (frame.left.min(right), frame.top.min(bottom));
        let mut inked = (top..bottom).filter(|y| self.row(*y)[left..right].contains(&true));
        let Some(first) = inked.next() else { return frame };
        Frame { top: first, bottom: inked.next_back().unwrap_or(first) + 1, ..frame }
    }

    /// Whether a frame has ink outside of `covered`, in any place of the size of a letter of `size` pixels as much as
    /// one has.
    pub(super) fn has_uncovered(&self, frame: Frame, covered: &[Frame], size: f64) -> bool {
        // A place of a few pixels would be filled by a speck.
        let side = pixel(size * LETTER).max(4);
        let (right, bottom) = (frame.right.min(self.width), frame.bottom.min(self.height));
        let mut rest = self.clone();
        for word in covered {
            let (left, end) = (word.left.saturating_sub(EDGE), (word.right + EDGE).min(self.width));
            for y in word.top.saturating_sub(EDGE)..(word.bottom + EDGE).min(self.height) {
                rest.pixels[y * self.width..][left.min(end)..end].fill(false);
            }
        }
        (frame.top..bottom).step_by(side).any(|top| {
            (frame.left..right).step_by(side).any(|left| {
                let (right, bottom) = ((left + side).min(right), (top + side).min(bottom));
                rest.share(Frame { left, top, right, bottom }) >= INKED
            })
        })
    }

    /// Returns the fraction of a frame that is ink, 0 to 1; 0 for an empty one.
    pub(super) fn share(&self, frame: Frame) -> f64 {
        let (right, bottom) = (frame.right.min(self.width), frame.bottom.min(self.height));
        let (left, top) = (frame.left.min(right), frame.top.min(bottom));
        let rows = (top..bottom).map(|y| &self.row(y)[left..right]);
        let num_inked: usize = rows.map(|row| row.iter().filter(|is_ink| **is_ink).count()).sum();
        num_inked as f64 / ((right - left) * (bottom - top)).max(1) as f64
    }
}

/// Converts a position to the index of its pixel; 0 for a negative one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in a picture, and the conversion saturates"
)]
pub(super) fn pixel(position: f64) -> usize {
    position as usize
}

/// Returns the brightness that best separates dark pixels from light ones (N. Otsu, "A threshold
/// selection method from gray-level histograms", 1979).
fn threshold(raster: &Raster) -> u8 {
    let mut counts = [0_u32; 256];
    raster.pixels.iter().for_each(|grey| counts[usize::from(*grey)] += 1);
    let levels = counts.iter().enumerate().map(|(grey, count)| (grey as f64, f64::from(*count)));
    let (mut all, mut sum) = (0.0, 0.0);
    for (level, count) in levels.clone() {
        all += count;
        sum += level * count;
    }
    let (mut dark, mut dark_sum, mut best) = (0.0, 0.0, (0.0, 0));
    for (grey, (level, count)) in (0..=u8::MAX).zip(levels) {
        let light = all - dark;
        if dark > 0.0 && light > 0.0 {
            let distance: f64 = dark_sum / dark - (sum - dark_sum) / light;
            let separation = dark * light * distance * distance;
            if separation > best.0 {
                best = (separation, grey);
            }
        }
        dark += count;
        dark_sum += level * count;
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(width: u32, pixels: &[u8], expected: &[bool]) {
        let height = u32::try_from(pixels.len()).unwrap() / width.max(1);
        let raster = Raster { width, height, dpi: None, pixels: pixels.to_vec() };
        assert_eq!(Ink::of(&raster).pixels, expected);
    }

    #[test]
    fn ink_is_darker_than_the_paper_or_lighter() {
        check(4, &[200, 90, 210, 205], &[false, true, false, false]);
        check(4, &[20, 15, 190, 10], &[false, false, true, false]);
        check(2, &[255, 255], &[false, false]);
        check(0, &[], &[]);
    }

    #[test]
    fn a_frame_is_tightened_to_the_rows_with_ink() {
        let pixels = vec![255, 255, 255, 0, 0, 255, 255, 255, 255, 255];
        let ink = Ink::of(&Raster { width: 2, height: 5, dpi: None, pixels });
        let frame = Frame { left: 0, top: 0, right: 2, bottom: 5 };
        assert_eq!(ink.tightened(frame), Frame { top: 1, bottom: 3, ..frame });
        let blank = Frame { top: 3, ..frame };
        assert_eq!(ink.tightened(blank), blank);
    }

    #[test]
    fn ink_outside_of_words_is_found() {
        let (width, height) = (100, 100);
        let is_letter = |x: usize, y: usize| {
            (20..28).contains(&x) && ((20..28).contains(&y) || (60..68).contains(&y))
        };
        let pixels =
            (0..width * height).map(|at| if is_letter(at % width, at / width) { 0 } else { 255 });
        let raster = Raster { width: 100, height: 100, dpi: None, pixels: pixels.collect() };
        let ink = Ink::of(&raster);
        let all = Frame { left: 0, top: 0, right: 100, bottom: 100 };
        let word = |top: usize| Frame { left: 21, top: top + 1, right: 27, bottom: top + 7 };
        assert!(ink.has_uncovered(all, &[], 20.0));
        assert!(ink.has_uncovered(all, &[word(20)], 20.0));
        assert!(!ink.has_uncovered(all, &[word(20), word(60)], 20.0));
        assert!(!ink.has_uncovered(Frame { left: 50, ..all }, &[], 20.0));
    }

    #[test]
    fn a_frame_beyond_the_picture_is_cut_off() {
        let raster = Raster { width: 2, height: 2, dpi: None, pixels: vec![0, 255, 255, 255] };
        let ink = Ink::of(&raster);
        let frame = |right, bottom| Frame { left: 0, top: 0, right, bottom };
        assert!((ink.share(frame(1, 2)) - 0.5).abs() < 1e-9);
        assert!((ink.share(frame(9, 9)) - 0.25).abs() < 1e-9);
        assert!(ink.share(Frame { left: 9, ..frame(12, 2) }).abs() < 1e-9);
    }
}
