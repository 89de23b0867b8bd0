//! Checks `tests/COVERAGE.md`: each requirement is listed once, with a sentence and the names of
//! existing tests. Checks `tests/CLAIMS.md`: the claims of the pages are listed with their evidence.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Marks a requirement that was dropped.
const WITHDRAWN: &str = "withdrawn";

/// Follows a test that `make test` does not run.
const NIGHTLY: &str = " (make nightly)";

/// Follows a test that runs only below Wine.
const BELOW_WINE: &str = " (packaging/windows)";

/// The systems and processors whose every mention in the pages needs evidence.
const PLATFORMS: [&str; 4] = ["Windows", "macOS", "ARM64", "Wine"];

/// Longest sentence, so that a row stays readable.
const MAX_CHARS: usize = 260;

/// Words of a page as listed in `tests/CLAIMS.md`.
struct Claim<'a> {
    page: &'a str,
    words: &'a str,
    /// The evidence for it: requirements, tests in backticks, links to paths.
    places: &'a str,
}

impl<'a> Claim<'a> {
    fn new(page: &'a str, row: &'a str) -> Self {
        let (words, places) = row.rsplit_once(" | ").unwrap();
        Self { page, words, places }
    }
}

/// A requirement as listed on the page.
struct Row {
    number: String,
    sentence: String,
    /// The evidence for it: tests in backticks, links to paths.
    places: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn page() -> String {
    fs::read_to_string(root().join("tests/COVERAGE.md")).unwrap()
}

/// Returns the lines of the tables of a page without their bars, but not their heads.
fn cells(page: &str) -> impl Iterator<Item = &str> {
    page.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")).filter(|line| {
        !["no. ", "---", "words of", "page | "].iter().any(|head| line.starts_with(head))
    })
}

fn rows() -> Vec<Row> {
    cells(&page())
        .map(|line| {
            let cells: Vec<&str> = line.split(" | ").collect();
            let [number, sentence, places] = cells[..] else { panic!("three cells: {line}") };
            Row { number: number.into(), sentence: sentence.into(), places: places.into() }
        })
        .collect()
}

/// Returns the files that may contain a test of this module: of the program as `kb::module`, of a
/// crate as `kb_store::module`, of this suite as `module`.
fn files(module: &str) -> Vec<PathBuf> {
    let mut path = root().to_path_buf();
    let mut names = module.split("::");
    match names.next().map(|name| (name, name.strip_prefix("kb_"))) {
        Some((_, Some(name))) => path.extend(["crates", name, "src"]),
        Some(("kb", _)) => path.push("src"),
        _ => return vec![path.join(format!("tests/integration/{module}.rs"))],
    }
    path.extend(names);
    let in_tests =
        path.parent().unwrap().join("tests").join(path.file_name().unwrap()).with_extension("rs");
    vec![path.with_extension("rs"), path.join("mod.rs"), path.join("tests.rs"), in_tests]
}

/// Whether a file has a test of this name.
fn has_test(file: &Path, name: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let Some((before, _)) = text.split_once(&format!("fn {name}(")) else { return false };
    // There may be other attributes between the marker and the name.
    let mut attributes = before
        .lines()
        .rev()
        .map(str::trim)
        .take_while(|line| line.starts_with("#[") || line.is_empty());
    attributes.any(|line| line == "#[test]")
}

/// Whether a test of this name exists, as `module::test` or `kb_store::module::test`.
pub(crate) fn is_test(name: &str) -> bool {
    let Some((module, name)) = name.rsplit_once("::") else { return false };
    files(module).iter().any(|file| has_test(file, name))
}

#[test]
fn every_requirement_is_in_the_table_once_and_in_order() {
    let found: Vec<String> = rows().into_iter().map(|row| row.number).collect();
    // `- **K1 to K162**: ...`
    let page = page();
    let lists = page.lines().filter_map(|line| line.strip_prefix("- **")?.split_once("1 to "));
    let all = lists.flat_map(|(list, rest)| {
        let last = rest.strip_prefix(list).and_then(|rest| rest.split("**").next()).unwrap();
        (1..=last.parse::<u32>().unwrap()).map(move |number| format!("{list}{number}"))
    });
    assert_eq!(found, all.collect::<Vec<_>>());
    assert!(found.len() > 300, "the lists at the head of the page are read");
}

#[test]
fn every_requirement_is_a_separate_sentence() {
    let mut seen = BTreeSet::new();
    for Row { number, sentence, .. } in rows() {
        assert!(sentence.split_whitespace().count() >= 3, "{number}: {sentence}");
        let is_start = |letter: char| letter.is_uppercase() || "`~".contains(letter);
        assert!(sentence.starts_with(is_start), "{number}: {sentence}");
        assert!(sentence.trim_end_matches('`').ends_with('.'), "{number}: {sentence}");
        assert_eq!(sentence.matches('`').count() % 2, 0, "{number}: {sentence}");
        assert!(sentence.chars().count() <= MAX_CHARS, "{number}: {sentence}");
        assert!(seen.insert(sentence.clone()), "{number} repeats: {sentence}");
    }
}

