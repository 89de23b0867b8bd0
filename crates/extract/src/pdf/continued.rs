//! Repeats the head of a table on the pages on which it continues without one. A pure function.
//!
//! The reader sees one page at a time, and takes the first row of a table for its head.

use crate::document::{BlockKind, count_words};
use crate::protocol::{BlockPlacement, ExtractedPage, PageBlock};
use crate::text::markdown;
use crate::text::number::is_year;

/// How far the ends of a column may differ from page to page, as a multiple of the text size.
const SAME_COLUMN: f64 = 0.7;

/// A table that continues ends below this part of its page, and begins above that one on the next: between them are at
/// most a note, a running head or a line that says that it continues.
const FOOT: f64 = 0.6;
const TOP: f64 = 0.3;

/// Fewest rows that show of what kind the cells of a column are; one may be of any kind.
const MIN_ROWS: usize = 2;

/// One in this many cells of a column may be of another kind, such as a dash or `n/a` among numbers.
const MAX_ODD: usize = 5;

/// Most rows of a head, as in the reader's tables.
const MAX_HEAD: usize = 4;

/// A table that may go on on the next page.
struct OpenTable {
    /// Rows of its head.
    head: Vec<Vec<String>>,
    columns: Vec<[f64; 2]>,
    size: f64,
}

/// Gives parts of tables on later pages the head of their first part.
pub(super) fn repeat_heads(pages: &mut [ExtractedPage]) {
    let mut open: Option<OpenTable> = None;
    for page in pages {
        let (height, top) = (page.height, first_block(page));
        let continued = open.take().and_then(|table| {
            let block = page.blocks.get_mut(top?)?;
            (begins_at(block) <= TOP * height && table.goes_on_in(block)).then_some(table)
        });
        let is_whole_page = top.is_some() && top == last_block(page);
        if let (Some(table), Some(block)) =
            (&continued, top.and_then(|idx| page.blocks.get_mut(idx)))
        {
            table.add_head_to(block);
            page.num_copied_words = page.num_copied_words.saturating_add(table.num_words());
        }
        open = match continued {
            Some(table) if is_whole_page => Some(table),
            _ => last_block(page).and_then(|idx| OpenTable::of(&page.blocks[idx], height)),
        };
    }
}

/// Returns the first block of the text of a page, apart from text at an angle and in pictures.
fn first_block(page: &ExtractedPage) -> Option<usize> {
    page.blocks.iter().position(|block| block.stance == BlockPlacement::Upright)
}

/// Returns the last one.
fn last_block(page: &ExtractedPage) -> Option<usize> {
    page.blocks.iter().rposition(|block| block.stance == BlockPlacement::Upright)
}

fn begins_at(block: &PageBlock) -> f64 {
    block.place.map_or(f64::INFINITY, |place| place.top)
}

impl OpenTable {
    /// Returns the table that ends at the foot of a page.
    fn of(block: &PageBlock, height: f64) -> Option<Self> {
        let place = block.place.filter(|place| place.bottom >= FOOT * height)?;
        if block.kind != BlockKind::Table || block.columns.is_empty() {
            return None;
        }
        let mut rows = markdown::cells(&block.text);
        let len = head_len(&rows, block.has_bold_head);
        let has_text = rows.first().is_some_and(|row| row.iter().any(|cell| !cell.is_empty()));
        let has_head =
            len > 0 && has_text && rows.iter().all(|row| row.len() == block.columns.len());
        rows.truncate(len);
        has_head.then(|| Self { head: rows, columns: block.columns.clone(), size: place.size })
    }

    /// Whether a block is its next part, and has no head.
    fn goes_on_in(&self, block: &PageBlock) -> bool {
        if block.kind != BlockKind::Table || block.columns.is_empty() {
            return false;
        }
        let rows = markdown::cells(&block.text);
        let num_columns = block.columns.len();
        self.places_of(&block.columns).is_some()
            && rows.iter().all(|row| row.len() == num_columns)
            && rows.first().is_some_and(|row| Some(row) != self.head.first())
            && !block.has_bold_head
            && rows.split_first().is_some_and(|(row, below)| !is_head(row, below))
    }

