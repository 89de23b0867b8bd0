//! Tests which values of a line are accepted, up to the last one, and how the others are refused.

use super::*;
use crate::limits::IMPORTED_ID;

/// Returns the line of a document with another value at one place.
fn with(pointer: &str, value: Value) -> Value {
    let mut line = line_of(&record());
    *line.pointer_mut(pointer).unwrap() = value;
    line
}

/// Reads a document with another value at one place; a refusal has to contain a text, and none is expected
/// if it is empty.
#[track_caller]
fn check(pointer: &str, value: Value, refusal: &str) {
    check_line(&with(pointer, value), refusal);
}

#[track_caller]
fn check_line(line: &Value, refusal: &str) {
    let found = read(&line.to_string()).err().unwrap_or_default();
    let is_expected = found.contains(refusal) && found.is_empty() == refusal.is_empty();
    assert!(is_expected, "{found:?} instead of {refusal:?}");
}

#[test]
fn ids_are_positive_and_leave_half_of_the_range_free() {
    for pointer in ["/id", "/chunks/0/chunk_id"] {
        check(pointer, json!(1), "");
        check(pointer, json!(IMPORTED_ID), "");
        for id in [0, -1, IMPORTED_ID + 1] {
            check(pointer, json!(id), "is not between 1 and");
        }
    }
}

#[test]
fn a_hash_has_64_lower_case_digits() {
    check("/content_hash", json!("f".repeat(64)), "");
    for hash in ["a".repeat(63), "a".repeat(65), "A".repeat(64), "g".repeat(64), "/".repeat(64)] {
        check("/content_hash", json!(hash), "is not 64 lower-case hexadecimal digits");
        check("/edits/former", json!([hash]), "is not 64 lower-case hexadecimal digits");
    }
}

#[test]
fn every_time_is_checked() {
    for pointer in ["/created_at", "/updated_at"] {
        check(pointer, json!("2024-02-30T00:00:00Z"), "is not a time like 2026-11-21T09:30:00Z");
    }
    for list in ["/edits/title", "/edits/date", "/edits/text"] {
        check(list, json!(["2024-02-29T00:00:00.000Z"]), "");
        for time in [
            "2024-02-30T00:00:00.000Z",
            "2024-02-29T00:00:00Z",
            "2024-02-29T00:00:00.00Z",
            "2024-02-29T00:00:00.0000Z",
            "2024-02-29T00:00:00.0x0Z",
            "2024-02-29T00:00:00.000",
        ] {
            check(list, json!(["2024-02-29T00:00:00.000Z", time]), "is not a time like 2026");
        }
    }
}

#[test]
fn a_document_has_at_most_ten_thousand_edits_of_a_kind() {
    for (list, one) in [
        ("title", json!("2024-02-29T00:00:00.000Z")),
        ("date", json!("2024-02-29T00:00:00.000Z")),
        ("text", json!("2024-02-29T00:00:00.000Z")),
        ("former", json!("a".repeat(64))),
    ] {
        let pointer = format!("/edits/{list}");
        check(&pointer, json!(vec![one.clone(); 10_000]), "");
        check(&pointer, json!(vec![one; 10_001]), "more than 10000 edits");
    }
}

#[test]
fn the_main_path_is_one_of_the_paths_and_none_is_named_twice() {
    let one = line_of(&record())["paths"][0].clone();
    let other = json!({ "path": "/b.md", "size_bytes": 1, "mtime_ns": 0 });
    check("/paths", json!([one, other]), "");
    check("/paths", json!([one, other, one]), "a path is named twice");
    check("/paths", json!([other]), "its path is not among its paths");
    check("/path", json!(null), "it has paths, but none is its main path");
    let mut without = with("/path", json!(null));
    without["paths"] = json!([]);
    check_line(&without, "");
}

#[test]
fn a_file_is_no_larger_than_a_file_can_be() {
    check("/paths/0/size_bytes", json!(i64::MAX), "");
    check(
        "/paths/0/size_bytes",
        json!(i64::MAX.unsigned_abs() + 1),
        "no file has 9223372036854775808",
    );
}

