//! Estimates the base lines and font sizes of recognised words from the shapes of their letters.
//!
//! Tesseract's boxes are close around the ink: "noon" is half as high as "Top", and only the latter
//! reaches below its base line. The words of a line agree on both, and so do lines of similar size.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::ink::{Frame, Ink};
use super::tsv::RecognizedWord;
use crate::extract::pdf::clean::is_ideographic;
use crate::numeric::logarithm;
use crate::pdf::layout::sheet::PageArea;
use crate::pdf::layout::{ASCENT, DESCENT, Word};

/// Heights above the base line and depths below it, as fractions of the font size, between those of Times and
/// Helvetica: of capitals, small letters, descenders and commas.
const TALL: f64 = 0.7;
const SMALL: f64 = 0.49;
const DEEP: f64 = 0.21;
const COMMA: f64 = 0.14;
/// Ideographs fill their squares.
const SQUARE: f64 = 0.8;
const SQUARE_DEPTH: f64 = 0.08;

/// Middle of a dash above the base line.
const DASH: f64 = 0.25;

/// By what factor the size of a word may differ from that of its line to be taken for the same: a size estimated from
/// a few letters is as far off.
const SAME_AS_LINE: f64 = 1.3;

/// By how many percents the sizes of lines may differ from a frequent one to be taken for it; headings are larger by
/// more.
const SAME_AS_OTHERS: i64 = 9;

/// How far the base of a word may be from that of its line, as a fraction of the size.
const SAME_BASE: f64 = 0.3;

/// Height of the font of most text if the resolution is unknown, in points.
pub(super) const USUAL_SIZE: f64 = 10.0;

/// The base line and size of a word or a line, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
struct LineMetrics {
    base: f64,
    size: f64,
}

pub(super) struct ShapedWord {
    words: Vec<(RecognizedWord, LineMetrics)>,
    /// Size of most text, in pixels; 1 if there is no text.
    pub(super) body: f64,
}

impl ShapedWord {
    /// Estimates the shapes of words.
    pub(super) fn of(words: Vec<RecognizedWord>) -> Self {
        let own: Vec<Option<LineMetrics>> = words.iter().map(own_shape).collect();
        let mut lines = line_shapes(&words, &own);
        let body = harmonise(&words, &mut lines);
        let shaped = words.into_iter().zip(own).map(|(word, own)| {
            let shape = agree(&word, own, lines.get(word.line).copied().flatten(), body);
            (word, shape)
        });
        Self { words: shaped.collect(), body }
    }

    /// Returns the words for layout analysis; `scale` is the number of points per pixel.
    pub(super) fn placed(&self, ink: &Ink, scale: f64) -> Vec<Word> {
        let mut words = Vec::with_capacity(self.words.len());
        for (order, (read, shape)) in self.words.iter().enumerate() {
            let Frame { left, right, .. } = read.frame;
            let (left, right) = (left as f64, right as f64);
            let (base, size) = (shape.base * scale, shape.size * scale);
            words.push(Word {
                text: read.text.clone(),
                area: PageArea::new(
                    left * scale,
                    base - ASCENT * size,
                    right * scale,
                    base + DESCENT * size,
                ),
                base,
                size,
                ink: ink_of(read, *shape, ink),
                is_bold: false,
                is_mono: false,
                tagged_level: 0,
                pitch: None,
                shows_fixed_pitch: false,
                order,
                // Tesseract has separated them.
                is_after_space: true,
                is_entry: false,
            });
        }
        words
    }
}

/// Returns how much ink a word has per area of its text; 0 if that is unknown, as for numbers and
/// signs, whose ink differs from that of letters.
fn ink_of(read: &RecognizedWord, shape: LineMetrics, ink: &Ink) -> f64 {
    if !read.text.chars().any(char::is_lowercase) {
        return 0.0;
    }
    ink.share(read.frame) * read.frame.height() as f64 / shape.size
}

/// Returns the height and depth of a character, as fractions of the size; `None` if its ink does not
/// reach a known height, as that of a dash.
fn reach(character: char) -> Option<(f64, f64)> {
    Some(match character {
        'a' | 'c' | 'e' | 'm' | 'n' | 'o' | 'r' | 's' | 'u' | 'v' | 'w' | 'x' | 'z' => (SMALL, 0.0),
        'g' | 'p' | 'q' | 'y' => (SMALL, DEEP),
        'j' | 'Q' | '(' | ')' | '[' | ']' | '{' | '}' | '|' => (TALL, DEEP),
        // Its top is between those of small letters and capitals.
        't' => (0.6, 0.0),
        ideograph if is_ideographic(ideograph) => (SQUARE, SQUARE_DEPTH),
        other if other.is_alphanumeric() => (TALL, 0.0),
        '&' | '%' | '$' | '#' | '!' | '?' | '/' | '\\' => (TALL, 0.0),
        _ => return None,
    })
}

