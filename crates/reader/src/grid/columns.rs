//! Knows in which columns of a table cells begin; the others only widen cells that span several.

use std::ops::Range;

use super::placed::{PlacedCell, PlacedRow};
use crate::document::{WordAccount, WordDestination};

/// The columns of a table in which cells begin; the places of a row of text.
#[derive(Debug, Default)]
pub(super) struct GridColumns {
    /// For each column the number of used ones before it, and at the end that of all.
    places: Vec<usize>,
    /// By place, whether it has its own text: that of a cell which takes no other place, or of a merged cell which
    /// takes none with such text. The others are white space in a wider column.
    has_text: Vec<bool>,
    has_spans: bool,
}

impl GridColumns {
    pub(super) fn of(rows: &[PlacedRow]) -> Self {
        let cells = || rows.iter().flat_map(|row| &row.cells);
        let num_columns = cells().map(|cell| cell.column + 1).max().unwrap_or(0);
        let mut is_used = vec![false; num_columns];
        let mut has_spans = false;
        for cell in cells() {
            is_used[cell.column] = true;
            has_spans |= cell.span.rows > 1 || cell.span.columns > 1;
        }
        let mut places = Vec::with_capacity(num_columns + 1);
        let mut num_used = 0;
        for is_used in &is_used {
            places.push(num_used);
            num_used += usize::from(*is_used);
        }
        places.push(num_used);
        let mut columns = Self { places, has_text: vec![false; num_used], has_spans };
        for is_merged in [false, true] {
            for cell in cells().filter(|cell| !cell.text.is_empty()) {
                let taken = columns.taken(cell);
                if (taken.len() > 1) == is_merged
                    && !columns.has_text[taken.clone()].contains(&true)
                {
                    columns.has_text[taken.start] = true;
                }
            }
        }
        columns
    }

    /// Leaves out the cells that begin after the first places.
    pub(super) fn narrow(
        &mut self,
        rows: &mut [PlacedRow],
        num_places: usize,
        left_out: &mut WordAccount,
    ) {
        for row in &mut *rows {
            row.cells.retain(|cell| {
                let is_kept = self.places[cell.column] < num_places;
                if !is_kept {
                    left_out.add(WordDestination::TooLong, &cell.text);
                }
                is_kept
            });
        }
        *self = Self::of(rows);
    }

    pub(super) fn len(&self) -> usize {
        self.has_text.len()
    }

    /// Whether a cell may take more than one place.
    pub(super) fn has_spans(&self) -> bool {
        self.has_spans
    }

    /// Whether a place has its own text.
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
            let taken = self.taken(cell);
            let own = taken.clone().find(|place| self.has_text[*place]);
            has_head[own.unwrap_or(taken.start)] = true;
        }
        has_head
    }

    /// Returns which columns begin the places that [`Self::drop_unused`] keeps: of each the first one, or the first of those
    /// before it whose text moves there.
    pub(super) fn kept(&self) -> Vec<usize> {
        let mut kept = Vec::new();
        let mut moved = None;
        for place in 0..self.len() {
            let begin = moved
                .take()
                .unwrap_or_else(|| self.places.partition_point(|before| *before <= place) - 1);
            if self.has_text[place] || !self.drops() {
                kept.push(begin);
            } else {
                moved = Some(begin);
            }
        }
        kept
    }

    /// Whether places are removed.
    fn drops(&self) -> bool {
        self.has_spans && self.has_text.contains(&false)
    }

    /// Removes the places without their own text; what a merged cell has there moves to its next place. A table without
    /// merged cells keeps all.
    pub(super) fn drop_unused(&self, rows: &mut [Vec<String>]) {
        if !self.drops() {
            return;
        }
        for row in rows {
            let mut moved = String::new();
            for (text, has_text) in row.iter_mut().zip(&self.has_text) {
                if !has_text && !text.is_empty() {
                    moved = std::mem::take(text);
                } else if *has_text {
                    let moved = std::mem::take(&mut moved);
                    if text.is_empty() {
                        *text = moved;
                    }
                }
            }
            let mut has_text = self.has_text.iter();
            row.retain(|_| has_text.next().is_some_and(|has_text| *has_text));
        }
    }
}
