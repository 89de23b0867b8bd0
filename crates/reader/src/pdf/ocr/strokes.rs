//! Finds the rules of a page among the ink of its picture: long, thin, level or upright strokes.

use super::ink::{Frame, Ink};
use super::raster::Raster;

/// Shortest level and upright strokes, as multiples of the text size: letters have shorter ones.
const MIN_LEVEL: f64 = 2.0;
const MIN_UPRIGHT: f64 = 1.6;

/// Thickest stroke, as a multiple of the text size; a thicker one is an area.
const MAX_THICKNESS: f64 = 0.3;

/// Least ratio of length and thickness; that of stems of letters is at most 10.
const MIN_RATIO: f64 = 12.0;

/// How far the pieces of a stroke that is not quite level may be apart, in pixels.
const MAX_STEP: usize = 2;

/// How far the blurred edge of a stroke reaches, and the paper next to it that is looked at, in
/// pixels.
const EDGE: usize = 2;
const MARGIN: usize = 2;

/// Most strokes of a page, in each direction; a picture of noise has more, and each costs time when it is erased.
const MAX_STROKES: usize = 5_000;

/// Returns the strokes of a page whose text has a size of `size` pixels, level ones first.
pub(super) fn find(ink: &Ink, size: f64) -> Vec<Frame> {
    let mut strokes = level(ink, MIN_LEVEL * size, MAX_THICKNESS * size);
    let upright = level(&ink.transposed(), MIN_UPRIGHT * size, MAX_THICKNESS * size);
    strokes.extend(upright.into_iter().map(Frame::transposed));
    strokes
}

/// Returns the area that the strokes enclose, if they may be the rules of tables with cells.
pub(super) fn cells(strokes: &[Frame]) -> Option<Frame> {
    let num_level = strokes.iter().filter(|stroke| stroke.width() >= stroke.height()).count();
    // Cells have rules on all sides.
    if num_level < 2 || strokes.len() - num_level < 2 {
        return None;
    }
    strokes.iter().copied().reduce(|all, stroke| Frame {
        left: all.left.min(stroke.left),
        top: all.top.min(stroke.top),
        right: all.right.max(stroke.right),
        bottom: all.bottom.max(stroke.bottom),
    })
}

/// Returns a picture without its strokes. Letters that touch a stroke keep the pixels that they share with it.
pub(super) fn erased(raster: &Raster, strokes: &[Frame]) -> Raster {
    let (width, height) = raster.size();
    let mut erased = raster.clone();
    for stroke in strokes {
        let is_level = stroke.width() >= stroke.height();
        let (left, right) = (stroke.left.saturating_sub(EDGE), (stroke.right + EDGE).min(width));
        let (top, bottom) = (stroke.top.saturating_sub(EDGE), (stroke.bottom + EDGE).min(height));
        let (above, below) = (top.saturating_sub(MARGIN), (bottom + MARGIN).min(height));
        let (before, after) = (left.saturating_sub(MARGIN), (right + MARGIN).min(width));
        for y in top..bottom {
            for x in left..right {
                // The paper on one side of the stroke or the other, whichever is lighter.
                let paper = if is_level {
                    let beside = (above..top).chain(bottom..below);
                    beside.map(|y| erased.pixels[y * width + x]).max()
                } else {
                    let beside = (before..left).chain(right..after);
                    beside.map(|x| erased.pixels[y * width + x]).max()
                };
                erased.pixels[y * width + x] = paper.unwrap_or(0);
            }
        }
    }
    erased
}

/// A stroke that the rows so far have shown.
struct OpenStroke {
    frame: Frame,
    num_pixels: usize,
}

impl OpenStroke {
    /// Whether it is long and thin enough for a rule.
    fn is_rule(&self, min_length: f64, max_thickness: f64) -> bool {
        let length = self.frame.width() as f64;
        let thickness = self.num_pixels as f64 / length.max(1.0);
        // A stroke of one pixel is thin, whatever the size of the text.
        length >= min_length.max(MIN_RATIO * thickness) && thickness <= max_thickness.max(1.0)
    }
}

