//! Groups the lines of a column into blocks: paragraphs, list items, code, possible headings.

use super::gaps::SplitLine;
use super::lines::TextLine;
use super::piece::PageTable;
use super::sheet::PageArea;
use super::words::{BOLD_INK, Word};
use crate::document::BlockKind;
use crate::extract::pdf::clean;
use crate::extract::protocol::{BlockPlace, PageBlock};
use crate::text::markdown;

/// Distance of two lines that separates paragraphs, as a multiple of the normal distance.
const MAX_LEADING: f64 = 1.28;

/// The same as a multiple of the size, for text of too few lines to know the normal distance.
const MAX_LEADING_OF_SIZE: f64 = 1.7;

/// How far the logarithms of sizes may differ within a paragraph, about 7 percent: programs round sizes, and headings
/// are larger by more.
const SAME_SIZE: f64 = 0.07;

/// Smallest significant indent, as a fraction of the size.
const INDENT: f64 = 0.8;

/// How far before the right edge a short line ends, as a fraction of the size.
const SHORT: f64 = 3.0;

/// How far two distances of lines may differ to count as equal, as a factor; positions are rounded.
const SAME_LEADING: f64 = 1.03;

/// How far the lines of a list item may be from the left edge of its text, as a fraction of the
/// size.
const HANGING: f64 = 0.3;

/// Longest label before a colon, in words; a longer one is the beginning of a sentence.
const MAX_LABEL_WORDS: usize = 4;

/// Smallest gap between the pieces of a line of a form, as a fraction of the size: more than between any two words of
/// a heading.
const FORM_GAP: f64 = 2.0;

/// Longest number of a section without a digit: `B`, `IV.`.
const MAX_LETTERS: usize = 3;

/// Fewest lines of code; a single monospaced line may be a heading or a command in a sentence.
const MIN_CODE_LINES: usize = 2;

/// List markers of one character.
const BULLETS: &str = "•‣▪▫●○◦■□⁃∙·–—-*✓❖➢→►▶";

/// The states of the boxes of a form.
const BOXES: [&str; 4] = ["[x]", "[ ]", "(x)", "( )"];

/// The appearance of most text on a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct BodyStyle {
    /// Size of most text.
    pub(super) size: f64,
    /// Ink density of most text; 0 if unknown.
    pub(super) ink: f64,
    /// Whether most text is monospaced.
    pub(super) is_mono: bool,
}

/// Returns a place with the rounded edges of an area.
pub(crate) fn place_of(area: &PageArea) -> BlockPlace {
    BlockPlace {
        left: round(area.left),
        top: round(area.top),
        right: round(area.right),
        bottom: round(area.bottom),
        ..BlockPlace::default()
    }
}

/// Rounds a length to a tenth of a point.
fn round(points: f64) -> f64 {
    (points * 10.0).round() / 10.0
}

impl BodyStyle {
    pub(super) fn of(words: &[Word]) -> Self {
        let mut by_size: Vec<(i64, usize)> = Vec::new();
        for word in words {
            let key = tenths(word.size);
            match by_size.iter_mut().find(|(size, _)| *size == key) {
                Some(entry) => entry.1 += word.text.len(),
                None => by_size.push((key, word.text.len())),
            }
        }
        let most = by_size.iter().max_by_key(|(_, count)| *count).map_or(0, |(size, _)| *size);
        let size = most as f64 / 10.0;
        let num_mono: usize =
            words.iter().filter(|word| word.is_mono).map(|word| word.text.len()).sum();
        let num_all: usize = words.iter().map(|word| word.text.len()).sum();
        let is_mono = num_mono * 2 > num_all;
        let mut inks: Vec<f64> = words
            .iter()
            .filter(|word| word.ink > 0.0 && tenths(word.size) == most && word.is_mono == is_mono)
            .map(|word| word.ink)
            .collect();
        let middle = inks.len() / 2;
        let ink = if inks.is_empty() {
            0.0
        } else {
            *inks.select_nth_unstable_by(middle, f64::total_cmp).1
        };
        Self { size, ink, is_mono }
    }

