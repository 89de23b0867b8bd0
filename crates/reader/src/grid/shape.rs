//! Finds the roles of the rows at the beginning of a table: captions, labels with their values,
//! heads.

use super::columns::GridColumns;
use super::head::{self, MAX_HEAD, RowKinds, SAMPLE_ROWS, TableShape};
use super::placed::PlacedRow;

/// Returns how many rows at the beginning of a table have nothing but a cell as wide as it.
pub(super) fn num_captions(rows: &[PlacedRow], columns: &GridColumns) -> usize {
    let num_rows = rows.iter().take_while(|row| is_caption(row, columns)).count();
    if num_rows == rows.len() { 0 } else { num_rows }
}

fn is_caption(row: &PlacedRow, columns: &GridColumns) -> bool {
    let mut filled = row.filled();
    filled.next().is_none_or(|cell| columns.is_whole(cell)) && filled.next().is_none()
}

/// Returns the roles of the rows at the beginning of a table: first by the declarations of the
/// file.
pub(super) fn shape(rows: &[PlacedRow], columns: &GridColumns) -> TableShape {
    let num_declared = rows.iter().take_while(|row| is_declared(row, columns)).count();
    let mut shape = match num_declared {
        0 if has_row_heads(rows) => return TableShape { num_preamble: 0, num_head: 0 },
        0 => found(rows, columns),
        num_head if num_head > MAX_HEAD || num_head == rows.len() => {
            TableShape { num_preamble: 0, num_head: 1 }
        }
        num_head => TableShape { num_preamble: 0, num_head },
    };
    if shape.num_head > 0 && columns.has_spans() {
        let rows = &rows[shape.num_preamble..];
        shape.num_head = with_merged(rows, shape.num_head, num_declared > 0, columns);
    }
    shape
}

/// Returns what rows are by what their cells are. Merged heads above others are no labels with values.
fn found(rows: &[PlacedRow], columns: &GridColumns) -> TableShape {
    let shape = head::find(&kinds(rows, columns));
    let mut above = rows[..shape.num_preamble].iter().flat_map(PlacedRow::filled);
    let has_merged = above.any(|cell| columns.taken(cell).len() > 1 && !columns.is_whole(cell));
    if has_merged { TableShape { num_preamble: 0, num_head: 1 } } else { shape }
}

/// Whether the file declares a row a head, as a whole or by all of its cells.
fn is_declared(row: &PlacedRow, columns: &GridColumns) -> bool {
    let mut filled = row.filled();
    let num_places: usize = filled.clone().map(|cell| columns.taken(cell).len()).sum();
    row.is_head || (num_places > 1 && filled.all(|cell| cell.is_head))
}

/// Whether the file declares the first cells of rows the heads of these.
fn has_row_heads(rows: &[PlacedRow]) -> bool {
    rows.len() > 1 && rows.iter().take(2).all(begins_with_head)
}

/// Whether the file declares the first cell of a row its head, and not all others too.
fn begins_with_head(row: &PlacedRow) -> bool {
    row.cells.first().is_some_and(|cell| cell.is_head)
        && row.cells.iter().skip(1).any(|cell| !cell.is_head)
}

/// Returns the rows of a head with those that its merged cells reach into.
fn with_merged(
    rows: &[PlacedRow],
    num_head: usize,
    is_declared: bool,
    columns: &GridColumns,
) -> usize {
    let most = MAX_HEAD.min(rows.len().saturating_sub(1));
    let head = &rows[..num_head];
    let ends = head
        .iter()
        .enumerate()
        .flat_map(|(number, row)| row.cells.iter().map(move |cell| number + cell.span.rows));
    let reached = ends.max().unwrap_or(0).min(most).max(num_head);
    let has_group = head.iter().any(|row| has_group(row, columns));
    let has_value =
        |number: usize| rows.get(number).is_some_and(|row| of_row(row, columns).has_value());
    match () {
        () if has_group && reached > num_head => reached,
        () if is_declared => num_head,
        // Heads below a merged one may be years.
        () if has_group
            && num_head == 1
            && most > 1
            && (has_value(2) || is_only_below_groups(rows, columns))
            && of_row(&rows[1], columns).is_below_group() =>
        {
            2
        }
        // A cell next to several rows of words above the first values.
        () if reached > num_head
            && (1..reached).all(|number| !has_value(number))
            && has_value(reached) =>
        {
            reached
        }
        // A label next to rows of data.
        () if reached > num_head && has_value(num_head) => 0,
        () => num_head,
    }
}

/// Whether a row has a cell that is merged over several columns, but not over all.
fn has_group(row: &PlacedRow, columns: &GridColumns) -> bool {
    let mut cells = row.cells.iter().filter(|cell| !columns.is_whole(cell));
    cells.any(|cell| columns.taken(cell).len() > 1)
}

/// Whether the second row has text only below merged cells of the first, which also has others.
fn is_only_below_groups(rows: &[PlacedRow], columns: &GridColumns) -> bool {
    let [first, second, ..] = rows else { return false };
    let (groups, others): (Vec<_>, Vec<_>) =
        first.filled().map(|cell| columns.taken(cell)).partition(|places| places.len() > 1);
    !others.is_empty()
        && second.filled().all(|cell| {
            let place = columns.taken(cell).start;
            groups.iter().any(|places| places.contains(&place))
        })
}

fn kinds(rows: &[PlacedRow], columns: &GridColumns) -> Vec<RowKinds> {
    rows.iter().take(SAMPLE_ROWS).map(|row| of_row(row, columns)).collect()
}

fn of_row(row: &PlacedRow, columns: &GridColumns) -> RowKinds {
    RowKinds::of(
        row.cells.iter().map(|cell| (columns.taken(cell).start, &*cell.text, cell.is_value)),
    )
}
