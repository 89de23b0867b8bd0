//! Holds commands and options in a text of kb as values, so that the command line and the server each write them in
//! their own words: as a command to type, or as a call of a tool.
//!
//! Other text is never searched for commands, so what a user named a file or a tag is not taken for one.

use std::fmt::{self, Write as _};
use std::path::Path;

use serde::{Serialize, Serializer};

use crate::text::{fields, shell};

/// Makes a [`Wording`] of a text in which each `{}` stands for a value: a command, an option or text. The text is a
/// literal, with the marks around a command; it compiles only with as many values as places.
#[macro_export]
#[doc(hidden)]
macro_rules! kb_wording {
    ($text:literal, $($value:expr),+ $(,)?) => {{
        const { assert!($crate::wording::num_places($text) == [$(stringify!($value)),+].len()) };
        $crate::wording::Wording::filled($text, vec![$($value.into()),+])
    }};
}

pub use kb_wording as wording;

/// A message or a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wording {
    /// In the order of the text.
    parts: Vec<WordingPart>,
}

/// A part of a [`Wording`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordingPart {
    /// Text that is the same on the command line and in the server.
    Text(String),
    /// A command or an option.
    Action(UserAction),
}

/// A command or an option that a user can type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserAction {
    /// A command.
    Command(KbCommand),
    /// An option, such as `--budget`.
    Option(&'static str),
}

/// A command of kb with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KbCommand {
    name: &'static str,
    args: Vec<CommandArgument>,
}

/// An argument of a [`KbCommand`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandArgument {
    /// A value that is typed without an option.
    Positional(ArgumentValue),
    /// An option, such as `--top`, and its value.
    Option(&'static str, ArgumentValue),
    /// An option without a value.
    Flag(&'static str),
}

/// The value of a [`CommandArgument`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentValue {
    /// An id.
    Number(i64),
    /// A name, a path, or a placeholder for one, such as `FILE`.
    Word(String),
    /// Words that people write, which are typed in quotes.
    Phrase(String),
}

/// Returns a command by its words, such as `list`, `base allow` or, for the program alone, `--version`.
pub fn kb(name: &'static str) -> KbCommand {
    KbCommand { name, args: Vec::new() }
}

/// Returns an option, such as `--budget`.
pub fn option(name: &'static str) -> UserAction {
    UserAction::Option(name)
}

/// Returns words that are typed in quotes.
pub fn phrase(text: impl Into<String>) -> ArgumentValue {
    ArgumentValue::Phrase(text.into())
}

impl KbCommand {
    /// Adds what is typed without an option.
    #[must_use]
    pub fn arg(self, value: impl Into<ArgumentValue>) -> Self {
        self.with(CommandArgument::Positional(value.into()))
    }

    /// Adds an option and its value.
    #[must_use]
    pub fn option(self, name: &'static str, value: impl Into<ArgumentValue>) -> Self {
        self.with(CommandArgument::Option(name, value.into()))
    }

    /// Adds an option without a value.
    #[must_use]
    pub fn flag(self, name: &'static str) -> Self {
        self.with(CommandArgument::Flag(name))
    }

    fn with(mut self, argument: CommandArgument) -> Self {
        self.args.push(argument);
        self
    }

    /// Returns its words.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns its arguments, in the order in which they are typed.
    pub fn args(&self) -> &[CommandArgument] {
        &self.args
    }

    /// Returns what is typed after the name of the program.
    pub fn typed(&self) -> String {
        let mut typed = self.name.to_owned();
        for argument in &self.args {
            // Writing to a String cannot fail.
            let _ = match argument {
                CommandArgument::Positional(value) => write!(typed, " {value}"),
                CommandArgument::Option(name, value) => write!(typed, " {name} {value}"),
                CommandArgument::Flag(name) => write!(typed, " {name}"),
            };
        }
        typed
    }
}

impl Wording {
    /// Fills the places of a text. See [`wording!`](kb_wording).
    #[doc(hidden)]
    pub fn filled(text: &'static str, values: Vec<WordingPart>) -> Self {
        let mut texts = text.split(PLACE).map(WordingPart::from);
        let first = texts.next();
        let parts = first.into_iter().chain(values.into_iter().zip(texts).flat_map(<[_; 2]>::from));
        Self { parts: parts.collect() }
    }

    /// Adds another text.
    #[must_use]
    pub fn then(mut self, other: impl Into<Self>) -> Self {
        self.parts.extend(other.into().parts);
        self
    }

    /// Returns the text with each action as `words` writes it; an action for which it has no words is
    /// written as it is typed.
    pub fn in_words(&self, words: impl Fn(&UserAction) -> Option<String>) -> String {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                WordingPart::Text(part) => text.push_str(part),
                WordingPart::Action(action) => {
                    text += &words(action).unwrap_or_else(|| action.to_string());
                }
            }
        }
        text
    }
}

/// Stands for a value in a text.
const PLACE: &str = "{}";

/// Returns how many values a text has places for.
#[doc(hidden)]
pub const fn num_places(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut num, mut idx) = (0, 1);
    while idx < bytes.len() {
        if bytes[idx - 1] == b'{' && bytes[idx] == b'}' {
            num += 1;
        }
        idx += 1;
    }
    num
}

/// Writes it as it is typed on the command line.
impl fmt::Display for Wording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(|_| None))
    }
}

impl fmt::Display for UserAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => write!(f, "kb {}", command.typed()),
            Self::Option(name) => f.write_str(name),
        }
    }
}

/// Writes it in quotes where a shell needs them.
impl fmt::Display for ArgumentValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Word(word) if word.contains(char::is_whitespace) => {
                f.write_str(&shell::word(Path::new(word)))
            }
            Self::Word(word) => f.write_str(word),
            // People type double quotes.
            Self::Phrase(text) if text.contains(['"', '$', '`', '\\', '!']) => {
                f.write_str(&shell::word(Path::new(text)))
            }
            Self::Phrase(text) => write!(f, "\"{text}\""),
        }
    }
}

impl Serialize for Wording {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_string())
    }
}

fields::like!(String: Wording);

impl From<&str> for Wording {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Wording {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<String> for Wording {
    fn from(text: String) -> Self {
        Self { parts: vec![WordingPart::Text(text)] }
    }
}

/// A command alone.
impl From<KbCommand> for Wording {
    fn from(command: KbCommand) -> Self {
        Self { parts: vec![command.into()] }
    }
}

impl From<&str> for WordingPart {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for WordingPart {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<KbCommand> for WordingPart {
    fn from(command: KbCommand) -> Self {
        Self::Action(UserAction::Command(command))
    }
}

impl From<UserAction> for WordingPart {
    fn from(action: UserAction) -> Self {
        Self::Action(action)
    }
}

impl From<i64> for ArgumentValue {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for ArgumentValue {
    fn from(word: &str) -> Self {
        Self::Word(word.to_owned())
    }
}

impl From<String> for ArgumentValue {
    fn from(word: String) -> Self {
        Self::Word(word)
    }
}

#[cfg(test)]
mod tests;