/// Returns the shape that the letters of a word imply; `None` if it has only signs.
fn own_shape(word: &RecognizedWord) -> Option<LineMetrics> {
    let reaches: Vec<(f64, f64)> = word.text.chars().filter_map(reach).collect();
    let mut height = reaches.iter().map(|reach| reach.0).fold(0.0, f64::max);
    let mut depth = reaches.iter().map(|reach| reach.1).fold(0.0, f64::max);
    if reaches.is_empty() {
        return None;
    }
    if word.text.contains([',', ';']) {
        depth = depth.max(COMMA);
    }
    if word.text.contains(['"', '\'', '\u{2019}', '\u{2018}', '\u{201C}', '\u{201D}', '*']) {
        height = height.max(TALL);
    }
    let size = word.frame.height() as f64 / (height + depth);
    Some(LineMetrics { base: word.frame.bottom as f64 - depth * size, size })
}

/// Returns the shape of most words of each line, by its number.
fn line_shapes(words: &[RecognizedWord], own: &[Option<LineMetrics>]) -> Vec<Option<LineMetrics>> {
    let num_lines = words.iter().map(|word| word.line + 1).max().unwrap_or(0);
    let mut by_line: Vec<Vec<(LineMetrics, usize)>> = vec![Vec::new(); num_lines];
    for (word, shape) in words.iter().zip(own) {
        if let Some(shape) = shape {
            by_line[word.line].push((*shape, word.text.len()));
        }
    }
    by_line.iter().map(|shapes| median_shape(shapes)).collect()
}

/// Returns the usual shape of words with their weights; `None` if there are no words.
fn median_shape(shapes: &[(LineMetrics, usize)]) -> Option<LineMetrics> {
    let bases = shapes.iter().map(|(shape, weight)| (shape.base, *weight));
    let sizes = shapes.iter().map(|(shape, weight)| (shape.size, *weight));
    Some(LineMetrics { base: median(bases.collect())?, size: median(sizes.collect())? })
}

/// Returns the median of numbers with weights; `None` if there are none.
fn median(mut numbers: Vec<(f64, usize)>) -> Option<f64> {
    numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: usize = numbers.iter().map(|(_, weight)| weight).sum();
    let mut sum = 0;
    let middle = numbers.iter().find(|(_, weight)| {
        sum += weight;
        sum * 2 >= total
    });
    middle.map(|(number, _)| *number)
}

/// Gives lines of similar size the same size, the most frequent first, and returns the size of most
/// text.
fn harmonise(words: &[RecognizedWord], lines: &mut [Option<LineMetrics>]) -> f64 {
    let mut weights = vec![0; lines.len()];
    words.iter().for_each(|word| weights[word.line] += word.text.len());
    let mut left: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (line, shape) in lines.iter().enumerate() {
        if let Some(shape) = shape {
            left.entry(step_of(shape.size)).or_default().push(line);
        }
    }
    let mut body = None;
    while !left.is_empty() {
        // Among equal ones, `max_by_key` returns the last, which is the largest.
        let best = left.keys().copied().max_by_key(|step| -> usize {
            let lines = left.range(around(*step)).flat_map(|(_, lines)| lines);
            lines.map(|line| weights[*line]).sum()
        });
        let Some(best) = best else { break };
        let members: Vec<usize> =
            left.range(around(best)).flat_map(|(_, lines)| lines).copied().collect();
        let sizes = members.iter().filter_map(|line| Some((lines[*line]?.size, weights[*line])));
        let Some(size) = median(sizes.collect()) else { break };
        body = body.or(Some(size));
        for line in members {
            if let Some(shape) = &mut lines[line] {
                shape.size = size;
            }
        }
        left.retain(|step, _| !around(best).contains(step));
    }
    body.unwrap_or(1.0)
}

/// Returns the steps of sizes that count as the same.
fn around(step: i64) -> RangeInclusive<i64> {
    step - SAME_AS_OTHERS..=step + SAME_AS_OTHERS
}

