//! Tests which parts a selection finds, and what is shown of them.

use super::*;
use crate::document::{Chunk, Format, Language, Metadata};
use crate::read::testing::{plain, stored, with_metadata};
use crate::store::testing::TestDb;

fn section(name: &str) -> PartSelection {
    PartSelection::Section(name.to_owned())
}

fn symbol(name: &str) -> PartSelection {
    PartSelection::Symbol(name.to_owned())
}

fn shown((db, document): &(TestDb, StoredDocument), selection: PartSelection) -> Result<ShownPart> {
    show(&db.store, document.clone(), &ShowOptions { selection, max_lines: None })
}

/// Checks the text of the first part that is found, and the number of parts.
#[track_caller]
fn check(
    library: &(TestDb, StoredDocument),
    selection: PartSelection,
    text: &str,
    num_matches: usize,
) {
    let shown = shown(library, selection).unwrap();
    assert_eq!((shown.text.as_str(), shown.num_matches), (text, num_matches));
    assert_eq!(shown.document, library.1);
}

/// Returns what is unknown, and what is similar to it.
#[track_caller]
fn unknown(library: &(TestDb, StoredDocument), selection: PartSelection) -> (String, Vec<String>) {
    match shown(library, selection) {
        Err(Error::UnknownPart { what, similar, .. }) => (what, similar),
        other => panic!("{other:?}"),
    }
}

fn of_code() -> (TestDb, StoredDocument) {
    let symbols = ["Stack::push", "Stack::pop", "Queue.push", "push", "Push"];
    let chunks = symbols
        .map(|symbol| Chunk { symbol: Some(symbol.into()), ..plain(&format!("fn {symbol}"), 1) });
    stored(Format::Code(Language::Rust), &chunks)
}

#[test]
fn a_section_is_found_by_the_end_of_its_chain_in_any_case() {
    let text = "# Sea\n\n## Tides *now*\n\nHigh.\n\n# Land\n\n## Tides now\n\nNone.";
    let library = stored(Format::Markdown, &[plain(text, 9)]);
    let (high, none) = ("## Tides *now*\n\nHigh.", "## Tides now\n\nNone.");
    check(&library, section("tides NOW"), high, 2);
    check(&library, section("Land > Tides now"), none, 1);
    check(&library, section(" sea >  tides now"), high, 1);
    check(&library, section("land"), &format!("# Land\n\n{none}"), 1);
    for (typed, similar) in [
        ("tide", &["Sea > Tides now", "Land > Tides now"][..]),
        ("Air > Tid", &["Sea > Tides now", "Land > Tides now"]),
        ("and > Tides now", &["Sea > Tides now", "Land > Tides now"]),
        ("now > x", &[]),
    ] {
        let similar = similar.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(unknown(&library, section(typed)), (format!("section '{typed}'"), similar));
    }
}

#[test]
fn a_section_of_the_chunks_is_found_where_the_text_has_none() {
    let chunk = Chunk { section: Some("Sea > Tides".into()), ..plain("# Other\n\nHigh.", 1) };
    let library = stored(Format::Markdown, &[chunk]);
    check(&library, section("Tides"), "# Other\n\nHigh.", 1);
    check(&library, section("Other"), "# Other\n\nHigh.", 1);
}

#[test]
fn a_symbol_is_found_by_its_last_names_and_first_in_its_case() {
    let library = of_code();
    for (typed, text, num_matches) in [
        ("push", "fn push", 3),
        ("Stack::push", "fn Stack::push", 1),
        ("Push", "fn Push", 1),
        ("POP", "fn Stack::pop", 1),
        ("PUSH", "fn Stack::push", 4),
        ("queue.PUSH", "fn Queue.push", 1),
    ] {
        check(&library, symbol(typed), text, num_matches);
    }
    let (what, similar) = unknown(&library, symbol("PU"));
    assert_eq!(what, "symbol 'PU'");
    assert_eq!(similar, ["push", "Push", "Stack::push", "Queue.push"]);
    assert_eq!(unknown(&library, symbol("ush")).1.len(), 4);
    assert_eq!(unknown(&library, symbol("ueue.push")).1, ["Queue.push"]);
}

