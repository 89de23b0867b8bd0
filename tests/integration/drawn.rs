//! Tests how pages are read that a test draws: hidden text, missing pages, narrow gaps, typewriter
//! tables.

use std::fmt::Write as _;
use std::path::PathBuf;

use kb_base::document::{Document, WordDestination};
use kb_base::error::{Error, FailureKind, Result};
use kb_extract::pdf;
use kb_extract::sandbox::ReadOptions;

/// Builds a PDF of pages with these drawing instructions; `None` is a page that is missing. The
/// fonts are `/F1`, Helvetica, and `/F2`, Courier.
fn file(pages: &[Option<&str>]) -> Vec<u8> {
    let kids: String = (0..pages.len()).map(|at| format!("{} 0 R ", 5 + 2 * at)).collect();
    let mut objects = vec![
        (1, "<</Type/Catalog/Pages 2 0 R>>".to_owned()),
        (2, format!("<</Type/Pages/Kids[{kids}]/Count {}>>", pages.len())),
        (3, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned()),
        (4, "<</Type/Font/Subtype/Type1/BaseFont/Courier>>".to_owned()),
    ];
    for (at, page) in pages.iter().enumerate() {
        let Some(content) = page else { continue };
        let number = 5 + 2 * at;
        objects.push((
            number,
            format!(
                "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents {} 0 R\
                 /Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>>>",
                number + 1
            ),
        ));
        let len = content.len();
        objects.push((number + 1, format!("<</Length {len}>>\nstream\n{content}\nendstream")));
    }
    let size = 5 + 2 * pages.len();
    let mut offsets = vec![None; size];
    let mut file = "%PDF-1.7\n".to_owned();
    for (number, body) in objects {
        offsets[number] = Some(file.len());
        writeln!(file, "{number} 0 obj\n{body}\nendobj").unwrap();
    }
    let start = file.len();
    write!(file, "xref\n0 {size}\n").unwrap();
    for offset in offsets {
        match offset {
            Some(offset) => writeln!(file, "{offset:010} 00000 n ").unwrap(),
            None => writeln!(file, "0000000000 65535 f ").unwrap(),
        }
    }
    write!(file, "trailer\n<</Size {size}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n").unwrap();
    file.into_bytes()
}

fn options() -> ReadOptions {
    ReadOptions::new(PathBuf::from(env!("CARGO_BIN_EXE_kb")))
}

fn extract(pages: &[Option<&str>]) -> Result<Document> {
    Ok(pdf::extract(&file(pages), &options())?.document)
}

fn page(content: &str) -> Document {
    extract(&[Some(content)]).unwrap()
}

const SHOWN: &str = "BT /F1 12 Tf 72 700 Td (High water was at noon.) Tj ET\n";

#[test]
fn marked_running_heads_are_left_out_and_counted_unless_all_is_kept() {
    let head = "/Artifact <</Type/Pagination>> BDC BT /F1 9 Tf 72 760 Td (Tide tables) Tj ET EMC\n";
    let content = [head, SHOWN].concat();
    let document = page(&content);
    assert_eq!(document.text, "High water was at noon.");
    let words = document.metadata.words.unwrap().counts().collect::<Vec<_>>();
    assert_eq!(words, [(WordDestination::RunningHead, 2)]);
    let mut options = options();
    options.keeps_all = true;
    let document = pdf::extract(&file(&[Some(&content)]), &options).unwrap().document;
    assert_eq!(document.text, "Tide tables\n\nHigh water was at noon.");
}

#[test]
fn hidden_text_is_left_out() {
    for hidden in [
        "BT 3 Tr /F1 12 Tf 72 600 Td (zyxwvutsrq) Tj ET",
        "BT 1 g /F1 12 Tf 72 600 Td (zyxwvutsrq) Tj ET",
        "BT /F1 1 Tf 72 600 Td (zyxwvutsrq) Tj ET",
    ] {
        let document = page(&[SHOWN, hidden].concat());
        assert_eq!(document.text, "High water was at noon.", "{hidden}");
        let left_out = document.metadata.words.unwrap().counts().collect::<Vec<_>>();
        assert_eq!(left_out, [(WordDestination::Hidden, 1)], "{hidden}");
    }
}

#[test]
fn text_that_is_seen_is_not_taken_for_hidden() {
    let picture = "q 612 0 0 792 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q\n";
    for seen in [
        // Invisible over a picture, or white below it: the text of a scan.
        &[picture, "BT 3 Tr /F1 12 Tf 72 600 Td (Low water) Tj ET"].concat(),
        &["BT 1 g /F1 12 Tf 72 600 Td (Low water) Tj ET\n", picture].concat(),
        "0 g 60 590 300 30 re f BT 1 g /F1 12 Tf 72 600 Td (Low water) Tj ET",
        "0 g 30 w 60 605 m 360 605 l S BT 1 g /F1 12 Tf 72 600 Td (Low water) Tj ET",
        // The shape of a clip, filled afterwards.
        "q BT 7 Tr /F1 12 Tf 72 600 Td (Low water) Tj ET 1 0 0 rg 0 0 612 792 re f Q",
        "BT 2 Tr 1 g 0 G /F1 12 Tf 72 600 Td (Low water) Tj ET",
    ] {
        assert!(page(&[SHOWN, seen].concat()).text.contains("Low water"), "{seen}");
    }
    // A page without visible text, such as one of outlines.
    let only = "0 g 72 600 m 80 620 l 90 600 l f BT 3 Tr /F1 12 Tf 72 600 Td (Low water) Tj ET";
    assert_eq!(page(only).text, "Low water");
}

