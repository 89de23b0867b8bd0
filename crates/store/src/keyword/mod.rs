//! Stores and reads the keyword indexes: words, pairs of characters and stems, exact terms, names of
//! documents, and the sizes of passages.

pub(crate) mod derived;
pub(crate) mod expr;
pub(crate) mod forms;
pub(crate) mod fts;
pub(crate) mod grams;
pub(crate) mod layout;
pub(crate) mod lookup;
pub(crate) mod names;
pub(crate) mod occurrence;
mod postings;
pub(crate) mod separators;
pub(crate) mod sizes;
pub(crate) mod splitter;
pub(crate) mod words;
