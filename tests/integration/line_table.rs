//! Reads `tests/fixtures/command_lines.toml`: the values of placeholders in command lines, and the
//! results of lines that do not simply succeed.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;

/// Facts about command lines that their pages do not have.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// Pages whose blocks are typed one line after the other, starting without a database.
    pub(crate) in_order: Vec<String>,
    /// The values of placeholders.
    values: BTreeMap<String, String>,
    /// The values in lines that begin with the key.
    values_after: BTreeMap<String, BTreeMap<String, String>>,
    /// The lines typed before those that begin with the key.
    before: BTreeMap<String, String>,
    /// The words added to incomplete lines in prose that begin with the key.
    operands: BTreeMap<String, String>,
    /// Commands whose options are on a page that does not name them.
    also_about: BTreeMap<String, Vec<String>>,
    /// Options of other programs.
    of_others: Vec<String>,
    /// Lines that end with another status than 0.
    status: BTreeMap<String, i32>,
    /// Lines that run until a signal, and the text that they print when they are ready.
    stays: BTreeMap<String, String>,
    /// Lines that fail here.
    left_out: Vec<LeftOut>,
}

/// Lines that fail here; they are tried all the same.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeftOut {
    pub(crate) reason: String,
    /// The output of the lines when they are tried.
    prints: String,
    /// The same in a kb without the feature `postgres`, if it differs.
    prints_without_postgres: Option<String>,
    lines: Vec<String>,
}

/// The expected result of a line.
#[derive(Clone, Copy)]
pub(crate) enum Expected<'a> {
    Status(i32),
    /// By a signal, after it has printed this.
    Stays(&'a str),
    Failure(&'a LeftOut),
}

impl LeftOut {
    /// Returns the output of the lines when they are tried.
    pub(crate) fn prints(&self) -> &str {
        let without = self.prints_without_postgres.as_ref();
        without.filter(|_| !cfg!(feature = "postgres")).unwrap_or(&self.prints)
    }
}

impl Table {
    pub(crate) fn read() -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/command_lines.toml");
        toml::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }

    pub(crate) fn expected(&self, line: &str) -> Expected<'_> {
        let is_known = |group: &&LeftOut| group.lines.iter().any(|known| known == line);
        if let Some(group) = self.left_out.iter().find(is_known) {
            return Expected::Failure(group);
        }
        match self.stays.get(line) {
            Some(first) => Expected::Stays(first),
            None => Expected::Status(self.status.get(line).copied().unwrap_or(0)),
        }
    }

    /// Whether an option belongs to another program.
    pub(crate) fn is_of_others(&self, option: &str) -> bool {
        self.of_others.iter().any(|known| known == option)
    }

    /// Returns what completes a line that ends in the name of a command or an option.
    pub(crate) fn operands(&self, line: &str) -> Option<&str> {
        let begins = self.operands.iter().filter(|(start, _)| line.starts_with(start.as_str()));
        begins.max_by_key(|(start, _)| start.len()).map(|(_, operands)| operands.as_str())
    }

    /// Returns the commands that a page is also about, without a name.
    pub(crate) fn also_about(&self, page: &str) -> &[String] {
        self.also_about.get(page).map_or(&[], Vec::as_slice)
    }

    /// Returns the lines that the table names.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &String> {
        let left_out = self.left_out.iter().flat_map(|group| &group.lines);
        self.status.keys().chain(self.stays.keys()).chain(left_out)
    }

    /// Returns the beginnings of lines that the table names.
    pub(crate) fn beginnings(&self) -> impl Iterator<Item = &String> {
        self.values_after.keys().chain(self.before.keys()).chain(self.operands.keys())
    }

    /// Returns a line as users type it, after what is typed before lines that begin so.
    pub(crate) fn typed(&self, line: &str) -> Vec<String> {
        let first = self.before.iter().find(|(start, _)| line.starts_with(start.as_str()));
        let lines = self.filled(line).into_iter();
        lines
            .map(|line| first.map_or(line.clone(), |(_, first)| format!("{first} && {line}")))
            .collect()
    }

    /// Returns a line with values for placeholders, with and without what is in brackets, and once
    /// for each alternative of `ID|PATH`.
    pub(crate) fn filled(&self, line: &str) -> Vec<String> {
        let begins = |start: &String| line.starts_with(start.as_str());
        let special = self.values_after.iter().filter(|(start, _)| begins(start));
        let special = special.flat_map(|(_, values)| values);
        let values: BTreeMap<&String, &String> = self.values.iter().chain(special).collect();
        let mut lines: Vec<Vec<String>> = vec![Vec::new()];
        for word in line.split(' ') {
            let choices = choices(word, &values);
            let with = |line: &Vec<String>, choice: &Option<String>| -> Vec<String> {
                line.iter().chain(choice).cloned().collect()
            };
            let longer = |line| choices.iter().map(move |choice| with(line, choice));
            lines = lines.iter().flat_map(longer).collect();
        }
        lines.iter().map(|words| words.join(" ")).collect()
    }
}

/// Returns what may be typed for a word; `None` is nothing.
fn choices(word: &str, values: &BTreeMap<&String, &String>) -> Vec<Option<String>> {
    let optional = word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let placeholder = optional.unwrap_or(word);
    let is_placeholder = placeholder.starts_with(|letter: char| letter.is_ascii_uppercase());
    let num_parts = if is_placeholder { usize::MAX } else { 1 };
    let typed = placeholder.splitn(num_parts, '|').map(|word| Some(with_value(word, values)));
    optional.map(|_| None).into_iter().chain(typed).collect()
}

/// Replaces a placeholder, which may be within quotes.
fn with_value(word: &str, values: &BTreeMap<&String, &String>) -> String {
    let inner = word.trim_matches(['"', '\'']);
    match values.iter().find(|(name, _)| name.as_str() == inner) {
        Some((_, value)) => word.replace(inner, value),
        None => word.to_owned(),
    }
}
