//! Writes the entries of a form on its page, as if the page had drawn them: each on the line of its label.
//!
//! Programs that fill in a form often leave it to the viewer to draw the values. A value that the page already draws in
//! a field is not written again.

use super::sheet::{Direction, DrawnPage, Glyph, Letters, PageArea};
use super::words::{turn, turn_area, turn_back};
use crate::document::{WordAccount, WordDestination};

/// A value that was entered in a field.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FormEntry {
    /// The field on the page.
    pub(crate) area: PageArea,
    /// The value: words, or the state of a box as `[x]`.
    pub(crate) text: String,
    /// Height of its font; 0 for one that fits.
    pub(crate) size: f64,
    /// Whether it begins at the top of the field.
    pub(crate) is_multiline: bool,
    /// The drawn text that it replaces.
    pub(crate) replaces: Replaces,
}

/// The part of a field's drawn text that an entry replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replaces {
    /// A part of its words.
    Part,
    /// Other words too, which are outdated.
    Outdated,
    /// All of it: a tick, or letters that are far apart.
    All,
}

/// Most glyphs at the height of a field that are compared with it: bounds the time for a page with many fields and
/// glyphs.
const MAX_NEAR: usize = 20_000;

/// How far outside of a field its glyphs may begin, and how far from its left edge the text begins, in points: less
/// than a letter, so that no text next to the field counts.
const EDGE_POINTS: f64 = 1.0;
const PADDING_POINTS: f64 = 2.0;

/// Largest and smallest height of a font that fits, in points, and its share of the height of the field. A field of
/// several lines would otherwise get one line of large letters.
const MAX_SIZE: f64 = 12.0;
const MIN_SIZE: f64 = 4.0;
const SHARE: f64 = 0.7;

/// Distance of the base line from the middle of a line, as a fraction of the size: half of the height of capitals.
const BASE: f64 = 0.35;

/// How far below a field the base line of its label may be, and how far below its upper edge that of a field of several
/// lines, as fractions of the size.
const BELOW: f64 = 0.5;
const FIRST_LINE: f64 = 2.0;

/// Largest font of a label, as a multiple of that of its field; a larger one is a heading.
const MAX_LABEL: f64 = 1.6;

/// Mean width of a letter, as a fraction of the size: an entry has no glyphs of its own whose widths are known.
const LETTER: f64 = 0.5;

/// Fewest letters that show that the words of a field are among other words on the page: `No` and `12` are in many.
const MIN_LETTERS: usize = 4;

/// Writes entries on their page; counts words that a field has but does not show.
pub(crate) fn write(sheet: &mut DrawnPage, entries: &[FormEntry], left_out: &mut WordAccount) {
    if entries.is_empty() {
        return;
    }
    let positions = GlyphPositions::of(sheet);
    let mut is_replaced = vec![false; sheet.glyphs.len()];
    let mut written = Vec::new();
    for entry in entries {
        let area = turn_area(sheet, positions.direction, entry.area);
        let inside = positions.inside(&area);
        let (of_page, of_field): (Vec<usize>, Vec<usize>) =
            inside.into_iter().partition(|idx| *idx < sheet.num_of_page);
        let (wanted, drawn) = (letters_of(&entry.text), letters(sheet, &of_field));
        let on_page = letters(sheet, &of_page);
        if entry.replaces != Replaces::All {
            let is_on_page = on_page == wanted
                || (on_page.contains(&wanted) && wanted.chars().count() >= MIN_LETTERS);
            if drawn.contains(&wanted) || is_on_page {
                continue;
            }
            if entry.replaces == Replaces::Part && !wanted.contains(&drawn) {
                // The field shows its value in another form.
                left_out.add(WordDestination::Hidden, &entry.text);
                continue;
            }
        }
        of_field.iter().for_each(|idx| is_replaced[*idx] = true);
        if on_page.is_empty() {
            // A line to write on, or an empty box.
            of_page.iter().for_each(|idx| is_replaced[*idx] = true);
        }
        written.push(glyph(sheet, &positions, entry, &area));
    }
    sheet.split_off(&is_replaced);
    sheet.glyphs.extend(written);
}

