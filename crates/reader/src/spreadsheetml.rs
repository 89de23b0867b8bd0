//! Reads a spreadsheet that is one XML document, as Excel 2003 and many web sites write it (`SpreadsheetML`).

use std::collections::HashMap;

use super::number_format::NumberFormat;
use super::remarks::Remark;
use super::sheet::{Budget, SheetCell, SheetRows};
use super::writer::BlockWriter;
use super::xml::{self, Element, XmlEvent};
use super::{EarlyEnd, Emit, ReaderInput};
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, DocumentHead, ReadFailure, ReadingSummary};
use crate::text::decode::Decoded;

/// Most columns of a sheet, as in Excel: a few bytes can say that a cell is further to the right.
const MAX_COLUMNS: usize = 16_384;

/// Formats of numbers that have a name instead of a code.
const NAMED: &[(&str, &str)] = &[
    ("Fixed", "0.00"),
    ("Standard", "#,##0.00"),
    ("Currency", "$#,##0.00"),
    ("Euro Currency", "€#,##0.00"),
    ("Percent", "0.00%"),
    ("Scientific", "0.00E+00"),
    ("General Date", "yyyy-mm-dd hh:mm"),
    ("Short Date", "yyyy-mm-dd"),
    ("Medium Date", "yyyy-mm-dd"),
    ("Long Date", "yyyy-mm-dd"),
    ("Short Time", "h:mm"),
    ("Medium Time", "h:mm AM/PM"),
    ("Long Time", "h:mm:ss"),
    ("Yes/No", "\"Yes\";\"Yes\";\"No\""),
    ("True/False", "\"True\";\"True\";\"False\""),
    ("On/Off", "\"On\";\"On\";\"Off\""),
];

/// Reads a spreadsheet.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let Decoded { text, encoding } = input.text()?;
    let mut book = SpreadsheetMlWalk {
        omits_remarks: input.request.omits_remarks,
        ..SpreadsheetMlWalk::default()
    };
    let outcome = xml::each(&text, |event| book.on(event));
    if !book.is_workbook {
        return Err(
            ReadFailure::new(FailureKind::WrongFormat, "it is XML, not a spreadsheet").into()
        );
    }
    book.end_sheet();
    let mut warnings = book.budget.into_warnings();
    if let Err(ReadFailure { detail, .. }) = outcome {
        warnings.push(format!("the cells after the damaged part are missing: {detail}"));
    }
    emit(AnswerLine::Document(book.head))?;
    emit(AnswerLine::Page(book.writer.page(1)))?;
    Ok(ReadingSummary { warnings, encoding, ..ReadingSummary::default() })
}

#[derive(Default)]
struct SpreadsheetMlWalk {
    writer: BlockWriter,
    head: DocumentHead,
    is_workbook: bool,
    omits_remarks: bool,
    budget: Budget,
    /// The number format of each style.
    formats: HashMap<String, NumberFormat>,
    general: NumberFormat,
    /// The open style.
    style: String,
    sheet: Option<SheetRows>,
    is_full: bool,
    row: u64,
    cells: Vec<SheetCell>,
    column: usize,
    cell: OpenCell,
    /// The remarks of the sheet.
    remarks: Vec<Remark>,
    is_remark: bool,
    text: String,
}

/// A cell that is being read.
#[derive(Debug, Default)]
struct OpenCell {
    /// How many more columns and rows it takes.
    num_more: usize,
    num_more_rows: u64,
    style: String,
    /// How its value is computed; empty if it is not.
    formula: String,
    /// `Number`, `DateTime`, `String`.
    kind: String,
    text: String,
}

impl SpreadsheetMlWalk {
    fn on(&mut self, event: XmlEvent<'_>) {
        match event {
            XmlEvent::Open(element) => self.open(element),
            XmlEvent::Text(text) => self.text.push_str(text),
            XmlEvent::Close(name) => self.close(name),
        }
    }

