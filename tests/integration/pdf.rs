//! Tests the real child process, started as `kb __read`, on real files and on misbehaving readers.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use kb_base::document::{BlockKind, Document};
use kb_base::error::{Error, FailureKind, Result};
use kb_extract::pdf;
use kb_extract::sandbox::ReadOptions;

fn options() -> ReadOptions {
    ReadOptions::new(PathBuf::from(env!("CARGO_BIN_EXE_kb")))
}

fn extract(bytes: &[u8], options: &ReadOptions) -> Result<Document> {
    Ok(pdf::extract(bytes, options)?.document)
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

fn read(name: &str) -> Document {
    extract(&fixture(name), &options()).unwrap()
}

#[track_caller]
fn failure(outcome: Result<Document>) -> (FailureKind, String) {
    match outcome {
        Err(Error::Extract { failure, detail }) => (failure, detail),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check_failure(name: &str, expected: FailureKind, words: &str) {
    let (failure, detail) = failure(extract(&fixture(name), &options()));
    assert_eq!((failure, detail.as_str()), (expected, words), "{name}");
}

#[track_caller]
fn block_with<'a>(document: &'a Document, words: &str) -> (&'a kb_base::document::Block, &'a str) {
    let mut blocks =
        document.blocks.iter().map(|block| (block, &document.text[block.bytes.clone()]));
    blocks
        .find(|(_, text)| text.contains(words))
        .unwrap_or_else(|| panic!("{words:?} is not there"))
}

#[test]
fn a_document_has_its_title_its_pages_and_its_headings() {
    let guide = read("corpus/tide-station.pdf");
    assert_eq!(guide.title.as_deref(), Some("Field Guide to the Harbour Tide Station"));
    assert_eq!(guide.metadata.author.as_deref(), Some("Maren Voss"));
    assert_eq!(guide.metadata.page_count, Some(5));
    assert_eq!(guide.metadata.created.as_deref(), Some("2000-01-01T00:00:00Z"));
    assert_eq!(guide.metadata.warnings, [""; 0]);
    assert!(!guide.has_lines);

    let (block, _) = block_with(&guide, "phosphor bronze");
    assert_eq!(block.page, Some(2));
    assert_eq!(block.headings, ["2 Instruments", "2.1 Float gauge"]);

    let (block, text) = block_with(&guide, "5.1 When nothing helps");
    assert_eq!(
        (block.kind, block.page, text),
        (BlockKind::Heading, Some(5), "5.1 When nothing helps")
    );
    assert!(block.starts_section);

    let (block, text) = block_with(&guide, "extension 204");
    assert_eq!(block.kind, BlockKind::ListItem);
    assert!(text.starts_with("4. Call the lock"), "{text}");
}

#[test]
fn a_table_keeps_rows_and_columns_together() {
    let guide = read("corpus/tide-station.pdf");
    let (block, text) = block_with(&guide, "E23");
    assert_eq!(block.kind, BlockKind::Table);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["| Code | Meaning | Remedy |", "| --- | --- | --- |"]);
    assert_eq!(
        lines[5],
        "| E23 | Stilling well blocked | Rod the intake at low water with the brass brush |"
    );
}

#[test]
fn blocks_are_ordered_ranges_of_the_text() {
    let guide = read("corpus/tide-station.pdf");
    let mut end = 0;
    for block in &guide.blocks {
        assert!(block.bytes.start >= end && block.bytes.end > block.bytes.start);
        assert!(guide.text.get(block.bytes.clone()).is_some());
        end = block.bytes.end;
    }
    assert!(end <= guide.text.len());
}

#[test]
fn running_heads_and_page_numbers_are_gone() {
    let guide = read("corpus/tide-station.pdf");
    assert_eq!(guide.text.matches("Third edition").count(), 1);
    assert!(!guide.text.contains("Page 3 of 5"));
}

#[test]
fn bookmarks_identify_headings_that_look_like_text() {
    let notes = read("pdf/outline.pdf");
    let (block, _) = block_with(&notes, "gullies");
    assert_eq!((block.page, block.headings.as_slice()), (Some(3), &["Flood".to_owned()][..]));
    assert_eq!(block_with(&notes, "Slack").0.kind, BlockKind::Heading);
}

#[test]
fn pages_are_known_by_their_labels() {
    assert_eq!(read("pdf/outline.pdf").page_labels, ["i", "ii", "A-1"]);
    assert!(read("corpus/tide-station.pdf").page_labels.is_empty());
}

#[test]
fn junk_before_the_header_and_restrictions_do_no_harm() {
    for name in ["pdf/junk-first.pdf", "pdf/restricted.pdf"] {
        assert!(read(name).text.contains("High water was at noon."), "{name}");
    }
}

#[test]
fn text_typed_into_a_form_is_text() {
    let form = read("pdf/form.pdf");
    assert_eq!(block_with(&form, "Maren Voss").0.page, Some(1));
}

#[test]
fn documents_without_text_are_reported() {
    let warnings_of = |name| {
        let document = read(name);
        assert!(document.blocks.is_empty() && document.text.is_empty(), "{name}");
        document.metadata.warnings
    };
    assert_eq!(
        warnings_of("pdf/scan.pdf"),
        ["no text found on 1 of 1 pages; they look like scans"]
    );
    assert_eq!(warnings_of("pdf/empty-page.pdf"), ["there is no text in this document"]);
}

#[test]
fn every_broken_file_has_its_class() {
    let words = "the file is cut off; 4 of 5 pages are empty";
    check_failure("broken/truncated.pdf", FailureKind::Damaged, words);
    check_failure("broken/password.pdf", FailureKind::PasswordNeeded, "");
    check_failure("broken/html.pdf", FailureKind::WrongFormat, "it looks like HTML, not PDF");
    check_failure("broken/no-pages.pdf", FailureKind::NoPages, "");
}

#[test]
fn a_password_opens() {
    let mut options = options();
    options.password = Some("ebb".into());
    let bytes = fixture("broken/password.pdf");
    assert!(extract(&bytes, &options).unwrap().text.contains("High water"));
    options.password = Some("flood".into());
    assert_eq!(failure(extract(&bytes, &options)).0, FailureKind::PasswordNeeded);
}

#[test]
fn the_last_resort_also_reads() {
    let mut options = options();
    options.readers = vec!["pdf-extract"];
    let guide = extract(&fixture("corpus/tide-station.pdf"), &options).unwrap();
    assert_eq!(block_with(&guide, "phosphor bronze").0.page, Some(2));
    assert_eq!(guide.metadata.page_count, Some(5));
}

#[test]
fn no_cut_of_a_document_harms_the_reader() {
    let guide = fixture("corpus/tide-station.pdf");
    for part in 1..8 {
        let cut = &guide[..guide.len() * part / 8];
        if let Err(error) = extract(cut, &options()) {
            assert!(matches!(error, Error::Extract { .. }), "{part}/8: {error}");
        }
    }
}

/// Readers that deliberately do what hostile files cause; a release build does not have them.
#[cfg(debug_assertions)]
mod misbehaving {
    use super::*;
    use crate::patience::PATIENCE;

    /// Makes `reader` fail and returns how.
    #[track_caller]
    fn outcome(reader: &'static str) -> (FailureKind, String) {
        outcome_within(PATIENCE, reader)
    }

    #[track_caller]
    fn outcome_within(wall: Duration, reader: &'static str) -> (FailureKind, String) {
        let mut options = options();
        options.readers = vec![reader];
        options.cpu_seconds = 1;
        options.wall = wall;
        options.max_memory_bytes = 256 << 20;
        options.max_output_bytes = 1 << 20;
        failure(extract(&fixture("corpus/tide-station.pdf"), &options))
    }

    #[test]
    fn a_panic_ends_as_a_crash_with_its_message() {
        let (failure, detail) = outcome("test-panic");
        assert_eq!(failure, FailureKind::Crashed);
        assert_eq!(detail, "page 2 is beyond me (after page 1 of 2)");
    }

    #[test]
    fn a_stack_overflow_ends_as_a_crash() {
        let (failure, detail) = outcome("test-overflow");
        assert_eq!((failure, detail.as_str()), (FailureKind::Crashed, "it is nested too deeply"));
    }

    #[test]
    fn a_flood_of_output_is_cut_off() {
        assert_eq!(outcome("test-flood").0, FailureKind::OutOfMemory);
    }

    #[test]
    fn a_child_that_sleeps_is_not_waited_for() {
        // It would sleep for ever.
        let (failure, _) = outcome_within(Duration::from_secs(1), "test-sleep");
        assert_eq!(failure, FailureKind::TimedOut);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_endless_loop_ends_with_its_processor_time() {
        let (failure, detail) = outcome("test-loop");
        assert_eq!(failure, FailureKind::TimedOut);
        assert_eq!(detail, "its processor time is used up");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_use_ends_at_the_limit() {
        assert_eq!(outcome("test-alloc").0, FailureKind::OutOfMemory);
    }

    #[test]
    fn the_next_reader_takes_over() {
        let mut options = options();
        options.readers = vec!["test-panic", "pdf-extract"];
        assert!(extract(&fixture("corpus/tide-station.pdf"), &options).is_ok());
    }

    #[test]
    fn the_most_specific_failure_is_reported() {
        let mut options = options();
        options.readers = vec!["test-panic", "pdf-extract", "test-overflow"];
        let outcome = extract(&fixture("broken/password.pdf"), &options);
        assert_eq!(failure(outcome).0, FailureKind::PasswordNeeded);
    }
}
