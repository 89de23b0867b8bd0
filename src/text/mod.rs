//! Holds what several stages borrow: what may be printed, and the one serialiser of JSON.

pub mod json;
pub mod printable;
