//! Paints what is printed by what it means: the one table of colours.

use std::io;

use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;

/// What a piece of output means to its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::present) enum Meaning {
    /// Nothing in particular.
    Plain,
    /// The name of a document.
    Title,
    /// A word that was asked for.
    Match,
    /// What the eye may skip.
    Faint,
    /// The head of a table.
    Head,
    /// Where in a document something stands.
    Place,
    /// The path of a file.
    Path,
    /// What the user calls documents.
    Tag,
    /// As it should be.
    Good,
    /// To be looked into.
    Warning,
    /// Wrong.
    Bad,
}

impl Meaning {
    /// Returns a warning for what is not as it should be.
    pub(in crate::present) fn of(is_well: bool) -> Self {
        if is_well { Self::Plain } else { Self::Warning }
    }

    /// Returns the parameters of the escape sequence: the terminal's own sixteen colours, which its
    /// user has chosen to be readable.
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Title => "1",
            Self::Match => "1;33",
            Self::Faint => "2",
            Self::Head => "1;4",
            Self::Place => "32",
            Self::Path => "36",
            Self::Tag => "35",
            Self::Good => "32",
            Self::Warning => "33",
            Self::Bad => "1;31",
        }
    }
}

impl Human {
    /// Writes text in the colour of its meaning.
    pub(in crate::present) fn paint(
        &self,
        meaning: Meaning,
        text: &str,
        out: &mut Sheet<'_>,
    ) -> io::Result<()> {
        let code = meaning.code();
        if !self.is_coloured || code.is_empty() || text.is_empty() {
            return out.text(text);
        }
        out.styled(code, text)
    }
}
