//! Tests where chunks begin on their pages, and what a chunk of several pages knows of them.

use super::*;

#[test]
fn pages_are_those_of_the_first_and_the_last_block() {
    let mut document = plain::extract("one\n\ntwo\n\nthree");
    for (block, page) in document.blocks.iter_mut().zip(1..) {
        block.page = Some(page);
    }
    document.has_lines = false;
    let chunks = chunk(&document, "T", &words, &options(Strategy::Structure, 9, 0));
    assert_eq!((chunks[0].pages, chunks[0].lines), (PageRange::new(1, 3), None));
}

#[test]
fn a_chunk_knows_where_its_pages_sections_and_symbols_begin() {
    let texts = ["# Plan", "When we build", "# Risks", "Floods", "of the burn", "# Costs", "Money"];
    let pages = [4, 4, 6, 6, 7, 7, 7];
    let mut document = Document::default();
    let mut headings = Vec::new();
    for (text, page) in texts.iter().zip(pages) {
        let start = document.text.len();
        document.text += text;
        let is_heading = text.starts_with('#');
        if is_heading {
            headings = vec![text[2..].to_owned()];
        }
        document.blocks.push(Block {
            bytes: start..document.text.len(),
            kind: if is_heading { BlockKind::Heading } else { BlockKind::Paragraph },
            headings: headings.clone(),
            symbol: None,
            context: None,
            page: Some(page),
            starts_section: is_heading,
        });
        document.text += "\n\n";
    }
    let options = options(Strategy::Structure, 100, 50);
    let chunks = chunk(&document, "T", &words, &options);
    let [one] = chunks.as_slice() else { panic!("{} chunks", chunks.len()) };
    assert_eq!((one.pages, one.section.as_deref()), (PageRange::new(4, 7), Some("Plan")));
    let lines: Vec<&str> = one.text.split('\n').collect();
    let found: Vec<_> = one
        .new_places
        .as_ref()
        .unwrap()
        .iter()
        .map(|place| {
            let section = place.section.as_deref().unwrap_or_default();
            (lines[place.line as usize], place.page.unwrap(), section)
        })
        .collect();
    assert_eq!(
        found,
        [("# Risks", 6, "Risks"), ("of the burn", 7, "Risks"), ("# Costs", 7, "Costs")]
    );
    let at = |line| one.place_of_line(line).and_then(|place| place.page);
    assert_eq!([at(0), at(2), at(4), at(99)], [None, None, Some(6), Some(7)]);
}

#[test]
fn a_chunk_with_enough_text_ends_with_its_page_if_the_next_begins_with_a_heading() {
    let text = format!("# One\n\n{}\n\n# Two\n\nfew words", "word ".repeat(40));
    let pages_of = |second: u32| {
        let mut document = markdown::extract(&text);
        for block in &mut document.blocks {
            let is_second = block.headings.last().is_some_and(|heading| heading == "Two");
            block.page = Some(if is_second { second } else { 1 });
        }
        chunk(&document, "T", &words, &options(Strategy::Structure, 100, 20)).len()
    };
    assert_eq!((pages_of(1), pages_of(2)), (1, 2));
}

#[test]
fn each_slide_is_a_chunk() {
    let slides = |num_headed: usize| {
        let text: String = (1..=10).map(|page| format!("# H{page}\n\nfew words\n\n")).collect();
        let mut document = markdown::extract(&text);
        for (idx, block) in document.blocks.iter_mut().enumerate() {
            block.page = Some(u32::try_from(idx / 2 + 1).unwrap());
            if idx / 2 >= num_headed {
                block.kind = BlockKind::Paragraph;
            }
        }
        chunk(&document, "T", &words, &options(Strategy::Structure, 100, 20)).len()
    };
    assert_eq!(slides(9), 9);
    assert!(slides(8) < 5);
}