#[test]
fn a_path_in_a_container_is_relative_and_clean() {
    let longest = format!("/{}", "a".repeat((1 << 20) - 1));
    for (path, refusal) in [
        ("/a.zip//b/c.md", ""),
        ("/a.zip//b//c.md", "is not valid"),
        ("/a.zip//../c.md", "is not valid"),
        ("/a.zip//b/./c.md", "is not valid"),
        ("/a.zip///c.md", "is not valid"),
        ("/a.zip//", "is not valid"),
        ("/a.zip//b\u{8}.md", "is not valid"),
        ("/a\0.md", "is not valid"),
        (r"\\server\..\a.md", "is not valid"),
        (r"C:\", ""),
        ("c:a", "is not absolute"),
        (&longest, ""),
        (&format!("{longest}a"), "is not valid"),
    ] {
        let mut line = with("/path", json!(path));
        line["paths"][0]["path"] = json!(path);
        check_line(&line, refusal);
    }
}

#[test]
fn texts_of_one_line_have_at_most_a_megabyte() {
    check("/title", json!(" \u{7}"), "a title is empty");
    for (pointer, wrap) in [("/title", false), ("/tags", true)] {
        let text = |len: usize| {
            let text = json!("x".repeat(len));
            if wrap { json!([text]) } else { text }
        };
        check(pointer, text(1 << 20), "");
        check(pointer, text((1 << 20) + 1), "is longer than 1048576 bytes");
    }
}

#[test]
fn the_making_is_a_short_line_of_ascii() {
    check("/making", json!(null), "");
    check("/making", json!("a=1 ".repeat(50)), "");
    for making in ["a".repeat(201), "a\nb".into(), "é".into(), "a\u{7f}".into()] {
        check("/making", json!(making), "its making was not written by kb");
    }
}

#[test]
fn only_a_note_without_a_file_has_a_note_text() {
    let note = |path: Value, paths: Value, note_text: &str| {
        let mut line = with("/type", json!("note"));
        line["metadata"] = json!({ "format": "note" });
        (line["path"], line["paths"], line["note_text"]) = (path, paths, json!(note_text));
        line
    };
    let paths = line_of(&record())["paths"].clone();
    check_line(&note(json!(null), json!([]), "the text"), "");
    for refused in [
        note(json!("/a.md"), paths, "the text"),
        note(json!(null), json!([]), " \n"),
        with("/note_text", json!("the text")),
    ] {
        check_line(&refused, "it has a note_text, but is not a note with a text");
    }
    check_line(&note(json!(null), json!([]), "a\0b"), "its note_text has a NUL character");
}

#[test]
fn a_chunk_has_a_text_without_nul_characters() {
    check("/chunks/0/text", json!(" \n"), "its chunk 0: it has no text");
    check("/chunks/0/text", json!("a\0"), "its text has a NUL character");
    check("/chunks/0/context", json!("a\0"), "its text has a NUL character");
    let one = line_of(&record())["chunks"][0].clone();
    check("/chunks", json!([one, one]), "two chunks have the same id");
    let mut second = one.clone();
    (second["chunk_id"], second["text"]) = (json!(10), json!(""));
    check("/chunks", json!([one, second]), "its chunk 1: it has no text");
}

#[test]
fn a_vector_has_the_dimensions_of_the_export_and_length_1() {
    let pointer = "/chunks/0/vector";
    check(pointer, json!([0.6, 0.0, 0.8]), "");
    check(pointer, json!([0.602, 0.0, 0.8]), "");
    check(pointer, json!([0.6, 0.8]), "has 2 dimensions, those of the export have 3");
    for vector in [[0.61, 0.0, 0.8], [0.59, 0.0, 0.8], [0.0; 3], [1e30, 0.0, 0.0]] {
        check(pointer, json!(vector), "does not have length 1");
    }
    let line = lines::document_line(&record()).unwrap();
    let line = lines::decode(line.as_str().as_bytes()).unwrap();
    let refusal =
        check::document(line, &ExportHead { binding: None, roots: Vec::new() }).unwrap_err();
    assert!(refusal.contains("those of the export have 0"), "{refusal}");
}

#[test]
fn texts_inside_metadata_are_cleaned_at_every_depth() {
    let mut line = line_of(&record());
    line["metadata"]["headings"] = json!([[1, "a\u{7}b"], [2, "\u{200f}c\u{202e}"]]);
    line["title"] = json!("\u{200e}a\u{61c}");
    let record = read(&line.to_string()).unwrap();
    assert!(record.metadata.contains(r#"[[1,"a b"],[2,"‏c "]]"#), "{}", record.metadata);
    assert_eq!(record.title, "\u{200e}a\u{61c}", "marks of direction stay");
}

/// Reads a first line with another value at one place.
#[track_caller]
fn check_head(pointer: &str, value: Value, refusal: &str) {
    let line = lines::head_line(Some(&binding()), &head().roots).unwrap();
    let mut line: Value = serde_json::from_str(line.as_str()).unwrap();
    *line.pointer_mut(pointer).unwrap() = value;
    let found = read_head(&line.to_string()).err().unwrap_or_default();
    let is_expected = found.contains(refusal) && found.is_empty() == refusal.is_empty();
    assert!(is_expected, "{found:?} instead of {refusal:?}");
}

#[test]
fn the_settings_of_vectors_are_those_that_a_model_can_have() {
    check_head("/kb_export", json!(0), "the export has version 0; this kb supports 1");
    check_head("/kb_export", json!(2), "the export has version 2; this kb supports 1");
    for (pointer, largest, refusal) in [
        ("/binding/embedding_dim", 8192, "a vector cannot have"),
        ("/binding/max_tokens", 1_000_000, "a model cannot read"),
    ] {
        for (value, refusal) in [(0, refusal), (1, ""), (largest, ""), (largest + 1, refusal)] {
            check_head(pointer, json!(value), refusal);
        }
    }
    for pointer in ["/binding/model_name", "/binding/passage_prefix"] {
        check_head(pointer, json!("m".repeat(256)), "");
        let refusal = ["name of a model", "short text"][usize::from(pointer.ends_with("prefix"))];
        check_head(pointer, json!("m".repeat(257)), refusal);
    }
    check_head("/binding/precision", json!("fp16"), "fp16");
}

#[test]
fn an_added_folder_is_checked_like_a_file_and_named_once() {
    let root = json!({ "path": "/n", "tags": [], "type": null, "language": null, "follow": false });
    let with = |key: &str, value: Value| {
        let mut root = root.clone();
        root[key] = value;
        root
    };
    check_head("/roots", json!([root, with("path", json!("/"))]), "");
    check_head("/roots", json!([root, root]), "the folder `/n` is named twice");
    check_head("/roots", json!([with("path", json!("n"))]), "is not absolute");
    check_head("/roots", json!([with("tags", json!(["a", "a"]))]), "the tag `a` is named twice");
    check_head("/roots", json!([with("type", json!("x"))]), "type ");
    check_head("/roots", json!([with("language", json!("x"))]), "language ");
}

#[test]
fn a_long_reason_is_cut_and_marked() {
    assert_eq!(check::printable("a\"b'c\\d\n\u{1b}é"), "a\"b'c\\d\\n\\u{1b}é");
    let (longest, longer) = ("x".repeat(300), "x".repeat(301));
    assert_eq!(check::printable(&longest), longest);
    assert_eq!(check::printable(&longer), format!("{longest}…"));
}

#[test]
fn a_time_in_the_future_loses_and_the_present_one_stays() {
    let mut record = record();
    let (now, later) = ("2001-02-03T04:05:06.789Z", "2001-02-03T04:05:06.790Z");
    (record.edits.title, record.edits.date) = (vec![now.into()], vec![later.into()]);
    (record.created_at, record.updated_at) =
        ("2001-02-03T04:05:07Z".into(), "2001-02-03T04:05:06Z".into());
    check::bound_times(&mut record, now);
    assert_eq!(record.edits.title, [now]);
    assert_eq!(record.edits.date, ["1970-01-01T00:00:00.000Z"]);
    assert_eq!(
        (record.created_at, record.updated_at.as_str()),
        (record.updated_at.clone(), "2001-02-03T04:05:06Z")
    );
}
