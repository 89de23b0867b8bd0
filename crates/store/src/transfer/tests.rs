//! Tests that exported lines are imported unchanged, and that other lines are refused.

mod imported;
mod refused;

use serde_json::{Value, json};

use super::*;
use crate::document::{Binding, Chunk, DocType, ModelFiles, Precision};
use crate::{ChunkId, DocumentId, DocumentRecord, Edits, PathStamp};

fn binding() -> Binding {
    Binding {
        model_name: "m".into(),
        dim: 3,
        max_tokens: 256,
        precision: Precision::Fp32,
        passage_prefix: "passage: ".into(),
        files: ModelFiles::default(),
    }
}

fn head() -> ExportHead {
    ExportHead {
        binding: Some(binding()),
        roots: vec![AddedFolder {
            path: "/notes".into(),
            tags: vec!["a".into()],
            doc_type: Some(DocType::Note),
            language: None,
            follows_links: true,
            real_path: None,
        }],
    }
}

fn record() -> DocumentRecord {
    DocumentRecord {
        id: DocumentId(7),
        title: "Tides and gauges".into(),
        is_title_given: true,
        path: Some("/a.md".into()),
        content_hash: "0123456789abcdef".repeat(4),
        doc_type: DocType::Markdown,
        language: None,
        created_at: "2001-02-03T04:05:06Z".into(),
        updated_at: "2024-02-29T23:59:59Z".into(),
        metadata: r#"{"format":"markdown","page_count":3}"#.into(),
        making: Some("reader=1 structure min=50 max=256".into()),
        note_text: None,
        edits: Edits { title: vec!["2001-02-03T04:05:06.789Z".into()], ..Edits::default() },
        tags: vec!["a".into()],
        paths: vec![PathStamp {
            path: "/a.md".into(),
            size_bytes: 1,
            mtime_ns: -2,
            real_path: None,
        }],
        chunks: vec![RecordedChunk {
            id: ChunkId(9),
            text: "\u{1F30A} \"water\"\n\u{8}".into(),
            context: String::new(),
            token_count: 4,
            metadata: "{}".into(),
            vector: Some(vec![0.6, -1.0e-8, 0.8]),
            codes: None,
        }],
    }
}

/// Reads lines like an import does.
fn read_head(line: &str) -> Result<ExportHead, String> {
    check::head(lines::decode_head(line.as_bytes())?)
}

fn read(line: &str) -> Result<DocumentRecord, String> {
    check::document(lines::decode(line.as_bytes())?, &head())
}

fn line_of(record: &DocumentRecord) -> Value {
    serde_json::from_str(lines::document_line(record).unwrap().as_str()).unwrap()
}

#[test]
fn a_document_survives_export_and_import_unchanged() {
    let line = lines::document_line(&record()).unwrap();
    assert_eq!(line.as_str().lines().count(), 1);
    assert_eq!(read(line.as_str()), Ok(record()));
}

