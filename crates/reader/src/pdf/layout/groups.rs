//! Groups objects that belong together: rules that meet, and fields of a lattice that no rule separates.

use crate::grid::CellSpan;

/// Groups of indices; the first of a group is its root.
pub(super) struct DisjointSets(Vec<usize>);

impl DisjointSets {
    pub(super) fn new(len: usize) -> Self {
        Self((0..len).collect())
    }

    pub(super) fn root(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    /// Returns how many rows and columns of a lattice each group of fields takes, for its root; `None` for its other fields.
    /// In a group that is not a rectangle, each field takes only itself.
    pub(super) fn spans(&mut self, num_columns: usize) -> Vec<Option<CellSpan>> {
        let len = self.0.len();
        let mut found: Vec<(usize, CellSpan)> = vec![(0, CellSpan::default()); len];
        for field in 0..len {
            let root = self.root(field);
            let (count, span) = &mut found[root];
            *count += 1;
            span.rows = span.rows.max(field / num_columns - root / num_columns + 1);
            let column = (field % num_columns).saturating_sub(root % num_columns);
            span.columns = span.columns.max(column + 1);
        }
        let mut spans = Vec::with_capacity(len);
        for field in 0..len {
            let root = self.root(field);
            let (count, span) = found[root];
            let is_rectangle = count == span.rows * span.columns;
            spans.push(if is_rectangle {
                (root == field).then_some(span)
            } else {
                Some(CellSpan::default())
            });
        }
        spans
    }

    pub(super) fn merge(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}
