//! Names what the screen reacts to.

use crossterm::event::KeyEvent;

use crate::cli::find::worker::Reply;

/// What the screen reacts to.
#[derive(Debug)]
pub(super) enum Input {
    Key(KeyEvent),
    Paste(String),
    Resized,
    Reply(Reply),
    /// The terminal cannot be read any more.
    Lost(std::io::Error),
}

impl From<Reply> for Input {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}
