//! Maintains a knowledge base: sets it up, checks it, copies it, and removes documents from it.

pub mod allow;
pub mod backup;
pub mod cache;
pub mod doctor;
mod export;
pub mod init;
mod keep_away;
pub mod losses;
pub mod models;
pub mod remove;
pub mod status;
pub mod tag;
pub mod transfer;
