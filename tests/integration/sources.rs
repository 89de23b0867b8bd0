//! Reads the sources of the program and of its crates, for tests about them.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file without its comments and its tests.
pub(crate) struct Source {
    /// Below `src/`, or the name of a crate and the path below its `src/`, such as `store/lib.rs`.
    pub(crate) path: String,
    pub(crate) code: String,
}

/// The beginnings and ends of comments and raw strings.
const SKIPPED: [(&str, &str); 5] =
    [("//", "\n"), ("/*", "*/"), ("r\"", "\""), ("r#\"", "\"#"), ("br#\"", "\"#")];

/// Returns the place of a file by its short path, see [`Source::path`].
pub(crate) fn place(short: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (name, rest) = short.split_once('/').unwrap_or((short, ""));
    let folder = root.join("crates").join(name);
    if folder.is_dir() { folder.join("src").join(rest) } else { root.join("src").join(short) }
}

/// Returns all files, in order of their short paths, with the places where they are.
pub(crate) fn files() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    collect(&root.join("src"), "", &mut found);
    for entry in fs::read_dir(root.join("crates")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        collect(&entry.path().join("src"), &format!("{name}/"), &mut found);
    }
    found.sort();
    assert!(found.len() > 500);
    found
}

fn collect(folder: &Path, short: &str, found: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let (path, entry) = entry.map(|entry| (entry.path(), entry)).unwrap();
        let short = format!("{short}{}", entry.file_name().into_string().unwrap());
        if path.is_dir() {
            collect(&path, &format!("{short}/"), found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push((short, path));
        }
    }
}

/// Returns all files that hold more than tests and what they need.
pub(crate) fn sources() -> Vec<Source> {
    let is_program = |(path, _): &(String, PathBuf)| {
        !path.ends_with("/tests.rs") && !path.ends_with("/testing.rs") && !path.contains("/tests/")
    };
    let read =
        |(path, place)| Source { path, code: code(&fs::read_to_string::<PathBuf>(place).unwrap()) };
    files().into_iter().filter(is_program).map(read).collect()
}

/// Returns a text without comments and without the tests at its foot.
pub(crate) fn code(text: &str) -> String {
    let code = text.split("\nmod tests {").next().unwrap();
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    code.lines().filter(is_code).collect::<Vec<_>>().join("\n")
}

impl Source {
    /// Whether it is one of these files, or below one of these folders.
    pub(crate) fn is_in(&self, homes: &[&str]) -> bool {
        homes.iter().any(|home| self.path == *home || self.path.starts_with(&format!("{home}/")))
    }

    /// Whether a path that begins with this text is named; `rustix::fs::…` is not `fs::…`.
    pub(crate) fn has_path(&self, text: &str) -> bool {
        self.code.match_indices(text).any(|(at, _)| {
            let before = self.code[..at].chars().next_back();
            !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
        })
    }

    /// Whether it names this library: `name::` or `use name;`.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.has_path(&format!("{name}::")) || self.code.contains(&format!("use {name};"))
    }

    /// Divides the code into words, `::` and other signs, without comments and literals in quotes.
    pub(crate) fn tokens(&self) -> Vec<&str> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let len_of_word = |text: &str| text.find(|c| !is_word(c)).unwrap_or(text.len());
        let mut found = Vec::new();
        let mut rest = self.code.as_str();
        while let Some(first) = rest.chars().next() {
            let len = if let Some((open, close)) =
                SKIPPED.iter().find(|(open, _)| rest.starts_with(open))
            {
                let end = rest[open.len()..].find(close);
                end.map_or(rest.len(), |end| open.len() + end + close.len())
            } else if first == '"' {
                let mut is_escaped = false;
                let end = rest[1..].find(|c| {
                    let is_end = c == '"' && !is_escaped;
                    is_escaped = c == '\\' && !is_escaped;
                    is_end
                });
                end.map_or(rest.len(), |end| end + 2)
            } else if let Some(escaped) = rest.strip_prefix("'\\") {
                escaped[1..].find('\'').map_or(rest.len(), |end| end + 4)
            } else if first == '\'' {
                // A character, or the name of a lifetime.
                match rest.char_indices().nth(2) {
                    Some((end, '\'')) => end + 1,
                    _ => 1 + len_of_word(&rest[1..]),
                }
            } else {
                let len = match len_of_word(rest) {
                    0 if rest.starts_with("::") => 2,
                    0 => first.len_utf8(),
                    len => len,
                };
                found.extend(Some(&rest[..len]).filter(|_| !first.is_whitespace()));
                len
            };
            rest = &rest[len..];
        }
        found
    }
}
