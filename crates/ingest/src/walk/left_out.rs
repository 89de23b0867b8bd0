//! Names what a walk leaves out, and by which rule.

use std::path::PathBuf;

use crate::files::stamp::Stamp;
use crate::text::fields;

/// A file that is left out, or a folder that is not entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its path as reached.
    pub path: PathBuf,
    /// Why it is left out.
    pub rule: LeftOutReason,
    /// Its size in bytes and the time of its last change in nanoseconds since 1970; `None` for a
    /// folder.
    pub stamp: Option<Stamp>,
}

fields::words! {
    /// Why a file or a folder is left out.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum LeftOutReason {
        /// No format claims it.
        Type = "type",
        /// It has no text.
        Empty = "empty",
        /// It is a picture into which no line of print fits.
        Small = "small",
        /// It is over the size limit, and no format claims it.
        Size = "size",
        /// A program generated or fetched it.
        Generated = "generated",
        /// Its name begins with a dot.
        Hidden = "hidden",
        /// A `.gitignore`, or the rules of a repository that are not committed.
        Gitignore = "gitignore",
        /// A `.kbignore`.
        Kbignore = "kbignore",
        /// It is a link that is not followed, or one to a folder that contains it.
        Link = "link",
        /// It is a pipe, a device or a socket.
        Special = "special",
    }
}
