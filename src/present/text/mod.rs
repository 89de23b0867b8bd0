//! Writes results as text for people: files for one command or a group of them, and shared helpers.

mod backups;
mod blocks;
pub mod compact;
pub mod convert;
mod documents;
mod files;
pub(crate) mod grep;
pub mod grep_part;
pub mod human;
pub(crate) mod manage;
pub mod page;
pub mod passage;
pub mod quote;
pub mod read;
mod runs;
pub mod search;
pub mod skill;
pub mod stale;
mod status;
#[cfg(test)]
mod tests;
pub(crate) mod why;
