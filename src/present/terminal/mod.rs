//! Formats output for terminals: colours, columns, tables, links, quoted names, and cleaning.

pub mod columns;
pub mod paint;
pub mod sheet;
pub mod shell;
pub(crate) mod table;
