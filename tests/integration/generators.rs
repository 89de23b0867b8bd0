//! Reads pages that generators of documentation wrote, and checks what is kept of each.
//!
//! Each page of tests/fixtures/pages has a file of expectations; the README there describes the
//! pages and the marks.

use std::fs;
use std::path::{Path, PathBuf};

use crate::env::TestEnv;

const PAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/pages");

/// Fewest expectations that all pages have together.
const MIN_EXPECTATIONS: usize = 350;

/// A page as `kb convert` prints it, without the marks of Markdown.
struct ConvertedPage {
    title: String,
    words: String,
    lines: Vec<String>,
}

impl ConvertedPage {
    fn new(env: &TestEnv, page: &Path) -> Self {
        let page = page.to_str().unwrap();
        let markdown = env.ok(&["convert", page]).stdout;
        let json = env.json(&["convert", page, "--format=json"]);
        Self {
            title: plain(json["title"].as_str().unwrap_or_default()),
            words: plain(&markdown),
            lines: markdown.lines().map(plain).collect(),
        }
    }

    /// Whether an expectation holds. `at` is where the last words that must follow each other were found.
    fn meets(&self, expectation: &str, at: &mut usize) -> bool {
        let (mark, text) = expectation.split_at(2);
        let wanted = plain(text);
        match mark {
            "+ " => match self.words[*at..].find(&wanted) {
                Some(offset) => {
                    *at += offset;
                    true
                }
                None => false,
            },
            "- " => !self.words.contains(&wanted),
            "= " => {
                let parts: Vec<String> = text.split("||").map(plain).collect();
                self.lines.iter().any(|line| parts.iter().all(|part| line.contains(part)))
            }
            "~ " => self.lines.contains(&wanted),
            "T " => self.title.contains(&wanted),
            _ => panic!("no such mark: {expectation}"),
        }
    }
}

/// Returns a text without escapes, emphasis and bars of tables, and with single spaces.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_escape = letter == '\\' && letters.peek().is_some_and(char::is_ascii_punctuation);
        match if is_escape { letters.next().unwrap_or(letter) } else { letter } {
            '*' | '_' | '`' => {}
            '|' => plain.push(' '),
            kept => plain.push(kept),
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn pages() -> Vec<PathBuf> {
    let paths = fs::read_dir(PAGES).unwrap().map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "html"))
        .collect();
    pages.sort();
    pages
}

#[test]
fn pages_of_generators_keep_what_their_authors_wrote() {
    let env = TestEnv::without_model();
    let mut num_expectations = 0;
    let mut unmet = Vec::new();
    for path in pages() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let expectations = fs::read_to_string(path.with_extension("expected")).unwrap();
        let page = ConvertedPage::new(&env, &path);
        let mut at = 0;
        for expectation in expectations.lines() {
            num_expectations += 1;
            if !page.meets(expectation, &mut at) {
                unmet.push(format!("{name}: {expectation}"));
            }
        }
    }
    assert!(num_expectations >= MIN_EXPECTATIONS, "{num_expectations}");
    assert!(unmet.is_empty(), "{} of {num_expectations}:\n{}", unmet.len(), unmet.join("\n"));
}

#[test]
fn each_page_of_a_generator_is_listed_with_its_licence() {
    let list = fs::read_to_string(Path::new(PAGES).join("README.md")).unwrap();
    for path in pages() {
        let row = format!("| `{}` |", path.file_name().unwrap().to_str().unwrap());
        assert!(list.contains(&row), "{row}");
    }
}
