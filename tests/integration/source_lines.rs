//! Finds the command lines in the program's messages and in its comments.

use std::fs;
use std::path::Path;

use crate::page_lines::{Line, is_command};
use crate::sources::files;

/// Returns the command lines between backticks in the sources, without those that are made of parts.
pub(crate) fn all() -> Vec<Line> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut lines = Vec::new();
    for (_, file) in files().iter().filter(|(path, _)| !path.ends_with("tests.rs")) {
        let place = file.strip_prefix(root).unwrap().display().to_string();
        let source = without_breaks(&fs::read_to_string(file).unwrap());
        // Tests have lines that are wrong on purpose.
        let source = source.split("#[cfg(test)]\nmod tests").next().unwrap();
        let spans = source.match_indices("`kb ").filter_map(|(at, _)| {
            source[at + 1..].split(['`', '\n']).next().filter(|span| is_whole(span))
        });
        lines.extend(spans.map(|span| Line {
            typed: span.to_owned(),
            place: place.clone(),
            is_in_block: false,
        }));
    }
    lines
}

/// Whether a span is a command line without parts that are filled in.
fn is_whole(span: &str) -> bool {
    is_command(span) && !span.contains('{')
}

/// Joins strings that go on in the next line, and removes escapes.
fn without_breaks(source: &str) -> String {
    let mut parts = source.split("\\\n");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| text + part.trim_start()).replace("\\\"", "\"")
}
