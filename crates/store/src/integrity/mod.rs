//! Compares redundant data in the database and repairs one copy from the other.

pub(crate) mod examine;
pub(crate) mod examine_vectors;
pub(crate) mod finding;
pub(crate) mod repair;
pub(crate) mod repair_vectors;
mod values;
