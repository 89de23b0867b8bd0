//! Checks what becomes of separated values.

use crate::document::Document;
use crate::limits::SPREADSHEET_CELLS;
use crate::markup::testing::check;

fn extract(text: &str) -> Document {
    super::extract(text, b',')
}

const TABLE: &str = "| place | height |\n| --- | --- |\n| Brest | 3.5 |\n| Emden | 4 |";

#[test]
fn the_separator_is_found() {
    for separator in [",", ";", "\t", "|"] {
        let text = "place,height\nBrest,3.5\nEmden,4\n".replace(',', separator);
        check(extract, &text, &[TABLE]);
    }
    let with_commas = "place;height\nBrest;3,5\nEmden;4,1\n";
    let expected = "| place | height |\n| --- | --- |\n| Brest | 3,5 |\n| Emden | 4,1 |";
    check(extract, with_commas, &[expected]);
    check(extract, &format!("sep=;\n{with_commas}"), &[expected]);
}

#[test]
fn quotes_hold_separators_and_lines() {
    let text = "place,\"said \"\"so\"\"\"\n\"Brest, west\",\"one\ntwo\"\n\n\nEmden,a|b\n";
    let expected =
        "| place | said \"so\" |\n| --- | --- |\n| Brest, west | one two |\n| Emden | a\\|b |";
    check(extract, text, &[expected]);
    assert_eq!(extract(text).line_numbers, [1, 1, 2, 6]);
}

#[test]
fn a_quote_that_nothing_closes_is_text() {
    let text = format!("place,height\n\"Brest,3.5\n{}", "Emden,4\n".repeat(200));
    let document = extract(&text);
    assert!(document.text.contains("| \"Brest | 3.5 |\n| Emden | 4 |"));
    assert_eq!(document.line_numbers.len(), 203);
}

#[test]
fn lines_above_the_head_are_captions() {
    let text = "Water levels,\n,\nplace,height\nBrest,3.5\nEmden,4\n";
    check(extract, text, &["Water levels", TABLE]);
    check(extract, "place\nBrest\n", &[]);
    check(extract, ",a\nb,\n", &["|  | a |\n| --- | --- |\n| b |  |"]);
    check(extract, " \n,,\n", &[]);
}

#[test]
fn labels_and_values_are_lines_above_the_table() {
    let text = "Kontonummer:;DE00 1234\nStand:;1,5\n\nTag;Text;Betrag\n02.01.2026;Rope;-3,50\n03.01.2026;Oil;-9\n";
    let table = "| Tag | Text | Betrag |\n| --- | --- | --- |\n\
                 | 02.01.2026 | Rope | -3,50 |\n| 03.01.2026 | Oil | -9 |";
    check(extract, text, &["Kontonummer: DE00 1234\nStand: 1,5", table]);
}

#[test]
fn a_first_row_of_data_is_not_the_head() {
    let text = "2026-05-01,3.5,ok\n2026-05-02,3.4,ok\n2026-05-03,3.9,low\n";
    let table = "|  |  |  |\n| --- | --- | --- |\n\
                 | 2026-05-01 | 3.5 | ok |\n| 2026-05-02 | 3.4 | ok |\n| 2026-05-03 | 3.9 | low |";
    check(extract, text, &[table]);
}

#[test]
fn what_is_left_out_is_reported() {
    let wide = vec!["x"; 1_200].join(",");
    let document = extract(&format!("{wide}\n{wide}\n"));
    assert_eq!(document.metadata.warnings, ["the columns after the first 1000 were left out"]);
    let row = vec!["x"; 500].join(",") + "\n";
    let document = extract(&row.repeat(SPREADSHEET_CELLS / 500 + 2));
    assert_eq!(
        document.metadata.warnings,
        ["the rows from line 1001 on were left out: 500000 cells are read"]
    );
}
