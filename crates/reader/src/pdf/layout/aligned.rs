//! Finds tables without rules among the lines of a column.

use super::gaps::{CELL_GAP, SplitLine, borders, extent, table};
use super::lines::TextLine;
use super::piece::PageTable;
use super::sheet::PageArea;

/// Most consecutive lines of a table that may consist of one piece: headings of groups, wrapped
/// labels.
const MAX_SINGLE: usize = 2;

/// Most lines above the first split one that may belong to the table head, and how far apart their base lines may be,
/// as a multiple of the size: farther lines are text above the table.
const MAX_HEAD_LINES: usize = 3;
const MAX_HEAD_GAP: f64 = 1.7;

/// How far from the left end of a cell its second line may begin, as a fraction of the size.
const SAME_COLUMN: f64 = 0.3;

/// Removes the tables without rules from the lines of a region, and returns them.
pub(super) fn take(lines: &mut Vec<TextLine>) -> Vec<PageTable> {
    let mut tables = Vec::new();
    let mut rest: Vec<TextLine> = Vec::new();
    let all = std::mem::take(lines);
    let rows: Vec<SplitLine<'_>> =
        all.iter().map(|line| SplitLine::new(line, CELL_GAP).with_marker()).collect();
    let (mut at, mut free_from) = (0, 0);
    while at < rows.len() {
        let end = at + run_len(&rows[at..]);
        let start = at - head_len(&rows[free_from..end], at - free_from);
        let area = PageArea::around(rows[start..end].iter().map(|row| row.line.area));
        if let Some(table) = table(&rows[start..end], area, false) {
            tables.push(table);
            // The head has been taken for text before.
            rest.truncate(rest.len() - (at - start));
            at = end;
            free_from = end;
        } else {
            let end = end.max(at + 1);
            rest.extend(all[at..end].iter().cloned());
            at = end;
        }
    }
    *lines = rest;
    tables
}

