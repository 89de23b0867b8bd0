//! Names what a walk leaves out, and by which rule.

use std::path::PathBuf;

/// A file that is left out, or a folder that is not entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its path as reached.
    pub path: PathBuf,
    /// Why it is left out.
    pub rule: Rule,
    /// Its size in bytes and the time of its last change in nanoseconds since 1970; `None` for a
    /// folder.
    pub stamp: Option<(u64, i64)>,
}

/// Why a file or a folder is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// No format claims it.
    Type,
    /// It has no text.
    Empty,
    /// It is a picture into which no line of print fits.
    Small,
    /// It is over the size limit, and no format claims it.
    Size,
    /// A program generated or fetched it.
    Generated,
    /// Its name begins with a dot.
    Hidden,
    /// A `.gitignore`, or the rules of a repository that are not committed.
    Gitignore,
    /// A `.kbignore`.
    Kbignore,
    /// It is a link that is not followed, or one to a folder that contains it.
    Link,
    /// It is a pipe, a device or a socket.
    Special,
}

impl Rule {
    /// Returns the word used in the database and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Empty => "empty",
            Self::Small => "small",
            Self::Size => "size",
            Self::Generated => "generated",
            Self::Hidden => "hidden",
            Self::Gitignore => "gitignore",
            Self::Kbignore => "kbignore",
            Self::Link => "link",
            Self::Special => "special",
        }
    }
}