    fn is_bold(&self, line: &TextLine) -> bool {
        line.is_bold || self.ink_of(line) > BOLD_INK
    }

    /// Returns the ink density of a line relative to that of most text; 0 if they cannot be compared.
    fn ink_of(&self, line: &TextLine) -> f64 {
        let is_known = self.ink > 0.0 && line.is_mono == self.is_mono;
        if is_known { line.ink / self.ink } else { 0.0 }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "sizes are far below a million points")]
fn tenths(size: f64) -> i64 {
    (size.clamp(0.0, 1e6) * 10.0).round() as i64
}

/// Divides the lines and tables of a region into blocks.
pub(super) fn blocks(
    lines: Vec<TextLine>,
    tables: Vec<PageTable>,
    body: BodyStyle,
) -> Vec<PageBlock> {
    let right = lines.iter().map(|line| line.area.right).fold(f64::NEG_INFINITY, f64::max);
    let leading = LineDistances::of(&lines);
    let mut found: Vec<(f64, PageBlock)> = Vec::new();
    let mut paragraph: Vec<TextLine> = Vec::new();
    // A table between two lines ends the paragraph, however near these are.
    let tops: Vec<f64> = tables.iter().map(|table| table.area.top).collect();
    for line in lines {
        if let Some(last) = paragraph.last() {
            let has_table_between = tops.iter().any(|top| (last.base..line.base).contains(top));
            if has_table_between || starts_block(&paragraph, &line, right, leading, body) {
                finish(&mut paragraph, body, &mut found);
            }
        }
        paragraph.push(line);
    }
    finish(&mut paragraph, body, &mut found);
    for table in tables {
        if table.is_glossary {
            found.extend(entries(&table));
            continue;
        }
        let place = BlockPlace { num_lines: 1, size: table.size, ..place_of(&table.area) };
        for line in table.above {
            let block =
                PageBlock { place: Some(place), ..PageBlock::new(BlockKind::Paragraph, 0, line) };
            found.push((table.area.top, block));
        }
        let text = markdown::table(&table.rows);
        let block = PageBlock {
            columns: table.columns.into_iter().map(|ends| ends.map(round)).collect(),
            has_bold_head: table.has_bold_head,
            place: Some(place),
            ..PageBlock::new(BlockKind::Table, 0, text)
        };
        found.push((table.area.top, block));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().map(|(_, block)| block).collect()
}

/// Returns the entries of a glossary as items of a list, with their upper edges.
fn entries(table: &PageTable) -> Vec<(f64, PageBlock)> {
    let height = table.area.height() / table.rows.len() as f64;
    let tops = (0_u32..).map(|idx| table.area.top + height * f64::from(idx));
    let entries = tops.zip(&table.rows).map(|(top, row)| {
        let text = row.iter().filter(|cell| !cell.is_empty()).cloned().collect::<Vec<_>>();
        let area = PageArea { top, bottom: top + height, ..table.area };
        // The gap after a term shows that it is not a heading.
        let place =
            BlockPlace { num_lines: 1, size: table.size, has_gaps: true, ..place_of(&area) };
        let text = text.join(": ");
        let block =
            PageBlock { place: Some(place), ..PageBlock::new(BlockKind::ListItem, 0, text) };
        (top, block)
    });
    entries.collect()
}

/// Distances of two lines of equal size, as fractions of the size.
#[derive(Debug, Clone, Copy)]
struct LineDistances {
    /// The normal one.
    normal: Option<f64>,
    /// The smallest one that occurs twice.
    tight: Option<f64>,
}

impl LineDistances {
    fn of(lines: &[TextLine]) -> Self {
        let mut distances: Vec<f64> = lines
            .windows(2)
            .filter(|pair| is_same_size(&pair[0], &pair[1]))
            .map(|pair| (pair[1].base - pair[0].base) / pair[1].size)
            // Smaller distances are those of overlapping lines, larger ones those over a gap or a picture.
            .filter(|distance| (0.8..2.5).contains(distance))
            .collect();
        distances.sort_by(f64::total_cmp);
        // Distances within paragraphs are the smallest; those between paragraphs must not count.
        let normal = (distances.len() >= 3).then(|| distances[distances.len() / 3]);
        let tight =
            distances.windows(2).find(|pair| pair[1] <= pair[0] * SAME_LEADING).map(|pair| pair[1]);
        Self { normal, tight }
    }
}

fn is_same_size(a: &TextLine, b: &TextLine) -> bool {
    crate::numeric::logarithm(a.size / b.size).abs() <= SAME_SIZE
}

/// Whether `line` does not continue `paragraph`.
fn starts_block(
    paragraph: &[TextLine],
    line: &TextLine,
    right: f64,
    leading: LineDistances,
    body: BodyStyle,
) -> bool {
    let (Some(first), Some(last)) = (paragraph.first(), paragraph.last()) else { return false };
    let distance = (line.base - last.base) / line.size.max(last.size);
    let most = leading.normal.map_or(MAX_LEADING_OF_SIZE, |normal| normal * MAX_LEADING);
    let is_short = last.area.right < right - SHORT * last.size;
    // In a list of short items without markers, most distances are those between items.
    let is_loose = leading.tight.is_some_and(|tight| distance > tight * MAX_LEADING);
    if distance > most
        || (is_short && (is_loose || (is_field(last) && is_field(line))))
        || !is_same_size(last, line)
        || body.is_bold(last) != body.is_bold(line)
        || last.tagged_level != line.tagged_level
        || (last.shows_fixed_pitch && line.pitch.is_none())
        || (line.shows_fixed_pitch && last.pitch.is_none())
    {
        return true;
    }
    let indent = (line.area.left - last.area.left) / line.size;
    let ends = ends_sentence(last);
    if let Some(marker) = marker_of(line) {
        let is_in_list =
            marker_of(first).is_some() && (line.area.left - first.area.left).abs() < line.size;
        if marker == Marker::Bullet || is_in_list || is_short || ends {
            return true;
        }
    }
    // The left edge of such lines says nothing about indents.
    if line.is_rtl || is_centered(last, line) {
        return is_short && ends;
    }
    if marker_of(first).is_some()
        && let Some(text) = first.words.get(1)
        && (line.area.left - text.area.left).abs() < HANGING * line.size
    {
        return false;
    }
    let is_indented = indent > INDENT && (paragraph.len() > 1 || (is_short && ends));
    let is_outdented = indent < -INDENT && paragraph.len() > 1;
    (is_indented || is_outdented || (is_short && ends))
        && line.words[0].text.starts_with(|c: char| !c.is_lowercase() && !c.is_ascii_punctuation())
}

fn ends_sentence(line: &TextLine) -> bool {
    let last = line
        .words
        .last()
        .map(|word| word.text.trim_end_matches(['"', '\'', ')', '\u{201D}', '\u{2019}', ']']));
    last.is_some_and(|text| text.ends_with(['.', '!', '?', ':', ';', '\u{3002}', '\u{61F}']))
}

/// The kind of a list marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Bullet,
    Number,
}