/// Checks that tests and paths exist; returns how many are tests.
fn check_places(number: &str, places: &str) -> usize {
    let mut num_tests = 0;
    for place in places.split(", ") {
        let mut marks = [NIGHTLY, BELOW_WINE].into_iter();
        let place = marks.find_map(|mark| place.strip_suffix(mark)).unwrap_or(place);
        if let Some(test) = place.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
            assert!(is_test(test), "{number}: there is no test `{test}`");
            num_tests += 1;
        } else {
            let link = place.strip_prefix('[').and_then(|rest| rest.strip_suffix(')'));
            let (path, target) = link.and_then(|link| link.split_once("](../")).unwrap();
            assert_eq!(path, target, "{number}");
            assert!(root().join(path).exists(), "{number}: there is no {path}");
        }
    }
    num_tests
}

#[test]
fn every_test_and_path_in_the_table_exists() {
    for Row { number, places, .. } in rows().iter().filter(|row| row.places != WITHDRAWN) {
        assert!(check_places(number, places) > 0, "{number}: no test shows it");
    }
}

/// Returns a text with single spaces.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Checks that the pages have the words of each claim, and that the evidence exists.
fn check_claims(claims: &[Claim<'_>]) {
    let numbers: BTreeSet<String> = rows().into_iter().map(|row| row.number).collect();
    for Claim { page, words, places } in claims {
        let text = fs::read_to_string(root().join(page)).unwrap();
        assert!(joined(&text).contains(words), "{page} does not say: {words}");
        let (known, others): (Vec<&str>, Vec<&str>) =
            places.split(", ").partition(|place| place.starts_with('K'));
        assert!(known.iter().all(|number| numbers.contains(*number)), "{words}: {places}");
        if !others.is_empty() {
            check_places(words, &others.join(", "));
        }
    }
}

/// Returns the paragraphs, lines of lists and rows of tables of a page, without its blocks of code.
fn parts(page: &str) -> Vec<String> {
    // Commands are run by the test `command_lines`, and links are looked up by `docs`.
    let prose = page.split("```").step_by(2).collect::<Vec<_>>().join("\n\n");
    let is_separate = |line: &str| {
        let line = line.trim_start().trim_start_matches(|letter: char| letter.is_ascii_digit());
        ["- ", "| ", ". "].iter().any(|start| line.starts_with(start))
    };
    let lines =
        prose.lines().map(|line| format!("{}{line}\n", if is_separate(line) { "\n" } else { "" }));
    lines.collect::<String>().split("\n\n").map(joined).collect()
}

#[test]
fn every_claim_of_the_first_page_is_shown_by_something() {
    let claims = fs::read_to_string(root().join("tests/CLAIMS.md")).unwrap();
    let (rows, _) = claims.split_once("\n## Platforms\n").unwrap();
    let claims: Vec<Claim<'_>> = cells(rows).map(|row| Claim::new("README.md", row)).collect();
    check_claims(&claims);
    let first = fs::read_to_string(root().join("README.md")).unwrap();
    let (before, after) = first.split_once("| a person with documents").unwrap();
    let (_, after) = after.split_once("architecture](ARCHITECTURE.md) |").unwrap();
    for part in parts(&[before, after].join("\n\n")) {
        let is_head = ["#", "| kind", "| ---", "| you are", "Licence"]
            .iter()
            .any(|head| part.starts_with(head));
        let is_shown =
            part.is_empty() || is_head || claims.iter().any(|claim| part.contains(claim.words));
        assert!(is_shown, "tests/CLAIMS.md has no row for: {part}");
    }
}

/// Returns the pages in which each part about a platform needs evidence.
fn pages_about_platforms() -> Vec<String> {
    let entries = fs::read_dir(root().join("docs")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages = names.filter(|name| name.ends_with(".md")).map(|name| format!("docs/{name}"));
    pages.chain(["THREATS.md".to_owned()]).collect()
}

#[test]
fn every_sentence_about_a_platform_is_shown_by_something() {
    let claims = fs::read_to_string(root().join("tests/CLAIMS.md")).unwrap();
    let (_, rows) = claims.split_once("\n## Platforms\n").unwrap();
    let rows = cells(rows).map(|row| row.split_once(" | ").unwrap());
    let claims: Vec<Claim<'_>> = rows.map(|(page, row)| Claim::new(page, row)).collect();
    check_claims(&claims);
    for page in pages_about_platforms() {
        let text = fs::read_to_string(root().join(&page)).unwrap();
        for part in parts(&text).into_iter().filter(|part| !part.starts_with('#')) {
            let is_shown = !PLATFORMS.iter().any(|platform| part.contains(platform))
                || claims.iter().any(|claim| claim.page == page && part.contains(claim.words));
            assert!(is_shown, "tests/CLAIMS.md has no row for this part of {page}: {part}");
        }
    }
}
