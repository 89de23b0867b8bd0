//! Checks `tests/COVERAGE.md`: each requirement is listed once, with a sentence and the names of
//! existing tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Marks a requirement that was dropped.
const WITHDRAWN: &str = "withdrawn";

/// Follows a test that `make test` does not run.
const NIGHTLY: &str = " (make nightly)";

/// Longest sentence, so that a row stays readable.
const MAX_CHARS: usize = 260;

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
    page.lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .filter(|line| !["no. ", "---", "words of"].iter().any(|head| line.starts_with(head)))
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
        let place = place.strip_suffix(NIGHTLY).unwrap_or(place);
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

#[test]
fn every_claim_of_the_first_page_is_shown_by_something() {
    let joined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let first = fs::read_to_string(root().join("README.md")).unwrap();
    let claims = fs::read_to_string(root().join("tests/CLAIMS.md")).unwrap();
    let numbers: BTreeSet<String> = rows().into_iter().map(|row| row.number).collect();
    let mut words = Vec::new();
    for line in cells(&claims) {
        let (claim, places) = line.rsplit_once(" | ").unwrap();
        assert!(joined(&first).contains(claim), "README.md does not say: {claim}");
        let (known, others): (Vec<&str>, Vec<&str>) =
            places.split(", ").partition(|place| place.starts_with('K'));
        assert!(known.iter().all(|number| numbers.contains(*number)), "{line}");
        if !others.is_empty() {
            check_places(claim, &others.join(", "));
        }
        words.push(claim);
    }
    // Commands are run by the test `command_lines`, and links are looked up by `docs`.
    let prose = first.split("```").step_by(2).collect::<Vec<_>>().join("\n\n");
    let (before, after) = prose.split_once("| a person with documents").unwrap();
    let (_, after) = after.split_once("architecture](ARCHITECTURE.md) |").unwrap();
    let parts = [before, after].join("\n\n").replace("\n- ", "\n\n- ").replace("\n| ", "\n\n| ");
    for part in parts.split("\n\n").map(joined) {
        let is_head = ["#", "| kind", "| ---", "| you are", "Licence"]
            .iter()
            .any(|head| part.starts_with(head));
        let is_shown = part.is_empty() || is_head || words.iter().any(|claim| part.contains(claim));
        assert!(is_shown, "tests/CLAIMS.md has no row for: {part}");
    }
}
