//! Reads a spreadsheet: sheets as sections, cells as tables, numbers and dates as shown.
//!
//! An XLSX file is a ZIP archive of XML parts (ECMA-376): `xl/workbook.xml` lists the sheets, their
//! cells refer to shared texts and to number formats.

mod cells;
mod codes;
mod dates;
mod formats;
mod numbers;

use std::collections::HashSet;

use super::parts::{self, Archive, head, part};
use super::sheet::Budget;
use super::writer::Writer;
use super::xml::{self, Event};
use super::{Emit, Input, Stop};
use crate::error::Failure;
use crate::extract::protocol::{Line, ReadFailure, Tail};
use cells::Texts;
use formats::Formats;

/// Reads a spreadsheet.
pub(crate) fn read(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<Tail, Stop> {
    let mut archive = parts::open_office(input.bytes, ".xls")?;
    let main = parts::main_part(&mut archive, "xl/workbook.xml")?;
    if main.ends_with(".bin") {
        let detail = "its sheets are binary (.xlsb); save it as .xlsx";
        return Err(ReadFailure::new(Failure::WrongFormat, detail).into());
    }
    let workbook = part(&mut archive, &main)?
        .ok_or_else(|| ReadFailure::new(Failure::WrongFormat, "it is a ZIP archive, not XLSX"))?;
    let related = parts::relations(&mut archive, &main)?;
    let of_kind = |archive: &mut Archive<'_>, kind: &str| {
        let found = related.values().find(|related| related.kind == kind);
        found.map_or(Ok(None), |related| part(archive, &related.name))
    };
    let texts = cells::shared(&of_kind(&mut archive, "sharedStrings")?.unwrap_or_default());
    let styles = of_kind(&mut archive, "styles")?.unwrap_or_default();
    let (sheets, is_1904) = sheets(&workbook)?;
    let texts = Texts { shared: texts, formats: Formats::read(&styles, is_1904) };
    let properties = part(&mut archive, "docProps/core.xml")?.unwrap_or_default();
    emit(Line::Document(head(&properties)))?;

    let (mut writer, mut budget) = (Writer::default(), Budget::default());
    let (mut read, mut num_repeated) = (HashSet::new(), 0);
    for (name, id) in sheets {
        let Some(related) = related.get(&id).filter(|related| related.kind == "worksheet") else {
            continue;
        };
        // Thousands of sheets with the same cells would take minutes.
        if !read.insert(&related.name) {
            num_repeated += 1;
            continue;
        }
        let Some(xml) = part(&mut archive, &related.name)? else {
            budget.warnings.push(format!("the sheet `{name}` is missing in the file"));
            continue;
        };
        let sheet = cells::read(&xml, name, &texts, &mut budget);
        sheet.write(&mut writer);
    }
    if num_repeated > 0 {
        let sheets = if num_repeated == 1 { "sheet was" } else { "sheets were" };
        let message = format!("{num_repeated} {sheets} left out: the cells are those of another");
        budget.warnings.push(message);
    }
    emit(Line::Page(writer.page(1)))?;
    Ok(Tail { warnings: budget.warnings, ..Tail::default() })
}

/// Returns the name and the id of each sheet, and whether days are counted from 1904.
fn sheets(workbook: &str) -> Result<(Vec<(String, String)>, bool), ReadFailure> {
    let (mut sheets, mut is_1904) = (Vec::new(), false);
    xml::each(workbook, |event| {
        let Event::Open(element) = event else { return };
        match element.name() {
            "sheet" => sheets.extend(element.attribute("name").zip(element.relation())),
            "workbookPr" => {
                let value = element.attribute("date1904");
                is_1904 = value.is_some_and(|value| value == "1" || value == "true");
            }
            _ => {}
        }
    })?;
    Ok((sheets, is_1904))
}

#[cfg(test)]
mod tests {
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
    const TEXTS: &str = "<sst><si><t>Day</t></si><si><r><t>Sha</t></r><r><t>re</t></r><rPh><t>x</t></rPh></si></sst>";
    const SHEET: &str = "<worksheet><sheetData><row r='1'><c r='A1' t='s'><v>0</v></c><c r='B1' t='s'><v>1</v></c>\
        <c r='C1' t='inlineStr'><is><t>Dry</t></is></c></row><row r='2'><c r='A2' s='1'><v>43831</v></c>\
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
            (archive(&[("a.txt", "x")]), Failure::WrongFormat),
            (archive(&[("xl/workbook.xml", "<a></b>")]), Failure::Damaged),
            (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".to_vec(), Failure::EncryptionNotSupported),
        ] {
            match output_of(read, &bytes) {
                Err(Stop::Failed(failed)) => assert_eq!(failed.failure, expected),
                other => panic!("{other:?}"),
            }
        }
    }
}
