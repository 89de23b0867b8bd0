//! Finds the command lines in the program's messages, hints and comments.

use std::fs;
use std::path::Path;

use crate::page_lines::{Line, is_command};
use crate::sources::files;

/// Returns the command lines in the sources, between backticks and as values, without those that are made of parts.
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
        let values = source.match_indices(VALUE).filter_map(|(at, _)| typed(&source[at..]));
        lines.extend(spans.map(str::to_owned).chain(values).map(|typed| Line {
            typed,
            place: place.clone(),
            is_in_block: false,
        }));
    }
    lines
}

/// The beginning of a command that is a value: `kb("add").option("--title", "TITLE").flag("--force")`.
const VALUE: &str = "kb(\"";

/// Returns the command line of a value that begins a text; `None` if one of its arguments is not a literal.
fn typed(source: &str) -> Option<String> {
    let (name, mut rest) = source.strip_prefix(VALUE)?.split_once("\")")?;
    let mut typed = format!("kb {name}");
    loop {
        let call = rest.trim_start();
        let call = [".arg(", ".option(", ".flag("].iter().find_map(|name| call.strip_prefix(name));
        let Some(call) = call else { return is_command(&typed).then_some(typed) };
        let (args, after) = call.split_once(')')?;
        for arg in args.split(", ") {
            let literal = arg.trim_start_matches("phrase(");
            let word = literal.strip_prefix('"').and_then(|word| word.strip_suffix('"'));
            let number = Some(literal).filter(|word| word.parse::<i64>().is_ok());
            let word = word.or(number)?;
            let is_quoted = literal != arg || word.contains(' ');
            typed += &if is_quoted { format!(" \"{word}\"") } else { format!(" {word}") };
        }
        rest = if args.contains("phrase(") { after.strip_prefix(')')? } else { after };
    }
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