/// Returns how many lines above the first split one, at `at`, belong to the table head: these are
/// lines that are only above columns of the table.
fn head_len(rows: &[SplitLine<'_>], at: usize) -> usize {
    let Some(border) = borders(&rows[at..]).first().copied() else { return 0 };
    (1..=at.min(MAX_HEAD_LINES))
        .take_while(|distance| {
            let (above, below) = (rows[at - distance].line, rows[at - distance + 1].line);
            above.area.left >= border && below.base - above.base <= MAX_HEAD_GAP * below.size
        })
        .count()
}

/// Returns how many lines, from the first one, may be a table: split lines with a few others in
/// between.
fn run_len(rows: &[SplitLine<'_>]) -> usize {
    let (mut len, mut single, mut second_left) = (0, 0, f64::INFINITY);
    for (at, row) in rows.iter().enumerate() {
        // Across an empty line or two, the next split line belongs to another table.
        let is_far = at > 0 && row.line.base - rows[at - 1].line.base > 3.0 * row.line.size;
        if is_far {
            break;
        }
        if let [_, second, ..] = row.pieces.as_slice() {
            (len, single) = (at + 1, 0);
            second_left = extent(second).0;
        } else if len > 0 && (row.line.area.left - second_left).abs() <= SAME_COLUMN * row.line.size
        {
            // A cell of the second column that continues, as in a glossary.
            len = at + 1;
        } else {
            single += 1;
            if len == 0 || single > MAX_SINGLE {
                break;
            }
        }
    }
    len
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::layout::testing;
    use crate::text::markdown;

    #[track_caller]
    fn check(picture: &str, expected: &[&str]) {
        let tables = take(&mut testing::lines(picture));
        let tables: Vec<String> = tables.iter().map(|table| markdown::table(&table.rows)).collect();
        assert_eq!(tables, expected);
    }

    #[test]
    fn numbers_in_columns_become_a_table() {
        check(
            "The heights were these.\n\
             Station        2024     2025\n\
             North          2.1      2.25\n\
             South bank     $  1.9   $ 2.0\n\
             And so on.",
            &["| Station | 2024 | 2025 |\n| --- | --- | --- |\n| North | 2.1 | 2.25 |\n\
               | South bank | $ 1.9 | $ 2.0 |"],
        );
    }

    #[test]
    fn a_head_of_several_lines_becomes_one_row() {
        check(
            "               Height     Height\n\
             Station        in 2024    in 2025\n\
             North          2.1        2.2\n\
             South bank     1.9        2.0",
            &["| Station | Height in 2024 | Height in 2025 |\n| --- | --- | --- |\n\
               | North | 2.1 | 2.2 |\n| South bank | 1.9 | 2.0 |"],
        );
    }

    #[test]
    fn a_label_of_two_lines_is_joined() {
        check(
            "North          2.1      2.2\n\
             South bank, measured at\n\
             the old pier   1.9      2.0\n\
             West           1.8      2.1",
            &["| North | 2.1 | 2.2 |\n| --- | --- | --- |\n\
               | South bank, measured at the old pier | 1.9 | 2.0 |\n| West | 1.8 | 2.1 |"],
        );
    }

    #[test]
    fn rows_with_leaders_and_several_numbers_are_a_table() {
        check(
            "                  Common    Total\n\
             Balance .......    1,240   13,427\n\
             Net income ....      799    2,755\n\
             Balance .......    1,071   12,211",
            &["|  | Common | Total |\n| --- | --- | --- |\n| Balance | 1,240 | 13,427 |\n\
               | Net income | 799 | 2,755 |\n| Balance | 1,071 | 12,211 |"],
        );
    }

    #[test]
    fn labels_above_their_values_are_a_table() {
        check(
            "Invoice Date:    Due Date:     Reference:\n03/20/2023       04/04/2023    CUSTREF123",
            &["| Invoice Date: | Due Date: | Reference: |\n| --- | --- | --- |\n\
               | 03/20/2023 | 04/04/2023 | CUSTREF123 |"],
        );
        check("Invoice Date:    Due Date:\nis not       known yet", &[]);
        check("the tide         the ebb\nof 2023          of 2024 and so", &[]);
    }

    #[test]
    fn days_and_years_are_parts_of_the_head() {
        check(
            "            January    January\n\
             \u{20}           28,        29,\n\
             \u{20}           2023       2022\n\
             Revenue     46,298     51,761\n\
             Cost        36,386     40,121",
            &["|  | January 28, 2023 | January 29, 2022 |\n| --- | --- | --- |\n\
               | Revenue | 46,298 | 51,761 |\n| Cost | 36,386 | 40,121 |"],
        );
    }

    #[test]
    fn terms_and_meanings_are_a_glossary() {
        let is_glossary = |picture: &str| {
            let tables = take(&mut testing::lines(picture));
            tables.first().map(|table| (table.is_glossary, table.rows.clone()))
        };
        let (is_found, rows) = is_glossary(
            "Fairlead    A ring that guides a rope of any kind and\n\
             \x20           keeps it from the rail\n\
             Thwart      A seat across a boat\n\
             Gudgeon     The socket of a rudder",
        )
        .unwrap();
        assert!(is_found);
        let first = "A ring that guides a rope of any kind and keeps it from the rail";
        assert_eq!(rows[..2], [["Fairlead", first], ["Thwart", "A seat across a boat"]]);
        assert_eq!(is_glossary("Name:    Kittiwake\nPort:    Vardo\nFlag:    Norway"), None);
        assert_eq!(
            is_glossary("Fairlead    A ring\n Thwart     A seat\n  Gudgeon   A socket"),
            None
        );
    }

    #[test]
    fn text_and_tables_of_contents_are_not_tables() {
        check("One    two words and some more of them that go on\nnext   line\nlast   line", &[]);
        check("One .......... 1\nTwo .......... 2\nThree ........ 3\nFour ......... 4", &[]);
        check("1.   The tide\n2.   The ebb\n3.   The flood", &[]);
        check("", &[]);
    }
}
