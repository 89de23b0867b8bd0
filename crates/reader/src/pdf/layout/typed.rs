//! Reads tables of typewriters and terminals, whose rules are typed: lines of dashes, and bars.

use std::collections::HashSet;

use super::gaps::{CELL_GAP_RULED, SplitLine};
use super::lines::{self, TextLine};
use super::piece::PageTable;
use super::rules::RuledLines;
use super::sheet::PageArea;
use super::words::Word;
use super::wraps::{self, GridRow};
use super::{ruled, zones};

/// Fewest characters of a rule: in a monospaced font, and in any other, where a few dashes may be
/// punctuation or a field to fill in.
const MIN_DASHES_MONO: usize = 3;
const MIN_DASHES: usize = 8;

/// Most rules of a page that are looked at: each is compared with those after it, so time grows with the square.
const MAX_RULES: usize = 60;

/// How far the ends of the rules of one table may differ, as a fraction of the size: about two monospaced characters.
const NEAR: f64 = 1.3;

/// Height of a dash above the base line, and of the lower and upper ends of a bar that reaches from
/// line to line, as fractions of the size.
const DASH: f64 = 0.27;
const BAR_TOP: f64 = 0.95;
const BAR_BOTTOM: f64 = 0.3;

/// How far from the rows of a table its rules may be, as a fraction of the size: on the next line.
const MAX_DISTANCE: f64 = 1.6;

/// Largest distance of two lines of a table, as a fraction of the size, and most lines of its head.
const MAX_LEADING: f64 = 1.7;
const MAX_HEAD_LINES: usize = 3;

/// Fewest words of a line of prose, and the smallest fraction of the width that it fills; a row without gaps may be a
/// heading of a group, which is shorter.
const PROSE_WORDS: usize = 6;
const PROSE_FILL: f64 = 0.6;

/// Removes the words of tables with typed rules from `words`, and returns the tables. Rules without a table are text.
pub(super) fn take(words: &mut Vec<Word>) -> Vec<PageTable> {
    let levels: Vec<&Word> = words.iter().filter(|word| is_level(word)).collect();
    // A table has rules above and below it, or above each of its columns.
    if levels.len() < 2 {
        return Vec::new();
    }
    let (marks, mut rest): (Vec<Word>, Vec<Word>) =
        words.drain(..).partition(|word| is_level(word) || word.text == "|");
    let levels: Vec<PageArea> = marks.iter().filter(|word| is_level(word)).map(level_of).collect();
    let bars: Vec<PageArea> = marks.iter().filter(|word| !is_level(word)).map(bar_of).collect();
    let mut tables = Vec::new();
    if !bars.is_empty() {
        let rules: Vec<PageArea> = levels.iter().chain(&bars).copied().collect();
        tables = ruled::take(&RuledLines::of(&rules), &mut rest);
    }
    let size = lines::median_size(&rest);
    let lines = rules_of_lines(levels, size);
    for line in lines.iter().filter(|line| line.len() >= 2).take(MAX_RULES) {
        tables.extend(take_below_groups(line, &lines, &mut rest));
    }
    let mut start = 0;
    while start < lines.len() {
        let mut end = lines.len().min(start + MAX_RULES);
        let found = loop {
            if end < start + 2 {
                break None;
            }
            let group: Vec<PageArea> = lines[start..end].iter().flatten().copied().collect();
            let zone = PageArea::around(group.iter().copied());
            let is_alike = is_near(&lines[start], &lines[end - 1], NEAR * size);
            if is_alike && !has_prose(&rest, zone) {
                let found = zones::take(&RuledLines::of(&group), &mut rest);
                if !found.is_empty() {
                    break Some(found);
                }
            }
            end -= 1;
        };
        start = if found.is_some() { end } else { start + 1 };
        tables.extend(found.into_iter().flatten());
    }
    rest.extend(marks.into_iter().filter(|word| !is_next_to(word, &tables)));
    rest.sort_by_key(|word| word.order);
    *words = rest;
    tables
}

/// Whether a rule belongs to one of the tables.
fn is_next_to(rule: &Word, tables: &[PageTable]) -> bool {
    let reach = MAX_DISTANCE * rule.size;
    tables.iter().map(|table| table.area).any(|area| {
        (area.top - reach..=area.bottom + reach).contains(&rule.base)
            && rule.area.shared_width(&area) > -reach
    })
}