/// Returns the level strokes, top to bottom.
fn level(ink: &Ink, min_length: f64, max_thickness: f64) -> Vec<Frame> {
    // On a tiny picture, a few pixels are no rule.
    let min_length = min_length.max(8.0);
    let (mut open, mut found): (Vec<OpenStroke>, Vec<Frame>) = (Vec::new(), Vec::new());
    for y in 0..ink.height {
        let (kept, closed): (Vec<OpenStroke>, Vec<OpenStroke>) =
            open.into_iter().partition(|stroke| y - stroke.frame.bottom < MAX_STEP);
        let rules = closed.iter().filter(|stroke| stroke.is_rule(min_length, max_thickness));
        found.extend(rules.map(|stroke| stroke.frame));
        open = kept;
        if found.len() >= MAX_STROKES {
            break;
        }
        for (left, right) in runs(ink.row(y), min_length) {
            let touching = open.iter_mut().find(|stroke| {
                stroke.frame.left <= right + MAX_STEP && left <= stroke.frame.right + MAX_STEP
            });
            match touching {
                Some(OpenStroke { frame, num_pixels }) => {
                    frame.left = frame.left.min(left);
                    frame.right = frame.right.max(right);
                    frame.bottom = y + 1;
                    *num_pixels += right - left;
                }
                None => open.push(OpenStroke {
                    frame: Frame { left, top: y, right, bottom: y + 1 },
                    num_pixels: right - left,
                }),
            }
        }
    }
    let rules = open.iter().filter(|stroke| stroke.is_rule(min_length, max_thickness));
    found.extend(rules.map(|stroke| stroke.frame));
    found
}

/// Returns the runs of ink of a row that are at least `min_length` long. A single light pixel does
/// not end a run.
fn runs(row: &[bool], min_length: f64) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut start = None;
    let mut end = 0;
    for (x, is_ink) in row.iter().enumerate() {
        if !is_ink {
            continue;
        }
        match start {
            Some(from) if x > end + 1 => {
                if (end - from) as f64 >= min_length {
                    runs.push((from, end));
                }
                start = Some(x);
            }
            Some(_) => {}
            None => start = Some(x),
        }
        end = x + 1;
    }
    if let Some(from) = start.filter(|from| (end - from) as f64 >= min_length) {
        runs.push((from, end));
    }
    runs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Draws black frames on a white picture of 200 x 100 pixels, and finds its strokes for text of
    /// 10 pixels.
    fn strokes(frames: &[[usize; 4]]) -> Vec<[usize; 4]> {
        let mut raster = Raster { width: 200, height: 100, dpi: None, pixels: vec![255; 20_000] };
        for [left, top, right, bottom] in frames {
            for y in *top..*bottom {
                raster.pixels[y * 200 + left..y * 200 + right].fill(0);
            }
        }
        let frames = find(&Ink::of(&raster), 10.0);
        frames.iter().map(|frame| [frame.left, frame.top, frame.right, frame.bottom]).collect()
    }

    #[test]
    fn rules_are_long_and_thin() {
        let (level, upright) = ([10, 20, 150, 22], [80, 30, 82, 90]);
        assert_eq!(strokes(&[level, upright]), [level, upright]);
        // The stem and the bar of a letter, and a dark area.
        assert_eq!(strokes(&[[10, 20, 20, 22], [15, 20, 17, 34]]), [[0; 4]; 0]);
        assert_eq!(strokes(&[[10, 20, 150, 60]]), [[0; 4]; 0]);
    }

    #[test]
    fn a_picture_without_its_strokes_keeps_its_letters() {
        let mut raster = Raster { width: 200, height: 100, dpi: None, pixels: vec![255; 20_000] };
        let mut draw = |[left, top, right, bottom]: [usize; 4]| {
            for y in top..bottom {
                raster.pixels[y * 200 + left..y * 200 + right].fill(0);
            }
        };
        draw([10, 20, 150, 22]);
        draw([80, 10, 82, 90]);
        // A letter across the rule.
        draw([40, 14, 44, 28]);
        let erased = erased(&raster, &find(&Ink::of(&raster), 10.0));
        let black: Vec<usize> = (0..20_000).filter(|at| erased.pixels[*at] == 0).collect();
        assert_eq!(black.len(), 4 * 14);
        assert!(black.iter().all(|at| (40..44).contains(&(at % 200))));
    }

    #[test]
    fn a_rule_that_is_not_quite_level_is_one() {
        let pieces = [[10, 20, 60, 22], [60, 21, 110, 23], [110, 22, 160, 24]];
        assert_eq!(strokes(&pieces), [[10, 20, 160, 24]]);
        assert_eq!(strokes(&[[10, 20, 60, 21], [61, 20, 120, 21]]), [[10, 20, 120, 21]]);
    }

    proptest! {
        #[test]
        fn strokes_are_inside_any_picture(
            pixels in proptest::collection::vec(any::<bool>(), 0..400), width in 1_u32..30,
        ) {
            let height = u32::try_from(pixels.len()).unwrap() / width;
            let pixels: Vec<u8> = pixels.iter().map(|is_ink| if *is_ink { 0 } else { 255 }).collect();
            let pixels = pixels[..(width * height) as usize].to_vec();
            let ink = Ink::of(&Raster { width, height, dpi: None, pixels });
            for frame in find(&ink, 1.0) {
                prop_assert!(frame.right <= ink.width && frame.bottom <= ink.height);
            }
            let _ = super::super::skew::of(&ink);
        }
    }
}
