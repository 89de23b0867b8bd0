//! Defines what a server may ask of the program that it is part of.

use crate::Resources;

/// The resources, and the choice of what depends on where the client works.
pub trait Host: Resources {
    /// Works where the client works: in the first of these addresses that is a folder.
    fn enter(&self, roots: &[String]);

    /// Returns the beginning of the names of tools that are of no use now, and so are not listed. They can be
    /// called nevertheless.
    fn useless_tools(&self) -> Option<&'static str>;
}