    /// Returns which of its columns those of the next part are; some may have no text there.
    fn places_of(&self, columns: &[[f64; 2]]) -> Option<Vec<usize>> {
        let near = SAME_COLUMN * self.size;
        let mut own = self.columns.iter().enumerate();
        columns
            .iter()
            .map(|column| own.find(|(_, own)| is_same(own, column, near)).map(|(idx, _)| idx))
            .collect()
    }

    /// Returns how many words its head has.
    fn num_words(&self) -> u32 {
        self.head.iter().flatten().map(|cell| count_words(cell)).sum()
    }

    fn add_head_to(&self, block: &mut PageBlock) {
        let Some(places) = self.places_of(&block.columns) else { return };
        let rows = markdown::cells(&block.text).into_iter();
        // Blank cells stand for a head that a table does not have.
        let rows = rows.filter(|row| row.iter().any(|cell| !cell.is_empty())).map(|row| {
            let mut whole = vec![String::new(); self.columns.len()];
            for (place, cell) in places.iter().zip(row) {
                whole[*place] = cell;
            }
            whole
        });
        let rows: Vec<Vec<String>> = self.head.iter().cloned().chain(rows).collect();
        block.text = markdown::table(&rows);
        block.columns.clone_from(&self.columns);
    }
}

/// Returns how many of the first rows of a table are its head: the last one whose cells are of other kinds than those
/// below, and all above it. If no column has numbers, the first row is.
fn head_len(rows: &[Vec<String>], has_bold_head: bool) -> usize {
    let most = rows.len().min(MAX_HEAD + 1).saturating_sub(1);
    let len = (1..=most).rev().find(|len| is_head_end(rows, *len)).unwrap_or(0);
    let body = rows.get(1..).unwrap_or_default();
    let width = rows.first().map_or(0, Vec::len);
    let has_numbers = (0..width).any(|column| has_numbers(body, column));
    if len == 0 && (has_bold_head || !has_numbers) { 1 } else { len }
}

/// Whether the head of a table may be so many rows.
fn is_head_end(rows: &[Vec<String>], len: usize) -> bool {
    let (head, body) = rows.split_at(len);
    head.last().is_some_and(|row| is_head(row, body))
        && head.iter().all(|row| !has_amounts_above(row, body))
}

/// Whether two columns have an end or the middle within `near` of each other.
fn is_same(one: &[f64; 2], other: &[f64; 2], near: f64) -> bool {
    let [middle, other_middle] = [one, other].map(|ends| f64::midpoint(ends[0], ends[1]));
    let pairs = [(one[0], other[0]), (one[1], other[1]), (middle, other_middle)];
    pairs.into_iter().any(|(one, other)| (one - other).abs() <= near)
}

/// Whether a row has a number that is not a year above the numbers of the rows below it.
fn has_amounts_above(row: &[String], below: &[Vec<String>]) -> bool {
    let mut cells = row.iter().enumerate().filter(|(_, cell)| has_amount(cell));
    cells.any(|(column, _)| has_numbers(below, column))
}

/// Whether a row has words or years above the numbers of the rows below it, and nothing else.
fn is_head(row: &[String], below: &[Vec<String>]) -> bool {
    let cells = row.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
    let mut cells = cells.filter(|(column, _)| has_numbers(below, *column));
    cells.next().is_some() && !has_amounts_above(row, below)
}

