//! Tests that a query which is the place of a file or a date puts what is called so first.

use serde_json::Value;

use crate::env::TestEnv;

/// Files of which others mention the names more often than they do themselves.
fn env() -> TestEnv {
    let env = TestEnv::new();
    let functions: Vec<String> = (0..60)
        .map(|n| format!("export function step{n}() {{\n  // call again\n  return {n};\n}}\n"))
        .collect();
    env.write("files/src/http/retry.ts", functions.concat());
    env.write("files/src/cache/retry.ts", "export const cached = 1;\n");
    env.write(
        "files/notes/http.md",
        "# HTTP\n\nsrc/http/retry.ts, src/http/retry.ts: see src/http/retry.ts:90.\n",
    );
    env.write("files/journal/2025-10-04.md", "# Saturday\n\nWe painted the fence.\n");
    env.write(
        "files/journal/2025-10-05.md",
        "# Sunday\n\nOn 4 October 2025, 2025-10-04, we painted. 4.10.2025!\n",
    );
    env.write("files/old/2024/03/09.md", "# Ninth\n\nThe boat was tarred.\n");
    env.write("files/old/2024/03/10.md", "# Tenth\n\nThe boat of 9 March 2024 is dry.\n");
    env.ok(&["add", "files"]);
    env
}

const LEGS: [&[&str]; 2] = [&[], &["--fts-only"]];

fn first(env: &TestEnv, args: &[&str]) -> Value {
    let answer = env.json(&[&["search"], args].concat());
    let results = answer["results"].as_array().unwrap();
    let scores: Vec<f64> = results.iter().map(|hit| hit["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|one, other| one >= other), "{args:?} {scores:?}");
    results[0].clone()
}

#[test]
fn a_path_puts_its_file_first_and_a_line_its_passage() {
    let env = env();
    for leg in LEGS {
        for (query, expected, line) in [
            ("src/http/retry.ts", "src/http/retry.ts", None),
            ("src/http/retry.ts:90", "src/http/retry.ts", Some(90)),
            ("http/retry.ts:150:3", "src/http/retry.ts", Some(150)),
            ("src\\http\\retry.ts#L200", "src/http/retry.ts", Some(200)),
            ("cache/retry.ts", "src/cache/retry.ts", None),
            ("2025-10-05.md", "journal/2025-10-05.md", None),
        ] {
            let hit = first(&env, &[&[query], leg].concat());
            let path = hit["source"]["path"].as_str().unwrap();
            assert!(path.ends_with(expected), "{query} {leg:?}: {path}");
            let lines = ["start_line", "end_line"].map(|key| hit["source"][key].as_u64().unwrap());
            assert!(
                line.is_none_or(|line| lines[0] <= line && line <= lines[1]),
                "{query}: {lines:?}"
            );
        }
    }
    // Filters hold, and what only is in such a file comes with its term.
    let note = first(&env, &["src/http/retry.ts", "--type=markdown"]);
    assert!(note["source"]["path"].as_str().unwrap().ends_with("notes/http.md"));
    let hit = first(&env, &["http/retry.ts:90", "--explain"]);
    assert!(
        hit["terms"].as_array().unwrap().iter().any(|term| term["term"] == "file:http/retry.ts:90")
    );
}

#[test]
fn a_date_puts_what_is_named_by_it_first() {
    let env = env();
    for leg in LEGS {
        for (query, expected) in [
            ("2025-10-04", "journal/2025-10-04.md"),
            ("4 October 2025", "journal/2025-10-04.md"),
            ("4.10.2025", "journal/2025-10-04.md"),
            ("9 March 2024", "2024/03/09.md"),
        ] {
            let hit = first(&env, &[&[query], leg].concat());
            let path = hit["source"]["path"].as_str().unwrap();
            assert!(path.ends_with(expected), "{query} {leg:?}: {path}");
        }
    }
    let hit = first(&env, &["what happened on October 4, 2025"]);
    assert!(hit["source"]["path"].as_str().unwrap().ends_with("journal/2025-10-04.md"), "{hit:#}");
}
