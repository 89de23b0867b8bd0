//! Presents results as text for people: one file per command, and what several of them share.

pub(in crate::present) mod blocks;
mod cache;
mod doctor;
mod eval;
pub(in crate::present) mod hits;
pub mod human;
pub(in crate::present) mod inventory;
pub mod page;
pub mod passage;
pub mod quote;
pub mod read;
pub mod skill;
mod update;
pub(in crate::present) mod why;
