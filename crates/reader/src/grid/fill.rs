//! Fills merged cells, joins the rows of the head, and separates the rows above a table.

use super::columns::GridColumns;
use super::head;
use super::kind::CellKind;
use super::placed::{PlacedCell, PlacedRow, TableGrid};
use super::shape::{num_captions, shape};
use crate::document::{WordAccount, count_words};
use crate::extract::markdown::spell::tidy;

/// Most cells that are filled with copies in a file, a chapter or a table of a PDF, and most bytes of them. Real
/// files have some thousands; a few bytes of a made one could ask for millions.
const MAX_COPIES: usize = 200_000;
const MAX_COPIED_BYTES: usize = 4 << 20;

/// Longest label that is written into every row, in bytes. A longer text is no label.
const MAX_LABEL: usize = 400;

/// Most fields of a table, with blank ones: a few bytes of a row ask for as many as the widest row has. Sheets have
/// at most half a million cells with text.
const MAX_FIELDS: usize = 4_000_000;

/// Columns that are kept for any number of rows: otherwise, a long table would lose columns that people see.
const MIN_COLUMNS: usize = 100;

/// The amount of text that may still be copied into merged cells of a file.
#[derive(Debug)]
pub(crate) struct CopyBudget {
    num_cells: usize,
    num_bytes: usize,
    /// Whether a copy was left out.
    pub(crate) is_spent: bool,
    /// Words of all copies.
    pub(crate) num_words: u32,
}

impl Default for CopyBudget {
    fn default() -> Self {
        Self { num_cells: MAX_COPIES, num_bytes: MAX_COPIED_BYTES, is_spent: false, num_words: 0 }
    }
}

impl CopyBudget {
    /// Adds the words that were copied elsewhere.
    pub(crate) fn merge(&mut self, num_words: u32, is_spent: bool) {
        self.num_words = self.num_words.saturating_add(num_words);
        self.is_spent |= is_spent;
    }

    /// Returns a copy of a text; a blank one if no more may be copied.
    pub(crate) fn copy(&mut self, text: &str) -> String {
        if self.num_cells == 0 || self.num_bytes < text.len() {
            self.is_spent = true;
            return String::new();
        }
        self.num_cells -= 1;
        self.num_bytes -= text.len();
        self.num_words = self.num_words.saturating_add(count_words(text));
        text.to_owned()
    }
}

/// A table whose cells are filled.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FilledTable {
    /// Paragraphs above it.
    pub(crate) above: Vec<String>,
    /// Its rows; the first is the head, of blank cells if there is none.
    pub(crate) rows: Vec<Vec<String>>,
    /// Which columns of the grid its columns begin in.
    pub(crate) columns: Vec<usize>,
    /// Words of cells that are too far to the right.
    pub(crate) left_out: WordAccount,
}

impl TableGrid {
    /// Fills the merged cells.
    pub(crate) fn fill(mut self, budget: &mut CopyBudget) -> FilledTable {
        for cell in self.rows.iter_mut().flat_map(|row| &mut row.cells) {
            cell.text = tidy(&cell.text).split_whitespace().collect::<Vec<_>>().join(" ");
        }
        let mut table = FilledTable { left_out: self.left_out, ..FilledTable::default() };
        let mut columns = GridColumns::of(&self.rows);
        // Too wide a table loses its last columns before rows are made as long as the longest.
        let widest = (MAX_FIELDS / self.rows.len().max(1)).max(MIN_COLUMNS);
        if columns.len() > widest {
            columns.narrow(&mut self.rows, widest, &mut table.left_out);
        }
        let num_above = num_captions(&self.rows, &columns);
        let mut rows = self.rows.into_iter();
        let captions = rows.by_ref().take(num_above);
        table.above.extend(captions.map(|row| row.line()).filter(|line| !line.is_empty()));
        let rows: Vec<PlacedRow> = rows.collect();
        let shape = shape(&rows, &columns);
        let mut rows = rows.into_iter();
        let pairs: Vec<String> =
            rows.by_ref().take(shape.num_preamble).map(|row| row.line()).collect();
        table.above.extend((!pairs.is_empty()).then(|| pairs.join("\n")));
        // The rows above may have had other columns.
        if num_above + shape.num_preamble > 0 {
            columns = GridColumns::of(rows.as_slice());
        }
        let head: Vec<PlacedRow> = rows.by_ref().take(shape.num_head).collect();
        let has_head = columns.heads(&head);
        let num_joined = if self.keeps_head_rows { 1 } else { head.len().max(1) };
        if head.is_empty() {
            table.rows.push(vec![String::new(); columns.len()]);
        } else {
            let rows = head.chunks(num_joined);
            table.rows.extend(rows.map(|rows| joined(rows, &columns, budget)));
        }
        let mut body = BodyRows { above: vec![None; columns.len()], has_head, columns, budget };
        body.begin_below(head);
        table.rows.extend(rows.enumerate().filter_map(|(number, row)| body.fill(row, number)));
        table.columns = body.columns.kept();
        body.columns.drop_unused(&mut table.rows);
        table
    }
}

