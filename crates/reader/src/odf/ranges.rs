//! Finds the heads of the ranges that a spreadsheet names or filters. They are after the sheets in the file.

use std::collections::BTreeMap;

use crate::cell_names::position;
use crate::xml::{self, XmlEvent};

/// Returns by sheet the rows of heads, from 1.
pub(super) fn heads(xml: &str) -> BTreeMap<String, Vec<u64>> {
    let mut heads: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let Some(start) = xml.rfind("<table:database-ranges") else { return heads };
    // The end tags around the sheets have no start tags here, so the text ends as if it were damaged.
    let _ = xml::each(&xml[start..], |event| {
        let XmlEvent::Open(element) = event else { return };
        if element.name() != "database-range" {
            return;
        }
        let [address, has_head] = element.values(["target-range-address", "contains-header"]);
        if has_head.is_some_and(|has_head| has_head == "false") {
            return;
        }
        if let Some((sheet, row)) = address.as_deref().and_then(first_row) {
            heads.entry(sheet).or_default().push(row);
        }
    });
    heads
}

/// Returns the sheet and the first row of a range: `'Pier 4'.A3:'Pier 4'.C9`. A quote in a name is written twice.
fn first_row(address: &str) -> Option<(String, u64)> {
    let address = address.trim_start_matches('$');
    let (sheet, rest) = match address.strip_prefix('\'') {
        Some(quoted) => {
            let end = quoted.find("'.")?;
            (quoted[..end].replace("''", "'"), &quoted[end + 2..])
        }
        None => {
            let (sheet, rest) = address.split_once('.')?;
            (sheet.to_owned(), rest)
        }
    };
    let cell = rest.split(':').next()?.replace('$', "");
    position(&cell).map(|(_, row)| (sheet, row))
}

#[cfg(test)]
mod tests {
    use super::super::read_sheets;
    use super::*;
    use crate::parts::archive;
    use crate::testing::output_of;

    #[test]
    fn the_first_row_of_a_range_is_a_head() {
        let xml = "<table:table/></office:x><table:database-ranges>\
                   <table:database-range table:target-range-address=\"Gauges.A3:Gauges.C9\"/>\
                   <table:database-range table:target-range-address=\"$'Bo''s pier 4.5'.$B$7:.$C$9\"/>\
                   <table:database-range table:contains-header=\"false\" table:target-range-address=\"Gauges.A30:Gauges.C39\"/>\
                   <table:database-range table:target-range-address=\"nonsense\"/>\
                   </table:database-ranges></office:spreadsheet>";
        let expected = [("Bo's pier 4.5".to_owned(), vec![7]), ("Gauges".to_owned(), vec![3])];
        assert_eq!(heads(xml), BTreeMap::from(expected));
        assert!(heads("<table:table/>").is_empty());
    }

    #[test]
    fn heads_of_sheets_are_declared() {
        let read =
            |body: &str| output_of(read_sheets, &archive(&[("content.xml", body)])).unwrap().1;
        let row = |cells: [&str; 2]| {
            let cells = cells.map(|text| {
                format!("<table:table-cell office:value-type='string'><text:p>{text}</text:p></table:table-cell>")
            });
            format!("<table:table-row>{}</table:table-row>", cells.concat())
        };
        let rows = [["Quay", "east"], ["Name", "State"], ["Hull", "dry"]].map(row);
        let expected =
            ["## Levels", "Quay: east", "| Name | State |\n| --- | --- |\n| Hull | dry |"];
        let [above, head, below] = &rows;
        let body = format!(
            "<table:table table:name='Levels'>{above}<table:table-header-rows>{head}</table:table-header-rows>{below}\
             </table:table>"
        );
        assert_eq!(read(&body), expected);
        let body = format!(
            "<table:table table:name='Levels'>{above}{head}{below}</table:table><table:database-ranges>\
             <table:database-range table:target-range-address='Levels.A2:Levels.B3'/></table:database-ranges>"
        );
        assert_eq!(read(&body), expected);
    }
}
