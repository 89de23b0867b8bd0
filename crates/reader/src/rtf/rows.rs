//! Places the cells of tables: by the right edges that each row states for its cells.

use crate::grid::{CellSpan, TableGrid};

/// Edges that are nearer than this are the same, in twentieths of a point: programs round them differently.
const SAME_EDGE: i32 = 40;

/// The properties of a cell that its row states.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StatedCell {
    /// Its right edge.
    edge: i32,
    /// Whether it is merged with the cell above it, or with the one on its left.
    is_merged_above: bool,
    is_merged_left: bool,
}

/// The rows of a table.
#[derive(Debug, Default)]
pub(super) struct RtfRows {
    rows: Vec<RtfRow>,
    /// The cells that the open row states.
    stated: Vec<StatedCell>,
    open: StatedCell,
    is_head: bool,
}

#[derive(Debug)]
struct RtfRow {
    cells: Vec<String>,
    stated: Vec<StatedCell>,
    is_head: bool,
}

impl RtfRows {
    /// Reads a control word that states something of a row or a cell.
    pub(super) fn on(&mut self, word: &str, number: Option<i32>) {
        match word {
            "trowd" => {
                self.stated.clear();
                self.open = StatedCell::default();
                self.is_head = false;
            }
            "trhdr" => self.is_head = true,
            "clvmrg" => self.open.is_merged_above = true,
            "clmrg" => self.open.is_merged_left = true,
            "cellx" => {
                self.open.edge = number.unwrap_or(0);
                self.stated.push(std::mem::take(&mut self.open));
            }
            _ => {}
        }
    }

    pub(super) fn push(&mut self, cells: Vec<String>) {
        let stated =
            if cells.len() == self.stated.len() { self.stated.clone() } else { Vec::new() };
        self.rows.push(RtfRow { cells, stated, is_head: self.is_head });
    }

    /// Ends the table, if one is open.
    pub(super) fn take(&mut self) -> Option<TableGrid> {
        let rows = std::mem::take(&mut self.rows);
        let mut edges: Vec<i32> =
            rows.iter().flat_map(|row| &row.stated).map(|cell| cell.edge).collect();
        edges.sort_unstable();
        edges.dedup_by(|edge, before| edge.saturating_sub(*before) < SAME_EDGE);
        let mut grid = TableGrid::default();
        for row in &rows {
            grid.begin_row();
            if row.is_head {
                grid.declare_head();
            }
            place(row, &edges, &mut grid);
        }
        (!rows.is_empty()).then_some(grid)
    }
}

/// Places the cells of a row; one that says nothing of them has one in each column.
fn place(row: &RtfRow, edges: &[i32], grid: &mut TableGrid) {
    // By cell, the right edge of the last one that is merged with it.
    let mut merged_edges: Vec<i32> = row.stated.iter().map(|cell| cell.edge).collect();
    for idx in (1..row.stated.len()).rev().filter(|idx| row.stated[*idx].is_merged_left) {
        merged_edges[idx - 1] = merged_edges[idx];
    }
    let mut column = 0;
    for (idx, text) in row.cells.iter().enumerate() {
        let Some(cell) = row.stated.get(idx) else {
            grid.cell(text.clone(), CellSpan::default());
            continue;
        };
        let end = edges.partition_point(|edge| *edge <= cell.edge).max(column + 1);
        let columns = end - column;
        column = end;
        match cell {
            StatedCell { is_merged_above: true, .. } => grid.continue_above(text.clone(), columns),
            StatedCell { is_merged_left: true, .. } if text.trim().is_empty() => grid.skip(columns),
            _ => {
                let end = edges.partition_point(|edge| *edge <= merged_edges[idx]).max(end);
                let columns = columns + (end - column);
                grid.cell(text.clone(), CellSpan { columns, ..CellSpan::default() });
            }
        }
    }
}
