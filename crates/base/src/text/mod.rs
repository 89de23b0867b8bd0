//! Provides text functions to several stages, including cleaning for terminals and the only JSON
//! serialiser.

pub mod command;
pub mod conflicts;
pub mod contents;
pub mod decode;
pub mod emoji;
pub mod exact;
pub mod fields;
pub mod fold;
pub mod forms;
pub mod headings;
pub mod joined_numbers;
pub mod json;
pub mod language;
pub mod line_kinds;
pub mod links;
pub mod markdown;
pub mod names;
pub mod near;
pub mod number;
pub mod paths;
pub mod printable;
pub mod scripts;
pub mod sentences;
pub mod shell;
pub mod similar;
pub mod stem;
pub mod tokens;
