//! Lists why a file could not be turned into text.

use crate::text::fields;

fields::words! {
    /// Why a file could not be turned into text, one variant per remedy, with the stable word for JSON and logs. The
    /// most informative is first: if several readers fail, it is the one that is reported.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
    pub enum FailureKind {
        /// It can only be opened with a password.
        #[error("a password is needed to open it")]
        PasswordNeeded = "password_needed",
        /// It uses an unknown cipher or security handler.
        #[error("its encryption is not supported")]
        EncryptionNotSupported = "encryption_not_supported",
        /// Its bytes contradict its extension or the given type.
        #[error("its content does not match its name or type")]
        WrongFormat = "wrong_format",
        /// Binary data, or an unknown encoding.
        #[error("it is not text")]
        NotText = "not_text",
        /// A paged document without pages.
        #[error("it has no pages")]
        NoPages = "no_pages",
        /// A picture into which no line of print fits, such as an icon.
        #[error("it is too small for a line of print")]
        TooSmall = "too_small",
        /// It has text, and none of it was read: it is hidden, repeated on all pages, or in parts that no reader opens.
        #[error("none of its text was read")]
        Unread = "unread",
        /// It has more of something than kb reads.
        #[error("it exceeds the limits of kb")]
        TooLarge = "too_large",
        /// The reader reached its memory limit.
        #[error("reading it takes more memory than allowed")]
        OutOfMemory = "out_of_memory",
        /// The reader reached its time limit.
        #[error("reading it takes longer than allowed")]
        TimedOut = "timed_out",
        /// It is damaged and could not be repaired.
        #[error("it is damaged")]
        Damaged = "damaged",
        /// The reader process crashed; nothing else is affected.
        #[error("the reader crashed on it")]
        Crashed = "crashed",
    }
}
