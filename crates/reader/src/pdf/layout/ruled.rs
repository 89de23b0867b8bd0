//! Reads tables that are drawn with rules.
//!
//! Intersecting rules form a lattice, whose cells are the areas that no rule divides. A row of a
//! lattice with several aligned lines becomes several rows, as many tables have rules only below
//! their head.

use super::groups::DisjointSets;
use super::lines::{self, TextLine};
use super::numbers::is_number;
use super::piece::PageTable;
use super::rules::{NEAR, RuledLine, RuledLines, ends};
use super::sheet::PageArea;
use super::words::{Word, take_inside};
use super::{cells, gaps};
use crate::grid::{CellSpan, TableGrid};

/// Fraction of a cell's side that a rule must cover to separate it from the next cell: rules may end short of the
/// corner, and those of a neighbouring cell reach a little into this one.
const MIN_COVER: f64 = 0.5;

/// Most rows and columns of a lattice: bounds the memory for its fields, and leaves grids of charts to the text.
const MAX_LINES: usize = 400;

/// How far the rest of its table may be from a lattice, as a fraction of the size; numbers farther away belong to
/// another column of the page.
const MAX_GAP_OUTSIDE: f64 = 8.0;

/// Most words per cell, on average; with more, the lattice is a layout of boxes.
const MAX_WORDS_PER_CELL: usize = 60;

/// Removes the words of tables drawn as lattices from `words`, and returns the tables.
pub(super) fn take(rules: &RuledLines, words: &mut Vec<Word>) -> Vec<PageTable> {
    let mut tables: Vec<PageTable> = Vec::new();
    for lattice in lattices(rules) {
        let area = lattice.area();
        // The largest lattice comes first; one within it is a box in a cell.
        if tables.iter().any(|table| table.area.contains_centre_of(&area)) {
            continue;
        }
        let inside = take_inside(words, area);
        let lines = lines::gather(inside.clone());
        if continues_outside(&lines, words) || gaps::lack_labels(&lines, area.left, words) {
            words.extend(inside);
            continue;
        }
        match lattice.with_white_columns(&inside).fill(&inside) {
            Some(table) => tables.push(table),
            None => words.extend(inside),
        }
    }
    words.sort_by_key(|word| word.order);
    tables
}

/// Whether most lines of a lattice continue with numbers outside it: then it is a part of a table
/// with incomplete rules.
fn continues_outside(lines: &[TextLine], outside: &[Word]) -> bool {
    lines.iter().filter(|line| has_numbers_beside(line, outside)).count() * 2 > lines.len()
}

/// Whether a line has words of `outside` next to it, and all of them are numbers.
fn has_numbers_beside(line: &TextLine, outside: &[Word]) -> bool {
    let mut neighbours = outside.iter().filter(|word| {
        let gap = -word.area.shared_width(&line.area) / word.size;
        (word.base - line.base).abs() <= 0.2 * word.size && gap < MAX_GAP_OUTSIDE
    });
    neighbours.next().is_some_and(|first| {
        std::iter::once(first).chain(neighbours).all(|word| is_number(&word.text))
    })
}

/// Rules that intersect.
struct Lattice {
    /// Distinct positions of the rules, in order.
    xs: Vec<f64>,
    ys: Vec<f64>,
    level: Vec<RuledLine>,
    upright: Vec<RuledLine>,
}

/// Finds groups of intersecting rules with at least two columns or rows, largest first.
fn lattices(rules: &RuledLines) -> Vec<Lattice> {
    let num_level = rules.level.len();
    let mut groups = DisjointSets::new(num_level + rules.upright.len());
    for (at, level) in rules.level.iter().enumerate() {
        for (other, upright) in rules.upright.iter().enumerate() {
            if level.meets(upright) {
                groups.merge(at, num_level + other);
            }
        }
    }
    let mut lattices = Vec::new();
    for root in 0..num_level {
        if groups.root(root) != root {
            continue;
        }
        let level = in_group(&mut groups, root, &rules.level, 0);
        let upright = in_group(&mut groups, root, &rules.upright, num_level);
        if level.is_empty() || upright.is_empty() {
            continue;
        }
        let xs = places(upright.iter().map(|rule| rule.at).chain(ends(&level)));
        let ys = places(level.iter().map(|rule| rule.at).chain(ends(&upright)));
        let has_valid_size =
            (2..MAX_LINES).contains(&xs.len()) && (2..MAX_LINES).contains(&ys.len());
        // Two positions in each direction are a single box.
        if has_valid_size && xs.len() + ys.len() > 4 {
            lattices.push(Lattice { xs, ys, level, upright });
        }
    }
    lattices.sort_by(|a, b| b.size().total_cmp(&a.size()));
    lattices
}

