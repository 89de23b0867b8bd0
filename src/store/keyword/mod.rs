//! Stores and reads the keyword index: terms, occurrences, sizes, pairs of letters.

pub(in crate::store) mod expr;
pub(in crate::store) mod fts;
pub(in crate::store) mod grams;
pub(in crate::store) mod layout;
pub(in crate::store) mod lookup;
pub(in crate::store) mod occurrence;
mod postings;
pub(in crate::store) mod separators;
pub(in crate::store) mod sizes;
pub(in crate::store) mod splitter;
