//! Tests of reading spreadsheets.

use super::*;
use crate::parts::archive;
use crate::testing::output_of;

const WORKBOOK: &str = "<workbook><sheets><sheet name='Levels' sheetId='1' r:id='rId1'/>\
    <sheet name='Chart' sheetId='2' r:id='rId2'/></sheets></workbook>";
const RELATIONS: &str = "<Relationships><Relationship Id='rId1' Type='x/worksheet' Target='worksheets/sheet1.xml'/>\
    <Relationship Id='rId2' Type='x/chartsheet' Target='chartsheets/sheet1.xml'/>\
    <Relationship Id='rId3' Type='x/styles' Target='styles.xml'/>\
    <Relationship Id='rId4' Type='x/sharedStrings' Target='sharedStrings.xml'/></Relationships>";
const STYLES: &str = "<styleSheet><numFmts><numFmt numFmtId='164' formatCode='0.0%'/></numFmts>\
    <cellStyleXfs><xf numFmtId='3'/></cellStyleXfs><cellXfs><xf numFmtId='0'/><xf numFmtId='14'/><xf numFmtId='164'/>\
    </cellXfs></styleSheet>";
const TEXTS: &str =
    "<sst><si><t>Day</t></si><si><r><t>Sha</t></r><r><t>re</t></r><rPh><t>x</t></rPh></si></sst>";
const SHEET: &str = "<worksheet><sheetData><row r='1'><c r='A1' t='s'><v>0</v></c><c r='B1' t='s'><v>1</v></c>\
    <c r='C1' t='inlineStr'><is><t>Dry</t><rPh><t>Drai</t></rPh></is></c></row><row r='2'><c r='A2' s='1'><v>43831</v></c>\
    <c r='B2' s='2'><v>0.125</v></c><c r='C2' t='b'><v>1</v></c></row></sheetData></worksheet>";

#[test]
fn cells_are_shown_as_the_program_shows_them() {
    let bytes = archive(&[
        ("xl/workbook.xml", WORKBOOK),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/styles.xml", STYLES),
        ("xl/sharedStrings.xml", TEXTS),
        ("xl/worksheets/sheet1.xml", SHEET),
    ]);
    let table = "| Day | Share | Dry |\n| --- | --- | --- |\n| 2020-01-01 | 12.5% | TRUE |";
    assert_eq!(output_of(read, &bytes).unwrap().1, ["## Levels", table]);
}

#[track_caller]
fn check_cells(rows: &str, expected: &str, warnings: &[&str]) {
    let workbook = "<workbook><sheets><sheet name='a' r:id='rId1'/></sheets></workbook>";
    let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    let styles = "<styleSheet><numFmts><numFmt numFmtId='164' formatCode='0;-0;;\"Dr. \"@'/></numFmts>\
        <cellXfs><xf numFmtId='0'/><xf numFmtId='164'/><xf numFmtId='12'/></cellXfs></styleSheet>";
    let bytes = archive(&[
        ("xl/workbook.xml", workbook),
        ("xl/sharedStrings.xml", "<sst><si><t>Voss</t></si></sst>"),
        ("xl/styles.xml", styles),
        ("xl/worksheets/sheet1.xml", &sheet),
    ]);
    assert_eq!(output_of(read, &bytes).unwrap().1[1..], [expected]);
    assert_eq!(read(&ReaderInput::of(&bytes), &mut |_| Ok(())).unwrap().warnings, warnings);
}

#[test]
fn a_formula_without_a_value_is_shown_and_counted() {
    check_cells(
        "<row r='1'><c r='A1'><v>2</v></c><c r='B1'><f>_xlfn.SUM(A1:A9)</f><v></v></c></row>\
         <row r='2'><c r='A2'><v>3</v></c><c r='B2'><f t='shared' si='0' ref='B2:B4'>A2*2</f><v>6</v></c></row>\
         <row r='3'><c r='A3'><v>4</v></c><c r='B3' t='e'><f t='shared' si='0'/></c></row>\
         <row r='4'><c r='A4'><v>5</v></c><c r='B4' t='str'><f>T(1)</f><v></v></c></row>",
        "|  |  |\n| --- | --- |\n| 2 | =SUM(A1:A9) |\n| 3 | 6 |\n| 4 | =A2*2 (as in B2) |\n| 5 |  |",
        &["2 cells show their formulas, as the file has no values for them"],
    );
    check_cells(
        "<row r='1'><c r='A1'><v>2</v></c><c r='B1'><f>A1</f></c></row>",
        "| 2 | =A1 |\n| --- | --- |",
        &["1 cell shows its formula, as the file has no value for it"],
    );
}