    fn open(&mut self, element: &Element<'_>) {
        match element.name() {
            "Workbook" => self.is_workbook = true,
            "Style" => self.style = element.attribute_or_empty("ID"),
            "NumberFormat" => {
                let code = element.attribute_or_empty("Format");
                let named = NAMED.iter().find(|(name, _)| *name == code);
                let code = named.map_or(&*code, |(_, code)| code);
                if !code.is_empty() {
                    self.formats.insert(self.style.clone(), NumberFormat::new(code));
                }
            }
            "Worksheet" => {
                self.end_sheet();
                self.sheet = Some(SheetRows::new(element.attribute_or_empty("Name")));
                self.row = 0;
            }
            "Row" => {
                // Rows and cells without a number follow the one before; the number skips blank ones.
                self.row = element.number("Index").unwrap_or(self.row.saturating_add(1));
                self.cells.clear();
                self.column = 0;
            }
            "Cell" => {
                let column = element.number::<u64>("Index");
                let column = column.and_then(|column| usize::try_from(column).ok());
                self.column = column.map_or(self.column, |column| column.saturating_sub(1));
                let num_more = element.number::<u64>("MergeAcross");
                self.cell = OpenCell {
                    num_more: num_more.and_then(|number| usize::try_from(number).ok()).unwrap_or(0),
                    num_more_rows: element.number("MergeDown").unwrap_or(0),
                    style: element.attribute_or_empty("StyleID"),
                    formula: element.attribute_or_empty("Formula"),
                    ..OpenCell::default()
                };
            }
            "Comment" => {
                self.is_remark = true;
                let about = format!("{}{}", column_name(self.column), self.row);
                self.remarks.push(Remark {
                    author: element.attribute_or_empty("Author"),
                    about,
                    ..Remark::default()
                });
            }
            "Data" => {
                self.text.clear();
                if !self.is_remark {
                    self.cell.kind = element.attribute_or_empty("Type");
                }
            }
            "Title" | "Author" | "Created" => self.text.clear(),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "Data" => {
                let text = std::mem::take(&mut self.text);
                match self.remarks.last_mut().filter(|_| self.is_remark) {
                    Some(remark) => remark.text = text,
                    None => self.cell.text = text,
                }
            }
            "Comment" => self.is_remark = false,
            "Cell" => self.end_cell(),
            "Row" => {
                let cells = std::mem::take(&mut self.cells);
                if let Some(sheet) = self.sheet.as_mut().filter(|_| !self.is_full) {
                    self.is_full = !sheet.push(self.row, cells, &mut self.budget);
                }
            }
            "Worksheet" => self.end_sheet(),
            "Title" => self.head.title = Some(std::mem::take(&mut self.text)),
            "Author" => self.head.author = Some(std::mem::take(&mut self.text)),
            "Created" => self.head.created = Some(std::mem::take(&mut self.text)),
            _ => {}
        }
    }

    fn end_cell(&mut self) {
        let OpenCell { num_more, num_more_rows, style, formula, kind, mut text } =
            std::mem::take(&mut self.cell);
        let column = self.column;
        self.column = column.saturating_add(num_more).saturating_add(1);
        if column >= MAX_COLUMNS {
            return;
        }
        if text.trim().is_empty() && kind != "String" && !formula.is_empty() {
            self.budget.num_formulas += 1;
            text = formula;
        }
        if text.trim().is_empty() {
            return;
        }
        if let Some(sheet) = &mut self.sheet {
            let num_rows = num_more_rows.saturating_add(1);
            sheet.merge_at(self.row, column, num_rows, num_more.saturating_add(1));
        }
        let value = match kind.as_str() {
            "Number" => text.trim().parse().ok(),
            "DateTime" => day_number(text.trim()),
            _ => None,
        };
        let format = self.formats.get(&style).unwrap_or(&self.general);
        let shown = match (kind.as_str(), value) {
            ("Boolean", _) => (if text.trim() == "1" { "TRUE" } else { "FALSE" }).to_owned(),
            // This is a date in a cell without a format.
            ("DateTime", _) if !self.formats.contains_key(&style) => {
                text.trim().trim_end_matches(".000").trim_end_matches("T00:00:00").replace('T', " ")
            }
            (_, Some(value)) => format.number(&value.to_string(), false),
            ("String", _) => format.text(&text),
            _ => text.clone(),
        };
        if shown.is_empty()
            && let Some(sheet) = &mut self.sheet
        {
            sheet.hide(&text);
        }
        self.cells.push(SheetCell { column, text: shown, is_value: kind != "String" });
    }

    fn end_sheet(&mut self) {
        let mut below = BlockWriter::default();
        for remark in std::mem::take(&mut self.remarks) {
            below.remark(&remark, self.omits_remarks);
        }
        if let Some(sheet) = self.sheet.take() {
            sheet.write(below, &mut self.writer);
        }
    }
}

/// Returns the letters of a column, from 0.
fn column_name(column: usize) -> String {
    const NUM_LETTERS: usize = 26;
    let (mut rest, mut letters) = (column, Vec::new());
    loop {
        letters.push(char::from(b'A' + u8::try_from(rest % NUM_LETTERS).unwrap_or(0)));
        if rest < NUM_LETTERS {
            return letters.iter().rev().collect();
        }
        rest = rest / NUM_LETTERS - 1;
    }
}