/// Returns the list marker of a line, if it has one.
fn marker_of(line: &TextLine) -> Option<Marker> {
    let first = line.words.first()?;
    if line.words.len() < 2 {
        return None;
    }
    let mut characters = first.text.chars();
    let (one, rest) = (characters.next()?, characters.as_str());
    let is_bullet = BULLETS.contains(one) && rest.is_empty();
    let is_box = first.is_entry && BOXES.contains(&first.text.as_str());
    if is_bullet || is_box {
        return Some(Marker::Bullet);
    }
    let inner = first.text.trim_start_matches('(').strip_suffix(['.', ')'])?;
    // Longer numbers at the beginning of a line are years: `2024.`; one letter is a marker, two are an abbreviation.
    let is_number = inner.len() <= 3 && inner.chars().all(|c| c.is_ascii_digit());
    let is_letter = inner.len() == 1 && inner.chars().all(|c| c.is_ascii_alphabetic());
    let is_roman = inner.len() <= 5 && inner.chars().all(|c| matches!(c, 'i' | 'v' | 'x'));
    (!inner.is_empty() && (is_number || is_letter || is_roman)).then_some(Marker::Number)
}

/// Whether a line begins with a label and a colon, as in `Report ID: 12`.
fn is_field(line: &TextLine) -> bool {
    let label = line.words.iter().take(MAX_LABEL_WORDS);
    let begins =
        line.words[0].text.starts_with(|c: char| c.is_uppercase() || clean::is_ideographic(c));
    let colon = label.map(|word| &word.text).position(|text| text.ends_with([':', '\u{FF1A}']));
    begins && colon.is_some_and(|at| at + 1 < line.words.len())
}

