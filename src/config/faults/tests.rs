//! Tests what the message and the hint about an invalid value say.

use super::*;
use crate::config::{Environment, FILE_NAME, Flags, load};

/// Loads settings of a file, variables and flags; returns where the value is that is refused, and the message and
/// the hint. All are empty if none is.
fn refusal(text: &str, variables: &[(&str, &str)], flags: &Flags) -> [String; 3] {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join(".kb").join(FILE_NAME);
    std::fs::create_dir(home.path().join(".kb")).unwrap();
    std::fs::write(&file, text).unwrap();
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), value.into()));
    let environment: Environment =
        variables.chain([("HOME".to_owned(), home.path().into())]).collect();
    match load(&environment, flags) {
        Ok(_) => Default::default(),
        Err(Error::Config { path, message, hint }) => {
            let place = if path == file { "file".into() } else { path.display().to_string() };
            [place, message, hint.map(|hint| hint.to_string()).unwrap_or_default()]
        }
        Err(other) => panic!("{other}"),
    }
}

/// Checks the message about a value in the file; it is empty if the value is accepted.
#[track_caller]
fn check(text: &str, expected: &str) {
    let place = if expected.is_empty() { "" } else { "file" };
    assert_eq!(refusal(text, &[], &Vec::new()), [place, expected, ""], "{text}");
}

#[test]
fn a_value_of_another_type_is_shown_with_what_it_must_be() {
    let whole = "a whole number from 1 to 1000000";
    for (value, shown) in [
        ("true", "`true`"),
        ("0", "`0`"),
        ("1000001", "`1000001`"),
        ("4294967296", "`4294967296`"),
        ("-3", "`-3`"),
        ("2.5", "`2.5`"),
        ("ten", "`ten`"),
        ("[1]", "a list"),
        ("{a: 1}", "a group of keys"),
    ] {
        let expected = format!("search.default_top: must be {whole}, not {shown}");
        check(&format!("search: {{default_top: {value}}}"), &expected);
    }
    check("search: 3", "search: must be a group of keys, not `3`");
    check("search: {rrf_k: x}", "search.rrf_k: must be a number, not `x`");
    check("data_dir: [a]", "data_dir: must be text, not a list");
    check("ingestion: {follow_links: 1}", "ingestion.follow_links: must be true or false, not `1`");
    check(
        "search: {freshness: never}",
        "search.freshness: must be one of mark, refresh, off, not `never`",
    );
}

#[test]
fn numbers_have_a_range() {
    for (key, min, max) in [
        ("search: {refresh_ms", 1, 600_000),
        ("chunking: {pdf: {max_tokens", 1, 1_000_000),
        ("freshness: {days", 0, 100_000),
    ] {
        let close = "}".repeat(key.matches('{').count());
        check(&format!("{key}: {min}{close}"), "");
        check(&format!("{key}: {max}{close}"), "");
        let name = key.replace(": {", ".");
        let expected =
            format!("{name}: must be a whole number from {min} to {max}, not `{}`", max + 1);
        check(&format!("{key}: {}{close}", max + 1), &expected);
    }
    check("search: {rrf_k: 0}", "");
    check("search: {rrf_k: 1000000}", "");
    for value in ["-0.5", "1000000.5", ".nan", ".inf"] {
        let [place, message, _] = refusal(&format!("search: {{rrf_k: {value}}}"), &[], &Vec::new());
        assert_eq!(place, "file");
        assert!(message.starts_with("search.rrf_k: must be a number from 0 to 1000000, not `"));
    }
}

#[test]
fn a_model_has_a_name() {
    check("embedding: {model: ' '}", "embedding.model: must not be empty");
    check("embedding: {model: ''}", "embedding.model: must not be empty");
}

#[test]
fn extensions_begin_with_a_letter() {
    for list in ["conf", ".conf, ini", "c4 v2d", "''", "[conf, .ini]"] {
        check(&format!("ingestion: {{text_extensions: {list}}}"), "");
    }
    for (list, word) in [
        ("4c", "4c"),
        ("conf, 7", "7"),
        ("a-b", "a-b"),
        ("..conf", "..conf"),
        (".", "."),
        ("4-", "4-"),
    ] {
        let expected = format!(
            "ingestion.text_extensions: must have extensions of letters and digits, such as \
             `conf, ini`, not `{word}`"
        );
        check(&format!("ingestion: {{text_extensions: '{list}'}}"), &expected);
    }
}

#[test]
fn the_last_of_two_values_that_do_not_fit_is_at_fault() {
    let (overlap, longest) = ("chunking.defaults.overlap_tokens", "chunking.defaults.max_tokens");
    let less = format!("{overlap}: must be less than {longest}");
    let more = format!("{longest}: must be more than {overlap}");
    let (of_overlap, of_longest) =
        ("KB_CHUNKING_DEFAULTS_OVERLAP_TOKENS", "KB_CHUNKING_DEFAULTS_MAX_TOKENS");
    let flag = |name, key, value: &str| vec![(name, key, value.to_owned())];
    let (none, file) = (Vec::new(), "chunking: {defaults: {overlap_tokens: 9, max_tokens: 9}}");
    for (text, variables, flags, place, message) in [
        (file, &[][..], &none, "file", &less),
        ("chunking: {defaults: {max_tokens: 50}}", &[], &none, "file", &less),
        ("", &[(of_overlap, "512")], &none, of_overlap, &less),
        ("", &[(of_longest, "50")], &none, of_longest, &more),
        ("", &[(of_longest, "9"), (of_overlap, "9")], &none, of_overlap, &less),
        (file, &[(of_longest, "8")], &none, of_longest, &more),
        ("", &[(of_overlap, "9")], &flag("--max", longest, "9"), "--max", &more),
        ("", &[(of_longest, "9")], &flag("--overlap", overlap, "9"), "--overlap", &less),
    ] {
        let found = refusal(text, variables, flags);
        assert_eq!([&found[0], &found[1]], [place, message.as_str()], "{text} {variables:?}");
    }
    check("chunking: {defaults: {overlap_tokens: 8, max_tokens: 9}}", "");
}

#[test]
fn the_hint_says_what_holds_otherwise() {
    let flags = vec![("--top", "search.default_top", "0".to_owned())];
    assert_eq!(refusal("", &[], &flags)[2], "the default is 10");
    let variables = [("KB_INGESTION_TEXT_EXTENSIONS", "7")];
    assert_eq!(
        refusal("", &variables, &Vec::new())[2],
        "the default is empty, which applies if KB_INGESTION_TEXT_EXTENSIONS is unset"
    );
}

#[test]
fn the_nearest_key_is_proposed_if_it_is_similar() {
    let keys = ["search.default_top", "search.rrf_k"].map(str::to_owned);
    let unknown = |key| unknown_key(Path::new("/f"), key, &keys);
    assert_eq!(unknown("zzz"), "unknown key `zzz` in /f");
    assert_eq!(
        unknown("search.rrfk"),
        "unknown key `search.rrfk` in /f; did you mean `search.rrf_k`?"
    );
    let hint = nearest_hint("search.rrfk", &keys).unwrap().to_string();
    assert_eq!(hint, "the nearest key is `search.rrf_k`");
    let hint = nearest_hint("zzz", &keys).unwrap().to_string();
    assert!(hint.ends_with("; `kb config` lists all keys"), "{hint}");
    assert_eq!(nearest_hint("zzz", &[]), None);
}