/// Returns the letters and digits of a text in lower case.
pub(crate) fn letters_of(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the letters and digits of glyphs in lower case.
fn letters(sheet: &DrawnPage, glyphs: &[usize]) -> String {
    let text = glyphs.iter().map(|idx| match &sheet.glyphs[*idx].letters {
        Letters::One(letter) => letters_of(letter.encode_utf8(&mut [0; 4])),
        Letters::Several(text) => letters_of(text),
        Letters::Unknown => String::new(),
    });
    text.collect()
}

fn is_in(area: &PageArea, x: f64, y: f64) -> bool {
    (area.left - EDGE_POINTS..=area.right + EDGE_POINTS).contains(&x)
        && (area.top - EDGE_POINTS..=area.bottom + EDGE_POINTS).contains(&y)
}

/// Where a glyph is in the frame of [`GlyphPositions`].
#[derive(Debug, Clone, Copy)]
struct GlyphPoint {
    idx: usize,
    left: f64,
    base: f64,
}

/// The glyphs of a page from top to bottom, in the frame in which most of its text runs to the right.
pub(crate) struct GlyphPositions {
    direction: Direction,
    points: Vec<GlyphPoint>,
}

impl GlyphPositions {
    pub(crate) fn of(sheet: &DrawnPage) -> Self {
        // Among equals, the last one is the largest: text to the right.
        let direction = Direction::ALL.into_iter().rev().max_by_key(|direction| {
            sheet.glyphs.iter().filter(|glyph| glyph.direction == *direction).count()
        });
        let direction = direction.unwrap_or(Direction::Right);
        let points = sheet.glyphs.iter().enumerate().map(|(idx, glyph)| {
            let (left, base) = turn(sheet, direction, glyph.x, glyph.y);
            GlyphPoint { idx, left, base }
        });
        let mut points: Vec<GlyphPoint> = points.collect();
        points.sort_by(|a, b| a.base.total_cmp(&b.base));
        Self { direction, points }
    }

    /// Returns the letters and digits that annotations draw in an area of the page.
    pub(crate) fn drawn_in(&self, sheet: &DrawnPage, area: &PageArea) -> String {
        let inside = self.inside(&turn_area(sheet, self.direction, *area));
        let drawn: Vec<usize> =
            inside.into_iter().filter(|idx| *idx >= sheet.num_of_page).collect();
        letters(sheet, &drawn)
    }

    /// Returns the glyphs whose base lines are between two heights.
    fn between(&self, top: f64, bottom: f64) -> impl Iterator<Item = &GlyphPoint> {
        let start = self.points.partition_point(|point| point.base < top);
        let points = self.points.get(start..).unwrap_or_default();
        points.iter().take_while(move |point| point.base <= bottom).take(MAX_NEAR)
    }

    /// Returns the glyphs that begin in an area, in drawing order.
    fn inside(&self, area: &PageArea) -> Vec<usize> {
        let points = self.between(area.top - EDGE_POINTS, area.bottom + EDGE_POINTS);
        let inside = points.filter(|point| is_in(area, point.left, point.base));
        let mut inside: Vec<usize> = inside.map(|point| point.idx).collect();
        inside.sort_unstable();
        inside
    }
}

/// Returns an entry as one glyph on the line of its label, or in the middle of its field.
fn glyph(
    sheet: &DrawnPage,
    positions: &GlyphPositions,
    entry: &FormEntry,
    area: &PageArea,
) -> Glyph {
    let height = area.height();
    let fitting = if entry.is_multiline { MAX_SIZE } else { SHARE * height };
    let fitting = fitting.clamp(MIN_SIZE, MAX_SIZE);
    let size = if entry.size > 0.0 { entry.size.min(height.max(MIN_SIZE)) } else { fitting };
    let (base, lowest) = if entry.is_multiline {
        (area.top + size, area.top + FIRST_LINE * size)
    } else {
        let middle = f64::midpoint(area.top, area.bottom);
        (middle + BASE * size, area.bottom + BELOW * size)
    };
    // The label that is nearest decides the base line and the size, so that both become one line.
    let label = positions.between(area.top, lowest.min(area.bottom + BELOW * size));
    let label = label.filter_map(|point| {
        let glyph = &sheet.glyphs[point.idx];
        let is_label = glyph.direction == positions.direction
            && glyph.letters != Letters::One(' ')
            && (0.0..=MAX_LABEL * size).contains(&glyph.size);
        let right = point.left + glyph.advance;
        let gap = (area.left - right).max(point.left - area.right);
        let distance = gap + (point.base - base).abs();
        (is_label && gap > -PADDING_POINTS).then_some((distance, point.base, glyph.size))
    });
    let label = label.min_by(|a, b| a.0.total_cmp(&b.0));
    let (base, size) = label.map_or((base, size), |(_, base, size)| (base, size));
    let width = LETTER * size * entry.text.chars().count() as f64;
    let left = area.left + PADDING_POINTS.min(area.width() / 2.0);
    let origin = turn_back(sheet, positions.direction, PageArea::new(left, base, left, base));
    Glyph {
        letters: Letters::Several(entry.text.as_str().into()),
        direction: positions.direction,
        tilt: 0.0,
        x: origin.left,
        y: origin.top,
        advance: width.min(area.right - PADDING_POINTS - left).max(1.0),
        size,
        ink: 0.0,
        is_pale: false,
        is_bold: false,
        tagged_level: 0,
        is_entry: true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::layout::{self, testing};

    fn entry(text: &str, area: PageArea) -> FormEntry {
        let text = text.to_owned();
        FormEntry { area, text, size: 0.0, is_multiline: false, replaces: Replaces::Part }
    }

    /// Checks the text of a page with letters at these positions, the last ones of which are drawn by fields.
    #[track_caller]
    fn check(
        texts: &[(&str, f64, f64)],
        num_of_fields: usize,
        entries: &[FormEntry],
        expected: &[&str],
    ) {
        let mut sheet = testing::sheet(texts);
        sheet.num_of_page = sheet.glyphs.len() - num_of_fields;
        let mut left_out = WordAccount::default();
        write(&mut sheet, entries, &mut left_out);
        let blocks = layout::arrange(&sheet, &mut left_out).blocks;
        let mut found: Vec<String> = blocks.into_iter().map(|block| block.text).collect();
        let counts = left_out.counts().map(|(reason, count)| format!("{reason} {count}"));
        found.extend(counts);
        assert_eq!(found, expected);
    }

    fn field(top: f64) -> PageArea {
        PageArea::new(100.0, top, 300.0, top + 20.0)
    }

    #[test]
    fn a_value_is_on_the_line_of_its_label() {
        let entries = [entry("Faroe Islands", field(36.0)), entry("Kittiwake", field(86.0))];
        let expected = ["Country Faroe Islands", "Surname Kittiwake"];
        check(&[("Country", 50.0, 50.0), ("Surname", 50.0, 103.0)], 0, &entries, &expected);
    }

    #[test]
    fn a_value_that_is_drawn_is_not_written_again() {
        let texts = [("City", 50.0, 50.0), ("Vard\u{F8}", 102.0, 50.0)];
        let entries = [entry("Vard\u{F8}", field(36.0))];
        check(&texts, 5, &entries, &["City Vard\u{F8}"]);
        check(&texts, 0, &entries, &["City Vard\u{F8}"]);
    }

    #[test]
    fn a_value_that_is_drawn_in_part_is_written_completely() {
        let texts = [("City", 50.0, 50.0), ("Vard", 102.0, 50.0)];
        check(&texts, 4, &[entry("Vard\u{F8} havn", field(36.0))], &["City Vard\u{F8} havn"]);
    }

    #[test]
    fn a_value_in_another_form_is_counted_and_an_outdated_one_is_replaced() {
        let texts = [("Fee", 50.0, 50.0), ("1,200kr", 102.0, 50.0)];
        let value = entry("1250.5", field(36.0));
        check(&texts, 7, std::slice::from_ref(&value), &["Fee 1,200kr", "hidden 2"]);
        check(&texts, 7, &[FormEntry { replaces: Replaces::Outdated, ..value }], &["Fee 1250.5"]);
    }

    #[test]
    fn the_state_of_a_box_replaces_its_tick() {
        let on = FormEntry {
            replaces: Replaces::All,
            ..entry("[x]", PageArea::new(50.0, 40.0, 60.0, 50.0))
        };
        let off = FormEntry { text: "[ ]".into(), ..on.clone() };
        let texts = [("Fish", 64.0, 50.0), ("\u{2714}", 52.0, 48.0)];
        check(&texts, 1, &[on], &["[x] Fish"]);
        check(&texts, 0, &[off], &["[ ] Fish"]);
    }

    #[test]
    fn boxes_stay_with_their_questions() {
        let on = FormEntry { replaces: Replaces::All, ..entry("[x]", PageArea::NOTHING) };
        let at = |left: f64, base: f64| PageArea::new(left, base - 9.0, left + 10.0, base + 1.0);
        let (mut texts, mut entries) = (Vec::new(), Vec::new());
        for base in [50.0, 80.0] {
            let words = ["Has", "anybody", "been", "ill", "at", "sea?"];
            let mut left = 50.0;
            for word in words {
                texts.push((word, left, base));
                left += 5.0 * word.len() as f64 + 3.0;
            }
            texts.extend([("Yes", 250.0, base), ("No", 300.0, base)]);
            entries.extend(
                [270.0, 315.0].map(|left| FormEntry { area: at(left, base), ..on.clone() }),
            );
        }
        let line = "Has anybody been ill at sea? Yes [x] No [x]";
        check(&texts, 0, &entries, &[line, line]);
    }

    #[test]
    fn values_in_lines_are_not_code() {
        let entries = [entry("Kittiwake", field(36.0)), entry("Razorbill", field(52.0))];
        let mut sheet = testing::sheet(&[]);
        write(&mut sheet, &entries, &mut WordAccount::default());
        let blocks = layout::arrange(&sheet, &mut WordAccount::default()).blocks;
        assert!(blocks.iter().all(|block| block.kind != crate::document::BlockKind::Code));
        assert_eq!(
            blocks.iter().map(|block| block.text.len()).sum::<usize>(),
            18 + 2 - blocks.len()
        );
    }
}