/// Returns the rules of the group `root`; `offset` is the index of the first one in `groups`.
fn in_group(
    groups: &mut DisjointSets,
    root: usize,
    rules: &[RuledLine],
    offset: usize,
) -> Vec<RuledLine> {
    let members = rules.iter().enumerate();
    let members = members.filter(|(at, _)| groups.root(offset + at) == root);
    members.map(|(_, rule)| *rule).collect()
}

/// Returns the distinct positions; close ones are merged.
fn places(all: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<f64> = all.collect();
    all.sort_by(f64::total_cmp);
    all.dedup_by(|b, a| *b - *a <= NEAR);
    all
}

impl Lattice {
    fn area(&self) -> PageArea {
        let (xs, ys) = (&self.xs, &self.ys);
        PageArea::new(xs[0], ys[0], xs[xs.len() - 1], ys[ys.len() - 1])
    }

    /// Returns its size in square points.
    fn size(&self) -> f64 {
        self.area().width() * self.area().height()
    }

    /// Adds columns that are separated only by white space, as many tables have rules only between
    /// rows.
    fn with_white_columns(mut self, words: &[Word]) -> Self {
        let lines = lines::gather(words.to_vec());
        let inner = &self.xs[1..self.xs.len() - 1];
        let borders = places(inner.iter().copied().chain(gaps::white_borders(&lines)));
        let mut added: Vec<RuledLine> = Vec::new();
        for edges in self.ys.windows(2) {
            let neighbours: Vec<&TextLine> =
                lines.iter().filter(|line| (edges[0]..edges[1]).contains(&line.base)).collect();
            let separating = borders.iter().filter(|border| gaps::separates(&neighbours, **border));
            added.extend(separating.map(|border| RuledLine {
                at: *border,
                from: edges[0],
                to: edges[1],
            }));
        }
        let level = self.missing_rules(&lines);
        self.level.extend(level);
        self.xs = places(self.xs.iter().copied().chain(added.iter().map(|rule| rule.at)));
        self.upright.extend(added);
        self
    }

    /// Returns the horizontal rules that are missing in a column whose lines are each next to a row
    /// of the other columns.
    fn missing_rules(&self, lines: &[TextLine]) -> Vec<RuledLine> {
        let mut missing = Vec::new();
        for edges in self.xs.windows(2) {
            let (left, right) = (edges[0], edges[1]);
            let fields: Vec<usize> = self
                .ys
                .windows(2)
                .map(|pair| {
                    lines.iter().filter(|line| is_in_field(line, pair, left, right)).count()
                })
                .collect();
            for (at, &y) in self.ys.iter().enumerate().take(self.ys.len() - 1).skip(1) {
                let mut neighbours = [at.wrapping_sub(2), at - 1, at, at + 1].into_iter();
                if !covers(&self.level, y, left, right)
                    && neighbours.all(|row| fields.get(row).is_none_or(|count| *count == 1))
                {
                    missing.push(RuledLine { at: y, from: left, to: right });
                }
            }
        }
        missing
    }

