//! Knows which columns of a table cells begin in: the others are only the width of what spans them.

use std::ops::Range;

use super::placed::{PlacedCell, PlacedRow};

/// The columns of a table in which cells begin; the places of a row of text.
#[derive(Debug, Default)]
pub(super) struct GridColumns {
    /// For each column the number of used ones before it, and at the end that of all.
    places: Vec<usize>,
    /// By place, whether a cell with text begins there.
    has_text: Vec<bool>,
    has_spans: bool,
}

impl GridColumns {
    pub(super) fn of(rows: &[PlacedRow]) -> Self {
        let cells = || rows.iter().flat_map(|row| &row.cells);
        let num_columns = cells().map(|cell| cell.column + 1).max().unwrap_or(0);
        let (mut is_used, mut has_text) = (vec![false; num_columns], vec![false; num_columns]);
        let mut has_spans = false;
        for cell in cells() {
            is_used[cell.column] = true;
            has_text[cell.column] |= !cell.text.is_empty();
            has_spans |= cell.span.rows > 1 || cell.span.columns > 1;
        }
        let mut places = Vec::with_capacity(num_columns + 1);
        let mut num_used = 0;
        for is_used in &is_used {
            places.push(num_used);
            num_used += usize::from(*is_used);
        }
        places.push(num_used);
        let mut used = is_used.iter();
        has_text.retain(|_| used.next().is_some_and(|is_used| *is_used));
        Self { places, has_text, has_spans }
    }

    pub(super) fn len(&self) -> usize {
        self.has_text.len()
    }

    /// Whether a cell may take more than one place.
    pub(super) fn has_spans(&self) -> bool {
        self.has_spans
    }

    /// Whether a cell with text begins at a place.
    pub(super) fn has_text(&self, place: usize) -> bool {
        self.has_text[place]
    }

    /// Returns the places that a cell takes; at least one.
    pub(super) fn taken(&self, cell: &PlacedCell) -> Range<usize> {
        let end = (cell.column + cell.span.columns).min(self.places.len() - 1);
        let start = self.places[cell.column];
        start..self.places[end].max(start + 1)
    }

    /// Whether a cell is as wide as the table.
    pub(super) fn is_whole(&self, cell: &PlacedCell) -> bool {
        self.len() > 1 && self.taken(cell).len() == self.len()
    }

    /// Returns by place whether a head with text begins there.
    pub(super) fn heads(&self, rows: &[PlacedRow]) -> Vec<bool> {
        let mut has_head = vec![false; self.len()];
        for cell in rows.iter().flat_map(PlacedRow::filled) {
            has_head[self.taken(cell).start] = true;
        }
        has_head
    }

    /// Removes the places in which only merged cells have text; a table without these keeps all.
    pub(super) fn drop_unused(&self, rows: &mut [Vec<String>]) {
        if !self.has_spans || self.has_text.iter().all(|has_text| *has_text) {
            return;
        }
        for row in rows {
            let mut has_text = self.has_text.iter();
            row.retain(|_| has_text.next().is_some_and(|has_text| *has_text));
        }
    }
}
