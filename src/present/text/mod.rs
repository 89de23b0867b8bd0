//! Writes results as text for people: one file per command, and shared helpers.

pub(in crate::present) mod bases;
mod blocks;
mod cache;
pub(in crate::present) mod clients;
pub mod compact;
pub mod convert;
mod doctor;
mod documents;
mod eval;
mod files;
pub(in crate::present) mod grep;
pub mod human;
mod models;
pub mod page;
pub mod passage;
mod push;
pub mod quote;
pub mod read;
mod relocate;
mod remarks;
mod runs;
pub mod search;
pub mod skill;
pub mod stale;
mod status;
#[cfg(test)]
mod tests;
mod update;
pub(in crate::present) mod why;
