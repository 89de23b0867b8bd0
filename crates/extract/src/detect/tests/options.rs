//! Tests what the user says about the type of a file.

use super::*;

#[test]
fn the_users_options_override_the_name() {
    check_wanted(
        Some(DocType::Note),
        None,
        &[["x.md", "a", "note", "note"], ["x.dat", "a", "note", "note"]],
    );
    check_wanted(
        Some(DocType::Markdown),
        None,
        &[["x.txt", "a", "markdown", "markdown"], ["x.py", "a", "markdown", "markdown"]],
    );
    check_wanted(
        None,
        Some(Language::Python),
        &[["x.sh", "a", "python", "python"], ["x", "a", "python", "python"]],
    );
    check_wanted(Some(DocType::Code), Some(Language::Go), &[["x.py", "a", "go", "go"]]);
}

#[test]
fn a_wanted_type_excludes_files_that_cannot_have_it() {
    let wrong = "wrong_format: its content does not match its name or type: it looks like ";
    check_wanted(
        Some(DocType::Pdf),
        None,
        &[
            ["x", "%PDF-1.4", "pdf", "pdf"],
            ["x.md", "words", &format!("{wrong}plain text"), "ignored"],
            ["x.pdf", "words", &format!("{wrong}plain text"), &format!("{wrong}plain text")],
        ],
    );
    check_wanted(
        Some(DocType::Note),
        None,
        &[
            ["x.pdf", "%PDF-1.4", &format!("{wrong}PDF"), "ignored"],
            ["x.bin", "\0\u{1}", "not_text: it is not text", "ignored"],
        ],
    );
}

#[test]
fn code_needs_a_language() {
    check_wanted(
        Some(DocType::Code),
        None,
        &[
            ["x.go", "a", "go", "go"],
            ["x.cgi", "#!/bin/sh", "bash", "bash"],
            ["x.md", "a", "usage: the language of x.md is not known", "ignored"],
        ],
    );
    let wanted = TypeOverride { doc_type: Some(DocType::Code), language: None };
    let error = detect(Path::new("x"), b"a", true, wanted, &TextExtensions::NONE).unwrap_err();
    assert!(error.hint().is_some_and(|hint| {
        hint.to_string().starts_with("name it: `--language python|bash|go|")
    }));
}

#[test]
fn a_language_requires_the_type_code() {
    assert!(TypeOverride::new(Some(DocType::Pdf), Some(Language::Go)).is_err());
    assert!(TypeOverride::new(None, Some(Language::Go)).is_ok());
}
