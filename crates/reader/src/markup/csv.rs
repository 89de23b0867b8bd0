//! Reads values separated by commas, semicolons, tabs or bars (CSV, TSV) as a table.
//!
//! The head is the first row whose values are of another kind than those below it; there may be none. Lines above it are
//! captions, or labels with their values.

use std::collections::BTreeMap;

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::writer::{MAX_CELLS, MarkupRow, MarkupWriter};
use crate::document::Document;
use crate::grid::head::{self, RowKinds};
use crate::limits::SPREADSHEET_CELLS;

/// The characters between values, the most usual first.
const SEPARATORS: [u8; 4] = *b",;\t|";

/// How many rows are looked at to find the separator: text has as many commas in a few lines by chance.
const SAMPLE_ROWS: usize = 50;

/// A value with more lines than this is an open quote that nothing closes: the rest of the file would be one cell.
const MAX_LINES_OF_VALUE: usize = 100;

/// Reads a text. The content shows its separator; `likely` is taken if several explain it. There is
/// no table if nothing is separated.
pub(super) fn extract(text: &str, likely: u8) -> Document {
    let (separator, width) = separator(text, likely);
    if width < 2 {
        return Document::default();
    }
    let mut writer = MarkupWriter::default();
    let mut warnings = Vec::new();
    let mut rows = read(text, separator, true, &mut warnings);
    if rows.iter().flat_map(|row| &row.cells).any(|cell| cell.lines().count() > MAX_LINES_OF_VALUE)
    {
        warnings.clear();
        rows = read(text, separator, false, &mut warnings);
    }
    let num_captions = rows.iter().take_while(|row| is_caption(row)).count();
    // A table of single values has no captions.
    let num_captions = if num_captions == rows.len() { 0 } else { num_captions };
    for caption in rows.drain(..num_captions) {
        let text = caption.cells.first().map_or("", String::as_str);
        // `sep=;` states the separator for Excel, and has no meaning for people.
        if caption.number > 1 || !text.starts_with("sep=") {
            writer.paragraph(caption.number, text);
        }
    }
    write_below(rows, &mut writer);
    writer.document().metadata.warnings = warnings;
    writer.finish_without_title()
}

/// Writes the rows below the captions: labels with their values, then a table.
fn write_below(mut rows: Vec<MarkupRow>, writer: &mut MarkupWriter) {
    let kinds: Vec<RowKinds> = rows
        .iter()
        .take(head::SAMPLE_ROWS)
        .map(|row| {
            RowKinds::of(row.cells.iter().enumerate().map(|(at, cell)| (at, cell.as_str(), None)))
        })
        .collect();
    let shape = head::find(&kinds);
    let pairs = rows.drain(..shape.num_preamble);
    let lines = pairs.map(|row| (row.number, head::line(row.cells.iter().map(String::as_str))));
    writer.lines(&lines.collect::<Vec<_>>());
    let first = match shape.num_head {
        0 => MarkupRow {
            number: rows.first().map_or(1, |row| row.number),
            cells: vec![String::new()],
        },
        _ => joined(rows.drain(..shape.num_head.min(rows.len()))),
    };
    rows.insert(0, first);
    writer.table(&rows);
}

/// Whether a row has text only in its first cell.
fn is_caption(row: &MarkupRow) -> bool {
    let num_filled = row.cells.iter().filter(|cell| !cell.trim().is_empty()).count();
    num_filled == 1 && row.cells.first().is_some_and(|cell| !cell.trim().is_empty())
}

/// Joins the rows of a head.
fn joined(mut rows: impl Iterator<Item = MarkupRow>) -> MarkupRow {
    let mut head = rows.next().unwrap_or_default();
    for row in rows {
        head.cells.resize(head.cells.len().max(row.cells.len()), String::new());
        for (above, cell) in head.cells.iter_mut().zip(row.cells) {
            if !above.is_empty() && !cell.trim().is_empty() {
                above.push(' ');
            }
            above.push_str(&cell);
        }
    }
    head
}

/// Reads the rows that have text, up to the limit.
fn read(text: &str, separator: u8, has_quotes: bool, warnings: &mut Vec<String>) -> Vec<MarkupRow> {
    let mut rows = Vec::new();
    let (mut num_cells, mut is_too_wide) = (0, false);
    let (mut number, mut counted) = (1_u32, 0_usize);
    for (start, mut cells) in Records::new(text, separator, has_quotes) {
        // Blank lines are before the record, not part of it.
        let num_blank = text.as_bytes()[start..].iter().take_while(|byte| **byte == b'\n').count();
        let lines = &text.as_bytes()[counted..start + num_blank];
        let num_lines = lines.iter().filter(|byte| **byte == b'\n').count();
        number = number.saturating_add(u32::try_from(num_lines).unwrap_or(u32::MAX));
        counted = start + num_blank;
        if cells.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        num_cells += cells.len();
        if num_cells > SPREADSHEET_CELLS {
            warnings.push(format!(
                "the rows from line {number} on were left out: {SPREADSHEET_CELLS} cells are read"
            ));
            break;
        }
        if cells.len() > MAX_CELLS && !std::mem::replace(&mut is_too_wide, true) {
            warnings.push(format!("the columns after the first {MAX_CELLS} were left out"));
        }
        cells.truncate(MAX_CELLS);
        rows.push(MarkupRow { number, cells });
    }
    rows
}

/// Returns the character that separates the values of most rows into the same number of them, and
/// that number.
fn separator(text: &str, likely: u8) -> (u8, usize) {
    let mut best = (0, 0, likely);
    for separator in [likely].into_iter().chain(SEPARATORS) {
        let mut widths: BTreeMap<usize, usize> = BTreeMap::new();
        for (_, cells) in Records::new(text, separator, true).take(SAMPLE_ROWS) {
            *widths.entry(cells.len()).or_default() += 1;
        }
        let usual = widths.into_iter().filter(|(width, _)| *width > 1);
        let usual = usual.max_by_key(|(width, num_rows)| (*num_rows, *width));
        let found = usual.map_or((0, 0), |(width, num_rows)| (num_rows, width));
        if found > (best.0, best.1) {
            best = (found.0, found.1, separator);
        }
    }
    (best.2, best.1)
}

/// The records of a text: where each begins, perhaps with blank lines before it, and its values.
struct Records<'a> {
    reader: Reader,
    text: &'a [u8],
    at: usize,
}

impl<'a> Records<'a> {
    fn new(text: &'a str, separator: u8, has_quotes: bool) -> Self {
        let reader = ReaderBuilder::new().delimiter(separator).quoting(has_quotes).build();
        Self { reader, text: text.as_bytes(), at: 0 }
    }
}

impl Iterator for Records<'_> {
    type Item = (usize, Vec<String>);

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        let (mut values, mut ends) = (vec![0; 256], vec![0; 16]);
        let (mut num_bytes, mut num_ends) = (0, 0);
        loop {
            let (result, num_read, num_written, num_ended) = self.reader.read_record(
                &self.text[self.at..],
                &mut values[num_bytes..],
                &mut ends[num_ends..],
            );
            self.at += num_read;
            num_bytes += num_written;
            num_ends += num_ended;
            match result {
                // The next call, with nothing to read, ends the last record.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => values.resize(values.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => ends.resize(ends.len() * 2, 0),
                ReadRecordResult::Record => break,
                ReadRecordResult::End => return None,
            }
        }
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let cells = starts
            .zip(ends[..num_ends].iter().copied())
            .map(|(start, end)| String::from_utf8_lossy(&values[start..end]).into_owned());
        Some((start, cells.collect()))
    }
}

#[cfg(test)]
mod tests;
