//! Formats output for terminals: colours, columns, tables, links, and cleaning.

pub mod columns;
pub mod paint;
pub mod sheet;
pub(crate) mod table;
