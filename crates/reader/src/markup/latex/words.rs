//! Holds the words of LaTeX: how commands and environments are read, and the characters that commands stand for.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::extract::built_in;

/// Names by the number of their arguments.
#[derive(Debug, Deserialize)]
pub(super) struct Arities(Vec<Vec<String>>);

impl Arities {
    /// Returns how many arguments belong to a name; `None` if it is not one of these.
    pub(super) fn of(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|names| names.iter().any(|known| known == name))
    }
}

/// The table, which explains its fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LatexWordTable {
    pub(super) silent_commands: Arities,
    pub(super) settings: Arities,
    pub(super) code: Vec<String>,
    pub(super) silent_environments: Vec<String>,
    pub(super) math: Vec<String>,
    pub(super) tables: Arities,
    pub(super) arguments: Arities,
    accents: Vec<(String, String, String)>,
    symbols: HashMap<String, String>,
}

/// The words of LaTeX.
pub(super) static WORDS: LazyLock<LatexWordTable> =
    LazyLock::new(|| built_in::table(include_str!("words.toml")));

/// Returns the text that a command stands for.
pub(super) fn symbol(name: &str) -> Option<&'static str> {
    WORDS.symbols.get(name).map(String::as_str)
}

pub(super) fn is_accent(name: &str) -> bool {
    WORDS.accents.iter().any(|(known, ..)| known == name)
}

/// Returns a letter with an accent; the letter alone if there is no such character.
pub(super) fn accented(name: &str, letter: char) -> char {
    let found = WORDS.accents.iter().find(|(known, ..)| known == name);
    let accented = found.and_then(|(_, letters, accented)| {
        let idx = letters.chars().position(|known| known == letter)?;
        accented.chars().nth(idx)
    });
    accented.unwrap_or(letter)
}
