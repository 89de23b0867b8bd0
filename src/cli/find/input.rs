//! Names what the screen reacts to.

use crossterm::event::KeyEvent;

use crate::cli::find::worker::Told;

/// What the screen reacts to.
#[derive(Debug)]
pub(super) enum Input {
    Key(KeyEvent),
    Paste(String),
    Resized,
    Told(Told),
    /// The terminal cannot be read any more.
    Lost(std::io::Error),
}

impl From<Told> for Input {
    fn from(told: Told) -> Self {
        Self::Told(told)
    }
}
