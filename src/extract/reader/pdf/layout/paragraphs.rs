//! Groups the lines of a column into blocks: paragraphs, list items, code, possible headings.

use super::lines::Line;
use super::marks::{Mark, ends_sentence, mark_of};
use super::piece::Table;
use super::sheet::Area;
use super::words::Word;
use crate::extract::pdf::clean;
use crate::extract::protocol::{PageBlock, PageBlockKind, Place};
use crate::extract::reader::markdown_table;

/// How much larger than usual the distance of two lines must be to part paragraphs.
const MAX_LEADING: f64 = 1.28;

/// The same against the size, where it is not known what is usual.
const MAX_LEADING_OF_SIZE: f64 = 1.7;

/// How far sizes may differ within a paragraph.
const SAME_SIZE: f64 = 0.07;

/// Ink of a line, against that of most text of the page, from which it is bold.
pub(super) const BOLD_INK: f64 = 1.22;

/// Indent that means something, as a share of the size.
const INDENT: f64 = 0.8;

/// How far before the right edge a line must end to be short, as a share of the size.
const SHORT: f64 = 3.0;

/// Lines there must be to be taken for code.
const MIN_CODE_LINES: usize = 2;

/// What is usual on a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usual {
    /// Size of most text.
    pub(super) size: f64,
    /// Ink of most text; 0 where it is not known.
    pub(super) ink: f64,
}

impl Place {
    fn at(area: &Area) -> Self {
        let round = |it: f64| (it * 10.0).round() / 10.0;
        Self {
            left: round(area.left),
            top: round(area.top),
            right: round(area.right),
            bottom: round(area.bottom),
            ..Self::default()
        }
    }
}

impl Usual {
    pub(super) fn of(words: &[Word]) -> Self {
        let mut by_size: Vec<(i64, usize)> = Vec::new();
        for word in words {
            let key = tenths(word.size);
            match by_size.iter_mut().find(|it| it.0 == key) {
                Some(entry) => entry.1 += word.text.len(),
                None => by_size.push((key, word.text.len())),
            }
        }
        let most = by_size.iter().max_by_key(|it| it.1).map_or(0, |it| it.0);
        let size = most as f64 / 10.0;
        let mut inks: Vec<f64> = words
            .iter()
            .filter(|it| it.ink > 0.0 && tenths(it.size) == most)
            .map(|it| it.ink)
            .collect();
        let middle = inks.len() / 2;
        let ink = match inks.is_empty() {
            true => 0.0,
            false => *inks.select_nth_unstable_by(middle, f64::total_cmp).1,
        };
        Self { size, ink }
    }

    fn is_bold(&self, line: &Line) -> bool {
        line.is_bold || (self.ink > 0.0 && line.ink > BOLD_INK * self.ink)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "sizes are far below a million points")]
fn tenths(size: f64) -> i64 {
    (size.clamp(0.0, 1e6) * 10.0).round() as i64
}