/// Whether most cells of a column have digits.
fn has_numbers(rows: &[Vec<String>], column: usize) -> bool {
    let cells = rows.iter().filter_map(|row| row.get(column)).filter(|cell| !cell.is_empty());
    let (mut num_cells, mut num_odd) = (0, 0);
    for cell in cells {
        num_cells += 1;
        num_odd += usize::from(!cell.contains(is_digit));
    }
    num_cells >= MIN_ROWS && num_odd * MAX_ODD <= num_cells
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

/// Whether a cell has a number that is not a year.
fn has_amount(cell: &str) -> bool {
    let mut words = cell.split_whitespace().filter(|word| word.contains(is_digit));
    words.any(|word| !is_year(word.trim_matches(|c: char| !is_digit(c))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::BlockPlace;

    const COLUMNS: [[f64; 2]; 3] = [[50.0, 120.0], [150.0, 200.0], [260.0, 300.0]];

    /// Returns a page with a table between two heights.
    fn page(number: u32, rows: &[&str], top: f64, bottom: f64) -> ExtractedPage {
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.split(',').map(str::to_owned).collect()).collect();
        let block = PageBlock {
            columns: COLUMNS.to_vec(),
            place: Some(BlockPlace { top, bottom, size: 10.0, ..BlockPlace::default() }),
            ..PageBlock::new(BlockKind::Table, 0, markdown::table(&rows))
        };
        ExtractedPage { number, height: 800.0, blocks: vec![block], ..ExtractedPage::default() }
    }

    /// Checks the first row of the table on the last page.
    #[track_caller]
    fn check(mut pages: Vec<ExtractedPage>, expected: &str) {
        repeat_heads(&mut pages);
        let last = pages.last().and_then(|page| page.blocks.last()).expect("there is a table");
        let rows = markdown::cells(&last.text);
        assert_eq!(rows.first().map(|row| row.join(",")).as_deref(), Some(expected));
    }

    const FIRST: [&str; 3] = ["Gauge,Tide,Metres", "North,ebb,2.1", "South,ebb,1.9"];

    #[test]
    fn the_head_goes_on_over_pages() {
        let next = ["Pier,ebb,1.1", "Lock,flood,2.9", "Quay,flood,3.0"];
        let first = || page(1, &FIRST, 400.0, 750.0);
        check(vec![first(), page(2, &next, 60.0, 300.0)], "Gauge,Tide,Metres");
        let whole = page(2, &next, 60.0, 760.0);
        check(vec![first(), whole, page(3, &next, 60.0, 300.0)], "Gauge,Tide,Metres");
        // Two rows of a head.
        let head = ["Gauge,,Height", "Name,Tide,Metres", "North,ebb,2.1", "South,ebb,1.9"];
        let mut pages = vec![page(1, &head, 400.0, 750.0), page(2, &next, 60.0, 300.0)];
        repeat_heads(&mut pages);
        assert_eq!(markdown::cells(&pages[1].blocks[0].text)[1], ["Name", "Tide", "Metres"]);
    }

    #[test]
    fn another_table_has_its_own_head() {
        let other = ["Lock,Gate,Width", "Old,east,12", "New,west,14"];
        let next = ["Pier,ebb,1.1", "Lock,flood,2.9", "Quay,flood,3.0"];
        check(vec![page(1, &FIRST, 400.0, 750.0), page(2, &other, 60.0, 300.0)], other[0]);
        // Not at the foot, not at the top, and in other columns.
        check(vec![page(1, &FIRST, 100.0, 300.0), page(2, &next, 60.0, 300.0)], next[0]);
        check(vec![page(1, &FIRST, 400.0, 750.0), page(2, &next, 400.0, 500.0)], next[0]);
        let mut moved = page(2, &next, 60.0, 300.0);
        moved.blocks[0].columns[1] = [170.0, 240.0];
        check(vec![page(1, &FIRST, 400.0, 750.0), moved], next[0]);
        // The first part has no head.
        let rows = ["West,ebb,1.4", "North,ebb,2.1", "South,ebb,1.9"];
        check(vec![page(1, &rows, 400.0, 750.0), page(2, &next, 60.0, 300.0)], next[0]);
    }

    #[test]
    fn a_column_without_text_stays_empty() {
        let mut next = page(2, &["Pier,1.1", "Lock,2.9", "Quay,3.0"], 60.0, 300.0);
        next.blocks[0].columns.remove(1);
        let mut pages = vec![page(1, &FIRST, 400.0, 750.0), next];
        repeat_heads(&mut pages);
        let rows = markdown::cells(&pages[1].blocks[0].text);
        assert_eq!(rows[..2], [["Gauge", "Tide", "Metres"], ["Pier", "", "1.1"]]);
    }
}