#[test]
fn letters_drawn_twice_are_read_once() {
    let text = "SHALLOW WATER";
    let letters = text.chars().zip(0..).map(|(letter, at)| {
        let left = 72.0 + 11.0 * f64::from(at);
        let right = left + 0.3;
        format!("1 0 0 1 {left} 600 Tm ({letter}) Tj 1 0 0 1 {right} 600 Tm ({letter}) Tj\n")
    });
    let twice = format!("BT /F2 16 Tf {} ET", letters.collect::<String>());
    let document = page(&[SHOWN, &twice].concat());
    assert_eq!(document.text, format!("High water was at noon.\n\n{text}"));
    // Bold and larger text is a heading, and here the title.
    assert_eq!(document.title.as_deref(), Some(text));
    let left_out = document.metadata.words.unwrap().counts().collect::<Vec<_>>();
    assert_eq!(left_out, [(WordDestination::Copy, 2)]);
}

#[test]
fn a_document_that_lacks_a_page_is_kept_and_names_it() {
    let texts = ["one", "two", "three", "four", "five"]
        .map(|word| format!("BT /F1 12 Tf 72 700 Td (This is page {word}.) Tj ET"));
    let mut pages: Vec<Option<&str>> = texts.iter().map(|text| Some(text.as_str())).collect();
    pages[2] = None;
    let document = extract(&pages).unwrap();
    assert_eq!(document.metadata.warnings, ["1 of 5 pages could not be read: 3"]);
    assert_eq!(document.metadata.page_count, Some(5));
    let found: Vec<Option<u32>> = document.blocks.iter().map(|block| block.page).collect();
    assert_eq!(found, [1, 2, 4, 5].map(Some));
    let quality = document.metadata.quality.unwrap();
    assert_eq!((quality.pages_read, quality.pages_unread, quality.pages_awaiting_ocr), (4, 1, 0));

    for at in [0, 1] {
        pages[at] = None;
    }
    match extract(&pages) {
        Err(Error::Extract { failure, detail }) => assert_eq!(
            (failure, detail.as_str()),
            (FailureKind::Damaged, "only 2 of its 5 pages were found")
        ),
        other => panic!("{other:?}"),
    }
}

#[test]
fn words_with_narrow_spaces_are_separated() {
    // Spaces of a tenth of the size.
    let squeezed = "BT /F1 12 Tf -2.2 Tw 72 700 Td (Read the whole leaflet) Tj ET";
    assert_eq!(page(squeezed).text, "Read the whole leaflet");
    // No spaces, but gaps: wide enough in every text, and enough as the words occur elsewhere.
    let moved = "BT /F1 12 Tf 72 700 Td [(read,)-130(then)-130(ask)-130(a)-130(doctor)] TJ ET";
    assert_eq!(page(moved).text, "read, then ask a doctor");
    let narrow = "BT /F1 12 Tf 72 700 Td (The whole leaflet. The leaflet is whole.) Tj ET\n\
                  BT /F1 12 Tf 72 600 Td [(the)-90(whole)-90(leaflet)] TJ ET\n\
                  BT /F1 12 Tf 72 500 Td [(Hydro)-90(gen)] TJ ET";
    let document = page(narrow);
    assert!(document.text.contains("the whole leaflet"), "{}", document.text);
    assert!(document.text.contains("Hydrogen"), "{}", document.text);
    let quality = document.metadata.quality.unwrap();
    assert_eq!((quality.num_words, quality.num_glued), (9, 2));
}

#[test]
fn typed_rules_make_tables() {
    let lines = [
        "--------------------------------------",
        "Proportion       1.0    1.1    1.2",
        "--------------------------------------",
        ".01 or .99       .10    .11    .12",
        ".02 or .98       .20    .21    .22",
        "--------------------------------------",
    ];
    let content: String = (0..).zip(lines).fold(String::new(), |mut content, (at, line)| {
        writeln!(content, "BT /F2 10 Tf 72 {} Td ({line}) Tj ET", 700 - 12 * at).unwrap();
        content
    });
    assert_eq!(
        page(&content).text,
        "| Proportion | 1.0 | 1.1 | 1.2 |\n| --- | --- | --- | --- |\n\
         | .01 or .99 | .10 | .11 | .12 |\n| .02 or .98 | .20 | .21 | .22 |"
    );
}