fn is_centered(last: &TextLine, line: &TextLine) -> bool {
    (middle(last) - middle(line)).abs() < 0.5 * line.size
        && (last.area.left - line.area.left).abs() > 0.5 * line.size
}

fn middle(line: &TextLine) -> f64 {
    f64::midpoint(line.area.left, line.area.right)
}

fn finish(paragraph: &mut Vec<TextLine>, body: BodyStyle, found: &mut Vec<(f64, PageBlock)>) {
    let lines = std::mem::take(paragraph);
    let Some(first) = lines.first() else { return };
    let area = PageArea::around(lines.iter().map(|line| line.area));
    let is_code = lines.len() >= MIN_CODE_LINES
        && lines.iter().all(|line| line.pitch.is_some())
        && lines.iter().filter(|line| line.shows_fixed_pitch).count() * 3 >= lines.len();
    let (kind, text) = if is_code {
        (BlockKind::Code, code(&lines, area.left))
    } else {
        let text = lines.iter().map(TextLine::text).collect::<Vec<_>>().join("\n");
        let kind = match marker_of(first) {
            Some(_) => BlockKind::ListItem,
            None => BlockKind::Paragraph,
        };
        (kind, clean::join_marked_lines(&clean::text(&text)))
    };
    if text.trim().is_empty() {
        return;
    }
    let inks = lines.iter().map(|line| body.ink_of(line));
    let place = BlockPlace {
        size: first.size,
        ink: inks.min_by(f64::total_cmp).unwrap_or_default(),
        is_bold: lines.iter().all(|line| line.is_bold),
        is_mono: lines.iter().all(|line| line.is_mono),
        num_lines: u32::try_from(lines.len()).unwrap_or(u32::MAX),
        has_gaps: lines.iter().any(has_gaps),
        ..place_of(&area)
    };
    let level = first.tagged_level;
    found.push((area.top, PageBlock { place: Some(place), ..PageBlock::new(kind, level, text) }));
}

/// Whether wide gaps divide a line, apart from one behind a number: `ITEM 1.`, `Appendix B`.
fn has_gaps(line: &TextLine) -> bool {
    match SplitLine::new(line, FORM_GAP).pieces.as_slice() {
        [number, _] => {
            let ends_with_number = number.last().is_some_and(|word| {
                word.text.len() <= MAX_LETTERS || word.text.contains(|c: char| c.is_ascii_digit())
            });
            number.len() > 2 || !ends_with_number
        }
        pieces => pieces.len() > 2,
    }
}

/// Returns the lines of monospaced text with every character in its column.
fn code(lines: &[TextLine], left: f64) -> String {
    let mut text = String::new();
    for line in lines {
        let pitch = line.pitch.unwrap_or(0.5) * line.size;
        if !text.is_empty() {
            text.push('\n');
        }
        let start = text.len();
        for word in &line.words {
            let column = columns((word.area.left - left) / pitch);
            let written = text[start..].chars().count();
            let gap = column.saturating_sub(written).max(usize::from(written > 0));
            text.extend(std::iter::repeat_n(' ', gap));
            text.push_str(&clean::text(&word.text));
        }
    }
    text
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped just before")]
fn columns(number: f64) -> usize {
    // The bound keeps a glyph far outside the page from becoming a line of blanks.
    number.clamp(0.0, 400.0).round() as usize
}

#[cfg(test)]
mod tests;
