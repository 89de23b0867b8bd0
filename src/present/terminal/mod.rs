//! Writes for a terminal: colours, columns, tables, links, quoted names, and the sheet that cleans all of it.

pub mod columns;
pub(in crate::present) mod link;
pub(in crate::present) mod paint;
pub mod sheet;
pub mod shell;
pub(in crate::present) mod table;
