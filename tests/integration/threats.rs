//! Checks that the tests THREATS.md names for its promises exist.

use std::fs;
use std::path::Path;

use crate::coverage::is_test;

/// Returns the names of tests in a part of the page.
fn tests(text: &str) -> Vec<&str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|name| name.contains("::") && !name.contains('…')).collect()
}

#[test]
fn every_defence_names_tests_that_exist() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("THREATS.md");
    let page = fs::read_to_string(path).unwrap();
    for name in tests(&page) {
        assert!(is_test(name), "THREATS.md: there is no test `{name}`");
    }
    let (_, table) = page.split_once("| attacker |").unwrap();
    let rows: Vec<&str> = table.lines().skip(2).take_while(|row| row.starts_with('|')).collect();
    assert!(rows.len() > 15, "{rows:?}");
    for row in rows {
        assert!(!tests(row).is_empty(), "THREATS.md: no test holds {row}");
    }
}