#[test]
fn a_chunk_is_shown_with_those_around_it_and_its_own_symbol() {
    let library = of_code();
    for (id, around, chunk_ids) in [
        (3, 0, &[3][..]),
        (3, 1, &[2, 3, 4]),
        (1, 1, &[1, 2]),
        (5, 2, &[3, 4, 5]),
        (2, u32::MAX, &[1, 2, 3, 4, 5]),
    ] {
        let shown = shown(&library, PartSelection::Chunk(ChunkId(id), around)).unwrap();
        assert!(shown.part.chunk_ids.iter().map(|id| id.0).eq(chunk_ids.iter().copied()), "{id}");
        let of_chunk = ["Stack::push", "Stack::pop", "Queue.push", "push", "Push"];
        assert_eq!(
            shown.symbol.as_deref(),
            of_chunk.get(usize::try_from(id).unwrap() - 1).copied()
        );
    }
    assert_eq!(unknown(&library, PartSelection::Chunk(ChunkId(6), 0)).0, "chunk 6");
    let chunk = Chunk { section: Some("Sea".into()), ..plain("a", 1) };
    let shown = shown(&stored(Format::Pdf, &[chunk]), PartSelection::Chunk(ChunkId(1), 0)).unwrap();
    assert_eq!(shown.part.section.as_deref(), Some("Sea"));
}

#[test]
fn the_symbol_of_a_part_is_its_name() {
    let library = of_code();
    let found = |selection| shown(&library, selection).unwrap().symbol;
    assert_eq!(found(symbol("pop")).as_deref(), Some("Stack::pop"));
    assert_eq!(found(PartSelection::Whole), None);
}

#[test]
fn the_whole_document_or_a_page_is_shown_up_to_a_number_of_lines() {
    let chunks = [1, 2].map(|page| Chunk {
        pages: PageRange::new(page, page),
        ..plain(&format!("a\nb{page}"), 1)
    });
    let (db, document) = stored(Format::Text, &chunks);
    for (selection, max_lines, text, num_cut) in [
        (PartSelection::Whole, None, "a\nb1\n\na\nb2", 0),
        (PartSelection::Whole, Some(2), "a\nb1\n", 3),
        (PartSelection::Pages(PageRange::between(2, 2)), None, "a\nb2", 0),
        (PartSelection::Pages(PageRange::between(1, 2)), None, "a\nb1\n\na\nb2", 0),
        (PartSelection::Pages(PageRange::between(2, 2)), Some(1), "a\n", 1),
    ] {
        let options = ShowOptions { selection, max_lines };
        let shown = show(&db.store, document.clone(), &options).unwrap();
        assert_eq!((shown.text.as_str(), shown.num_cut, shown.stale), (text, num_cut, None));
    }
    let library = (db, document);
    let unknown =
        |first, last| unknown(&library, PartSelection::Pages(PageRange::between(first, last))).0;
    assert_eq!([unknown(3, 3), unknown(3, 5)], ["page 3", "pages 3-5"]);
}

#[test]
fn listed_headings_get_their_marks() {
    let chunks =
        [plain("Tide tables\n\n1 Use\n\nUse them.\n\nUse", 1), plain("More\n\nof it\n\n1 Use", 1)];
    let headings = [(1, "Tide tables"), (2, "1 Use"), (3, "More"), (2, "gone"), (2, "1  USE")];
    let metadata = Metadata {
        headings: headings.iter().map(|(level, name)| (*level, (*name).to_owned())).collect(),
        ..Metadata::default()
    };
    let library = with_metadata(Format::Pdf, &chunks, metadata.clone());
    let expected = "# Tide tables\n\n## 1 Use\n\nUse them.\n\nUse\n\n### More\n\nof it\n\n## 1 Use";
    check(&library, PartSelection::Whole, expected, 1);
    // A part that ends inside the document, and one that begins there.
    let seam = expected.find("\n\n### More").unwrap();
    check(&library, PartSelection::Chunk(ChunkId(1), 0), &expected[..seam], 1);
    check(&library, PartSelection::Chunk(ChunkId(2), 0), &expected[seam + 2..], 1);
    // Text that is Markdown already has its marks.
    let library = with_metadata(Format::Markdown, &chunks[1..], metadata);
    check(&library, PartSelection::Whole, "More\n\nof it\n\n1 Use", 1);
}

#[test]
fn headings_are_found_by_the_chains_of_chunks_where_they_are_not_listed() {
    let of_section =
        |text: &str, section: &str| Chunk { section: Some(section.into()), ..plain(text, 1) };
    let chunks = [
        plain("Title of /a\n\nWritten at sea.\n\n1 Sea", 1),
        of_section("Water.", "Sea"),
        of_section("1.1 Tides\n\nHigh.", "Sea > Tides"),
        of_section("Sea\n\nSecond.", "Land"),
    ];
    let library = stored(Format::Pdf, &chunks);
    check(
        &library,
        PartSelection::Whole,
        "# Title of /a\n\nWritten at sea.\n\n## 1 Sea\n\nWater.\n\n### 1.1 Tides\n\nHigh.\n\nSea\n\nSecond.",
        1,
    );
    // A title that comes after a heading is not the title of the page.
    let chunks = [of_section("Sea\n\nTitle of /a", "Sea")];
    check(&stored(Format::Pdf, &chunks), PartSelection::Whole, "# Sea\n\nTitle of /a", 1);
}
