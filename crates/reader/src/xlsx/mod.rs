//! Reads a spreadsheet: sheets as sections, cells as tables, numbers and dates as shown, then the other content of a
//! sheet.
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
use super::parts::{self, Archive, RelatedPart, head, optional, salvage};
use super::sheet::Budget;
use super::writer::BlockWriter;
use super::xml::{self, XmlEvent};
use super::{EarlyEnd, Emit, ReaderInput, members};
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, ReadFailure, ReadingSummary};
use cells::Texts;
use formats::Formats;
use notes::Persons;

/// Reads a spreadsheet.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let mut archive = parts::open_office(input.bytes, ".xls")?;
    let main = parts::main_part(&mut archive, "xl/workbook.xml")?;
    if main.ends_with(".bin") {
        let detail = "its sheets are binary (.xlsb); save it as .xlsx";
        return Err(ReadFailure::new(FailureKind::WrongFormat, detail).into());
    }
    let workbook = salvage(&mut archive, &main).ok_or_else(|| {
        ReadFailure::new(FailureKind::WrongFormat, "it is a ZIP archive, not XLSX")
    })?;
    let related = parts::relations(&mut archive, &main).unwrap_or_default();
    let mut budget = Budget::default();
    let mut list = list(&workbook.text);
    let mut damage = workbook.damage.or(list.damage.take());
    if let Some(failed) = &damage {
        budget.warnings.push(format!("the list of sheets is damaged: {}", failed.detail));
    }
    let sheets = list.located(&archive, &main, &related, damage.is_some());
    let shared = part_of_kind(&related, "sharedStrings")
        .unwrap_or_else(|| parts::resolve(&main, "../sharedStrings.xml"));
    let shared = salvage(&mut archive, &shared);
    let shared = cells::shared(shared.unwrap_or_default());
    if let Some(failed) = shared.damage {
        budget.warnings.push(format!("the texts of the cells are damaged: {}", failed.detail));
    }
    let styles =
        part_of_kind(&related, "styles").unwrap_or_else(|| parts::resolve(&main, "../styles.xml"));
    let styles = optional(&mut archive, &styles);
    let formats = Formats::read(&styles, list.is_1904);
    let persons = part_of_kind(&related, "person")
        .unwrap_or_else(|| parts::resolve(&main, "../persons/person.xml"));
    let persons = optional(&mut archive, &persons);
    emit(AnswerLine::Document(head(&optional(&mut archive, "docProps/core.xml"))))?;

    let mut workbook = Workbook {
        archive,
        texts: Texts { shared: shared.texts, formats },
        persons: Persons::read(&persons),
        files: EmbeddedFiles::default(),
        omits_remarks: input.request.omits_remarks,
    };
    let mut writer = BlockWriter::default();
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
        let message = format!(
            "{num_repeated} {sheets} left out: their cells are those of another \
            sheet"
        );
        budget.warnings.push(message);
    }
    let page = writer.page(1);
    if let Some(failed) = damage
        && page.blocks.is_empty()
    {
        return Err(failed.into());
    }
    emit(AnswerLine::Page(page))?;
    let mut warnings = budget.into_warnings();
    warnings.extend(workbook.files.emit(&mut workbook.archive, &mut Members::new(emit))?);
    Ok(workbook.archive.account(ReadingSummary { warnings, ..ReadingSummary::default() }))
}

/// Returns the names of the related parts of a kind.
fn names_of_kind<'r>(
    related: &'r BTreeMap<String, RelatedPart>,
    kind: &'static str,
) -> impl Iterator<Item = &'r str> {
    let parts = related.values().filter(move |related| related.kind == kind);
    parts.map(|related| &*related.name)
}

fn part_of_kind(related: &BTreeMap<String, RelatedPart>, kind: &'static str) -> Option<String> {
    names_of_kind(related, kind).next().map(str::to_owned)
}

/// The sheets as the main part lists them.
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
        let XmlEvent::Open(element) = event else { return };
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
        related: &BTreeMap<String, RelatedPart>,
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
    /// Writes a sheet: its cells, its drawing, comments, the names of embedded files. Returns why not all of it could
    /// be read.
    fn write(
        &mut self,
        name: String,
        part: &str,
        budget: &mut Budget,
        writer: &mut BlockWriter,
    ) -> Option<ReadFailure> {
        let Some(salvaged) = salvage(&mut self.archive, part) else {
            budget.warnings.push(format!("the sheet `{name}` is missing in the file"));
            return None;
        };
        let (mut sheet, damage) = cells::read(&salvaged.text, name, &self.texts, budget);
        let damage = salvaged.damage.or(damage);
        if let Some(failed) = &damage {
            let message = format!("the sheet `{}` is damaged: {}", sheet.name, failed.detail);
            budget.warnings.push(message);
        }
        let related = parts::relations(&mut self.archive, part).unwrap_or_default();
        for table in related.values().filter(|related| related.kind == "table") {
            if self.archive.is_untouched(&table.name) {
                let range = range_with_head(&optional(&mut self.archive, &table.name));
                range.iter().for_each(|range| sheet.declare_head(range));
            }
        }
        sheet.write(self.below(&related), writer);
        damage
    }

    /// Returns the content of a sheet besides its cells.
    fn below(&mut self, related: &BTreeMap<String, RelatedPart>) -> BlockWriter {
        let mut below = BlockWriter::default();
        let (archive, omits_remarks) = (&mut self.archive, self.omits_remarks);
        for part in names_of_kind(related, "drawing") {
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
        for part in names_of_kind(related, "threadedComment") {
            if archive.is_untouched(part) {
                threads.extend(notes::threaded(&optional(archive, part), &self.persons));
            }
        }
        for part in names_of_kind(related, "comments") {
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

/// Returns the range of a table that has a head.
fn range_with_head(table: &str) -> Option<String> {
    let mut range = None;
    // A damaged part says nothing after its first element anyway.
    let _ = xml::each(table, |event| {
        if let XmlEvent::Open(element) = event
            && element.name() == "table"
        {
            let [cells, num_rows] = element.values(["ref", "headerRowCount"]);
            range = cells.filter(|_| num_rows.is_none_or(|num_rows| num_rows != "0"));
        }
    });
    range
}

#[cfg(test)]
mod tests;
