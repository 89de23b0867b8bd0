//! Opens files and makes them: the one place in kb that uses the file system.
//!
//! [`open`] reads what a user, a database or a folder names and trusts none of it. [`write`] makes a
//! file next to another, so that a reader sees the old content or the new one and nothing between.

pub mod open;
pub mod write;
