//! Repeats every construct of the text formats, to compare work and output with the input.
//!
//! `constructs.toml` lists them. `tests/faults` runs the test `constructs_are_read` under Callgrind,
//! which counts the instructions of each construct at one size and at four times that size.

use serde::Deserialize;

use crate::document::{self, Document};
use crate::extract;

use crate::fuzzing::{check_chunks, run};
use kb_reader::fuzzing as readers;

/// Ways to repeat a mark: what is before and after it.
const SHAPES: [(&str, &str); 5] = [("", ""), ("", "a "), ("", " a\n"), ("", "\n"), ("", "a\n\n")];

/// A text format, and the texts to repeat in it.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Format {
    name: String,
    /// The beginning and the end of a document.
    head: String,
    tail: String,
    /// The repeated text of its first half, if the second half repeats another one.
    first: String,
    /// The repeated texts: marks in several [`SHAPES`], and texts unchanged.
    marks: Vec<String>,
    texts: Vec<String>,
}

/// Reads a text as a format; readers of child processes return nothing. Callgrind counts the
/// instructions of this function.
#[inline(never)]
fn read_construct(format: &str, text: &str) -> Option<Document> {
    let word = format.split(',').next().unwrap_or_default();
    match document::Format::named(word).unwrap_or_else(|| panic!("no format is called {word}")) {
        document::Format::Markdown => Some(extract::markdown::extract(text)),
        document::Format::Text => Some(extract::plain::extract(text)),
        document::Format::Headed(kind) => {
            run(kind.as_str(), text.as_bytes());
            None
        }
        parsed => readers::parsed(text, parsed),
    }
}

/// A construct of a format.
struct Construct<'a> {
    format: &'a Format,
    repeated: String,
}

impl<'a> Construct<'a> {
    /// Returns those of all formats.
    fn all(formats: &'a [Format]) -> impl Iterator<Item = Self> {
        let (common, formats) = formats.split_first().expect("there is a format");
        formats.iter().flat_map(move |format| {
            // A format with a head is a place in another one.
            let common = format.head.is_empty().then_some(common);
            [Some(format), common].into_iter().flatten().flat_map(move |source| {
                let shaped = |mark: &String| {
                    let mark = mark.clone();
                    SHAPES.map(|(before, after)| format!("{before}{mark}{after}"))
                };
                let marks = source.marks.iter().flat_map(shaped);
                let repeated = marks.chain(source.texts.iter().cloned());
                repeated.map(move |repeated| Self { format, repeated })
            })
        })
    }

    fn name(&self) -> String {
        format!("{}: {:?}", self.format.name, self.repeated)
    }

    /// Returns a document of about this many bytes.
    fn text(&self, num_bytes: usize) -> String {
        let mut text = self.format.head.clone();
        let half = if self.format.first.is_empty() { 0 } else { num_bytes / 2 };
        for (repeated, num_bytes) in [(&self.format.first, half), (&self.repeated, num_bytes)] {
            let mut number = 0;
            while text.len() < num_bytes {
                text.push_str(&repeated.replace("{n}", &number.to_string()));
                number += 1;
            }
        }
        text + &self.format.tail
    }
}

#[derive(Deserialize)]
struct List {
    format: Vec<Format>,
}

fn formats() -> Vec<Format> {
    toml::from_str::<List>(include_str!("constructs.toml")).unwrap().format
}

fn variable(name: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "what to read is for the caller of the test to say"
    )]
    std::env::var(name).ok()
}

fn number(name: &str) -> Option<usize> {
    variable(name).map(|number| number.parse().unwrap())
}

#[test]
fn the_result_of_a_construct_is_at_most_a_multiple_of_it() {
    let formats = formats();
    for construct in Construct::all(&formats) {
        // Long enough for 15 chunks of the checker, which takes most of the time.
        if let Some(document) = read_construct(&construct.format.name, &construct.text(500)) {
            check_chunks(&document);
        }
        let text = construct.text(2000);
        if let Some(document) = read_construct(&construct.format.name, &text) {
            let len = document.text.len();
            assert!(len <= readers::max_output(text.len()), "{}: {len} bytes", construct.name());
        }
    }
}

/// Prints the name of each construct and reads it at a size and at four times that size.
#[test]
#[expect(clippy::print_stdout, reason = "`tests/faults` reads the names")]
fn constructs_are_read() {
    let size = number("KB_GROWTH_BYTES").unwrap_or(100);
    let (part, parts) =
        (number("KB_GROWTH_PART").unwrap_or(0), number("KB_GROWTH_PARTS").unwrap_or(40));
    let only = variable("KB_GROWTH_ONLY");
    let formats = formats();
    let is_read =
        |construct: &Construct<'_>| only.as_ref().is_none_or(|only| *only == construct.name());
    for construct in Construct::all(&formats).filter(is_read).skip(part).step_by(parts) {
        println!("construct {}", construct.name());
        for text in [construct.text(size), construct.text(4 * size)] {
            let _ = read_construct(&construct.format.name, &text);
        }
    }
}