/// Removes the words of the table whose columns the rules of a line show, and returns it.
fn take_below_groups(
    groups: &[PageArea],
    rules: &[Vec<PageArea>],
    words: &mut Vec<Word>,
) -> Option<PageTable> {
    let mut groups = groups.to_vec();
    groups.sort_by(|a, b| a.left.total_cmp(&b.left));
    let zone = PageArea::around(groups.iter().copied());
    // Borders are in the middle between two groups of dashes, as words may be longer than these.
    let borders: Vec<f64> =
        groups.windows(2).map(|pair| f64::midpoint(pair[0].right, pair[1].left)).collect();
    let in_reach = words.iter().filter(|word| {
        word.area.right > zone.left - word.size && word.area.left < zone.right + word.size
    });
    let lines = lines::gather(in_reach.cloned().collect());
    let below = lines.iter().position(|line| line.base > zone.top)?;
    let (mut start, mut end) = (below, below);
    while start > 0 && below - start < MAX_HEAD_LINES && fits(&lines[start - 1], &groups, zone.left)
    {
        let next = if start == below { zone.top } else { lines[start].base };
        if next - lines[start - 1].base > MAX_LEADING * lines[start - 1].size {
            break;
        }
        start -= 1;
    }
    while end < lines.len() && fits(&lines[end], &groups, zone.left) {
        let above = if end == below { zone.top } else { lines[end - 1].base };
        if !follows(above, &lines[end], rules) {
            break;
        }
        end += 1;
    }
    let rows: Vec<GridRow> = lines[start..end].iter().map(|line| row_of(line, &borders)).collect();
    let num_split = rows
        .iter()
        .filter(|row| row.cells.iter().filter(|cell| !cell.is_empty()).count() >= 2)
        .count();
    if end == below || rows.len() < 2 || num_split * 2 < rows.len() {
        return None;
    }
    // From here on it is a table, so its words are removed.
    let taken: HashSet<usize> =
        lines[start..end].iter().flat_map(|line| &line.words).map(|word| word.order).collect();
    words.retain(|word| !taken.contains(&word.order));
    let area = PageArea::around(lines[start..end].iter().map(|line| line.area));
    let columns = groups.iter().map(|group| [group.left, group.right]).collect();
    Some(PageTable::new(area, wraps::join(rows), columns, lines[start].size))
}

/// Whether no word of a line begins left of the table, at `left`, or is below two of its `groups`.
fn fits(line: &TextLine, groups: &[PageArea], left: f64) -> bool {
    line.words.iter().all(|word| {
        // A word may be longer than the rule above it.
        word.area.left > left - word.size
            && !groups.windows(2).any(|pair| {
                word.area.shared_width(&pair[0]) > 0.0 && word.area.shared_width(&pair[1]) > 0.0
            })
    })
}

/// Whether a line is near the one whose base line is `above`, or near a rule between the two.
fn follows(above: f64, line: &TextLine, rules: &[Vec<PageArea>]) -> bool {
    let has_rule = rules.iter().any(|rule| (above..line.base).contains(&rule[0].top));
    let most = if has_rule { 2.0 * MAX_LEADING } else { MAX_LEADING };
    line.base - above <= most * line.size
}

/// Assigns the words of a line to the columns between `borders`.
fn row_of(line: &TextLine, borders: &[f64]) -> GridRow {
    let mut cells: Vec<Vec<Word>> = vec![Vec::new(); borders.len() + 1];
    for word in &line.words {
        let middle = f64::midpoint(word.area.left, word.area.right);
        cells[borders.partition_point(|border| *border <= middle)].push(word.clone());
    }
    GridRow { cells, base: line.base, size: line.size }
}

fn is_dash(c: char) -> bool {
    matches!(c, '-' | '=' | '_' | '+' | '\u{2013}' | '\u{2014}' | '\u{2500}' | '\u{2550}')
}

/// Whether a word is a horizontal rule.
fn is_level(word: &Word) -> bool {
    let fewest = if word.is_mono || word.pitch.is_some() { MIN_DASHES_MONO } else { MIN_DASHES };
    word.text.chars().count() >= fewest
        && word.text.chars().all(is_dash)
        && word.text.chars().any(|c| c != '+')
}

fn level_of(word: &Word) -> PageArea {
    let at = word.base - DASH * word.size;
    PageArea::new(word.area.left, at, word.area.right, at)
}

