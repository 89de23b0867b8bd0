//! Tests which blocks look like headings.

use super::*;

/// Creates a block of one line with a size, a relative ink density, and a tagged level.
fn block(text: &str, size: f64, ink: f64, level: u8) -> PageBlock {
    let place = BlockPlace { size, ink, num_lines: 1, ..BlockPlace::default() };
    PageBlock { place: Some(place), ..PageBlock::new(BlockKind::Paragraph, level, text) }
}

/// Creates enough text to define the normal size.
fn body() -> PageBlock {
    let text = "The tide turns at noon and runs out for six hours. ".repeat(20);
    let mut body = block(&text, 10.0, 1.0, 0);
    body.place.as_mut().unwrap().num_lines = 12;
    body
}

/// Checks the levels that are set; 0 for blocks that are not headings.
#[track_caller]
fn check(blocks: Vec<PageBlock>, expected: &[u8]) {
    let blocks = blocks.into_iter().chain([body()]).collect();
    let mut pages = [ExtractedPage { blocks, ..ExtractedPage::default() }];
    mark_headings(&mut pages, None);
    let [.., text] = pages[0].blocks.as_slice() else { panic!("there is text") };
    assert_eq!(text.kind, BlockKind::Paragraph);
    let levels: Vec<u8> = pages[0].blocks.iter().map(|block| block.level).collect();
    assert_eq!(levels[..levels.len() - 1], *expected);
}

#[test]
fn only_lines_left_of_the_edge_are_headings() {
    let at = |text, left| {
        let mut block = block(text, 10.0, 1.3, 0);
        block.place.as_mut().unwrap().left = left;
        block
    };
    let blocks = vec![at("Shell Variables", 87.0), at("HISTSIZE", 108.0)];
    let levels = |edge| {
        let mut pages = [ExtractedPage {
            blocks: [blocks.clone(), vec![body()]].concat(),
            ..ExtractedPage::default()
        }];
        mark_headings(&mut pages, edge);
        [pages[0].blocks[0].level, pages[0].blocks[1].level]
    };
    assert_eq!((levels(Some(104.0)), levels(None)), ([1, 0], [1, 1]));
}

#[test]
fn larger_and_bolder_lines_are_headings_and_the_largest_come_first() {
    check(
        vec![
            block("Tides of the North", 18.0, 1.0, 0),
            block("Ebb", 12.0, 1.3, 0),
            block("Slack water", 10.0, 1.3, 0),
            block("Flood", 12.0, 1.3, 0),
            block("An aside", 10.0, 1.0, 0),
        ],
        &[1, 2, 3, 2, 0],
    );
}

#[test]
fn numbers_and_capitals_reveal_headings_of_the_text_size() {
    check(
        vec![
            block("3 Tides", 10.0, 1.0, 0),
            block("3.1 Slack water", 10.0, 1.0, 0),
            body(),
            block("ITEM 1A. RISKS", 10.0, 1.0, 0),
            block("3 of them were late.", 10.0, 1.0, 0),
            block("1 The note below", 8.0, 1.0, 0),
        ],
        &[1, 1, 0, 1, 0, 0],
    );
}

#[test]
fn steps_are_no_headings() {
    let steps = ["1. Check the fuel", "2. Check the oil", "2.1 Read the gauge", "3. Start"];
    check(steps.map(|step| block(step, 10.0, 1.0, 0)).to_vec(), &[0, 0, 0, 0]);
    check(steps.map(|step| block(step, 10.0, 1.3, 0)).to_vec(), &[1, 1, 1, 1]);
}

#[test]
fn lines_of_tables_and_long_text_are_not_headings() {
    let mut long = block("Bold words that go on", 10.0, 1.4, 0);
    long.place.as_mut().unwrap().num_lines = 4;
    let mut table = block("| a |", 14.0, 1.4, 0);
    table.kind = BlockKind::Table;
    check(vec![block("Free cash flow 1,066 848", 10.0, 1.4, 0), long, table], &[0, 0, 0]);
}

#[test]
fn rows_of_a_form_are_not_headings() {
    let gaps = |mut block: PageBlock| {
        block.place.as_mut().unwrap().has_gaps = true;
        block
    };
    check(
        vec![
            block("1 1 Small harbour gauge 3,89 3,89 per unit", 14.0, 1.0, 0),
            gaps(block("Pos. Quantity Price", 14.0, 1.0, 0)),
            block("Tides on December 31, 2022", 14.0, 1.0, 0),
        ],
        &[0, 0, 1],
    );
    // The lines of an address have no text below them.
    let address = ["Harbour Ltd.", "93B Quay Road", "Kiel"].map(|line| block(line, 14.0, 1.0, 0));
    check(address.to_vec(), &[0, 0, 0]);
    check(address[..2].to_vec(), &[1, 1]);
    let numbered = ["1 Ebb", "2 Flood", "3 Slack"].map(|line| block(line, 14.0, 1.0, 0));
    check(numbered.to_vec(), &[1, 1, 1]);
}