/// Puts the lines and tables of a region into blocks.
pub(super) fn blocks(lines: Vec<Line>, tables: Vec<Table>, usual: Usual) -> Vec<PageBlock> {
    let right = lines.iter().map(|it| it.area.right).fold(f64::NEG_INFINITY, f64::max);
    let leading = leading(&lines);
    let mut found: Vec<(f64, PageBlock)> = Vec::new();
    let mut paragraph: Vec<Line> = Vec::new();
    let tops: Vec<f64> = tables.iter().filter_map(|it| Some(it.area?.top)).collect();
    for line in lines {
        if let Some(last) = paragraph.last() {
            let is_parted = tops.iter().any(|it| (last.base..line.base).contains(it));
            if is_parted || starts_block(&paragraph, &line, right, leading, usual) {
                finish(&mut paragraph, usual, &mut found);
            }
        }
        paragraph.push(line);
    }
    finish(&mut paragraph, usual, &mut found);
    for table in tables {
        let Some(area) = table.area else { continue };
        let text = markdown_table::to_markdown(&table.rows);
        let place = Place { num_lines: 1, size: table.size, ..Place::at(&area) };
        let block = PageBlock { kind: PageBlockKind::Table, level: 0, text, place: Some(place) };
        found.push((area.top, block));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().map(|it| it.1).collect()
}

/// Returns the usual distance of two lines, as a share of the size.
fn leading(lines: &[Line]) -> Option<f64> {
    let mut distances: Vec<f64> = lines
        .windows(2)
        .filter(|it| is_same_size(&it[0], &it[1]))
        .map(|it| (it[1].base - it[0].base) / it[1].size)
        .filter(|it| (0.8..2.5).contains(it))
        .collect();
    if distances.len() < 3 {
        return None;
    }
    // Lines within paragraphs are the closest; those between them must not count.
    let at = distances.len() / 3;
    Some(*distances.select_nth_unstable_by(at, f64::total_cmp).1)
}

fn is_same_size(a: &Line, b: &Line) -> bool {
    (a.size / b.size).ln().abs() <= SAME_SIZE
}

/// Whether `line` does not go on with `paragraph`.
fn starts_block(
    paragraph: &[Line],
    line: &Line,
    right: f64,
    leading: Option<f64>,
    usual: Usual,
) -> bool {
    let (Some(first), Some(last)) = (paragraph.first(), paragraph.last()) else { return false };
    let distance = (line.base - last.base) / line.size.max(last.size);
    let most = leading.map_or(MAX_LEADING_OF_SIZE, |it| it * MAX_LEADING);
    if distance > most
        || !is_same_size(last, line)
        || usual.is_bold(last) != usual.is_bold(line)
        || last.tagged_level != line.tagged_level
        || (last.tells_pitch && line.pitch.is_none())
        || (line.tells_pitch && last.pitch.is_none())
    {
        return true;
    }
    let indent = (line.area.left - last.area.left) / line.size;
    let is_short = last.area.right < right - SHORT * last.size;
    let ends = ends_sentence(last);
    if let Some(mark) = mark_of(line) {
        let is_in_list =
            mark_of(first).is_some() && (line.area.left - first.area.left).abs() < line.size;
        if mark == Mark::Bullet || is_in_list || is_short || ends {
            return true;
        }
    }
    if line.is_rtl || is_centered(last, line) {
        return is_short && ends;
    }
    let is_indented = indent > INDENT && (paragraph.len() > 1 || (is_short && ends));
    let is_outdented = indent < -INDENT && paragraph.len() > 1;
    let starts_anew = || {
        line.words[0]
            .text
            .chars()
            .next()
            .is_some_and(|it| !it.is_lowercase() && !it.is_ascii_punctuation())
    };
    (is_indented || is_outdented || (is_short && ends)) && starts_anew()
}

fn is_centered(last: &Line, line: &Line) -> bool {
    let middle = |it: &Line| f64::midpoint(it.area.left, it.area.right);
    (middle(last) - middle(line)).abs() < 0.5 * line.size
        && (last.area.left - line.area.left).abs() > 0.5 * line.size
}

fn finish(paragraph: &mut Vec<Line>, usual: Usual, found: &mut Vec<(f64, PageBlock)>) {
    let lines = std::mem::take(paragraph);
    let Some(first) = lines.first() else { return };
    let area = Area::around(lines.iter().map(|it| it.area));
    let is_code = lines.len() >= MIN_CODE_LINES
        && lines.iter().all(|it| it.pitch.is_some())
        && lines.iter().filter(|it| it.tells_pitch).count() * 3 >= lines.len();
    let (kind, text) = if is_code {
        (PageBlockKind::Code, code(&lines, area.left))
    } else {
        let text = lines.iter().map(Line::text).collect::<Vec<_>>().join("\n");
        let kind = match mark_of(first) {
            Some(_) => PageBlockKind::ListItem,
            None => PageBlockKind::Paragraph,
        };
        (kind, clean::join_lines(&clean::text(&text)))
    };
    if text.trim().is_empty() {
        return;
    }
    let mut inks: Vec<f64> = lines.iter().map(|it| it.ink).collect();
    inks.sort_by(f64::total_cmp);
    let place = Place {
        size: first.size,
        ink: if usual.ink > 0.0 { inks[0] / usual.ink } else { 0.0 },
        is_bold: lines.iter().all(|it| it.is_bold),
        num_lines: u32::try_from(lines.len()).unwrap_or(u32::MAX),
        ..Place::at(&area)
    };
    let level = first.tagged_level;
    found.push((area.top, PageBlock { kind, level, text, place: Some(place) }));
}

/// Returns lines of one pitch as they stand: every character in its column.
fn code(lines: &[Line], left: f64) -> String {
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
    number.clamp(0.0, 400.0).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::reader::pdf::layout::testing;

    const USUAL: Usual = Usual { size: testing::SIZE, ink: 1.0 };

    #[track_caller]
    fn check(lines: Vec<Line>, expected: &[(PageBlockKind, &str)]) {
        let blocks = blocks(lines, Vec::new(), USUAL);
        let found: Vec<_> = blocks.iter().map(|it| (it.kind, it.text.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_indent_or_a_wide_gap_begins_a_paragraph() {
        check(
            testing::lines(
                "The tide turns at noon and then\nruns out for six hours and some.\n\
                 \u{20}  Then it comes back in again,\nsix hours later.\n\nThe wind may change it.",
            ),
            &[
                (
                    PageBlockKind::Paragraph,
                    "The tide turns at noon and then runs out for six hours and some.",
                ),
                (PageBlockKind::Paragraph, "Then it comes back in again, six hours later."),
                (PageBlockKind::Paragraph, "The wind may change it."),
            ],
        );
    }

    #[test]
    fn items_of_lists_are_apart() {
        check(
            testing::lines(
                "\u{2022} the ebb,\n  which is long\n\u{2022} the flood\n1. one\n2. two",
            ),
            &[
                (PageBlockKind::ListItem, "\u{2022} the ebb, which is long"),
                (PageBlockKind::ListItem, "\u{2022} the flood"),
                (PageBlockKind::ListItem, "1. one"),
                (PageBlockKind::ListItem, "2. two"),
            ],
        );
    }

    #[test]
    fn a_line_of_another_look_is_a_block() {
        let mut lines = testing::lines("The Tides\nThey turn at noon\nand at midnight");
        lines[0].is_bold = true;
        check(
            lines,
            &[
                (PageBlockKind::Paragraph, "The Tides"),
                (PageBlockKind::Paragraph, "They turn at noon and at midnight"),
            ],
        );
        let mut lines = testing::lines("The Tides\nThey turn at noon");
        lines[0].size = 14.0;
        assert_eq!(blocks(lines, Vec::new(), USUAL).len(), 2);
    }

    #[test]
    fn lines_of_one_pitch_are_code_as_it_stands() {
        let mut lines = testing::lines("fn main() {\n    let x = 1;\n}");
        for line in &mut lines {
            (line.pitch, line.tells_pitch) = (Some(0.5), true);
        }
        check(lines, &[(PageBlockKind::Code, "fn main() {\n    let x = 1;\n}")]);
    }

    #[test]
    fn words_broken_at_the_end_of_a_line_are_mended() {
        check(
            testing::lines("the high water of the har-\nbour"),
            &[(PageBlockKind::Paragraph, "the high water of the harbour")],
        );
    }

    #[test]
    fn a_table_stands_where_it_stood() {
        let table = Table {
            area: Some(Area::new(0.0, 14.0, 50.0, 26.0)),
            rows: vec![vec!["a".into(), "b".into()], vec!["c".into(), "d".into()]],
            size: 10.0,
        };
        let found = blocks(testing::lines("before\n\nafter"), vec![table], USUAL);
        let texts: Vec<&str> = found.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["before", "| a | b |\n| --- | --- |\n| c | d |", "after"]);
    }
}
