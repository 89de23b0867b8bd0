//! Checks what is read of texts, presentations and spreadsheets.

use super::*;
use crate::document::WordDestination;
use crate::extract::protocol::Request;
use crate::parts::archive;
use crate::testing::output_of;

type Read = fn(&ReaderInput<'_>, &mut Emit<'_>) -> Result<ReadingSummary, EarlyEnd>;

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
    let tail = read_sheets(&ReaderInput::of(&bytes), &mut |_| Ok(())).unwrap();
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
fn annotations_follow_the_paragraph_that_they_are_about() {
    let remark = |name: &str, text: &str| {
        format!(
            "<office:annotation office:name='{name}'><dc:creator>Maren Voss</dc:creator><dc:date>2024-05-01T10:00:00</dc:date>\
             <text:p>{text}</text:p></office:annotation>"
        )
    };
    let body = format!(
        "<text:p>Pull {}the rope<office:annotation-end office:name='a'/> at noon.</text:p><text:list><text:list-item>\
         <text:p>Ebb{}</text:p></text:list-item></text:list><table:table><table:table-row><table:table-cell><text:p>E23{}\
         </text:p></table:table-cell><table:table-cell><text:p>dry</text:p></table:table-cell></table:table-row>\
         </table:table>",
        remark("a", "Which?"),
        remark("b", "Late."),
        remark("c", "Old code.")
    );
    let content = format!("<office:body>{body}</office:body>");
    let bytes = archive(&[("content.xml", &content)]);
    let found = output_of(read_text, &bytes).unwrap().1;
    assert_eq!(found[0], "Pull the rope at noon.");
    assert!(found[1].contains("Maren Voss") && found[1].ends_with("on “the rope”: Which?"));
    assert!(
        found[2].starts_with("- Ebb\n  Comment by Maren Voss") && found[2].ends_with(": Late.")
    );
    assert!(found[4].ends_with(": Old code."), "{found:?}");
    assert_eq!(found.len(), 5);
    let request = Request { omits_remarks: true, ..Request::default() };
    let input = ReaderInput { request: &request, ..ReaderInput::of(&bytes) };
    let mut words = Vec::new();
    read_text(&input, &mut |line| {
        if let AnswerLine::Page(page) = line {
            words.extend(page.left_out.counts());
        }
        Ok(())
    })
    .unwrap();
    assert_eq!(words, [(WordDestination::Remarks, 4)]);
}

#[test]
fn annotations_of_slides_and_cells_are_with_them() {
    let remark =
        "<office:annotation><dc:creator>Jan</dc:creator><text:p>Ask.</text:p></office:annotation>";
    let slide = format!(
        "<office:presentation><draw:page><draw:frame presentation:class='title'><draw:text-box><text:p>Tides</text:p>\
         </draw:text-box></draw:frame>{remark}<presentation:notes><draw:frame><text:p>Slowly.</text:p></draw:frame>\
         </presentation:notes></draw:page></office:presentation>"
    );
    check(read_slides, &slide, &["# Tides", "Comment by Jan: Ask.", "## Notes", "Slowly."]);
    let cell = "<table:table-cell><text:p>x</text:p></table:table-cell>";
    let sheet = format!(
        "<table:table table:name='Levels'><table:table-row table:number-rows-repeated='2'>{cell}{cell}</table:table-row>\
         <table:table-row>{cell}<table:table-cell>{remark}<text:p>y</text:p></table:table-cell></table:table-row>\
         </table:table>"
    );
    let table = "| x | x |\n| --- | --- |\n| x | x |\n| x | y |";
    check(read_sheets, &sheet, &["## Levels", table, "Comment by Jan on B3: Ask."]);
}

#[test]
fn lists_continue_with_the_next_number() {
    let list =
        |attributes: &str, items: &str| format!("<text:list {attributes}>{items}</text:list>");
    let item = |text: &str| format!("<text:list-item><text:p>{text}</text:p></text:list-item>");
    let style = "text:style-name='L1'";
    let numbers = |body: &str, expected: &[&str]| {
        check(read_text, &format!("<office:text>{body}</office:text>"), expected);
    };
    let first = list(&format!("xml:id='l1' {style}"), &(item("a") + &item("b")));
    let (between, again) =
        ("<text:p>Pause.</text:p>", format!("{style} text:continue-numbering='true'"));
    numbers(
        &format!(
            "{first}{between}{}{between}{}",
            list(&again, &item("c")),
            list(style, &item("d"))
        ),
        &["3) a", "4) b", "Pause.", "5) c", "Pause.", "3) d"],
    );
    let other = list("text:style-name='L2'", &item("x"));
    let by_id = list(&format!("{style} text:continue-list='l1'"), &item("c"));
    numbers(
        &format!("{first}{other}{}{by_id}{by_id}", list(style, &item("y"))),
        &["3) a", "4) b", "- x", "3) y", "5) c", "6) c"],
    );
    numbers(
        &list(
            style,
            "<text:list-item text:start-value='7'><text:p>a</text:p></text:list-item><text:list-header><text:p>more</text:p>\
             </text:list-header><text:list-item><text:p>b</text:p></text:list-item>",
        ),
        &["7) a\n  more", "8) b"],
    );
}