fn bar_of(word: &Word) -> PageArea {
    let at = f64::midpoint(word.area.left, word.area.right);
    PageArea::new(at, word.base - BAR_TOP * word.size, at, word.base + BAR_BOTTOM * word.size)
}

/// Groups rules by line, top to bottom.
fn rules_of_lines(mut rules: Vec<PageArea>, size: f64) -> Vec<Vec<PageArea>> {
    rules.sort_by(|a, b| a.top.total_cmp(&b.top));
    let mut lines: Vec<Vec<PageArea>> = Vec::new();
    for rule in rules {
        match lines.last_mut() {
            Some(line) if rule.top - line[0].top <= 0.3 * size => line.push(rule),
            _ => lines.push(vec![rule]),
        }
    }
    lines
}

/// Whether the rules of two lines begin and end at the same positions.
fn is_near(one: &[PageArea], other: &[PageArea], distance: f64) -> bool {
    let (one, other) =
        (PageArea::around(one.iter().copied()), PageArea::around(other.iter().copied()));
    (one.left - other.left).abs() <= distance && (one.right - other.right).abs() <= distance
}

/// Whether a line of prose is between rules: then they belong to different tables.
fn has_prose(words: &[Word], zone: PageArea) -> bool {
    let inside = words.iter().filter(|word| zone.contains_centre_of(&word.area)).cloned();
    lines::gather(inside.collect()).iter().any(|line| {
        !SplitLine::new(line, CELL_GAP_RULED).is_split()
            && line.words.len() >= PROSE_WORDS
            && line.area.width() >= PROSE_FILL * zone.width()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::layout::testing;
    use crate::text::markdown;

    /// Reads a picture in a monospaced font: the tables, and how many words are left.
    #[track_caller]
    fn check(picture: &str, expected: &[&str], num_left: usize) {
        let mut words = testing::words(picture);
        words.iter_mut().for_each(|word| word.is_mono = true);
        let tables = take(&mut words);
        let tables: Vec<String> = tables.iter().map(|table| markdown::table(&table.rows)).collect();
        assert_eq!(
            (tables, words.len()),
            (expected.iter().map(|&text| text.into()).collect(), num_left)
        );
    }

    #[test]
    fn lines_of_dashes_are_rules() {
        check(
            "The heights of the tides.\n\
             -------------------------------\n\
             Station          2024     2025\n\
             -------------------------------\n\
             North            2.1      2.2\n\
             South bank       1.9      2.0\n\
             -------------------------------\n\
             They are in metres.",
            &["| Station | 2024 | 2025 |\n| --- | --- | --- |\n| North | 2.1 | 2.2 |\n\
               | South bank | 1.9 | 2.0 |"],
            9,
        );
    }

    #[test]
    fn groups_of_dashes_are_columns() {
        check(
            "The rain.\n\
             \n\
             Station    Jan Feb Total\n\
             ---------- --- --- -----\n\
             North       12  13    25\n\
             South banks  9   8    17\n\
             ========== === === =====\n\
             All         21  21    42\n\
             \n\
             It is in millimetres.",
            &["| Station | Jan | Feb | Total |\n| --- | --- | --- | --- |\n\
               | North | 12 | 13 | 25 |\n| South banks | 9 | 8 | 17 |\n| All | 21 | 21 | 42 |"],
            6,
        );
    }

    #[test]
    fn bars_are_rules() {
        check(
            "+---------+-------+\n\
             | Station |  2024 |\n\
             +---------+-------+\n\
             | North   |   2.1 |\n\
             | South   |   1.9 |\n\
             +---------+-------+",
            &["| Station | 2024 |\n| --- | --- |\n| North | 2.1 |\n| South | 1.9 |"],
            0,
        );
    }

    #[test]
    fn two_tables_with_text_between_them_are_two() {
        let table = "------------------------------\n\
                     Station          Ebb    Flood\n\
                     ------------------------------\n\
                     North             21      22\n\
                     South             19      20\n\
                     ------------------------------\n";
        let markdown = "| Station | Ebb | Flood |\n| --- | --- | --- |\n| North | 21 | 22 |\n\
                        | South | 19 | 20 |";
        let prose = "The same is so in the far\n";
        check(&[table, prose, table].concat(), &[markdown, markdown], 7);
    }

    #[test]
    fn rules_without_a_table_stay_text() {
        check("----------------\nThe tide\n----------------\nturns", &[], 5);
        check("-----\n", &[], 1);
    }
}