    /// Assigns words to the cells; `None` if the lattice is not a table.
    fn fill(&self, words: &[Word]) -> Option<PageTable> {
        let (num_columns, num_rows) = (self.xs.len() - 1, self.ys.len() - 1);
        let mut groups = self.cells();
        let mut by_cell: Vec<Vec<Word>> = vec![Vec::new(); num_columns * num_rows];
        for word in words {
            let x = f64::midpoint(word.area.left, word.area.right);
            let y = f64::midpoint(word.area.top, word.area.bottom);
            let column = self.xs.partition_point(|place| *place <= x).clamp(1, num_columns) - 1;
            let row = self.ys.partition_point(|place| *place <= y).clamp(1, num_rows) - 1;
            by_cell[groups.root(row * num_columns + column)].push(word.clone());
        }
        let num_filled = by_cell.iter().filter(|cell| !cell.is_empty()).count();
        // Fewer filled cells are boxes around text.
        if num_filled < 3 || words.len() > num_filled * MAX_WORDS_PER_CELL {
            return None;
        }
        let cells: Vec<Vec<TextLine>> = by_cell.into_iter().map(lines::gather).collect();
        let size = lines::median_size(words);
        let spans = groups.spans(num_columns);
        let has_merged = cells.iter().zip(&spans).any(|(cell, span)| {
            !cell.is_empty() && span.is_some_and(|span| span != CellSpan::default())
        });
        if has_merged {
            let grid = grid_of(&cells, &spans, num_columns);
            let table = PageTable::of_grid(self.area(), grid, &self.xs, size);
            let mut table = table.with_looks_of(words.iter());
            // A cell that reaches below a head from the side is copied into its column.
            cells::join_heads(&mut table.rows, &mut table.columns);
            return (table.rows.len() >= 2 && table.rows[0].len() >= 2).then_some(table);
        }
        let mut rows: Vec<Vec<String>> = Vec::new();
        for cells in cells.chunks(num_columns) {
            rows.extend(cells::split_row(cells));
        }
        let mut columns = self.xs.windows(2).map(|edges| [edges[0], edges[1]]).collect();
        cells::drop_empty(&mut rows, &mut columns);
        let is_table = rows.len() >= 2 && rows[0].len() >= 2;
        is_table
            .then(|| PageTable::new(self.area(), rows, columns, size).with_looks_of(words.iter()))
    }

    /// Groups the fields of the lattice that no rule separates; the first of a group represents it.
    fn cells(&self) -> DisjointSets {
        let (num_columns, num_rows) = (self.xs.len() - 1, self.ys.len() - 1);
        let mut groups = DisjointSets::new(num_columns * num_rows);
        for row in 0..num_rows {
            for column in 0..num_columns {
                let field = row * num_columns + column;
                let (left, right) = (self.xs[column], self.xs[column + 1]);
                let (top, bottom) = (self.ys[row], self.ys[row + 1]);
                if column + 1 < num_columns && !covers(&self.upright, right, top, bottom) {
                    groups.merge(field, field + 1);
                }
                if row + 1 < num_rows && !covers(&self.level, bottom, left, right) {
                    groups.merge(field, field + num_columns);
                }
            }
        }
        groups
    }
}

/// Whether the base line of a line is between `edges`, and one of its words is between `left` and `right`.
fn is_in_field(line: &TextLine, edges: &[f64], left: f64, right: f64) -> bool {
    (edges[0]..edges[1]).contains(&line.base)
        && line.words.iter().any(|word| word.area.right > left && word.area.left < right)
}

/// Returns the cells of a lattice with their spans; `None` stands for a field that another cell takes. A cell of several
/// rows is not divided into its lines.
fn grid_of(cells: &[Vec<TextLine>], spans: &[Option<CellSpan>], num_columns: usize) -> TableGrid {
    let split: Vec<Vec<Vec<String>>> = (0..cells.len() / num_columns)
        .map(|row| {
            let fields = row * num_columns..(row + 1) * num_columns;
            let own: Vec<Vec<TextLine>> = fields
                .map(|field| match spans[field] {
                    Some(span) if span.rows > 1 => Vec::new(),
                    _ => cells[field].clone(),
                })
                .collect();
            cells::split_row(&own)
        })
        .collect();
    let mut grid = TableGrid::default();
    for (row, texts) in split.iter().enumerate() {
        for (number, texts) in texts.iter().enumerate() {
            grid.begin_row();
            for (column, text) in texts.iter().enumerate() {
                let field = row * num_columns + column;
                match spans[field] {
                    Some(span) if span.rows <= 1 => grid.cell(text.clone(), span),
                    Some(span) if number == 0 => {
                        let rows = split[row..row + span.rows].iter().map(Vec::len).sum();
                        grid.cell(cells::text(&cells[field]), CellSpan { rows, ..span });
                    }
                    _ => {}
                }
            }
        }
    }
    grid
}

