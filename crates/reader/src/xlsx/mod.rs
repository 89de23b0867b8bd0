//! Reads a spreadsheet: sheets as sections, cells as tables, numbers and dates as shown, then what else is on a sheet.
//!
//! An XLSX file is a ZIP archive of XML parts (ECMA-376): `xl/workbook.xml` lists the sheets, their
//! cells refer to shared texts and to number formats.

mod cells;
mod formats;
mod notes;

use std::collections::{BTreeMap, HashSet};

use super::drawing::{self, DrawingLinks};
use super::embedded::EmbeddedFiles;
use super::figures::Figures;
use super::members::Members;
use super::parts::{self, Archive, Related, head, optional, salvage};
use super::sheet::Budget;
use super::writer::Writer;
use super::xml::{self, Event};
use super::{Emit, Input, Stop, members};
use crate::error::Failure;
use crate::extract::protocol::{Line, ReadFailure, Tail};
use cells::Texts;
use formats::Formats;
use notes::Persons;

/// Reads a spreadsheet.
pub(crate) fn read(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<Tail, Stop> {
    let mut archive = parts::open_office(input.bytes, ".xls")?;
    let main = parts::main_part(&mut archive, "xl/workbook.xml")?;
    if main.ends_with(".bin") {
        let detail = "its sheets are binary (.xlsb); save it as .xlsx";
        return Err(ReadFailure::new(Failure::WrongFormat, detail).into());
    }
    let workbook = salvage(&mut archive, &main)
        .ok_or_else(|| ReadFailure::new(Failure::WrongFormat, "it is a ZIP archive, not XLSX"))?;
    let related = parts::relations(&mut archive, &main).unwrap_or_default();
    let mut budget = Budget::default();
    let mut list = list(&workbook.text);
    let mut damage = workbook.damage.or(list.damage.take());
    if let Some(failed) = &damage {
        budget.warnings.push(format!("the list of sheets is damaged: {}", failed.detail));
    }
    let sheets = list.located(&archive, &main, &related, damage.is_some());
    let part_of_kind = |kind: &str, usual: &str| {
        let found = related.values().find(|related| related.kind == kind);
        found.map_or_else(|| parts::resolve(&main, usual), |related| related.name.clone())
    };
    let shared = salvage(&mut archive, &part_of_kind("sharedStrings", "../sharedStrings.xml"));
    let shared = cells::shared(shared.unwrap_or_default());
    if let Some(failed) = shared.damage {
        budget.warnings.push(format!("the texts of the cells are damaged: {}", failed.detail));
    }
    let styles = optional(&mut archive, &part_of_kind("styles", "../styles.xml"));
    let formats = Formats::read(&styles, list.is_1904);
    let persons = optional(&mut archive, &part_of_kind("person", "../persons/person.xml"));
    emit(Line::Document(head(&optional(&mut archive, "docProps/core.xml"))))?;

    let mut workbook = Workbook {
        archive,
        texts: Texts { shared: shared.texts, formats },
        persons: Persons::read(&persons),
        files: EmbeddedFiles::default(),
        omits_remarks: input.request.omits_remarks,
    };
    let mut writer = Writer::default();
    let (mut read, mut num_repeated) = (HashSet::new(), 0);
    for (name, part) in sheets {
        // Thousands of sheets with the same cells would take minutes.
        if !read.insert(part.clone()) {
            num_repeated += 1;
            continue;
        }
        let failed = workbook.write(name, &part, &mut budget, &mut writer);
        damage = damage.or(failed);
    }
    if num_repeated > 0 {
        let sheets = if num_repeated == 1 { "sheet was" } else { "sheets were" };
        let message = format!("{num_repeated} {sheets} left out: the cells are those of another");
        budget.warnings.push(message);
    }
    let page = writer.page(1);
    if let Some(failed) = damage
        && page.blocks.is_empty()
    {
        return Err(failed.into());
    }
    emit(Line::Page(page))?;
    let mut warnings = budget.warnings;
    warnings.extend(workbook.files.emit(&mut workbook.archive, &mut Members::new(emit))?);
    Ok(workbook.archive.account(Tail { warnings, ..Tail::default() }))
}

/// What the main part says of the sheets.
#[derive(Debug, Default)]
struct SheetList {
    /// The name of each sheet, and the id of its part if it has one.
    sheets: Vec<(String, Option<String>)>,
    /// Whether days are counted from 1904.
    is_1904: bool,
    /// Why the list ends early.
    damage: Option<ReadFailure>,
}

fn list(workbook: &str) -> SheetList {
    let mut list = SheetList::default();
    let outcome = xml::each(workbook, |event| {
        let Event::Open(element) = event else { return };
        match element.name() {
            "sheet" => {
                let name = element.attribute("name").unwrap_or_default();
                list.sheets.push((name, element.relation()));
            }
            "workbookPr" => {
                let value = element.attribute("date1904");
                list.is_1904 = value.is_some_and(|value| value == "1" || value == "true");
            }
            _ => {}
        }
    });
    list.damage = outcome.err();
    list
}

impl SheetList {
    /// Returns the name and the part of each sheet. A sheet whose part is not known has the usual one of its place; a
    /// damaged list is completed by the sheets with usual names.
    fn located(
        &self,
        archive: &Archive<'_>,
        main: &str,
        related: &BTreeMap<String, Related>,
        is_damaged: bool,
    ) -> Vec<(String, String)> {
        let usual = parts::resolve(main, "../worksheets/sheet");
        let mut located = Vec::new();
        for (number, (name, id)) in (1..).zip(&self.sheets) {
            let known = id.as_ref().and_then(|id| related.get(id));
            let part = known
                .map_or_else(|| format!("{usual}{number}.xml"), |related| related.name.clone());
            located.push((name.clone(), part));
        }
        if is_damaged {
            let known: HashSet<String> = located.iter().map(|(_, part)| part.clone()).collect();
            let others = parts::numbered(archive, &usual).into_iter();
            let others = others.filter(|part| !known.contains(part));
            located.extend(others.map(|part| (sheet_name(&part), part)));
        }
        located
    }
}

/// Returns a name for a sheet whose name is not known: `xl/worksheets/sheet2.xml` is `sheet2`.
fn sheet_name(part: &str) -> String {
    let file = part.rsplit('/').next().unwrap_or(part);
    file.trim_end_matches(".xml").to_owned()
}

/// An open workbook.
struct Workbook<'a> {
    archive: Archive<'a>,
    texts: Texts,
    persons: Persons,
    files: EmbeddedFiles,
    omits_remarks: bool,
}

