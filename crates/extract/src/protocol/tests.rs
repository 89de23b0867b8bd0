//! Tests the limits, lines and failure codes that cross the pipe.

use super::*;
use crate::document::{Block, BlockKind};

#[test]
fn pages_add_time_up_to_a_multiple_and_to_the_users_limit() {
    let check = |page_count, max_cpu_seconds, expected| {
        let request = Request {
            reader: "any".into(),
            size_bytes: 0,
            max_memory_bytes: 0,
            cpu_seconds: 30,
            cpu_ms_per_page: 50,
            max_cpu_seconds,
            password: None,
            ocr_areas: Vec::new(),
            ocr_pages: Vec::new(),
            keeps_all: true,
            omits_remarks: true,
            drawing: Some(Drawing { page: 3, marked: "a b".into() }),
            kind: None,
        };
        assert_eq!(request.cpu_seconds_of(page_count), expected);
    };
    check(0, 600, 30);
    check(2_000, 600, 130);
    check(u32::MAX, 1_000, 600);
    check(2_000, 60, 60);
    check(0, 1, 1);
}

#[track_caller]
fn check(line: &AnswerLine) {
    let bytes = encode(line);
    assert_eq!(
        bytes.iter().filter(|&&byte| byte == b'\n').count(),
        1,
        "one line, whatever is in it"
    );
    assert_eq!(decode::<AnswerLine>(&bytes).as_ref(), Some(line));
}

#[test]
fn every_line_is_parsed_back_unchanged() {
    check(&AnswerLine::Document(DocumentHead {
        title: Some("a\nb".into()),
        outline: vec![OutlineEntry { title: "1 \"One\"".into(), level: 1, page: None }],
        ..DocumentHead::default()
    }));
    check(&AnswerLine::Page(ExtractedPage {
        number: 3,
        blocks: vec![PageBlock::new(BlockKind::Table, 0, "| a |\n| --- |\n| \u{1F30A} |")],
        image_coverage: 0.25,
        notes: vec![PageNote { text: "Comment: when?".into(), place: None }],
        ..ExtractedPage::default()
    }));
    check(&AnswerLine::Parsed(Box::new(ParsedText {
        document: Document {
            title: Some("a.b".into()),
            blocks: vec![Block {
                bytes: 3..7,
                kind: BlockKind::Code,
                headings: vec!["a".into()],
                symbol: Some("a.b".into()),
                context: None,
                page: None,
                starts_section: true,
            }],
            line_numbers: vec![1, 3],
            ..Document::default()
        },
        has_same_text: true,
    })));
    let picture = Picture { width: 1, height: 1, dpi: Some(200.0), pixels: vec![0] };
    check(&AnswerLine::Pictures(Pictures { wanted: OcrTask::Words, pictures: vec![picture] }));
    check(&AnswerLine::Member(MemberLine {
        name: "a/b.md".into(),
        bytes: Vec::new(),
        failed: Some(("damaged".into(), "crc".into())),
    }));
    check(&AnswerLine::Done(ReadingSummary {
        declared_page_count: Some(2),
        pages_lost: true,
        rebuilt: true,
        warnings: vec!["rows were left out".into()],
        ..ReadingSummary::default()
    }));
    check(&AnswerLine::from(&ReadFailure::new(FailureKind::Damaged, "xref")));
}

#[test]
fn every_class_is_found_by_its_code() {
    for failure in FailureKind::ALL {
        assert_eq!(failure_from_code(failure.as_str()), failure);
    }
    assert_eq!(failure_from_code("nonsense"), FailureKind::Crashed);
}

#[test]
fn half_a_line_is_refused() {
    let whole = encode(&AnswerLine::Done(ReadingSummary::default()));
    for end in 0..whole.len() - 1 {
        assert_eq!(decode::<AnswerLine>(&whole[..end]), None, "{end} bytes");
    }
}
