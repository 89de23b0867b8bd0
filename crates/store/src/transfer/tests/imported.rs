//! Tests what an import reports, and what it stores.

use super::*;
use crate::NewDocument;
use crate::testing::{self, TestDb};

const NOW: &str = "9999-12-31T23:59:59.999Z";

const OPTIONS: ImportOptions<'_> =
    ImportOptions { trusts_paths: true, are_vectors_good: true, now: NOW };

fn add(db: &mut TestDb, path: &str, texts: &[&str]) -> DocumentId {
    let content_hash = kb_base::hash::sha256(path.as_bytes());
    let new = NewDocument { content_hash, ..testing::document(path, texts, &[]) };
    db.put(&new, texts, &[]).document_id()
}

/// Returns the lines of two documents with the chunks `ebb`, `flood` and `neap`.
fn exported(with_vectors: bool) -> (String, ExportSummary) {
    let mut db = TestDb::new();
    add(&mut db, "/a.md", &["ebb", "flood"]);
    add(&mut db, "/b.md", &["neap"]);
    written(&db, with_vectors)
}

fn written(db: &TestDb, with_vectors: bool) -> (String, ExportSummary) {
    let mut text = String::new();
    let emit = |line: &JsonLine| {
        text += line.as_str();
        Ok(())
    };
    let exported =
        export(&db.store, None, &db.store.all_roots().unwrap(), with_vectors, emit).unwrap();
    (text, exported)
}

/// Imports lines; returns the report, the texts that were embedded, and the failures that were reported at once.
fn imported(
    db: &mut TestDb,
    text: &str,
    options: ImportOptions<'_>,
) -> Result<(ImportReport, Vec<String>, Vec<BadLine>)> {
    let mut input = text.as_bytes();
    let name = Path::new("export");
    let head = crate::transfer::head(&mut input, name)?;
    let (mut embedded, mut failed) = (Vec::new(), Vec::new());
    let mut embed = |chunks: &[RecordedChunk]| {
        embedded.extend(chunks.iter().map(|chunk| chunk.text.clone()));
        Ok(chunks.iter().map(|chunk| testing::embedding(&chunk.text)).collect())
    };
    let export = ExportReader { input: &mut input, name, head: &head };
    let report = import(&mut db.store, export, options, &mut embed, &mut |line| {
        failed.push(line.clone());
    })?;
    Ok((report, embedded, failed))
}

