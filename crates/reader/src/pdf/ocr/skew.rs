//! Estimates by how much the lines of a picture are skewed.
//!
//! The lower edges of letters are on base lines. At the right angle, most of them fall on few rows
//! (W. Postl, "Detection of linear oblique structures and skew scan in digitized documents", 1986).

use super::ink::{Ink, pixel};

/// Largest skew that is looked for, and the smallest that matters: it moves the end of a line by a
/// tenth of its height. Degrees.
const MAX_SKEW: f64 = 6.0;
const MIN_SKEW: f64 = 0.1;

/// How many steps of each size, in degrees, are compared on both sides of the best angle so far. The first cover all
/// angles up to `MAX_SKEW`, the others one step of the size before.
const STEPS: [(f64, i32); 3] = [(0.25, 24), (0.05, 5), (0.0125, 4)];

/// How much better the rows of the rotated picture must be than those of the original: a picture without lines also
/// has a best angle.
const MIN_GAIN: f64 = 1.1;

/// Most edges that are compared: enough for an exact angle, few enough to take no time.
const MAX_EDGES: usize = 60_000;

/// Returns the angle by which lines descend to the right, in degrees; `None` if they are level or
/// there are no lines.
pub(super) fn of(ink: &Ink) -> Option<f64> {
    let edges = lower_edges(ink);
    let plain = concentration(&edges, 0.0, ink);
    let (mut best, mut found) = (plain, 0.0);
    for (step, num_steps) in STEPS {
        let middle = found;
        for at in -num_steps..=num_steps {
            let angle = (middle + f64::from(at) * step).clamp(-MAX_SKEW, MAX_SKEW);
            let value = concentration(&edges, angle, ink);
            if value > best {
                (best, found) = (value, angle);
            }
        }
    }
    (found.abs() >= MIN_SKEW && best >= MIN_GAIN * plain).then_some(found)
}

/// Returns the positions of pixels with ink above ones without, at most [`MAX_EDGES`].
fn lower_edges(ink: &Ink) -> Vec<(f64, f64)> {
    let mut edges = Vec::new();
    for y in 1..ink.height {
        let (above, below) = (ink.row(y - 1), ink.row(y));
        for x in 0..ink.width {
            if above[x] && !below[x] {
                edges.push((x as f64, y as f64));
            }
        }
    }
    let stride = edges.len().div_ceil(MAX_EDGES).max(1);
    edges.into_iter().step_by(stride).collect()
}

/// Returns how concentrated the edges are in few rows if lines descend by `angle`.
fn concentration(edges: &[(f64, f64)], angle: f64, ink: &Ink) -> f64 {
    let slope = angle.to_radians().tan();
    let offset = ink.width as f64 * MAX_SKEW.to_radians().tan();
    let mut rows = vec![0.0_f64; ink.height + 2 * pixel(offset) + 2];
    for (x, y) in edges {
        rows[pixel(y - x * slope + offset)] += 1.0;
    }
    rows.iter().map(|count| count * count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::ocr::raster::Raster;

    /// Draws lines of boxes as large as letters.
    fn page() -> Raster {
        let mut page = Raster { width: 800, height: 600, dpi: None, pixels: vec![255; 480_000] };
        for line in 0..12 {
            for letter in 0..40 {
                let height = if letter % 3 == 0 { 14 } else { 10 };
                for y in 120 + line * 30 - height..120 + line * 30 {
                    let start = y * 800 + 120 + letter * 14;
                    page.pixels[start..start + 9].fill(0);
                }
            }
        }
        page
    }

    #[test]
    fn a_skew_is_found_to_a_tenth_of_a_degree() {
        assert_eq!(of(&Ink::of(&page())), None);
        for angle in [-5.0, -1.3, 0.8, 3.0] {
            let found = of(&Ink::of(&page().rotated(-angle))).unwrap_or_default();
            assert!((found - angle).abs() <= 0.1, "{found} is not {angle}");
        }
    }

    #[test]
    fn a_picture_without_lines_has_no_skew() {
        let blank = Raster { width: 50, height: 40, dpi: None, pixels: vec![255; 2_000] };
        assert_eq!(of(&Ink::of(&blank)), None);
        let nothing = Raster { width: 0, height: 0, dpi: None, pixels: Vec::new() };
        assert_eq!(of(&Ink::of(&nothing)), None);
    }
}
