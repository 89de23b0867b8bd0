//! Puts each cell of a table below its head and next to its label, whatever cells are merged.
//!
//! Readers give cells with their spans (`placed`). `fill` writes a merged label into each of its rows and a merged head
//! into each of its columns, so that every row can be understood without the others. `shape` and `head` find the rows
//! of the head, `kind` recognises the kinds of cells, and `columns` finds the columns.

mod columns;
mod fill;
pub(crate) mod head;
mod kind;
mod placed;
mod shape;

pub(crate) use fill::{CopyBudget, FilledTable};
pub(crate) use placed::{CellSpan, TableGrid};
