//! Compares redundant data in the database and repairs one copy from the other.

mod check;
pub(in crate::store) mod examine;
pub(in crate::store) mod examine_vectors;
pub(in crate::store) mod finding;
pub(in crate::store) mod repair;
pub(in crate::store) mod repair_vectors;
