//! Lists why a file could not be turned into text.

/// Why a file could not be turned into text, one variant per remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum Failure {
    /// It can only be opened with a password.
    #[error("a password is needed to open it")]
    PasswordNeeded,
    /// It uses an unknown cipher or security handler.
    #[error("its encryption is not supported")]
    EncryptionNotSupported,
    /// Its bytes contradict its extension or the given type.
    #[error("its content does not match its name or type")]
    WrongFormat,
    /// It is damaged and could not be repaired.
    #[error("it is damaged")]
    Damaged,
    /// A paged document without pages.
    #[error("it has no pages")]
    NoPages,
    /// A picture into which no line of print fits, such as an icon.
    #[error("no line of print fits into it")]
    TooSmall,
    /// The reader process crashed; nothing else is affected.
    #[error("the reader crashed on it")]
    Crashed,
    /// The reader reached its memory limit.
    #[error("reading it takes more memory than allowed")]
    OutOfMemory,
    /// The reader reached its time limit.
    #[error("reading it takes longer than allowed")]
    TimedOut,
    /// Binary data, or an unknown encoding.
    #[error("it is not text")]
    NotText,
}

impl Failure {
    /// Returns the stable word for JSON and logs.
    pub fn code(self) -> &'static str {
        match self {
            Self::PasswordNeeded => "password_needed",
            Self::EncryptionNotSupported => "encryption_not_supported",
            Self::WrongFormat => "wrong_format",
            Self::Damaged => "damaged",
            Self::NoPages => "no_pages",
            Self::TooSmall => "too_small",
            Self::Crashed => "crashed",
            Self::OutOfMemory => "out_of_memory",
            Self::TimedOut => "timed_out",
            Self::NotText => "not_text",
        }
    }
}
