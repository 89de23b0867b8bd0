//! Feeds an attacker's bytes to every parser of outside input. `fuzz/` and the tests below run it.
//!
//! There is one function for each place that first parses bytes from outside. It is not part of the
//! program: only tests and the feature `fuzzing` compile it.

use std::path::Path;

use crate::chunk::{ChunkOptions, Strategy, chunk};
use crate::config;
use crate::document::{Data, Dialect, Document, Format, Headed, Language};
use crate::extract;
use crate::extract::detect::{self, TextExtensions, TypeOverride};
use crate::search::parse;
use crate::skill::{front_matter, page};
use crate::text::{decode, headings};
use kb_reader::fuzzing as readers;

#[cfg(test)]
mod growth {
    mod tests;
}

/// A function to feed bytes to.
type Target = fn(&[u8]);

/// The targets that are not [`Headed`] formats alone, with their names.
const TARGETS: &[(&str, Target)] = &[
    ("markdown", markdown),
    ("text", text),
    ("code", |bytes| parsed(bytes, Language::ALL.map(Format::Code))),
    ("notebook", notebook),
    ("markup", |bytes| parsed(bytes, Dialect::ALL.map(Format::Dialect))),
    ("data", |bytes| parsed(bytes, Data::ALL.map(Format::Data))),
    ("eml", |bytes| readers::read("eml", bytes)),
    ("mbox", |bytes| read_each(&["mbox", "members-of-mbox"], bytes)),
    ("enex", |bytes| read_each(&["enex", "members-of-enex"], bytes)),
    ("zip", |bytes| readers::read("members-of-zip", bytes)),
    ("pdf", pdf),
    ("scan", scan),
    ("protocol", readers::protocol),
    ("front_matter", front_matter),
    ("headings", headings),
    ("query", query),
    ("settings", settings),
    ("detect", detect),
];

/// Returns the names of all targets, which also name the corpora in `fuzz/corpus/`.
pub fn targets() -> impl Iterator<Item = &'static str> {
    let others = TARGETS.iter().map(|(name, _)| *name);
    let formats = Headed::ALL.map(Headed::as_str).into_iter();
    let is_other = |name: &&str| TARGETS.iter().any(|(other, _)| other == name);
    others.chain(formats.filter(move |name| !is_other(name)))
}

/// Feeds bytes to a target. A format is parsed as a child process does.
pub fn run(name: &str, bytes: &[u8]) {
    match TARGETS.iter().find(|(target, _)| *target == name) {
        Some((_, target)) => target(bytes),
        None => readers::read(name, bytes),
    }
}

/// Parses Markdown with its front matter, and chunks it.
fn markdown(bytes: &[u8]) {
    if let Some(text) = decode::decode(bytes) {
        check_chunks(&extract::markdown::extract(&text));
    }
}

/// Parses plain text and notes, and chunks them.
fn text(bytes: &[u8]) {
    if let Some(text) = decode::decode(bytes) {
        check_chunks(&extract::plain::extract(&text));
        check_chunks(&extract::plain::extract_note(&text));
    }
}

/// Parses a text as each of these formats, and chunks it.
fn parsed(bytes: &[u8], formats: impl IntoIterator<Item = Format>) {
    if let Some(text) = decode::decode(bytes) {
        for document in formats.into_iter().filter_map(|format| readers::parsed(&text, format)) {
            check_lines(&document, text.lines().count());
            check_chunks(&document);
        }
    }
}

/// Parses Jupyter notebooks.
fn notebook(bytes: &[u8]) {
    let _ = decode::decode(bytes).map(|text| readers::parsed(&text, Format::Notebook));
}

/// Parses bytes with each of these readers, as a child process does.
fn read_each(names: &[&str], bytes: &[u8]) {
    names.iter().for_each(|name| readers::read(name, bytes));
}

