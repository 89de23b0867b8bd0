//! `tests/COVERAGE.md` names every requirement once, and the tests it names exist.

use std::fs;
use std::path::{Path, PathBuf};

/// The letter of each list of requirements and the number of its last one, in order.
const LISTS: [(char, u32); 5] = [('K', 136), ('S', 59), ('G', 40), ('C', 60), ('U', 26)];

/// Issues that may still bring what is not there yet.
const LATER: std::ops::RangeInclusive<u32> = 3..=9;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the rows of the table: requirement, and what stands beside it.
fn rows() -> Vec<(String, String)> {
    let page = fs::read_to_string(root().join("tests/COVERAGE.md")).unwrap();
    page.lines()
        .filter_map(|it| it.strip_prefix("| "))
        .filter(|it| !it.starts_with("line ") && !it.starts_with("---"))
        .map(|it| {
            let (line, places) = it.trim_end_matches(" |").split_once(" | ").unwrap();
            (line.to_owned(), places.to_owned())
        })
        .collect()
}

/// Returns the files a test of this path may be in.
fn files(module: &str) -> Vec<PathBuf> {
    match module.strip_prefix("kb::") {
        None => vec![root().join(format!("tests/integration/{module}.rs"))],
        Some(module) => {
            let path = root().join("src").join(module.replace("::", "/"));
            vec![path.with_extension("rs"), path.join("mod.rs"), path.join("tests.rs")]
        }
    }
}

/// Whether a file has this function, as a test.
fn has_test(file: &Path, name: &str) -> bool {
    let text = fs::read_to_string(file).unwrap_or_default();
    let Some((before, _)) = text.split_once(&format!("fn {name}(")) else { return false };
    before.trim_end().ends_with("#[test]")
}

#[test]
fn every_requirement_is_in_the_table_once_and_in_order() {
    let found: Vec<String> = rows().into_iter().map(|it| it.0).collect();
    let all =
        LISTS.iter().flat_map(|(list, last)| (1..=*last).map(move |it| format!("{list}{it}")));
    assert_eq!(found, all.collect::<Vec<_>>());
}

#[test]
fn every_test_in_the_table_exists() {
    for (line, places) in rows() {
        let tests: Vec<&str> = places.split('`').skip(1).step_by(2).collect();
        for test in &tests {
            let (module, name) = test.rsplit_once("::").unwrap();
            let is_there = files(module).iter().any(|it| has_test(it, name));
            assert!(is_there, "{line}: there is no test `{test}`");
        }
        // Beside tests there may be the issue that brings the rest.
        let rest = places.split('`').step_by(2).collect::<String>();
        let is_later = rest
            .split(|it: char| !it.is_ascii_digit())
            .filter_map(|it| it.parse().ok())
            .any(|it| LATER.contains(&it));
        assert!(!tests.is_empty() || is_later || places == "void (D24)", "{line}: {places}");
    }
}
