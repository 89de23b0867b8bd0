//! Sends the picture of a page, with words marked as with a text marker.

use std::collections::HashSet;
use std::io::Cursor;

use image::{ImageFormat, Rgb, RgbImage};

use super::layout::sheet::PageArea;
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, ReadFailure, RenderedPage};
use crate::text::fold::fold;
use crate::{EarlyEnd, Emit};

/// Longest side in pixels: agents' programs scale larger pictures down.
pub(super) const MAX_SIDE: u32 = 1_600;

/// How many words in a row show that a passage stands here. Three are common phrases.
const RUN: usize = 4;

/// Fewest letters of a word that is worth marking alone; shorter ones, such as `the`, are all over the page.
const MIN_LETTERS: usize = 4;

/// Share of blue, of 255, that the marker leaves: white becomes yellow. And the space around a word in points, so
/// that the edges of its letters are marked.
const BLUE_LEFT: u8 = 64;
const MARGIN: f64 = 1.0;

/// The words of a page, and the text to mark among them.
#[derive(Default)]
pub(super) struct PageMarks<'a> {
    /// The words of the page with their areas, in points.
    pub(super) words: Vec<(String, PageArea)>,
    /// Pixels per point.
    pub(super) scale: f64,
    pub(super) text: &'a str,
}

/// Marks words on a picture of three bytes per pixel and sends it.
pub(super) fn send(
    width: u32,
    height: u32,
    colours: Vec<u8>,
    marks: &PageMarks<'_>,
    emit: &mut Emit<'_>,
) -> Result<(), EarlyEnd> {
    let image = RgbImage::from_raw(width, height, colours);
    let mut image = image.ok_or_else(|| crashed("the picture is incomplete".into()))?;
    let marked = found(marks);
    marked.iter().for_each(|area| mark(&mut image, area, marks.scale));
    let mut png = Cursor::new(Vec::new());
    image.write_to(&mut png, ImageFormat::Png).map_err(|error| crashed(error.to_string()))?;
    let num_marked = u32::try_from(marked.len()).unwrap_or(u32::MAX);
    let png = png.into_inner();
    Ok(emit(AnswerLine::Drawn(RenderedPage { width, height, png, num_marked }))?)
}

fn crashed(detail: String) -> ReadFailure {
    ReadFailure::new(FailureKind::Crashed, detail)
}

/// Returns the areas of the words to mark.
fn found(marks: &PageMarks<'_>) -> Vec<PageArea> {
    let wanted: Vec<String> =
        marks.text.split_whitespace().map(plain).filter(|word| !word.is_empty()).collect();
    let words = marks.words.iter().map(|(text, area)| (plain(text), *area));
    let words: Vec<(String, PageArea)> = words.filter(|(text, _)| !text.is_empty()).collect();
    let texts: Vec<&str> = words.iter().map(|(text, _)| text.as_str()).collect();
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    let run = wanted.len().clamp(1, RUN);
    let runs: HashSet<&[&str]> = wanted.windows(run).collect();
    let mut is_marked = vec![false; words.len()];
    for (at, window) in texts.windows(run).enumerate() {
        if runs.contains(window) {
            is_marked[at..at + run].fill(true);
        }
    }
    if !is_marked.contains(&true) {
        for (text, is_marked) in texts.iter().zip(&mut is_marked) {
            let says_much =
                text.chars().count() >= MIN_LETTERS || text.contains(|c: char| c.is_ascii_digit());
            *is_marked = says_much && wanted.contains(text);
        }
    }
    words
        .iter()
        .zip(is_marked)
        .filter(|(_, is_marked)| *is_marked)
        .map(|(word, _)| word.1)
        .collect()
}

/// Returns the letters and digits of a word, folded.
fn plain(text: &str) -> String {
    fold(text).chars().filter(|letter| letter.is_alphanumeric()).collect()
}

/// Colours an area yellow; dark pixels remain dark.
fn mark(image: &mut RgbImage, area: &PageArea, scale: f64) {
    let (width, height) = image.dimensions();
    let left = pixel(area.left - MARGIN, scale, width);
    let right = pixel(area.right + MARGIN, scale, width);
    let top = pixel(area.top - MARGIN, scale, height);
    let bottom = pixel(area.bottom + MARGIN, scale, height);
    for y in top..bottom {
        for x in left..right {
            let Rgb([_, _, blue]) = image.get_pixel_mut(x, y);
            *blue = (*blue).min(BLUE_LEFT);
        }
    }
}

/// Converts a position to pixels, at most `most`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, and is cut to the picture"
)]
fn pixel(points: f64, scale: f64, most: u32) -> u32 {
    ((points * scale).max(0.0) as u32).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks `text` on a page with these words in a row, and returns those that are marked.
    fn marked(page: &str, text: &str) -> Vec<String> {
        let word = |(at, word): (usize, &str)| {
            (word.to_owned(), PageArea::new(at as f64, 0.0, at as f64 + 1.0, 1.0))
        };
        let words: Vec<(String, PageArea)> = page.split(' ').enumerate().map(word).collect();
        let areas = found(&PageMarks { words: words.clone(), scale: 1.0, text });
        let is_found = |area: &PageArea| areas.contains(area);
        words.into_iter().filter(|(_, area)| is_found(area)).map(|(word, _)| word).collect()
    }

    #[test]
    fn a_phrase_is_marked_where_its_words_follow_each_other() {
        let page = "The net loss; a loss of net income: NET LOSS 2019";
        assert_eq!(marked(page, "Net  loss"), ["net", "loss;", "NET", "LOSS"]);
    }

    #[test]
    fn a_passage_is_marked_by_runs_of_four_words() {
        let page = "one two three four five of the other one two three";
        assert_eq!(
            marked(page, "x two three four five | of the"),
            ["two", "three", "four", "five", "of", "the"]
        );
    }

    #[test]
    fn words_that_do_not_follow_each_other_are_marked_alone_if_they_say_much() {
        assert_eq!(marked("the income of the year 19", "19 of income"), ["income", "19"]);
        assert_eq!(marked("the income", "of"), [""; 0]);
        assert_eq!(marked("the income", ""), [""; 0]);
    }

    #[test]
    fn marked_paper_is_yellow_and_print_stays_black() {
        let mut image = RgbImage::from_fn(4, 4, |x, _| Rgb([if x == 2 { 0 } else { 255 }; 3]));
        mark(&mut image, &PageArea::new(2.0, 2.0, 99.0, 99.0), 1.0);
        let colours = [(0, 3), (1, 3), (2, 3), (3, 0)].map(|(x, y)| image.get_pixel(x, y).0);
        assert_eq!(colours, [[255; 3], [255, 255, BLUE_LEFT], [0; 3], [255; 3]]);
    }
}