/// Checks that every line comes from a line of the file, in order.
fn check_lines(document: &Document, num_lines: usize) {
    let numbers = &document.line_numbers;
    assert!(numbers.is_empty() || numbers.len() == document.text.split('\n').count());
    assert!(numbers.is_sorted());
    assert!(numbers.last().is_none_or(|last| *last as usize <= num_lines.max(1)));
}

/// Parses PDF, as the first reader of a child process does. It may overflow its stack, which is why a child process
/// does it.
fn pdf(bytes: &[u8]) {
    readers::read("hayro", bytes);
}

/// Parses the words that Tesseract finds on a picture, and lays them out.
fn scan(bytes: &[u8]) {
    if let Ok(table) = str::from_utf8(bytes) {
        readers::scan(table);
    }
}

/// Parses the front matter of a SKILL.md.
fn front_matter(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok((fields, start)) = front_matter::read(text) {
        assert!(text.is_char_boundary(start));
        for name in fields.names() {
            let _ = (fields.text(name), fields.texts(name), fields.text_in(name, "version"));
        }
        let _ = fields.to_json();
    }
    for is_skill_file in [false, true] {
        assert!(text.is_char_boundary(front_matter::body_start(text, is_skill_file)));
    }
}

/// Finds the headings and links of a skill's page.
fn headings(bytes: &[u8]) {
    if let Some(page) = page::read("SKILL.md", bytes) {
        let _ = (page.headings(), page.links(), page.num_lines());
    }
    let starts = headings::line_starts(bytes);
    assert!(starts.is_sorted());
}

/// Parses a query as typed after `kb search`.
fn query(bytes: &[u8]) {
    if let Ok(typed) = str::from_utf8(bytes)
        && let Ok(query) = parse::parse(typed)
    {
        let _ = (query.term_names(), query.has_terms());
    }
}

/// Parses the settings file.
fn settings(bytes: &[u8]) {
    if let Ok(text) = str::from_utf8(bytes) {
        config::fuzz(text);
    }
}

/// Detects the format of a file by its bytes.
fn detect(bytes: &[u8]) {
    let extensions = Format::all().flat_map(Format::usual_extensions).copied();
    for extension in extensions.chain(["", "1", "py"]) {
        for is_named in [false, true] {
            let (path, further) = (Path::new("a").with_extension(extension), &TextExtensions::NONE);
            let _ = detect::detect(&path, bytes, is_named, TypeOverride::default(), further);
        }
    }
    let _ = (detect::looks_like(bytes), decode::is_binary(bytes));
}