/// Returns a time as spreadsheets count it: days since 30 December 1899.
fn day_number(time: &str) -> Option<f64> {
    let (date, time) = time.split_once('T').unwrap_or((time, ""));
    let mut date = date.splitn(3, '-').map(|number| number.parse::<i32>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(0..=9999).contains(&year) {
        return None;
    }
    // Years begin in March, so that the day that only leap years have is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days_before = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    // There are 693,899 days from 1 March of the year 0 to 30 December 1899.
    let days = f64::from(days_before + of_year - 693_899);
    let mut parts = time.split(':').map(|number| number.parse::<f64>().unwrap_or(0.0));
    let mut next = || parts.next().unwrap_or(0.0);
    let seconds = next() * 3600.0 + next() * 60.0 + next();
    Some(days + seconds / 86_400.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::output_of;

    const BOOK: &str = "<?xml version=\"1.0\"?><?mso-application progid=\"Excel.Sheet\"?>\
        <Workbook xmlns=\"urn:schemas-microsoft-com:office:spreadsheet\" xmlns:ss=\"urn:schemas-microsoft-com:office:spreadsheet\">\
        <DocumentProperties><Title>Tides</Title><Author>Ida</Author></DocumentProperties>\
        <Styles><Style ss:ID=\"a\"><NumberFormat ss:Format=\"0.0%\"/></Style><Style ss:ID=\"b\"><NumberFormat ss:Format=\"Short Date\"/></Style>\
        <Style ss:ID=\"c\"><NumberFormat ss:Format=\"Standard\"/></Style></Styles>\
        <Worksheet ss:Name=\"Levels\"><Table><Row><Cell><Data ss:Type=\"String\">Place</Data></Cell><Cell><Data ss:Type=\"String\">Share</Data></Cell>\
        <Cell ss:Index=\"4\"><Data ss:Type=\"String\">Day</Data></Cell></Row>\
        <Row><Cell><ss:Data ss:Type=\"String\" xmlns=\"http://www.w3.org/TR/REC-html40\">Bre<B>st</B></ss:Data><Comment ss:Author=\"Bo\">\
        <ss:Data>Check</ss:Data></Comment></Cell><Cell ss:StyleID=\"a\"><Data ss:Type=\"Number\">0.125</Data></Cell>\
        <Cell ss:Index=\"4\" ss:StyleID=\"b\"><Data ss:Type=\"DateTime\">2020-02-29T00:00:00.000</Data></Cell></Row>\
        <Row ss:Index=\"4\"><Cell ss:MergeAcross=\"1\"><Data ss:Type=\"Boolean\">1</Data></Cell><Cell ss:StyleID=\"c\"><Data ss:Type=\"Number\">1234.5</Data></Cell>\
        <Cell><Data ss:Type=\"DateTime\">2024-05-01T10:30:00.000</Data></Cell></Row></Table></Worksheet></Workbook>";

    #[test]
    fn cells_are_shown_as_the_program_shows_them() {
        let (head, blocks) = output_of(read, BOOK.as_bytes()).unwrap();
        assert_eq!(head.title.as_deref(), Some("Tides"));
        let table = "| Place | Share | Day |\n| --- | --- | --- |\n| Brest | 12.5% | 2020-02-29 |";
        assert_eq!(blocks[..2], ["## Levels", table]);
        let remark = blocks.last().unwrap();
        assert!(
            remark.starts_with("Comment by Bo") && remark.ends_with("on A2: Check"),
            "{remark}"
        );
        let row = blocks.iter().find(|block| block.contains("TRUE")).unwrap();
        assert!(row.contains("1,234.50") && row.contains("2024-05-01 10:30:00"), "{row}");
    }

    #[test]
    fn a_formula_without_a_value_is_shown_and_counted() {
        let book = "<Workbook><Worksheet ss:Name='a'><Table><Row><Cell><Data ss:Type='Number'>2</Data></Cell>\
            <Cell ss:Formula='=RC[-1]*2'/><Cell ss:Formula='=RC[-2]'><Data ss:Type='Number'>2</Data></Cell></Row></Table>\
            </Worksheet></Workbook>";
        let table = "| 2 | =RC[-1]*2 | 2 |\n| --- | --- | --- |";
        assert_eq!(output_of(read, book.as_bytes()).unwrap().1[1..], [table]);
        let tail = read(&ReaderInput::of(book.as_bytes()), &mut |_| Ok(())).unwrap();
        assert_eq!(tail.warnings, ["1 cell shows its formula, as the file has no value for it"]);
    }

    #[test]
    fn days_are_counted_as_spreadsheets_do() {
        for (time, expected) in [
            ("2020-01-01T00:00:00.000", Some(43_831.0)),
            ("1900-03-01", Some(61.0)),
            ("2020-01-01T12:00:00.000", Some(43_831.5)),
            ("2020-13-01", None),
            ("noon", None),
        ] {
            assert_eq!(day_number(time), expected, "{time}");
        }
        assert_eq!([0, 25, 26, 701, 702].map(column_name), ["A", "Z", "AA", "ZZ", "AAA"]);
    }

    #[test]
    fn other_xml_is_refused_and_a_damaged_file_is_read_up_to_the_damage() {
        assert!(output_of(read, b"<a/>").is_err());
        let damaged =
            "<Workbook><Worksheet ss:Name='a'><Row><Cell><Data>One</Data></Cell></Row><Row></x>";
        assert_eq!(output_of(read, damaged.as_bytes()).unwrap().1, ["## a", "One"]);
    }
}
