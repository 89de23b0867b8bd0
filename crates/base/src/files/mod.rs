//! Opens and creates files. All use of the file system is in this module.
//!
//! [`open`] reads paths that come from a user, a database or a folder, and trusts none of them.
//! [`mod@write`] creates a file next to another, and [`tree`] a folder, so that a reader sees
//! either the old content or the new content. [`private`] sets who may read what kb creates.
//! [`access`] reports what may be written. [`folder`] manages kb's folders, [`program`] knows the
//! running program, [`live`] says what a process is doing, and [`stamp`] shows whether a file has changed.

pub use std::fs::{File, Metadata};

pub mod access;
pub mod folder;
pub mod live;
pub mod open;
pub mod path;
pub mod private;
pub mod processes;
pub mod program;
pub mod reach;
pub mod scratch;
pub mod stamp;
pub mod tree;
pub mod watch;
pub mod write;

#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod testing;