#[test]
fn parts_of_sentences_are_not_headings() {
    check(
        vec![
            block("The harbour earns more each year, so it is", 14.0, 1.0, 0),
            block("a good place for boats.", 10.0, 1.0, 0),
            block("Tides of the year and the moon.", 14.0, 1.0, 0),
            block("Item 5. Market for boats of the harbour.", 14.0, 1.0, 0),
            body(),
            block("Boats of Harbour and Sons, Inc.", 14.0, 1.0, 0),
            body(),
            block("chown", 14.0, 1.0, 0),
            block("chown changes the owner", 10.0, 1.0, 0),
        ],
        &[0, 0, 0, 1, 0, 1, 0, 1, 0],
    );
    check(vec![block("FOR IMMEDIATE RELEASE", 14.0, 1.0, 0)], &[0]);
}

#[test]
fn enough_tags_override_appearance() {
    check(
        vec![
            block("One", 10.0, 1.0, 1),
            block("Two", 10.0, 1.0, 2),
            block("Three", 10.0, 1.0, 2),
            block("Not four", 20.0, 1.4, 0),
        ],
        &[1, 2, 2, 0],
    );
    check(vec![block("One", 10.0, 1.0, 1), block("Two", 20.0, 1.0, 0)], &[0, 1]);
}

#[test]
fn blocks_without_positions_are_not_changed() {
    let mut pages = [ExtractedPage {
        blocks: vec![PageBlock::new(BlockKind::Heading, 2, "One")],
        ..ExtractedPage::default()
    }];
    mark_headings(&mut pages, None);
    assert_eq!(pages[0].blocks[0].level, 2);
}

/// Creates numbered headings, large ones of depth 1 and bold ones of depth 2.
fn numbered() -> Vec<PageBlock> {
    let large = (1..=4).map(|number| block(&format!("{number} Tides"), 14.0, 1.3, 0));
    large.chain((1..=4).map(|number| block(&format!("1.{number} Ebb"), 10.0, 1.3, 0))).collect()
}

#[test]
fn labels_among_numbered_sections_are_not_headings() {
    let label = || vec![block("Gauge settings", 10.5, 1.3, 0), block("1. Floats", 10.0, 1.3, 0)];
    check(label(), &[1, 2]);
    let levels = [1, 1, 1, 1, 2, 2, 2, 2, 0, 0];
    check(numbered().into_iter().chain(label()).collect(), &levels);
    // A heading without a number that looks like the numbered ones is one of them.
    let unnumbered = block("References", 10.0, 1.3, 0);
    check(numbered().into_iter().chain([unnumbered]).collect(), &[1, 1, 1, 1, 2, 2, 2, 2, 2]);
}

#[test]
fn monospaced_lines_are_no_headings_except_in_monospaced_text() {
    let mono = |mut block: PageBlock| {
        block.place.as_mut().unwrap().is_mono = true;
        block
    };
    check(vec![mono(block("MAKE_FLAGS OF TIDES", 10.0, 1.4, 0))], &[0]);
    let mut pages = [ExtractedPage {
        blocks: vec![mono(block("TIDES", 10.0, 1.0, 0)), mono(body())],
        ..ExtractedPage::default()
    }];
    mark_headings(&mut pages, None);
    assert_eq!(pages[0].blocks[0].level, 1);
}

#[test]
fn words_before_boxes_and_code_are_not_headings() {
    check(
        vec![
            block("Note", 14.0, 1.4, 0),
            block("CHAPTER", 20.0, 1.4, 0),
            block("The rules file:", 10.0, 1.4, 0),
            block("and so on", 10.0, 1.4, 0),
            block("A B", 14.0, 1.4, 0),
            block("10.2 Version 4.6", 14.0, 1.0, 0),
        ],
        &[0, 0, 0, 0, 0, 1],
    );
}

#[test]
fn labels_have_no_title() {
    for text in ["Note", "WARNING!", "Tip:", "Chapter 3", "APPENDIX B.", "CHAPTER"] {
        assert!(is_label(text), "{text}");
    }
    for text in ["Notes on tides", "Chapter 3 Tides", "Tides", "3"] {
        assert!(!is_label(text), "{text}");
    }
}