/// Whether rules at one position cover most of the distance between two others.
fn covers(rules: &[RuledLine], at: f64, from: f64, to: f64) -> bool {
    let neighbours = rules.iter().filter(|rule| (rule.at - at).abs() <= NEAR);
    let covered: f64 =
        neighbours.map(|rule| (rule.to.min(to) - rule.from.max(from)).max(0.0)).sum();
    covered >= MIN_COVER * (to - from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::layout::testing::{self, level, upright};
    use crate::text::markdown;

    #[track_caller]
    fn check(picture: &str, rules: &[PageArea], expected: &[&str]) {
        let mut words = testing::words(picture);
        let tables = take(&RuledLines::of(rules), &mut words);
        let tables: Vec<String> = tables.iter().map(|table| markdown::table(&table.rows)).collect();
        assert_eq!(tables, expected);
    }

    /// Creates rules around every cell of three rows and two columns.
    fn all_around() -> Vec<PageArea> {
        let rows = (0..4).map(|row| level(f64::from(row), 0, 30));
        rows.chain([0, 10, 30].map(|column| upright(column, 0.0, 3.0))).collect()
    }

    #[test]
    fn rules_separate_cells() {
        check(
            "Code      Meaning\nE1        no signal\nE2        ice, or wind",
            &all_around(),
            &["| Code | Meaning |\n| --- | --- |\n| E1 | no signal |\n| E2 | ice, or wind |"],
        );
    }

    #[test]
    fn a_cell_may_have_several_lines_and_span_several_fields() {
        let rules = [
            level(0.0, 0, 30),
            level(1.0, 10, 30),
            level(3.0, 0, 30),
            upright(0, 0.0, 3.0),
            upright(10, 0.0, 3.0),
            upright(20, 1.0, 3.0),
            upright(30, 0.0, 3.0),
        ];
        check(
            "          Both years\nNorth     2024 was  2.2\nbank      dry       metres",
            &rules,
            &["| North bank | Both years | Both years |\n| --- | --- | --- |\n\
                 | North bank | 2024 was dry | 2.2 metres |"],
        );
    }

    #[test]
    fn rows_without_rules_are_found_by_their_lines() {
        let rules = [
            level(0.0, 0, 30),
            level(1.0, 0, 30),
            level(4.0, 0, 30),
            upright(0, 0.0, 4.0),
            upright(10, 0.0, 4.0),
            upright(30, 0.0, 4.0),
        ];
        check(
            "Year      Height\n2024      2.1\n2025      2.2\n2026      2.3",
            &rules,
            &["| Year | Height |\n| --- | --- |\n| 2024 | 2.1 |\n| 2025 | 2.2 |\n| 2026 | 2.3 |"],
        );
    }

    #[test]
    fn columns_without_rules_are_found_by_white_space() {
        let rules = [
            level(0.0, 0, 40),
            level(1.0, 0, 40),
            level(2.0, 0, 40),
            level(3.0, 0, 40),
            level(4.0, 0, 40),
            upright(0, 0.0, 4.0),
            upright(40, 0.0, 4.0),
        ];
        check(
            "Year      Height    Weather\n2024      2.1       dry\n\
             2025      2.2       wet\n2026      2.3       wet",
            &rules,
            &["| Year | Height | Weather |\n| --- | --- | --- |\n| 2024 | 2.1 | dry |\n\
               | 2025 | 2.2 | wet |\n| 2026 | 2.3 | wet |"],
        );
    }

    #[test]
    fn a_frame_around_text_is_not_a_table() {
        let rules =
            [level(0.0, 0, 30), level(2.0, 0, 30), upright(0, 0.0, 2.0), upright(30, 0.0, 2.0)];
        check("some text in a box\nof two lines", &rules, &[]);
        check("", &all_around(), &[]);
    }
}
