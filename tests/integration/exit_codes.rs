//! Tests exit statuses and the form of errors, with one basic case of each kind.

use std::fs;

use crate::env::{CORPUS, TestEnv};

/// Requires one line `error: ...`, at most one line `hint: ...`, and nothing on stdout.
#[track_caller]
fn check_human(env: &TestEnv, args: &[&str], status: i32, expected: &str) {
    let output = env.kb(args).expect(status);
    assert_eq!(output.stdout, "", "{args:?}");
    assert_eq!(output.text(), format!("--- stderr\n{expected}\n--- status {status}\n"), "{args:?}");
}

#[test]
fn errors_that_the_user_can_fix_end_with_status_1() {
    let env = TestEnv::with_corpus();
    check_human(
        &env,
        &["info", "99"],
        1,
        "error: document not found: 99\nhint: `kb list` shows all ids",
    );
    check_human(&env, &["add", "nowhere"], 1, "error: no such file or directory: nowhere");
    check_human(
        &env,
        &["list", "--format", "yaml"],
        1,
        "error: invalid value 'yaml' for '--format <FORMAT>'\nhint: use one of json, human",
    );
    for args in [
        ["frobnicate", "x", "y"],
        ["search", "x", "--bogus"],
        ["tag", "99", "--add=x"],
        ["remove", "99", "--yes"],
        ["info", "first", "--format=json"],
        ["add", "x", "--language=cobol"],
        ["list", "--tags", ","],
    ] {
        let output = env.kb(&args).expect(1);
        assert_eq!(output.stdout, "", "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_refused_search_is_reported_in_the_format_of_its_answer() {
    let env = TestEnv::new();
    for args in [
        &["search", "x", "--bogus"][..],
        &["--data-dir", "elsewhere", "search", "x", "--bogus"],
        &["search", "x", "--format=jsonl", "--bogus"],
    ] {
        assert_eq!(env.kb(args).expect(1).json_error()["code"], "usage", "{args:?}");
    }
    for format in ["human", "md", "paths"] {
        let output = env.kb(&["search", "x", "--format", format, "--bogus"]).expect(1);
        assert!(output.stderr.starts_with("error: "), "{format}: {}", output.stderr);
    }
}

#[test]
fn a_search_that_only_excludes_is_refused() {
    let env = TestEnv::new();
    let output = env.kb(&["search", "--", "-bread"]).expect(1);
    assert_eq!(
        (output.stdout.as_str(), &output.json_error()["code"]),
        ("", &"only_exclusions".into())
    );
    let hint = "add a word to search for, as in `kb search 'recipe -draft'`, or leave out the dash";
    let message = format!("error: the query only excludes words\nhint: {hint}");
    check_human(&env, &["search", "--format", "human", "--", "-bread"], 1, &message);
}

#[test]
fn a_search_without_words_is_refused() {
    let env = TestEnv::new();
    for args in [&["search"][..], &["search", ""], &["search", " \t", "--format=json"]] {
        let output = env.kb(args).expect(1);
        assert_eq!(output.stdout, "");
        assert_eq!(output.json_error()["error"], "the query is empty");
        assert_eq!(output.json_error()["code"], "empty_query");
    }
    check_human(
        &env,
        &["search", "--format", "human"],
        1,
        "error: the query is empty\nhint: type some words: `kb search \"how to install git\"`",
    );
}

#[test]
fn wrong_parameters_are_named() {
    let env = TestEnv::new();
    for (args, message) in [
        (["search", "x", "--type", "movie"], "'--type <TYPE>'"),
        (["search", "x", "--format", "xml"], "'--format <FORMAT>'"),
        (["search", "x", "--top", "many"], "'--top <N>'"),
        (["search", "x", "--top", "0"], "'--top <N>'"),
        (["search", "x", "--threshold", "high"], "'--threshold <SCORE>'"),
        (["add", "x", "--type", "movie"], "'--type <TYPE>'"),
        (["list", "--type", "movie", "--format=json"], "'--type <TYPE>'"),
    ] {
        let output = env.kb(&args).expect(1);
        assert_eq!(output.stdout, "");
        assert!(output.stderr.contains(message), "{args:?}: {}", output.stderr);
    }
    // An invalid word is reported with the list of valid ones.
    let output = env.kb(&["search", "x", "--type", "movie"]).expect(1);
    let error = output.json_error().to_string();
    assert!(["pdf", "markdown", "code", "note"].iter().all(|word| error.contains(word)), "{error}");
}

#[test]
fn an_error_is_json_if_the_output_is() {
    let env = TestEnv::new();
    for args in [
        &["search"][..],
        &["search", "x", "--top", "many"],
        &["info", "7", "--format", "json"],
        &["list", "--format=json", "--bogus"],
        &["remove", "7", "--yes", "--format", "json"],
        &["add", "nowhere", "--format", "json"],
        &["status", "--format", "json", "surplus"],
    ] {
        let output = env.kb(args).expect(1);
        assert_eq!(output.stdout, "", "{args:?}");
        let error = output.json_error();
        let keys: Vec<&String> = error.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["error", "code", "fix"], "{args:?}");
        assert!(
            error["error"].as_str().is_some_and(|text| !text.is_empty() && !text.contains('\n'))
        );
        assert!(
            error["code"]
                .as_str()
                .unwrap()
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter == '_')
        );
        assert!(error["fix"].is_null() || error["fix"].is_string());
    }
    // The setting applies if no flag is given.
    let output = env.kb_with(&[("KB_DEFAULT_FORMAT", "human")], &["search"]).expect(1);
    assert!(output.stderr.starts_with("error: the query is empty\n"));
}

#[test]
fn a_corrupt_database_ends_with_status_2() {
    let env = TestEnv::with_corpus();
    let mut bytes = fs::read(env.database()).unwrap();
    for byte in bytes.iter_mut().skip(4096) {
        *byte = 0x5a;
    }
    for (bytes, message) in [(bytes, "is corrupt"), (b"not a database".repeat(300), "not a")] {
        fs::write(env.database(), &bytes).unwrap();
        for args in [&["list"][..], &["search", "ice", "--fts-only"], &["add", CORPUS]] {
            let output = env.kb(args).expect(2);
            assert_eq!(output.stdout, "", "{args:?}");
            assert!(
                output.stderr.contains("kb.db") && output.stderr.contains(message),
                "{output:?}"
            );
        }
        assert_eq!(fs::read(env.database()).unwrap(), bytes, "nothing is written to it");
    }
}

#[test]
fn a_batch_succeeds_if_any_document_is_stored_in_the_end() {
    let env = TestEnv::new();
    env.write("docs/good.md", "# Good\n\nWords that can be found.\n");
    env.write("docs/bad.md", [0_u8, 159, 146, 150, 0, 1].repeat(40));
    let output = env.ok(&["add", "docs"]);
    assert!(output.stderr.contains("Added 1 document. 1 failed. 0 skipped"), "{}", output.stderr);
    let output = env.ok(&["add", "docs"]);
    assert!(output.stderr.contains("Added 0 documents. 0 failed. 1 skipped"), "{}", output.stderr);
    std::fs::remove_file(env.path("docs/good.md")).unwrap();
    let output = env.kb(&["add", "docs"]).expect(1);
    assert!(output.stderr.contains("Added 0 documents. 0 failed. 0 skipped"), "{}", output.stderr);
}