#[test]
fn the_second_level_of_a_list_continues_without_a_number_above() {
    let styles = "<text:list-style style:name='N'><text:list-level-style-number text:level='1' style:num-format='1'/>\
        <text:list-level-style-number text:level='2' style:num-format='1'/></text:list-style>\
        <style:style style:name='Steps' style:list-style-name='N'/>";
    let below =
        |items: &str| format!("<text:list-item><text:list>{items}</text:list></text:list-item>");
    let item = |text: &str, more: &str| {
        format!(
            "<text:list-item><text:p text:style-name='Steps'>{text}</text:p>{more}</text:list-item>"
        )
    };
    let content = format!(
        "<office:automatic-styles>{styles}</office:automatic-styles><office:body><text:list text:style-name='N'>{}{}</text:list>\
         <text:p>Pause.</text:p><text:list text:style-name='N' text:continue-numbering='true'>{}{}</text:list>\
         <text:list>{}</text:list><text:p>Pause.</text:p><text:list text:continue-numbering='true'>{}</text:list></office:body>",
        item("a", ""),
        item("b", &format!("<text:list>{}</text:list>", item("b1", ""))),
        below(&item("b2", "")),
        item("c", &format!("<text:list>{}</text:list>", item("c1", ""))),
        item("by the style of the paragraph", ""),
        item("on", ""),
    );
    let bytes = archive(&[("content.xml", &content)]);
    assert_eq!(
        output_of(read_text, &bytes).unwrap().1,
        [
            "1. a",
            "2. b\n  1. b1",
            "Pause.",
            "  2. b2",
            "3. c\n  1. c1",
            "1. by the style of the paragraph",
            "Pause.",
            "2. on"
        ]
    );
}

#[test]
fn cells_with_values_alone_are_read() {
    let cell = |attributes: &str| format!("<table:table-cell {attributes}/>");
    let body = format!(
        "<table:table table:name='D'><table:table-row>{}{}{}{}{}</table:table-row></table:table>",
        cell("office:value-type='string' office:string-value='Dauer'"),
        cell("office:value-type='time' office:time-value='PT26H30M'"),
        cell("office:value-type='float' office:value='0.475'"),
        cell("office:value-type='date' office:date-value='2026-05-04'"),
        cell("office:value-type='float' table:formula='of:=SUM([.C1:.C9])'"),
    );
    check(
        read_sheets,
        &body,
        &[
            "## D",
            "| Dauer | 26:30 | 0.475 | 2026-05-04 | =SUM(C1:C9) |\n| --- | --- | --- | --- | --- |",
        ],
    );
}

const CHART: &str = "<office:document-content><office:automatic-styles><number:text>x</number:text>\
    </office:automatic-styles><office:body><office:chart><chart:chart><chart:title><text:p>Water levels</text:p></chart:title>\
    <chart:plot-area><chart:axis><chart:title><text:p>metres</text:p></chart:title></chart:axis></chart:plot-area>\
    <table:table table:name='local-table'><table:table-row><table:table-cell><text:p/></table:table-cell><table:table-cell>\
    <text:p>2020</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>Brest</text:p>\
    </table:table-cell><table:table-cell><text:p>3.5</text:p></table:table-cell></table:table-row></table:table></chart:chart>\
    </office:chart></office:body></office:document-content>";
const CHART_BLOCKS: [&str; 2] =
    ["Water levels metres", "|  | 2020 |\n| --- | --- |\n| Brest | 3.5 |"];
const SHEET_OBJECT: &str = "<office:document-content><office:body><office:spreadsheet><table:table table:name='Costs'>\
    <table:table-row><table:table-cell><text:p>Rope</text:p></table:table-cell><table:table-cell><text:p>12</text:p>\
    </table:table-cell></table:table-row></table:table></office:spreadsheet></office:body></office:document-content>";