#[test]
fn the_first_line_holds_the_binding_and_the_folders() {
    let line = lines::head_line(Some(&binding()), &head().roots).unwrap();
    assert_eq!(read_head(line.as_str()), Ok(head()));
    let empty = ExportHead { binding: None, roots: Vec::new() };
    let line = lines::head_line(None, &[]).unwrap();
    assert_eq!(read_head(line.as_str()), Ok(empty.clone()));
    // As written before exports contained folders.
    assert_eq!(read_head(r#"{"kb_export": 1, "binding": null}"#), Ok(empty));
}

#[test]
fn metadata_of_an_earlier_kb_is_accepted() {
    // A document from before pages were counted, and one from before pages waited for OCR.
    for metadata in [
        json!({ "format": "pdf" }),
        json!({ "format": "pdf", "quality": { "pages_read": 1, "pages_ocr": 0 } }),
    ] {
        let mut line = line_of(&record());
        line["type"] = json!("pdf");
        line["metadata"] = metadata.clone();
        assert_eq!(read(&line.to_string()).unwrap().metadata, metadata.to_string());
    }
}

#[test]
fn no_time_is_later_than_now() {
    let mut record = record();
    record.edits.text = vec!["9999-12-31T23:59:59.000Z".into(), "2001-02-03T04:05:06.788Z".into()];
    record.updated_at = "9999-12-31T23:59:59Z".into();
    let before = record.clone();
    check::bound_times(&mut record, "2001-02-03T04:05:06.789Z");
    assert_eq!(record.edits.text, ["1970-01-01T00:00:00.000Z", "2001-02-03T04:05:06.788Z"]);
    assert_eq!(record.edits.title, before.edits.title);
    assert_eq!(record.created_at, before.created_at);
    assert_eq!(record.updated_at, "2001-02-03T04:05:06Z");
}

#[test]
fn control_characters_are_removed_from_titles_and_tags() {
    let mut line = line_of(&record());
    line["title"] = json!("a\u{8}]0;b\u{202e}c\nd");
    line["tags"] = json!(["x\u{9b}y"]);
    line["metadata"]["author"] = json!("A\u{7}B");
    line["chunks"][0]["metadata"]["section_header"] = json!("C\u{2066}D");
    let record = read(&line.to_string()).unwrap();
    assert_eq!((record.title.as_str(), record.tags[0].as_str()), ("a ]0;b c d", "x y"));
    assert!(record.metadata.contains("A B"), "{}", record.metadata);
    assert!(record.chunks[0].metadata.contains("C D"), "{}", record.chunks[0].metadata);
}

#[test]
fn paths_of_other_systems_are_accepted() {
    for (path, is_accepted) in [
        ("/a b/\u{8}\n", true),
        ("/", true),
        (r"C:\notes\a.md", true),
        (r"C:\a\b.md", true),
        (r"z:\a", true),
        (r"C:\", true),
        (r"C:\a/b.md", true),
        ("C:/a/b.md", true),
        ("C:/a/b.zip//c/d.md", true),
        (r"\\server\share\a.md", true),
        (r"C:\\a", false),
        (r"C:\a\..\b.md", false),
        (r"C:a.md", false),
        (r"1:\a.md", false),
        ("//a", false),
        ("/a/./b", false),
        ("a.md", false),
    ] {
        let mut line = line_of(&record());
        line["path"] = json!(path);
        line["paths"][0]["path"] = json!(path);
        assert_eq!(read(&line.to_string()).is_ok(), is_accepted, "{path:?}");
    }
}

/// The bound is far above what any tokenizer gives, but a larger false count would spoil every statistic.
#[test]
fn a_chunk_has_at_most_eight_tokens_per_byte_and_64_more() {
    let prefix = binding().passage_prefix.len();
    for (text, context) in [("x", ""), ("water of spring", ""), ("tide", "Guide > Tides")] {
        let most = (Chunk::passage(context, text).len() + prefix) * 8 + 64;
        for (token_count, is_accepted) in [(0, true), (most, true), (most + 1, false)] {
            let mut line = line_of(&record());
            line["chunks"][0]["text"] = json!(text);
            line["chunks"][0]["context"] = json!(context);
            line["chunks"][0]["token_count"] = json!(token_count);
            assert_eq!(read(&line.to_string()).is_ok(), is_accepted, "{text}: {token_count}");
        }
    }
}

#[test]
fn reasons_for_refusal_contain_no_control_characters() {
    let mut line = line_of(&record());
    line["language"] = json!("\u{8}]0;owned\u{7}");
    let refusal = check::printable(&read(&line.to_string()).unwrap_err());
    assert!(refusal.contains("owned") && !refusal.contains(char::is_control), "{refusal}");
    let long = check::printable(&"x".repeat(10_000));
    assert!(long.chars().count() < 400);
}

#[test]
fn impossible_times_are_refused() {
    for (time, is_accepted) in [
        ("2024-02-29T23:59:59Z", true),
        ("2000-02-29T00:00:00Z", true),
        ("2024-12-31T00:00:00Z", true),
        ("2023-02-29T00:00:00Z", false),
        ("1900-02-29T00:00:00Z", false),
        ("2024-04-31T00:00:00Z", false),
        ("2024-01-32T00:00:00Z", false),
        ("2024-01-00T00:00:00Z", false),
        ("2024-13-01T00:00:00Z", false),
        ("2024-00-01T00:00:00Z", false),
        ("2024-01-01T24:00:00Z", false),
        ("2024-01-01T00:60:00Z", false),
        ("2024-01-01T00:00:60Z", false),
        ("2024-01-01 00:00:00Z", false),
        ("2024-01-01T00:00:00+", false),
        ("2024-01-01T00:00:00", false),
    ] {
        let mut line = line_of(&record());
        line["updated_at"] = json!(time);
        assert_eq!(read(&line.to_string()).is_ok(), is_accepted, "{time}");
    }
}

#[test]
fn names_of_models_and_prefixes_are_short_and_on_one_line() {
    let is_accepted = |binding: &Binding| {
        read_head(lines::head_line(Some(binding), &[]).unwrap().as_str()).is_ok()
    };
    for (text, is_name, is_prefix) in [
        ("a model", true, true),
        ("", false, true),
        (" ", false, true),
        ("a\nmodel", false, false),
        ("\u{202e}model", false, false),
        (&"m".repeat(10_000), false, false),
    ] {
        let named = Binding { model_name: text.to_owned(), ..binding() };
        assert_eq!(is_accepted(&named), is_name, "{text:?}");
        let prefixed = Binding { passage_prefix: text.to_owned(), ..binding() };
        assert_eq!(is_accepted(&prefixed), is_prefix, "{text:?}");
    }
}

#[test]
fn tags_are_neither_empty_nor_named_twice() {
    for (tags, is_accepted) in [
        (json!(["a", "b"]), true),
        (json!([" "]), false),
        (json!(["\u{7}"]), false),
        (json!(["a", "a"]), false),
    ] {
        let mut line = line_of(&record());
        line["tags"] = tags.clone();
        assert_eq!(read(&line.to_string()).is_ok(), is_accepted, "{tags}");
    }
}
