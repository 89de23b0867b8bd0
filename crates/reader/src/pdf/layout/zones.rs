//! Reads tables between horizontal rules, with columns separated by white space, as in books and
//! papers.

use std::ops::Range;

use super::gaps::{CELL_GAP_RULED, SplitLine, borders, extent, lack_labels, table};
use super::lines::{self, TextLine};
use super::piece::PageTable;
use super::rules::{RuledLine, RuledLines};
use super::sheet::PageArea;
use super::words::{Word, take_inside};

/// How far the ends of the rules of one table may differ, in points.
const NEAR: f64 = 6.0;

/// Shortest rule above or below a table, as a multiple of the text size; shorter ones are above footnotes, below
/// words, or parts of formulas.
const MIN_RULE: f64 = 8.0;

/// Largest gap between two pieces of a rule across columns, and between two rows, as fractions of
/// the size.
const MAX_RULE_GAP: f64 = 1.5;
const MAX_ROW_GAP: f64 = 1.5;

/// Removes the words of tables between horizontal rules from `words`, including rows above and
/// below in the same columns, and returns the tables.
pub(super) fn take(rules: &RuledLines, words: &mut Vec<Word>) -> Vec<PageTable> {
    let mut tables = Vec::new();
    for zone in zones(rules, lines::median_size(words)) {
        let inside = take_inside(words, zone);
        let lines = lines::gather(inside.clone());
        let rows: Vec<SplitLine<'_>> =
            lines.iter().map(|line| SplitLine::new(line, CELL_GAP_RULED)).collect();
        if table(&rows, zone, true).is_none() || lack_labels(&lines, zone.left, words) {
            words.extend(inside);
            continue;
        }
        let area = extend(zone, &borders(&rows), words);
        let more = take_inside(words, area);
        let mut lines = lines::gather(inside.into_iter().chain(more).collect());
        let rows: Vec<SplitLine<'_>> =
            lines.iter().map(|line| SplitLine::new(line, CELL_GAP_RULED)).collect();
        let kept = trim(&rows);
        let area = PageArea::around(rows[kept.clone()].iter().map(|row| row.line.area));
        if let Some(table) = table(&rows[kept.clone()], area, true) {
            tables.push(table);
            lines.drain(kept);
        }
        words.extend(lines.into_iter().flat_map(|line| line.words));
    }
    words.sort_by_key(|word| word.order);
    tables
}