impl PlacedRow {
    /// Returns its cells in one line.
    fn line(&self) -> String {
        head::line(self.cells.iter().map(|cell| cell.text.as_str()))
    }
}

/// Joins the rows of a head: by column, with each merged head in all of its columns.
fn joined(rows: &[PlacedRow], columns: &GridColumns, budget: &mut CopyBudget) -> Vec<String> {
    let mut line = vec![String::new(); columns.len()];
    let mut last: Vec<Option<&PlacedCell>> = vec![None; columns.len()];
    for cell in rows.iter().flat_map(PlacedRow::filled) {
        let taken = columns.taken(cell);
        for place in taken.clone() {
            if place > taken.start && !columns.has_text(place) {
                continue;
            }
            let above = last[place].replace(cell);
            if above.is_some_and(|above| above.text == cell.text) {
                continue;
            }
            if let Some(above) = above {
                let is_group = columns.taken(above).len() > 1;
                line[place].push_str(if is_group { ": " } else { " " });
            }
            if place == taken.start {
                line[place].push_str(&cell.text);
            } else {
                line[place].push_str(&budget.copy(&cell.text));
            }
        }
    }
    line
}

/// A merged cell of a row above.
#[derive(Debug, Clone)]
struct MergedAbove {
    /// The text that is written into its further rows.
    text: String,
    /// The first row that it does not take, counted below the head.
    until: usize,
    group: usize,
}

/// Fills the rows below a head.
struct BodyRows<'a> {
    /// By place, what reaches into the row.
    above: Vec<Option<MergedAbove>>,
    /// By place, whether a head begins there.
    has_head: Vec<bool>,
    columns: GridColumns,
    budget: &'a mut CopyBudget,
}

impl BodyRows<'_> {
    /// Lets cells of the first row reach below it, if it is taken for a head because a table has to have one.
    fn begin_below(&mut self, head: Vec<PlacedRow>) {
        let num_head = head.len();
        for (number, row) in head.into_iter().enumerate() {
            for cell in row.cells {
                let num_below = (number + cell.span.rows).saturating_sub(num_head);
                if num_below > 0 {
                    self.remember(&cell, num_below, row.group);
                }
            }
        }
    }

    /// Returns a row with its merged cells; `None` for one whose own cells have no text.
    fn fill(&mut self, row: PlacedRow, number: usize) -> Option<Vec<String>> {
        let mut line = vec![String::new(); self.columns.len()];
        let mut has_text = false;
        for cell in row.cells {
            if cell.span.rows > 1 {
                self.remember(&cell, number.saturating_add(cell.span.rows), row.group);
            }
            has_text |= !cell.text.is_empty();
            let taken = self.columns.taken(&cell);
            // Words, unlike labels and amounts, are true of all columns that have their own heads.
            let is_true_of_all = taken.len() > 1 && taken.start > 0 && !is_amount(&cell);
            for place in taken.clone().skip(1).filter(|_| is_true_of_all) {
                if self.has_head[place] && cell.text.len() <= MAX_LABEL {
                    line[place] = self.budget.copy(&cell.text);
                }
            }
            line[taken.start] = cell.text;
        }
        if !has_text {
            return None;
        }
        if self.columns.has_spans() {
            for (text, above) in line.iter_mut().zip(&self.above) {
                let above = above.as_ref();
                let above = above.filter(|above| above.until > number && above.group == row.group);
                if let Some(above) = above.filter(|_| text.is_empty()) {
                    *text = self.budget.copy(&above.text);
                }
            }
        }
        Some(line)
    }

    /// Keeps the text that a merged cell writes into the rows below its first one, up to the row `until`.
    fn remember(&mut self, cell: &PlacedCell, until: usize, group: usize) {
        let taken = self.columns.taken(cell);
        let is_once =
            (taken.start > 0 && !cell.is_head && is_amount(cell)) || cell.text.len() > MAX_LABEL;
        let text = if is_once { String::new() } else { cell.text.clone() };
        if let Some(first) = self.above.get_mut(taken.start) {
            *first = (!text.is_empty()).then_some(MergedAbove { text, until, group });
        }
    }
}

/// Whether a cell is an amount, which would be counted twice if it were in two rows or columns.
fn is_amount(cell: &PlacedCell) -> bool {
    CellKind::of(&cell.text) == Some(CellKind::Number)
}

#[cfg(test)]
mod tests {
    use super::super::CellSpan;
    use super::*;

    /// Cells as `text`, or `text^rows>columns` for merged ones.
    fn grid(rows: &[&[&str]]) -> TableGrid {
        let mut grid = TableGrid::default();
        for row in rows {
            grid.begin_row();
            for cell in *row {
                let (text, span) = cell.split_once('^').unwrap_or((cell, "1>1"));
                let (rows, columns) = span.split_once('>').unwrap();
                let span =
                    CellSpan { rows: rows.parse().unwrap(), columns: columns.parse().unwrap() };
                grid.cell(text.to_owned(), span);
            }
        }
        grid
    }

