//! Tests the advice on errors.

use super::*;

fn unsupported(path: &str, is_text: bool) -> String {
    Error::UnsupportedFormat { path: path.into(), found: None, is_text }.hint().unwrap().to_string()
}

#[test]
fn a_file_of_an_older_format_can_be_converted() {
    let hint = |path: &str| unsupported(path, false);
    for (path, to) in [("a.doc", "docx"), ("a.XLS", "xlsx"), ("b/a.ppt", "pptx")] {
        let expected = format!("convert it: `soffice --headless --convert-to {to} FILE`");
        assert_eq!(hint(path), expected);
    }
    assert!(hint("a.dat").starts_with("supported: "));
}

#[test]
fn a_text_with_an_unknown_extension_is_read_by_one_command() {
    for (path, expected) in [
        (
            "/a/notes.xyz",
            "it is text: `kb add --type markdown /a/notes.xyz` reads it; \
             `kb config set ingestion.text_extensions xyz` reads all .xyz files",
        ),
        ("my notes", "it is text: `kb add --type markdown FILE` reads it"),
        ("words.ZIP", "it is text: `kb add --type markdown words.ZIP` reads it"),
        ("server.key", "it is text: `kb add --type markdown server.key` reads it"),
        ("x.min.js", "it is text: `kb add --type markdown x.min.js` reads it"),
        ("notes.md~", "it is text: `kb add --type markdown FILE` reads it"),
    ] {
        assert_eq!(unsupported(path, true), expected);
    }
}

#[test]
fn what_is_no_path_leads_on() {
    let hint = |path: &str| {
        let hint = Error::PathNotFound { path: path.into() }.hint();
        hint.map(|hint| hint.to_string())
    };
    assert!(
        hint("https://example.org/x").unwrap().contains("`curl ADDRESS | kb add - --title TITLE`")
    );
    assert!(hint("*.pdf").unwrap().starts_with("no file here matches it"));
    assert_eq!(hint("/a/[b] c.md"), None);
}

#[test]
fn candidates_of_a_name_have_a_line_each() {
    let candidates = vec!["4 (Tides)".to_owned(), "5 (Ebb\n  6 (Forged))".to_owned()];
    let error = Error::AmbiguousDocument { typed: "e".into(), num_candidates: 2, candidates };
    let expected = "type the id or more of the name:\n  4 (Tides)\n  5 (Ebb 6 (Forged))";
    assert_eq!(error.hint().unwrap().to_string(), expected);
}

#[test]
fn another_model_is_named_as_it_is_typed() {
    let hint = |wanted: &str| {
        let bound = "bge-small int8".to_owned();
        Error::ModelMismatch { bound, bound_dim: 384, wanted: wanted.to_owned() }
            .hint()
            .unwrap()
            .to_string()
    };
    assert_eq!(hint("e5-small fp32"), "run `kb reindex --model e5-small` to switch models");
    assert_eq!(hint("bge-small fp32"), "run `kb reindex` to recompute all vectors");
    let directory = std::env::temp_dir();
    let directory = directory.to_str().unwrap();
    let expected = format!("run `kb reindex --model-dir {directory}` to switch models");
    assert_eq!(hint(directory), expected);
}