impl Workbook<'_> {
    /// Writes a sheet: its cells, what is drawn on it, comments, the names of embedded files. Returns why not all of it
    /// could be read.
    fn write(
        &mut self,
        name: String,
        part: &str,
        budget: &mut Budget,
        writer: &mut Writer,
    ) -> Option<ReadFailure> {
        let Some(salvaged) = salvage(&mut self.archive, part) else {
            budget.warnings.push(format!("the sheet `{name}` is missing in the file"));
            return None;
        };
        let (sheet, damage) = cells::read(&salvaged.text, name, &self.texts, budget);
        let damage = salvaged.damage.or(damage);
        if let Some(failed) = &damage {
            let message = format!("the sheet `{}` is damaged: {}", sheet.name, failed.detail);
            budget.warnings.push(message);
        }
        let related = parts::relations(&mut self.archive, part).unwrap_or_default();
        sheet.write(self.below(&related), writer);
        damage
    }

    /// Returns what is on a sheet besides its cells.
    fn below(&mut self, related: &BTreeMap<String, Related>) -> Writer {
        let mut below = Writer::default();
        let (archive, omits_remarks) = (&mut self.archive, self.omits_remarks);
        let of_kind = |kind: &'static str| {
            let parts = related.values().filter(move |related| related.kind == kind);
            parts.map(|related| &*related.name)
        };
        for part in of_kind("drawing") {
            if !archive.is_untouched(part) {
                continue;
            }
            let text = optional(archive, part);
            let related = parts::relations(archive, part).unwrap_or_default();
            let figures = Figures::read(archive, &related);
            let files = self.files.add(archive, &related);
            let drawing = drawing::read(&text, DrawingLinks { figures, files });
            drawing.items.into_iter().for_each(|item| item.write(&mut below));
        }
        let mut threads = Vec::new();
        for part in of_kind("threadedComment") {
            if archive.is_untouched(part) {
                threads.extend(notes::threaded(&optional(archive, part), &self.persons));
            }
        }
        for part in of_kind("comments") {
            if archive.is_untouched(part) {
                let remarks = notes::legacy(&optional(archive, part), &threads);
                remarks.iter().for_each(|remark| below.remark(remark, omits_remarks));
            }
        }
        threads.iter().for_each(|remark| below.remark(remark, omits_remarks));
        for file in self.files.add(archive, related).into_values() {
            below.paragraph(&members::reference(&file));
        }
        below
    }
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
        // What two sheets refer to is read once.
        assert_eq!(blocks[8..], [below[0], below[4]]);
        // What is damaged or missing is left out, and the rest is read.
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
        assert_eq!(read(&Input::of(&bytes), &mut |_| Ok(())).unwrap().warnings, warnings);
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