#[test]
fn charts_and_documents_in_a_document_are_read_at_their_place() {
    let object =
        |number| format!("<draw:frame><draw:object xlink:href='./Object {number}'/></draw:frame>");
    let (chart, costs) = (object(1), object(2));
    let file = |body: &str| {
        let content = format!("<office:body>{body}</office:body>");
        archive(&[
            ("content.xml", &content),
            ("Object 1/content.xml", CHART),
            ("Object 2/content.xml", SHEET_OBJECT),
        ])
    };
    let table = "| Rope | 12 |\n| --- | --- |";
    let text = format!(
        "<text:p>Before {chart}</text:p><text:p>{costs}</text:p><text:p>After {chart}</text:p>"
    );
    assert_eq!(
        output_of(read_text, &file(&text)).unwrap().1,
        ["Before", CHART_BLOCKS[0], CHART_BLOCKS[1], "Costs", table, "After"]
    );
    let slide =
        format!("<draw:page>{chart}<draw:frame><text:p>After.</text:p></draw:frame></draw:page>");
    assert_eq!(
        output_of(read_slides, &file(&slide)).unwrap().1,
        [CHART_BLOCKS[0], CHART_BLOCKS[1], "After."]
    );
    let sheet = format!(
        "<table:table table:name='S'><table:shapes>{chart}<draw:custom-shape><text:p>In</text:p><text:p>metres</text:p>\
         </draw:custom-shape></table:shapes><table:table-row><table:table-cell><draw:frame><svg:desc>The old tide house\
         </svg:desc></draw:frame><text:p>a</text:p></table:table-cell></table:table-row></table:table>"
    );
    assert_eq!(
        output_of(read_sheets, &file(&sheet)).unwrap().1,
        ["## S", "a", CHART_BLOCKS[0], CHART_BLOCKS[1], "In\nmetres", "The old tide house"]
    );
}

#[test]
fn flat_files_are_read_as_archives_are() {
    let flat = |body: &str| {
        format!(
            "<?xml version='1.0'?>\n<office:document><office:meta><dc:title>Tides</dc:title></office:meta><office:automatic-styles>\
             <style:style style:name='P1' style:parent-style-name='Title'/></office:automatic-styles><office:master-styles>\
             <text:p>Page</text:p></office:master-styles><office:body>{body}</office:body></office:document>"
        )
    };
    let chart = CHART.replace("office:document-content", "office:document");
    let picture = "<draw:image><office:binary-data>iVBORw0KGgo</office:binary-data></draw:image>";
    let text = format!(
        "<office:text><text:p text:style-name='P1'>Tide house</text:p><text:p>High water{picture}<draw:frame><draw:object>\
         {chart}</draw:object></draw:frame></text:p></office:text>"
    );
    let (head, blocks) = output_of(read_text, flat(&text).as_bytes()).unwrap();
    assert_eq!(head.title.as_deref(), Some("Tides"));
    assert_eq!(blocks, ["# Tide house", "High water", CHART_BLOCKS[0], CHART_BLOCKS[1]]);
    let slides =
        "<office:presentation><draw:page><text:p>One</text:p></draw:page></office:presentation>";
    assert_eq!(output_of(read_slides, flat(slides).as_bytes()).unwrap().1, ["One"]);
    let sheets = "<office:spreadsheet><table:table table:name='S'><table:table-row><table:table-cell><text:p>a</text:p>\
                  </table:table-cell></table:table-row></table:table></office:spreadsheet>";
    assert_eq!(output_of(read_sheets, flat(sheets).as_bytes()).unwrap().1, ["## S", "a"]);
}

#[test]
fn a_cut_off_file_keeps_its_start() {
    let text = "<office:body><text:p>High</text:p><text:p>wa";
    let sheet =
        "<office:body><table:table table:name='S'><table:table-row><table:table-cell><text:p>a";
    let damaged: [(Read, &str, &[&str]); 3] = [
        (read_text, text, &["High", "wa"]),
        (read_slides, text, &["High", "wa"]),
        (read_sheets, sheet, &["## S", "a"]),
    ];
    for (read, content, expected) in damaged {
        let bytes = archive(&[("content.xml", content)]);
        assert_eq!(output_of(read, &bytes).unwrap().1, expected);
        let tail = read(&ReaderInput::of(&bytes), &mut |_| Ok(())).unwrap();
        assert_eq!(tail.warnings, ["the text after the damaged part is missing: it is cut off"]);
    }
}

#[test]
fn a_file_that_cannot_be_read_is_refused() {
    let manifest = "<manifest:manifest><manifest:encryption-data/></manifest:manifest>";
    for (parts, expected) in [
        (&[("a.txt", "x")][..], FailureKind::WrongFormat),
        (&[("content.xml", "<a></b>")], FailureKind::Damaged),
        (&[("content.xml", "<office:body>")], FailureKind::Damaged),
        (
            &[("content.xml", ""), ("META-INF/manifest.xml", manifest)],
            FailureKind::EncryptionNotSupported,
        ),
    ] {
        match output_of(read_text, &archive(parts)) {
            Err(EarlyEnd::Failed(failed)) => assert_eq!(failed.failure, expected),
            other => panic!("{other:?}"),
        }
    }
}
