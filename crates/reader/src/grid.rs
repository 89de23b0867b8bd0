//! Puts each cell of a table below its head and next to its label, whatever cells are merged.
//!
//! Readers give cells with their spans (`placed`). `fill` writes a merged label into each of its rows and a merged head
//! into each of its columns, so that every row says by itself what it is about; `shape` and `head` find the rows of the
//! head, `kind` tells what cells are, and `columns` which columns there are.

mod columns;
mod fill;
pub(crate) mod head;
mod kind;
mod placed;
mod shape;

pub(crate) use fill::{CopyBudget, FilledTable};
pub(crate) use placed::{CellSpan, TableGrid};
