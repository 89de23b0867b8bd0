//! Holds what several stages borrow: what may be printed, and the one serialiser of JSON.

pub mod decode;
pub mod fold;
pub mod headings;
pub mod json;
pub mod number;
pub mod paths;
pub mod printable;
pub mod scripts;
pub mod shingles;
pub mod similar;
pub mod stem;