/// Excludes lines at either end that are not rows: a title, notes.
fn trim(rows: &[SplitLine<'_>]) -> Range<usize> {
    let first_border = borders(rows).first().copied().unwrap_or(f64::NEG_INFINITY);
    let start = rows
        .iter()
        .position(|row| row.is_split() || row.line.area.left > first_border)
        .unwrap_or(0);
    let end = rows.iter().rposition(SplitLine::is_split).map_or(rows.len(), |last| last + 1);
    start..end.max(start)
}

/// Extends the area of a table upwards and downwards by lines whose pieces are within its columns.
fn extend(zone: PageArea, borders: &[f64], words: &[Word]) -> PageArea {
    let overlapping =
        words.iter().filter(|word| zone.left <= word.area.right && word.area.left <= zone.right);
    let lines = lines::gather(overlapping.cloned().collect());
    let mut area = zone;
    for line in lines.iter().rev().filter(|line| line.base < zone.top + line.size) {
        if area.top - line.area.bottom > MAX_ROW_GAP * line.size || !fits(line, zone, borders) {
            break;
        }
        area.top = area.top.min(line.area.top);
    }
    for line in lines.iter().filter(|line| line.base > zone.bottom) {
        if line.area.top - area.bottom > MAX_ROW_GAP * line.size || !fits(line, zone, borders) {
            break;
        }
        area.bottom = area.bottom.max(line.area.bottom);
    }
    area
}

/// Whether a line has several pieces, each of them within a column of the table in `zone`.
fn fits(line: &TextLine, zone: PageArea, borders: &[f64]) -> bool {
    let row = SplitLine::new(line, CELL_GAP_RULED);
    row.is_split()
        && row.pieces.iter().all(|piece| {
            let (left, right) = extent(piece);
            left >= zone.left
                && right <= zone.right
                && borders.partition_point(|border| *border <= left)
                    == borders.partition_point(|border| *border < right)
        })
}

/// Returns the areas between rules that begin and end at the same positions, smallest first.
fn zones(rules: &RuledLines, size: f64) -> Vec<PageArea> {
    let long: Vec<RuledLine> = across(&rules.level, MAX_RULE_GAP * size)
        .into_iter()
        .filter(|rule| rule.to - rule.from >= MIN_RULE * size)
        .collect();
    let mut zones = Vec::new();
    let mut used = vec![false; long.len()];
    for first in 0..long.len() {
        if used[first] {
            continue;
        }
        let group: Vec<usize> = (first..long.len())
            .filter(|idx| {
                let other = long[*idx];
                (long[first].from - other.from).abs() <= NEAR
                    && (long[first].to - other.to).abs() <= NEAR
            })
            .collect();
        group.iter().for_each(|idx| used[*idx] = true);
        let (Some(top), Some(bottom)) = (group.first(), group.last()) else { continue };
        if group.len() >= 2 {
            let (top, bottom) = (long[*top], long[*bottom]);
            zones.push(PageArea::new(top.from - NEAR, top.at, top.to + NEAR, bottom.at));
        }
    }
    zones.sort_by(|a, b| a.height().total_cmp(&b.height()));
    zones
}

/// Joins rules that continue from column to column with small gaps.
fn across(rules: &[RuledLine], gap: f64) -> Vec<RuledLine> {
    let mut joined: Vec<RuledLine> = Vec::new();
    for rule in rules {
        match joined.last_mut() {
            Some(last)
                // Pieces of one rule may be drawn at heights that differ by the thickness of a line.
                if rule.at - last.at <= 2.0 && (-NEAR..=gap).contains(&(rule.from - last.to)) =>
            {
                last.to = last.to.max(rule.to);
            }
            _ => joined.push(*rule),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::layout::testing::{self, level};
    use crate::text::markdown;

    #[test]
    fn rules_form_tables_with_few_rows_and_no_numbers() {
        let picture = "A title of it\n\
                       Code    Meaning\n\
                       E1      no signal\n\
                       E2      ice\n\
                       A note.";
        let mut words = testing::words(picture);
        let rules = [level(1.0, 0, 30), level(2.0, 0, 30), level(4.0, 0, 30)];
        let tables = take(&RuledLines::of(&rules), &mut words);
        assert_eq!(
            markdown::table(&tables[0].rows),
            "| Code | Meaning |\n| --- | --- |\n| E1 | no signal |\n| E2 | ice |"
        );
        assert_eq!((tables.len(), words.len()), (1, 6));
    }

    #[test]
    fn rules_above_a_title_and_below_numbers_do_not_separate_them_from_their_labels() {
        let picture = "Locks\n\
                       Commodity contracts    55    51\n\
                       Treasury locks         10    10\n\
                       Harbour and its        the tide    of all\n\
                       Other gauges of the    the ebb     of some\n\
                       The tides of a year    the moon    of none";
        let mut words = testing::words(picture);
        let rules = [level(0.0, 22, 44), level(6.0, 22, 44)];
        assert!(take(&RuledLines::of(&rules), &mut words).is_empty());
    }

    #[test]
    fn numbers_are_not_separated_from_their_labels() {
        let picture = "                    2022    2021\n\
                       Commodity contracts    55    51\n\
                       Treasury locks         10    10\n\
                       Total                  66    62";
        let mut words = testing::words(picture);
        let rules = [level(1.0, 20, 34), level(4.0, 20, 34)];
        assert!(take(&RuledLines::of(&rules), &mut words).is_empty());
        assert_eq!(words.len(), 13);
    }
}