#[test]
fn texts_have_formats_and_what_a_format_does_not_show_is_counted() {
    check_cells(
        "<row r='1'><c r='A1' s='1' t='s'><v>0</v></c><c r='B1' s='2'><v>0.75</v></c><c r='C1' s='1'><v>0</v></c></row>",
        "| Dr. Voss | 3/4 |\n| --- | --- |",
        &[],
    );
}

const OF_SHEET: &str = "<Relationships><Relationship Id='a' Type='x/drawing' Target='../drawings/d.xml'/>\
    <Relationship Id='b' Type='x/comments' Target='../comments1.xml'/>\
    <Relationship Id='c' Type='x/threadedComment' Target='../threadedComments/t.xml'/>\
    <Relationship Id='d' Type='x/package' Target='../embeddings/plan.docx'/></Relationships>";
const OF_DRAWING: &str = "<Relationships><Relationship Id='c' Type='x/chart' Target='../charts/chart1.xml'/></Relationships>";
const DRAWING: &str = "<xdr:wsDr><xdr:sp><xdr:txBody><a:p><a:r><a:t>In metres</a:t></a:r></a:p></xdr:txBody></xdr:sp>\
    <xdr:graphicFrame><a:graphicData><c:chart r:id='c'/></a:graphicData></xdr:graphicFrame></xdr:wsDr>";
const CHART: &str = "<c:chart><c:title><c:tx><a:p><a:r><a:t>Levels by day</a:t></a:r></a:p></c:tx></c:title></c:chart>";

#[test]
fn what_else_is_on_a_sheet_is_below_its_cells() {
    let comments = "<comments><authors><author>Jan Bruns</author></authors><commentList><comment ref='A2' authorId='0'>\
        <text><t>Leap year</t></text></comment></commentList></comments>";
    let threads = "<ThreadedComments><threadedComment ref='B2' personId='p'><text>Really?</text></threadedComment>\
        </ThreadedComments>";
    let of_chart_sheet = OF_SHEET.replace("d.xml", "e.xml");
    let mut parts = vec![
        ("xl/workbook.xml", WORKBOOK),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/sharedStrings.xml", TEXTS),
        ("xl/worksheets/sheet1.xml", SHEET),
        ("xl/worksheets/_rels/sheet1.xml.rels", OF_SHEET),
        ("xl/drawings/d.xml", DRAWING),
        ("xl/drawings/_rels/d.xml.rels", OF_DRAWING),
        ("xl/charts/chart1.xml", CHART),
        ("xl/comments1.xml", comments),
        ("xl/threadedComments/t.xml", threads),
        (
            "xl/persons/person.xml",
            "<personList><person id='p' displayName='Maren Voss'/></personList>",
        ),
        ("xl/embeddings/plan.docx", "words"),
        ("xl/chartsheets/sheet1.xml", "<chartsheet/>"),
        ("xl/chartsheets/_rels/sheet1.xml.rels", &of_chart_sheet),
        ("xl/drawings/e.xml", DRAWING),
        ("xl/drawings/_rels/e.xml.rels", OF_DRAWING),
    ];
    let (_, blocks) = output_of(read, &archive(&parts)).unwrap();
    let below = [
        "In metres",
        "Levels by day",
        "Comment by Jan Bruns on A2: Leap year",
        "Comment by Maren Voss on B2: Really?",
        "Embedded file: plan.docx",
    ];
    assert_eq!(blocks[2..7], below);
    assert_eq!(blocks[7], "## Chart");
    // A part that two sheets refer to is read once.
    assert_eq!(blocks[8..], [below[0], below[4]]);
    // Damaged and missing parts are left out, and the rest is read.
    parts.retain(|(name, _)| !name.contains("drawing") && !name.contains("comments1"));
    assert_eq!(output_of(read, &archive(&parts)).unwrap().1[2..4], below[3..]);
}

#[test]
fn parts_without_relations_have_their_usual_names() {
    let parts = [
        ("XL\\Workbook.xml", WORKBOOK),
        ("xl\\SharedStrings.xml", TEXTS),
        ("xl\\worksheets\\sheet1.xml", SHEET),
    ];
    let (_, blocks) = output_of(read, &archive(&parts)).unwrap();
    let table = "| Day | Share | Dry |\n| --- | --- | --- |\n| 43831 | 0.125 | TRUE |";
    assert_eq!(blocks, ["## Levels", table]);
}