/// Chunks a document and checks that no chunk is empty or longer than the model reads.
fn check_chunks(document: &Document) {
    for strategy in [Strategy::Structure, Strategy::Fixed, Strategy::Whole] {
        let options = ChunkOptions {
            strategy,
            max_tokens: 40,
            min_tokens: 5,
            overlap_tokens: 4,
            model_tokens: 48,
            reserved_tokens: 2,
            include_context: true,
        };
        // A token is at most four bytes, so words without spaces are also cut.
        let num_tokens =
            |text: &str| text.split_whitespace().map(|word| word.len().div_ceil(4)).sum();
        for chunk in chunk(document, "Title", &num_tokens, &options) {
            assert!(!chunk.text.trim().is_empty());
            assert!(chunk.token_count <= 48, "{} tokens: {:?}", chunk.token_count, chunk.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;

    /// Executions per target unless `KB_FUZZ_RUNS` is set.
    const RUNS: usize = 100;

    /// Longest generated input.
    const MAX_LEN: usize = 6000;

    const ROOT: &str = env!("CARGO_MANIFEST_DIR");

    /// Returns the stored inputs of a target.
    fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
        let folder = Path::new(ROOT).join("fuzz/corpus").join(name);
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
    }

    fn num_runs() -> usize {
        #[expect(
            clippy::disallowed_methods,
            reason = "how often is for the user of the test to say"
        )]
        std::env::var("KB_FUZZ_RUNS").ok().map_or(RUNS, |number| number.parse().unwrap())
    }

    /// An xorshift generator: the same seed gives the same inputs everywhere.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            usize::try_from(self.0 % u64::try_from(limit.max(1)).unwrap()).unwrap()
        }
    }

    /// Words that parsers look for.
    const TOKENS: &[&str] = &[
        "---\n",
        "```",
        "~~~",
        "# ",
        "- ",
        "> ",
        "| ",
        "\"",
        "'",
        "[",
        "](",
        "<div>",
        "</",
        "<!--",
        "&#x",
        "\u{0}",
        "\u{feff}",
        "\u{202e}",
        "é",
        "東京",
        "\r\n",
        "\t",
        "{",
        "}",
        "(",
        ":",
        "*",
        "&a",
        "!!binary ",
        "def ",
        "func ",
        "() {",
        "<<EOF",
        "\\",
        "99999999999999999999",
        "====\n",
        "::\n\n  ",
        ".. a:: b\n   ",
        "|===\n",
        "\\begin{itemize}\n\\item ",
        "\\end{itemize}",
        "\\newcommand{\\a}{\\a\\a}",
        ".TS\n",
        ".nf\n",
        "\\f(CW",
        "{{",
        "{|\n|",
        "[[",
        "00:01:00,000 --> 00:01:02,000\n",
        "-1",
        "null",
    ];

    /// Makes a small change to an input, as attackers do.
    fn mutate(bytes: &mut Vec<u8>, others: &[(PathBuf, Vec<u8>)], random: &mut Random) {
        for _ in 0..=random.below(6) {
            let at = random.below(bytes.len() + 1);
            let end = (at + random.below(40)).min(bytes.len());
            match random.below(7) {
                0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let part = bytes[at..end].to_vec();
                    let part = part.repeat(1 + random.below(20));
                    bytes.splice(at..at, part);
                }
                3 => {
                    let token = TOKENS[random.below(TOKENS.len())];
                    let tokens = token.repeat(1 + random.below(60));
                    bytes.splice(at..at, tokens.bytes());
                }
                4 => {
                    let other = &others[random.below(others.len())].1;
                    let from = random.below(other.len() + 1);
                    let to = (from + random.below(300)).min(other.len());
                    bytes.splice(at..end, other[from..to].iter().copied());
                }
                5 => bytes.truncate(at),
                _ => bytes.insert(at, u8::try_from(random.below(256)).unwrap()),
            }
            bytes.truncate(MAX_LEN);
        }
    }

    #[test]
    fn no_input_breaks_a_target() {
        for name in targets().filter(|name| *name != "pdf") {
            let target = |bytes: &[u8]| run(name, bytes);
            let corpus = corpus(name);
            assert!(!corpus.is_empty(), "{name}");
            for (path, bytes) in &corpus {
                let outcome = std::panic::catch_unwind(|| target(bytes));
                assert!(outcome.is_ok(), "{}", path.display());
            }
            let mut random = Random(0x9e37_79b9_7f4a_7c15);
            for run in 0..num_runs() {
                let mut bytes = corpus[random.below(corpus.len())].1.clone();
                mutate(&mut bytes, &corpus, &mut random);
                if std::panic::catch_unwind(|| target(&bytes)).is_err() {
                    let kept = std::env::temp_dir().join(format!("kb-fuzz-{name}-{run}"));
                    fs::write(&kept, &bytes).unwrap();
                    panic!("{name}, run {run}: the input is in {}", kept.display());
                }
            }
        }
    }

    #[test]
    fn every_target_has_a_fuzz_program() {
        let manifest = fs::read_to_string(Path::new(ROOT).join("fuzz/Cargo.toml")).unwrap();
        for name in targets() {
            assert!(manifest.contains(&format!("name = \"{name}\"\n")), "{name}");
        }
    }

    #[test]
    fn a_page_without_an_end_is_read() {
        pdf(include_bytes!("../fuzz/corpus/pdf/page-without-end.pdf"));
    }
}