#[test]
fn documents_and_chunks_are_counted_in_both_directions() {
    let (text, report) = exported(true);
    assert_eq!(report, ExportSummary { num_documents: 2, num_chunks: 3, has_vectors: true });
    assert_eq!(text.lines().count(), 3);
    let mut db = TestDb::new();
    let (report, embedded, failed) = imported(&mut db, &text, OPTIONS).unwrap();
    assert_eq!(report, ImportReport { num_documents: 2, num_chunks: 3, ..ImportReport::default() });
    assert_eq!((embedded.len(), failed.len()), (0, 0));
    assert_eq!(written(&db, true).0, text);
    // Again, nothing is new.
    let (report, ..) = imported(&mut db, &text, OPTIONS).unwrap();
    assert_eq!(report, ImportReport { num_skipped: 2, ..ImportReport::default() });
    // A tag that is missing here is added.
    let text = text.replacen(r#""tags":[],"metadata""#, r#""tags":["x"],"metadata""#, 1);
    let (report, ..) = imported(&mut db, &text, OPTIONS).unwrap();
    assert_eq!(report, ImportReport { num_merged: 1, num_skipped: 1, ..ImportReport::default() });
}

#[test]
fn some_documents_are_exported_with_the_folders_that_are_named() {
    let mut db = TestDb::new();
    let ids = ["/a.md", "/b.md", "/c.md"].map(|path| add(&mut db, path, &[path, "end"]));
    let mut lines = Vec::new();
    let emit = |line: &JsonLine| {
        lines.push(line.as_str().to_owned());
        Ok(())
    };
    let report = export(&db.store, Some(&ids[1..]), &super::head().roots, false, emit).unwrap();
    assert_eq!(report, ExportSummary { num_documents: 2, num_chunks: 4, has_vectors: true });
    assert_eq!(lines.len(), 3);
    assert_eq!(read_head(&lines[0]).unwrap().roots, super::head().roots);
    assert!(
        lines[1].contains("/b.md") && lines[2].contains("/c.md") && !lines[1].contains("vector")
    );
}

#[test]
fn vectors_are_computed_where_they_are_missing_or_do_not_fit() {
    let all = ["ebb", "flood", "neap"];
    for (with_vectors, are_vectors_good, expected) in
        [(true, true, &[][..]), (true, false, &all[..]), (false, true, &all[..])]
    {
        let (text, _) = exported(with_vectors);
        let mut db = TestDb::new();
        let options = ImportOptions { are_vectors_good, ..OPTIONS };
        let (_, embedded, _) = imported(&mut db, &text, options).unwrap();
        assert_eq!(embedded, expected, "{with_vectors}, {are_vectors_good}");
        db.assert_intact();
        // Nothing is computed for what is here.
        let (report, embedded, _) = imported(&mut db, &text, options).unwrap();
        assert_eq!((report.num_skipped, embedded.len()), (2, 0));
    }
}

#[test]
fn documents_come_without_their_paths_unless_those_are_trusted() {
    let (text, _) = exported(true);
    for (trusts_paths, num_without_file) in [(true, 0), (false, 2)] {
        let mut db = TestDb::new();
        let options = ImportOptions { trusts_paths, ..OPTIONS };
        let (report, ..) = imported(&mut db, &text, options).unwrap();
        assert_eq!((report.num_documents, report.num_without_file), (2, num_without_file));
        let has_path = written(&db, false).0.contains(r#""path":"/a.md""#);
        assert_eq!(has_path, trusts_paths);
    }
}

#[test]
fn a_line_that_fails_is_reported_with_its_number_and_the_others_are_imported() {
    let (text, _) = exported(true);
    let lines: Vec<&str> = text.lines().collect();
    let failed = r#"{"path": "/c.pdf", "code": "unreadable", "error": "no text"}"#;
    let text = [lines[0], "", "{}", lines[1], " \t", failed, lines[2]].join("\n");
    let (report, _, reported) = imported(&mut TestDb::new(), &text, OPTIONS).unwrap();
    assert_eq!((report.num_documents, report.num_failed), (2, 2));
    assert_eq!(report.failed, reported);
    let [missing, unreadable] = &report.failed[..] else { panic!("{reported:?}") };
    assert_eq!((missing.number, unreadable.number), (3, 6));
    assert!(missing.reason.contains("not a document of an export: missing field `id` at column 2"));
    assert!(unreadable.reason.ends_with("/c.pdf was not converted: no text"));
    assert!(!report.is_lost());
}

#[test]
fn the_report_keeps_the_first_hundred_failures() {
    let head = lines::head_line(None, &[]).unwrap();
    let text = format!("{}{}", head.as_str(), "x\n".repeat(102));
    let (report, _, reported) = imported(&mut TestDb::new(), &text, OPTIONS).unwrap();
    assert_eq!((report.num_failed, report.failed.len(), reported.len()), (102, 100, 102));
    assert_eq!(report.failed, reported[..100]);
    assert!(report.is_lost());
}

#[test]
fn an_import_is_lost_if_lines_failed_and_no_line_is_here() {
    let lost = ImportReport { num_failed: 1, ..ImportReport::default() };
    assert!(lost.is_lost() && !ImportReport::default().is_lost());
    assert!(!ImportReport { num_documents: 1, ..lost.clone() }.is_lost());
    assert!(!ImportReport { num_merged: 1, ..lost.clone() }.is_lost());
    assert!(!ImportReport { num_skipped: 1, ..lost.clone() }.is_lost());
    assert!(!ImportReport { num_documents: 2, num_merged: 2, ..lost }.is_lost());
}

#[test]
fn a_first_line_that_begins_no_export_is_refused() {
    let refusal =
        |text: &str| match crate::transfer::head(&mut text.as_bytes(), Path::new("export")) {
            Err(Error::Usage { message, hint: Some(_) }) => message.to_string(),
            other => panic!("{other:?}"),
        };
    assert!(refusal("# Notes\n").starts_with("the first line is not that of an export of kb"));
    assert!(refusal(r#"{"kb_export": 9, "binding": null}"#).contains("version 9"));
    let long = refusal(&" ".repeat(limits::EXPORT_HEAD_BYTES + 1));
    assert_eq!(long, "the first line is longer than 16 MB");
}

#[test]
fn a_failure_of_the_model_ends_the_import() {
    let (text, _) = exported(false);
    let mut db = TestDb::new();
    let mut input = text.as_bytes();
    let head = crate::transfer::head(&mut input, Path::new("export")).unwrap();
    let export = ExportReader { input: &mut input, name: Path::new("export"), head: &head };
    let mut embed = |_: &[RecordedChunk]| Err(Error::Store("gone".into()));
    let outcome = import(&mut db.store, export, OPTIONS, &mut embed, &mut |_| {});
    assert!(matches!(outcome, Err(Error::Store(_))), "{outcome:?}");
}