#[test]
fn contents_and_indexes_without_leaders_are_no_sections() {
    let line = |font: u8, x: u32, y: u32, text: &str| {
        format!("BT /F1 {font} Tf {x} {y} Td ({text}) Tj ET\n")
    };
    let mut contents = line(18, 72, 720, "Contents");
    let titles = ["Tides", "The ebb and the flood", "Gauges", "Floats of brass", "Locks"];
    for (at, title) in (0..).zip(titles) {
        contents += &line(12, 72, 680 - 16 * at, &format!("{} {title}", at + 1));
        contents += &line(12, 500, 680 - 16 * at, &format!("{}", 1 + 3 * at));
    }
    let mut index = line(18, 72, 720, "Index");
    let entries = ["anchor, 3, 9", "buoy, 12", "chart, 4", "dock, 7, 8-10", "ebb, 2", "float, 11"];
    for (at, entry) in (0..).zip(entries.into_iter().chain(["gauge, 5", "harbour, 1", "lock, 13"]))
    {
        index += &line(12, 72, 680 - 16 * at, entry);
    }
    let document = extract(&[Some(&contents), Some(&index)]).unwrap();
    assert!(document.text.contains("2 The ebb and the flood \u{2026} 4\n"), "{}", document.text);
    assert!(document.text.contains("dock \u{2026} 7, 8-10\n"), "{}", document.text);
    let headings: Vec<&str> =
        document.metadata.headings.iter().map(|(_, heading)| heading.as_str()).collect();
    assert!(headings.iter().all(|heading| ["Contents", "Index"].contains(heading)), "{headings:?}");
}

/// Writes lines of pieces at positions, each of a size.
fn set(pieces: &[(u32, u32, u32, &str)]) -> String {
    let write = |(size, x, y, text): &(u32, u32, u32, &str)| {
        format!(
            "BT /F1 {size} Tf {x} {y} Td ({}) Tj ET\n",
            text.replace('(', "\\(").replace(')', "\\)")
        )
    };
    pieces.iter().map(write).collect()
}

/// Returns the headings of a page and its text.
fn headings(content: &str) -> (Vec<String>, String) {
    let document = page(content);
    let is_heading =
        |block: &&kb_base::document::Block| block.kind == kb_base::document::BlockKind::Heading;
    let text = |block: &kb_base::document::Block| document.text[block.bytes.clone()].to_owned();
    (document.blocks.iter().filter(is_heading).map(text).collect(), document.text.clone())
}

const BODY: &str =
    "The water of the harbour rises for six hours and falls for six hours and some minutes.";

#[test]
fn an_invoice_has_labels_above_values_and_no_headings_in_its_rows() {
    let mut content = set(&[
        (18, 72, 740, "FOR IMMEDIATE RELEASE"),
        (16, 72, 700, "Tides of the harbour"),
        (10, 72, 650, "Invoice Date:"),
        (10, 200, 650, "Due Date:"),
        (10, 330, 650, "Reference:"),
        (10, 72, 637, "03/20/2023"),
        (10, 200, 637, "04/04/2023"),
        (10, 330, 637, "CUST123"),
        (14, 72, 600, "1 1 Small gauge 3,89 3,89 per unit"),
        (14, 72, 560, "Total"),
        (14, 330, 560, "EUR 34"),
    ]);
    content += &set(&[(10, 72, 500, BODY), (10, 72, 488, BODY), (10, 72, 476, BODY)]);
    let (headings, text) = headings(&content);
    assert_eq!(headings, ["Tides of the harbour"], "{text}");
    assert!(
        text.contains(
            "| Invoice Date: | Due Date: | Reference: |\n| --- | --- | --- |\n\
             | 03/20/2023 | 04/04/2023 | CUST123 |"
        ),
        "{text}"
    );
    assert_eq!(page(&content).title.as_deref(), Some("Tides of the harbour"));
}

#[test]
fn numbers_between_rules_keep_the_labels_left_of_them() {
    let mut content = String::new();
    for (y, label, now, before) in [
        (640, "Regional operations", "991,452", "899,607"),
        (620, "Harbour of the north", "174,720", "314,717"),
        (600, "Management and other", "128,762", "35,882"),
    ] {
        content += &set(&[(10, 72, y, label), (10, 300, y, now), (10, 400, y, before)]);
    }
    for y in [655, 612, 590] {
        content += &format!("0.5 w 290 {y} m 450 {y} l S\n");
    }
    let document = page(&content);
    for row in ["| Regional operations | 991,452 |", "| Management and other | 128,762 |"] {
        assert!(document.text.contains(row), "{}", document.text);
    }
}

#[test]
fn a_turned_page_with_leaders_is_a_table() {
    let mut content = "0 1 -1 0 612 0 cm\n".to_owned();
    for (y, label, shares, amount) in [
        (400, "Balance, June 30, 2015 .........", "1,240", "13,427"),
        (388, "Net income .....................", "799", "2,755"),
        (376, "Balance, June 30, 2016 .........", "1,071", "12,211"),
    ] {
        content += &set(&[(10, 72, y, label), (10, 300, y, shares), (10, 400, y, amount)]);
    }
    let document = page(&content);
    assert!(document.text.contains("| Net income | 799 | 2,755 |"), "{}", document.text);
}
