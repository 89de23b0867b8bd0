//! Defines a line that a use case reports: its level, the knowledge base that it is about, and its text.

use crate::wording::Wording;

/// The kind of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageLevel {
    /// An action that was done or is being done, such as "Ready".
    Info,
    /// A fact worth knowing about an answer or a result.
    Note,
    /// A possible problem; the use case continues.
    Warning,
    /// A file or line that could not be read.
    Failure,
    /// A detail, such as the model in use, for verbose output.
    Detail,
}

impl MessageLevel {
    /// Whether an answer that has notes has the lines of this level too: every face says the same.
    pub const fn is_of_answers(self) -> bool {
        matches!(self, Self::Info | Self::Note | Self::Warning)
    }

    /// Returns the beginning of a line of this level, for places where nothing else shows the level.
    const fn label(self) -> &'static str {
        match self {
            Self::Info | Self::Detail => "",
            Self::Note => "note: ",
            Self::Warning => "warning: ",
            Self::Failure => "failed: ",
        }
    }
}

/// A line of a use case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppMessage<'a> {
    /// The kind of the line.
    pub level: MessageLevel,
    /// The knowledge base that it is about, if several are searched at once.
    pub base: Option<&'a str>,
    /// The text, without a label.
    pub text: &'a Wording,
}

impl<'a> AppMessage<'a> {
    /// Returns a message about the only knowledge base, or about none.
    pub const fn new(level: MessageLevel, text: &'a Wording) -> Self {
        Self { level, base: None, text }
    }

    /// Returns the line with its label, for readers who see the level in no other way.
    pub fn line(&self) -> Wording {
        Wording::from(self.level.label()).then(self.unlabelled())
    }

    /// Returns the text after the name of its knowledge base, for readers who see the level elsewhere.
    pub fn unlabelled(&self) -> Wording {
        match self.base {
            Some(base) => Wording::from(format!("{base}: ")).then(self.text.clone()),
            None => self.text.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(level: MessageLevel, line: &str, line_of_base: &str) {
        let text = "ebb".into();
        let alone = AppMessage::new(level, &text);
        let of_base = AppMessage { base: Some("work"), ..alone };
        assert_eq!(
            [alone.line(), of_base.line()].map(|text| text.to_string()),
            [line, line_of_base]
        );
        let texts = [alone.unlabelled(), of_base.unlabelled()].map(|text| text.to_string());
        assert_eq!(texts, ["ebb", "work: ebb"]);
    }

    #[test]
    fn a_line_is_the_label_of_the_level_the_base_and_the_text() {
        check(MessageLevel::Info, "ebb", "work: ebb");
        check(MessageLevel::Note, "note: ebb", "note: work: ebb");
        check(MessageLevel::Warning, "warning: ebb", "warning: work: ebb");
        check(MessageLevel::Failure, "failed: ebb", "failed: work: ebb");
        check(MessageLevel::Detail, "ebb", "work: ebb");
    }
}