    #[track_caller]
    fn check(rows: &[&[&str]], above: &[&str], expected: &[&[&str]]) {
        let mut budget = CopyBudget::default();
        let table = grid(rows).fill(&mut budget);
        assert_eq!(table.above, above);
        assert_eq!(table.rows, expected);
        assert_eq!(table.columns.len(), expected[0].len());
        let count = |texts: Vec<&str>| texts.into_iter().map(count_words).sum::<u32>();
        let own =
            rows.iter().flat_map(|row| row.iter().map(|cell| cell.split('^').next().unwrap()));
        let all = table.rows.iter().flatten().chain(&table.above).map(String::as_str);
        assert_eq!(count(own.collect()) + budget.num_words, count(all.collect()));
    }

    #[test]
    fn a_label_is_in_each_of_its_rows_and_an_amount_in_the_first() {
        check(
            &[
                &["Port", "Fish", "Tons", "Boats"],
                &["Brest^2>1", "cod", "12", "17^2>1"],
                &["hake", "15"],
            ],
            &[],
            &[
                &["Port", "Fish", "Tons", "Boats"],
                &["Brest", "cod", "12", "17"],
                &["Brest", "hake", "15", ""],
            ],
        );
    }

    #[test]
    fn a_head_is_in_each_of_its_columns() {
        check(
            &[
                &["Port^2>1", "Direct costs^1>2"],
                &["Salaries", "Rope"],
                &["Brest", "10", "20"],
                &["Emden", "30", "40"],
            ],
            &[],
            &[
                &["Port", "Direct costs: Salaries", "Direct costs: Rope"],
                &["Brest", "10", "20"],
                &["Emden", "30", "40"],
            ],
        );
    }

    #[test]
    fn heads_below_a_merged_one_may_be_above_words() {
        check(
            &[
                &["Port", "Contact^1>2"],
                &["", "Name", "Reached"],
                &["Brest", "Ana", "by radio"],
                &["Emden", "Ben", "at the quay"],
            ],
            &[],
            &[
                &["Port", "Contact: Name", "Contact: Reached"],
                &["Brest", "Ana", "by radio"],
                &["Emden", "Ben", "at the quay"],
            ],
        );
        // A row of words with a label is no head.
        check(
            &[
                &["Port", "Contact^1>2"],
                &["Brest", "Ana", "by radio"],
                &["Emden", "Ben", "by mail"],
            ],
            &[],
            &[
                &["Port", "Contact", "Contact"],
                &["Brest", "Ana", "by radio"],
                &["Emden", "Ben", "by mail"],
            ],
        );
    }

    #[test]
    fn a_cell_as_wide_as_the_table_is_a_line() {
        check(
            &[&["Landings^1>2"], &["Fish", "Tons"], &["Flat fish^1>2"], &["sole", "4"]],
            &["Landings"],
            &[&["Fish", "Tons"], &["Flat fish", ""], &["sole", "4"]],
        );
    }

    #[test]
    fn columns_that_no_text_begins_in_are_left_out() {
        check(
            &[&["", "2025^1>3"], &["Costs", "$", "(934", ")"], &["Rent", "", "12", ""]],
            &[],
            &[&["", "2025", "2025", "2025"], &["Costs", "$", "(934", ")"], &["Rent", "", "12", ""]],
        );
        check(
            &[&["Port", "2025^1>2"], &["Brest", "12", ""], &["Emden", "7", ""]],
            &[],
            &[&["Port", "2025"], &["Brest", "12"], &["Emden", "7"]],
        );
    }

    #[test]
    fn fields_end_at_the_limit_of_a_table() {
        let head: Vec<&str> = vec!["head"; 16_384];
        let mut rows: Vec<&[&str]> = vec![&head];
        rows.resize(20_000, &["cell"]);
        let table = grid(&rows).fill(&mut CopyBudget::default());
        assert_eq!((table.rows.len(), table.rows[0].len()), (20_000, 200));
        assert_eq!(table.left_out.counts().map(|(_, count)| count).sum::<u32>(), 16_184);
    }

    #[test]
    fn it_is_known_where_the_columns_that_are_kept_begin() {
        let rows: &[&[&str]] =
            &[&["Port", "2025^1>2", "^1>1"], &["Brest", "", "12", "7"], &["Emden", "", "9", "8"]];
        let table = grid(rows).fill(&mut CopyBudget::default());
        assert_eq!(table.rows[1], ["Brest", "12", "7"]);
        assert_eq!(table.columns, [0, 1, 3]);
    }

    #[test]
    fn copies_end_at_the_limits_of_a_file() {
        let label = "North ".repeat(60);
        let cell = format!("{label}^65534>1000");
        let mut rows: Vec<Vec<&str>> = vec![vec![&cell, "first"]];
        rows.extend((0..20_000).map(|_| vec!["next"]));
        let rows: Vec<&[&str]> = rows.iter().map(Vec::as_slice).collect();
        let mut budget = CopyBudget::default();
        let table = grid(&rows).fill(&mut budget);
        let num_bytes: usize = table.rows.iter().flatten().map(String::len).sum();
        assert!(budget.is_spent && num_bytes < MAX_COPIED_BYTES + 200_000, "{num_bytes}");
    }
}