/// Returns the number of percents that a size is above 1.
#[expect(clippy::cast_possible_truncation, reason = "a logarithm of a size in a picture")]
fn step_of(size: f64) -> i64 {
    (logarithm(size.max(1.0)) * 100.0).round() as i64
}

/// Returns the shape of a word: that of its line, unless it is raised, lowered, or of another size.
fn agree(
    word: &RecognizedWord,
    own: Option<LineMetrics>,
    line: Option<LineMetrics>,
    body: f64,
) -> LineMetrics {
    let (top, bottom) = (word.frame.top as f64, word.frame.bottom as f64);
    let Some(line) = line else {
        // Only signs: a dash is above the base line, a stop is on it.
        let is_dash = word.frame.width() > word.frame.height();
        let base = if is_dash { f64::midpoint(top, bottom) + DASH * body } else { bottom };
        return LineMetrics { base, size: body };
    };
    let Some(own) = own else {
        let is_level = bottom <= line.base + 0.5 * line.size && top >= line.base - line.size;
        return if is_level { line } else { LineMetrics { base: bottom, size: line.size } };
    };
    let ratio = own.size.max(line.size) / own.size.min(line.size);
    let is_same_size = ratio <= SAME_AS_LINE;
    let is_same_base = (own.base - line.base).abs() <= SAME_BASE * line.size;
    LineMetrics {
        base: if is_same_base { line.base } else { own.base },
        size: if is_same_size || word.text.chars().count() == 1 && is_same_base {
            line.size
        } else {
            own.size
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::ocr::ink::pixel;

    /// A word with the letters' real heights, on a base line, of 40 pixels.
    fn word(text: &str, left: usize, base: usize, line: usize) -> RecognizedWord {
        let at = |fraction: f64| pixel((fraction * 40.0).round());
        let reaches: Vec<(f64, f64)> = text.chars().filter_map(reach).collect();
        let most = |pick: fn(&(f64, f64)) -> f64| reaches.iter().map(pick).fold(0.0, f64::max);
        let (height, depth) = (most(|reach| reach.0), most(|reach| reach.1));
        let frame = Frame {
            left,
            top: base - at(height).max(20),
            right: left + 20 * text.len(),
            bottom: base + at(depth),
        };
        RecognizedWord { text: text.to_owned(), frame, confidence: 96.0, line }
    }

    #[track_caller]
    fn check(words: Vec<RecognizedWord>, expected: &[(f64, f64)]) {
        let shaped = ShapedWord::of(words);
        for ((word, shape), (base, size)) in shaped.words.iter().zip(expected) {
            let is_near = (shape.base - base).abs() <= 3.0 && (shape.size - size).abs() <= 3.0;
            assert!(is_near, "{}: {shape:?}", word.text);
        }
        assert_eq!(shaped.words.len(), expected.len());
    }

    #[test]
    fn words_of_a_line_have_one_base_line_and_size() {
        let line = ["noon", "Top", "gap", "ebb"];
        let words = line.iter().zip(0..).map(|(text, at)| word(text, at * 100, 200, 1)).collect();
        check(words, &[(200.0, 40.0); 4]);
    }

    #[test]
    fn signs_take_the_shape_of_their_line() {
        let dash = RecognizedWord {
            frame: Frame { left: 300, top: 188, right: 320, bottom: 191 },
            ..word("-", 0, 200, 1)
        };
        check(vec![word("Top", 0, 200, 1), dash.clone()], &[(200.0, 40.0); 2]);
        let alone = RecognizedWord { line: 2, ..dash };
        check(vec![word("Top", 0, 400, 1), alone], &[(400.0, 40.0), (200.0, 40.0)]);
    }

    #[test]
    fn lines_of_similar_size_have_the_same() {
        let slightly = RecognizedWord {
            frame: Frame { left: 0, top: 273, right: 90, bottom: 308 },
            ..word("Top", 0, 300, 2)
        };
        let large = RecognizedWord {
            frame: Frame { left: 0, top: 344, right: 90, bottom: 400 },
            ..word("Head", 0, 400, 3)
        };
        let shaped = ShapedWord::of(vec![word("Tides", 0, 200, 1), slightly, large]);
        let sizes: Vec<f64> = shaped.words.iter().map(|(_, shape)| shape.size).collect();
        assert!((sizes[0] - sizes[1]).abs() < 1e-9 && sizes[2] > 70.0, "{sizes:?}");
        assert_eq!(ShapedWord::of(Vec::new()).body, 1.0);
    }
}
