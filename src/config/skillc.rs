//! Reads the one setting of `skc` that kb shares from the files next to its stores.
//!
//! `SKILLC_TOKENIZER` overrides the project's `.skillc/config.toml`, which overrides the global
//! one. Both programs must agree on the tokenizer, or each would consider the other's indexes
//! stale.

use std::path::{Path, PathBuf};

use toml::Table;

use crate::config::Environment;
use crate::error::Error;
use crate::files;
use crate::files::open::SymlinkPolicy;
use crate::limits;
use crate::text::fields;

/// The variable that overrides the files.
const VARIABLE: &str = "SKILLC_TOKENIZER";

/// The only version of the file format.
const VERSION: i64 = 1;

fields::words! {
    /// The words of `[search] tokenizer`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TokenizerWord {
        /// Words are reduced to their stems.
        Ascii = "ascii",
        /// Words are kept unchanged.
        Cjk = "cjk",
    }
}

fn parsed(word: &str) -> Option<TokenizerWord> {
    TokenizerWord::ALL.into_iter().find(|known| known.as_str() == word)
}

/// Returns the configured tokenizer, and one sentence for each invalid setting; an invalid setting
/// never stops a command.
pub fn tokenizer(environment: &Environment, stores: &[PathBuf]) -> (TokenizerWord, Vec<String>) {
    let mut warnings = Vec::new();
    if let Some(value) = environment.get(VARIABLE) {
        let value = value.to_string_lossy();
        match parsed(&value) {
            Some(word) => return (word, warnings),
            None => warnings.push(format!("{VARIABLE}={value} is neither ascii nor cjk")),
        }
    }
    let word = stores.iter().find_map(|store| in_file(&store.join("config.toml"), &mut warnings));
    (word.unwrap_or(TokenizerWord::Ascii), warnings)
}

fn in_file(file: &Path, warnings: &mut Vec<String>) -> Option<TokenizerWord> {
    let limit = u64::try_from(limits::YAML_BYTES).unwrap_or(u64::MAX);
    let bytes = match files::open::read(file, SymlinkPolicy::Follow, limit) {
        Ok(bytes) => bytes,
        Err(error @ Error::OverLimit { .. }) => {
            warnings.push(error.to_string());
            return None;
        }
        Err(_) => return None,
    };
    let text = String::from_utf8(bytes).ok()?;
    let mut warn = |message: &str| warnings.push(format!("{}: {message}", file.display()));
    let table: Table = match text.parse() {
        Ok(table) => table,
        Err(error) => {
            warn(&format!("not read: {}", toml::de::Error::message(&error)));
            return None;
        }
    };
    match table.get("version").map(toml::Value::as_integer) {
        None | Some(Some(VERSION)) => {}
        Some(Some(version)) if version > VERSION => {
            warn(&format!("version {version} is newer than {VERSION}"));
        }
        Some(_) => {
            warn("not read: version is not a positive number");
            return None;
        }
    }
    for key in table.keys().filter(|key| !["version", "search"].contains(&key.as_str())) {
        warn(&format!("unknown key `{key}`"));
    }
    let search = table.get("search")?.as_table()?;
    for key in search.keys().filter(|key| *key != "tokenizer") {
        warn(&format!("unknown key `search.{key}`"));
    }
    let value = search.get("tokenizer")?;
    let word = value.as_str().and_then(parsed);
    if word.is_none() {
        warn(&format!("search.tokenizer = {value:?} is neither ascii nor cjk"));
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(
        variable: &str,
        project: &str,
        global: &str,
        expected: TokenizerWord,
        num_warnings: usize,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let stores = [("p", project), ("g", global)].map(|(name, text)| {
            let store = dir.path().join(name);
            std::fs::create_dir(&store).unwrap();
            if !text.is_empty() {
                std::fs::write(store.join("config.toml"), text).unwrap();
            }
            store
        });
        let environment = [(VARIABLE.to_owned(), variable.into())].into_iter().collect();
        let (word, warnings) = tokenizer(&environment, &stores);
        assert_eq!((word, warnings.len()), (expected, num_warnings), "{warnings:?}");
    }

    #[test]
    fn the_variable_overrides_the_project_and_the_project_overrides_the_user() {
        use TokenizerWord::{Ascii, Cjk};
        let (ascii, cjk) = ("[search]\ntokenizer = 'ascii'", "[search]\ntokenizer = 'cjk'");
        check("", "", "", Ascii, 0);
        check("", "", cjk, Cjk, 0);
        check("", ascii, cjk, Ascii, 0);
        check("cjk", ascii, ascii, Cjk, 0);
        check("", "version = 1", cjk, Cjk, 0);
    }

    #[test]
    fn invalid_settings_are_skipped_with_a_warning() {
        use TokenizerWord::{Ascii, Cjk};
        let cjk = "[search]\ntokenizer = 'cjk'";
        check("latin", "", cjk, Cjk, 1);
        check("", "[search]\ntokenizer = 'latin'", cjk, Cjk, 1);
        check("", "[search]\ntokenizer = 7", "", Ascii, 1);
        check("", "[search", cjk, Cjk, 1);
        check("", "version = 0\n[search]\ntokenizer = 'cjk'", "", Ascii, 1);
        check("", "version = 2\n[search]\ntokenizer = 'cjk'", "", Cjk, 1);
        check("", "other = 1\n[search]\ntokenizer = 'cjk'\nfoo = 2", "", Cjk, 2);
    }
}
