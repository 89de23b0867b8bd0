//! Colours output by its meaning. This is the only table of colours.

/// The meaning of a piece of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// No particular meaning.
    Plain,
    /// The name of a document.
    Title,
    /// A matched word of the query.
    Match,
    /// Less important text.
    Faint,
    /// The head of a table.
    Head,
    /// A position in a document.
    Place,
    /// The path of a file.
    Path,
    /// A tag.
    Tag,
    /// A good state.
    Good,
    /// A possible problem.
    Warning,
    /// A problem.
    Bad,
}

impl Meaning {
    /// Returns [`Self::Warning`] unless `is_well`.
    pub(crate) fn of(is_well: bool) -> Self {
        if is_well { Self::Plain } else { Self::Warning }
    }

    /// Returns the parameters of the escape sequence. Only the terminal's sixteen colours are used, because
    /// users choose those to be readable. A match is bold red, as grep has it: bold yellow was hardly readable on white.
    pub fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Title => "1",
            Self::Match | Self::Bad => "1;31",
            Self::Faint => "2",
            Self::Head => "1;4",
            Self::Place => "32",
            Self::Path => "36",
            Self::Tag => "35",
            Self::Good => "32",
            Self::Warning => "33",
        }
    }
}
