//! Checks what is read of texts, presentations and spreadsheets.

use super::*;
use crate::parts::archive;
use crate::testing::output_of;

type Read = fn(&Input<'_>, &mut Emit<'_>) -> Result<Tail, Stop>;

const STYLES: &str = "<office:document-styles><style:style style:name='Title'/>\
    <text:list-style style:name='L1'><text:list-level-style-number text:level='1' style:num-suffix=')' \
    style:num-format='1' text:start-value='3'/><text:list-level-style-bullet text:level='2'/></text:list-style>\
    </office:document-styles>";

#[track_caller]
fn check(read: Read, body: &str, expected: &[&str]) {
    let content = format!(
        "<office:document-content><office:automatic-styles><style:style style:name='P1' \
         style:parent-style-name='Title'/></office:automatic-styles><office:body>{body}</office:body>\
         </office:document-content>"
    );
    let bytes = archive(&[("content.xml", &content), ("styles.xml", STYLES)]);
    assert_eq!(output_of(read, &bytes).unwrap().1, expected);
}

#[test]
fn a_text_has_headings_lists_notes_and_tables() {
    check(
        read_text,
        "<text:p text:style-name='P1'>Tide house</text:p><text:h text:outline-level='2'>Float  gauge</text:h>\
         <text:tracked-changes><text:p>gone</text:p></text:tracked-changes>\
         <text:p>Read it<text:s text:c='3'/>at<text:line-break/>noon<text:note><text:note-citation>1</text:note-citation>\
         <text:note-body><text:p>By the gate.</text:p></text:note-body></text:note>.</text:p>\
         <text:list text:style-name='L1'><text:list-item><text:p>one</text:p><text:p>more</text:p><text:list>\
         <text:list-item><text:p>below</text:p></text:list-item></text:list></text:list-item><text:list-item>\
         <text:p>two</text:p></text:list-item></text:list>\
         <table:table><table:table-row><table:table-cell><text:p>Code</text:p></table:table-cell><table:table-cell>\
         <text:p>Meaning</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell \
         table:number-columns-repeated='2'><text:p>E23</text:p></table:table-cell></table:table-row></table:table>\
         <text:p><draw:frame><svg:desc>The old tide house</svg:desc></draw:frame></text:p>",
        &[
            "# Tide house",
            "## Float gauge",
            "Read it at\nnoon[^1].",
            "[^1]: By the gate.",
            "3) one\n  more\n  - below",
            "4) two",
            "| Code | Meaning |\n| --- | --- |\n| E23 | E23 |",
            "The old tide house",
        ],
    );
}

#[test]
fn slides_are_pages() {
    let frame = |class: &str, text: &str| {
        format!(
            "<draw:frame presentation:class='{class}'><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>"
        )
    };
    let body = format!(
        "<office:presentation><draw:page>{}{}{}<presentation:notes>{}</presentation:notes></draw:page><draw:page>{}</draw:page>\
         </office:presentation>",
        frame("title", "Tides"),
        frame("outline", "High water"),
        frame("footer", "Harbour office"),
        frame("notes", "Ask Maren."),
        frame("outline", "Ends."),
    );
    check(read_slides, &body, &["# Tides", "High water", "## Notes", "Ask Maren.", "Ends."]);
}

#[test]
fn sheets_are_sections_with_tables() {
    let cell = |kind: &str, text: &str| {
        format!(
            "<table:table-cell office:value-type='{kind}'><text:p>{text}</text:p></table:table-cell>"
        )
    };
    let body = format!(
        "<table:table table:name='Levels'><table:table-row>{}{}</table:table-row><table:table-row \
         table:number-rows-repeated='2'>{}{}</table:table-row><table:table-row table:number-rows-repeated='1048000'>\
         <table:table-cell table:number-columns-repeated='16384'/></table:table-row></table:table>",
        cell("string", "Place"),
        cell("string", "Share"),
        cell("string", "Brest"),
        cell("percentage", "12.50%"),
    );
    check(
        read_sheets,
        &body,
        &["## Levels", "| Place | Share |\n| --- | --- |\n| Brest | 12.50% |\n| Brest | 12.50% |"],
    );
}

#[test]
fn endless_repetitions_end_at_the_limit() {
    let body = "<table:table table:name='Big'><table:table-row table:number-rows-repeated='99999999999'><table:table-cell \
                table:number-columns-repeated='1000'><text:p>x</text:p></table:table-cell></table:table-row></table:table>";
    let bytes = archive(&[("content.xml", body)]);
    let tail = read_sheets(&Input::of(&bytes), &mut |_| Ok(())).unwrap();
    assert_eq!(
        tail.warnings,
        [
            "the rows of the sheet `Big` from row 501 on and all later sheets were left out: 500000 cells are read"
        ]
    );
}

#[test]
fn formulas_are_read_from_their_parts() {
    let content =
        "<text:p>So <draw:frame><draw:object xlink:href='./Object 1'/></draw:frame>.</text:p>";
    let formula = "<math><msup><mi>x</mi><mn>2</mn></msup></math>";
    let bytes = archive(&[("content.xml", content), ("Object 1/content.xml", formula)]);
    assert_eq!(output_of(read_text, &bytes).unwrap().1, ["So x^2 ."]);
}

#[test]
fn a_file_that_cannot_be_read_is_refused() {
    let manifest = "<manifest:manifest><manifest:encryption-data/></manifest:manifest>";
    for (parts, expected) in [
        (&[("a.txt", "x")][..], Failure::WrongFormat),
        (&[("content.xml", "<a></b>")], Failure::Damaged),
        (
            &[("content.xml", ""), ("META-INF/manifest.xml", manifest)],
            Failure::EncryptionNotSupported,
        ),
    ] {
        match output_of(read_text, &archive(parts)) {
            Err(Stop::Failed(failed)) => assert_eq!(failed.failure, expected),
            other => panic!("{other:?}"),
        }
    }
}