#[track_caller]
fn check_damaged(parts: &[(&str, &str)], expected: &[&str], warnings: &[&str]) {
    let bytes = archive(parts);
    assert_eq!(output_of(read, &bytes).unwrap().1, expected);
    assert_eq!(read(&ReaderInput::of(&bytes), &mut |_| Ok(())).unwrap().warnings, warnings);
}

#[test]
fn damaged_parts_keep_the_text_before_the_damage() {
    let table = "| Day | Share | Dry |\n| --- | --- | --- |";
    let cut_off = |text: &'static str, at: &str| text.split(at).next().unwrap();
    let sheet = ("xl/worksheets/sheet1.xml", cut_off(SHEET, "</row>"));
    check_damaged(
        &[
            ("xl/workbook.xml", cut_off(WORKBOOK, "<sheet name='Chart'")),
            ("xl/sharedStrings.xml", TEXTS),
            sheet,
        ],
        &["## Levels", table],
        &[
            "the list of sheets is damaged: it is cut off",
            "the sheet `Levels` is damaged: it is cut off",
        ],
    );
    let texts = ("xl/sharedStrings.xml", cut_off(TEXTS, "</r><r><t>re"));
    check_damaged(
        &[("xl/workbook.xml", "<workbook>"), texts, sheet],
        &["## sheet1", &table.replace("Share", "Sha")],
        &[
            "the list of sheets is damaged: it is cut off",
            "the texts of the cells are damaged: it is cut off",
            "the sheet `sheet1` is damaged: it is cut off",
        ],
    );
}

#[test]
fn the_first_row_of_a_table_is_its_head() {
    let row = |number: u32, cells: [&str; 2]| {
        let cells = cells.map(|text| format!("<c t='inlineStr'><is><t>{text}</t></is></c>"));
        format!("<row r='{number}'>{}</row>", cells.concat())
    };
    let rows =
        [["Quay", "east"], ["Keeper", "Ana"], ["Name", "State"], ["Hull", "dry"], ["Kiel", "wet"]];
    let rows: String = (1..).zip(rows).map(|(number, cells)| row(number, cells)).collect();
    let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    let of_sheet = "<Relationships><Relationship Id='t' Type='x/table' Target='../tables/table1.xml'/></Relationships>";
    let read_with = |table: &str| {
        let bytes = archive(&[
            ("xl/workbook.xml", WORKBOOK),
            ("xl/_rels/workbook.xml.rels", RELATIONS),
            ("xl/worksheets/sheet1.xml", &sheet),
            ("xl/worksheets/_rels/sheet1.xml.rels", of_sheet),
            ("xl/tables/table1.xml", table),
        ]);
        output_of(read, &bytes).unwrap().1[1..].join("\n\n")
    };
    let below = "| Name | State |\n| --- | --- |\n| Hull | dry |\n| Kiel | wet |";
    assert_eq!(
        read_with("<table ref='A3:B5'><autoFilter ref='A3:B5'/></table>"),
        format!("Quay: east\nKeeper: Ana\n\n{below}")
    );
    assert!(read_with("<table ref='A3:B5' headerRowCount='0'/>").starts_with("| Quay | east |"));
}

#[test]
fn sheets_with_the_same_cells_are_read_once() {
    let sheets = "<sheet name='Levels' r:id='rId1'/>".repeat(2000);
    let bytes = archive(&[
        ("xl/workbook.xml", &format!("<workbook><sheets>{sheets}</sheets></workbook>")),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/styles.xml", STYLES),
        ("xl/sharedStrings.xml", TEXTS),
        ("xl/worksheets/sheet1.xml", SHEET),
    ]);
    assert_eq!(output_of(read, &bytes).unwrap().1.len(), 2);
}

#[test]
fn a_file_that_is_no_spreadsheet_is_refused() {
    for (bytes, expected) in [
        (archive(&[("a.txt", "x")]), FailureKind::WrongFormat),
        (archive(&[("xl/workbook.xml", "<a></b>")]), FailureKind::Damaged),
        (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".to_vec(), FailureKind::EncryptionNotSupported),
    ] {
        match output_of(read, &bytes) {
            Err(EarlyEnd::Failed(failed)) => assert_eq!(failed.failure, expected),
            other => panic!("{other:?}"),
        }
    }
}
