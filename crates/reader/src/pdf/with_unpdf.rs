//! Reads PDF pages with `unpdf`: headings, paragraphs, lists and tables.

use std::ops::ControlFlow;

use unpdf::model::{Block, FieldValue, FormField, OutlineItem, Paragraph, Table};
use unpdf::{Error, PageStreamOptions, ParseEvent, ParseOptions, PdfParser};

use crate::error::Failure;
use crate::extract::pdf::clean;
use crate::extract::protocol::{
    Head, Line, OutlineEntry, Page, PageBlock, PageBlockKind, ReadFailure, Tail,
};
use crate::{Emit, Input, Stop, markdown_table};

/// Reads a PDF page by page.
pub(crate) fn read(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<(), Stop> {
    // One thread, as the caller reads many documents in parallel and threads need address space.
    let mut options = ParseOptions::new().lenient().sequential();
    if let Some(password) = input.password {
        options = options.with_password(password);
    }
    let stream = PageStreamOptions::from(&options);
    let parser = PdfParser::from_bytes_with_options(input.bytes, options)
        .map_err(|error| to_failure(&error))?;
    if parser.page_count() == 0 {
        return Err(ReadFailure::new(Failure::NoPages, "").into());
    }

    let mut emit_error = None;
    let quality = parser.for_each_page(stream, |event| {
        let line = match event {
            ParseEvent::DocumentStart { metadata, outline, page_count, form_fields } => {
                Line::Document(Head {
                    title: metadata.title,
                    author: metadata.author,
                    created: metadata
                        .created
                        .map(|created| created.to_rfc3339().replace("+00:00", "Z")),
                    language: None,
                    page_count,
                    labels: Vec::new(),
                    outline: outline.map(|outline| flatten(&outline.items)).unwrap_or_default(),
                    fields: form_fields.iter().filter_map(field_text).collect(),
                })
            }
            ParseEvent::PageParsed(page) => Line::Page(convert_page(&page)),
            ParseEvent::PageFailed { page, error } => Line::Page(Page {
                number: page,
                failed: Some(error.to_string()),
                ..Page::default()
            }),
            ParseEvent::Progress { .. } | ParseEvent::DocumentEnd { .. } => {
                return ControlFlow::Continue(());
            }
        };
        match emit(line) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                emit_error = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    if let Some(error) = emit_error {
        return Err(error.into());
    }
    let quality = quality.map_err(|error| to_failure(&error))?;
    emit(Line::Done(Tail {
        declared_page_count: quality.declared_page_count,
        pages_lost: quality.pages_incomplete,
        rebuilt: quality.xref_reconstructed,
        ..Tail::default()
    }))?;
    Ok(())
}

fn to_failure(error: &Error) -> ReadFailure {
    let failure = match error {
        Error::Encrypted => return ReadFailure::new(Failure::PasswordNeeded, ""),
        Error::InvalidPassword => {
            return ReadFailure::new(Failure::PasswordNeeded, "the given one is wrong");
        }
        // Versions of the format are never refused, only versions of the encryption.
        Error::UnsupportedVersion(_) => Failure::EncryptionNotSupported,
        Error::PdfParse(text) if text.starts_with("Encrypt dictionary") => {
            Failure::EncryptionNotSupported
        }
        _ => Failure::Damaged,
    };
    let text = match error {
        Error::PdfParse(text) | Error::Corrupted(text) => text.clone(),
        other => other.to_string(),
    };
    ReadFailure::new(failure, text)
}

/// Most bookmarks that are read; the largest handbooks have as many.
const MAX_OUTLINE: usize = 10_000;

fn flatten(items: &[OutlineItem]) -> Vec<OutlineEntry> {
    let mut entries = Vec::new();
    // An explicit stack, as the file controls the depth of the outline.
    let mut pending: Vec<&OutlineItem> = items.iter().rev().collect();
    while let Some(item) = pending.pop()
        && entries.len() < MAX_OUTLINE
    {
        entries.push(OutlineEntry {
            title: clean::join_lines(&clean::text(&item.title)),
            level: item.level.saturating_add(1),
            page: item.page,
        });
        pending.extend(item.children.iter().rev());
    }
    entries.retain(|entry| !entry.title.is_empty());
    entries
}

/// Returns the text typed or chosen in a field; check marks and signatures are not text.
fn field_text(field: &FormField) -> Option<String> {
    let text = match field.value.as_ref()? {
        FieldValue::Text(text) | FieldValue::Choice(text) => text.clone(),
        FieldValue::Choices(text) => text.join(", "),
        FieldValue::Boolean(_) => return None,
    };
    Some(clean::text(&text)).filter(|text| text.chars().any(char::is_alphanumeric))
}

fn convert_page(page: &unpdf::Page) -> Page {
    let mut blocks = Vec::new();
    for element in &page.elements {
        match element {
            Block::Paragraph(paragraph) => blocks.extend(convert_paragraph(paragraph)),
            Block::Table(table) => blocks.extend(convert_table(table)),
            Block::Code { content } => {
                // Indentation is significant here, so only characters are cleaned.
                let lines: Vec<String> = content.lines().map(code_line).collect();
                blocks.push(PageBlock::new(PageBlockKind::Code, 0, lines.join("\n")));
            }
            Block::Raw { content } => {
                blocks.push(PageBlock::new(PageBlockKind::Paragraph, 0, clean::text(content)));
            }
            Block::Image { .. }
            | Block::HorizontalRule
            | Block::PageBreak
            | Block::SectionBreak => {}
        }
    }
    blocks.retain(|block| !block.text.trim().is_empty());
    let num_ops = [page.text_op_count, page.image_op_count, page.form_op_count, page.fill_op_count];
    let lost = page.suppressed_text_runs.saturating_add(page.undecodable_content_streams);
    Page {
        number: page.number,
        blocks,
        num_text_ops: page.text_op_count,
        is_blank: num_ops.iter().all(|count| *count == 0),
        // Not `clamp`, which keeps NaN.
        image_coverage: f64::from(page.image_coverage).min(1.0),
        num_unreadable: u32::try_from(lost).unwrap_or(u32::MAX),
        ..Page::default()
    }
}

fn convert_paragraph(paragraph: &Paragraph) -> Option<PageBlock> {
    let text = clean::rejoin_hyphenated(&clean::join_lines(&clean::text(&paragraph.plain_text())));
    if text.is_empty() {
        return None;
    }
    let kind = match paragraph.style.heading_level {
        Some(level) => return Some(PageBlock::new(PageBlockKind::Heading, level, text)),
        None if paragraph.is_list_item() => PageBlockKind::ListItem,
        None => PageBlockKind::Paragraph,
    };
    Some(PageBlock::new(kind, 0, text))
}

fn code_line(line: &str) -> String {
    let indent: String = line.chars().take_while(|c| *c == ' ').collect();
    indent + &clean::text(line)
}

/// Returns a table as Markdown, with the first row as its header. A table with only one row or
/// column becomes paragraphs, as it is text that happened to be in a grid.
fn convert_table(table: &Table) -> Vec<PageBlock> {
    let columns = table.cell_columns();
    let width = table.column_count();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (row, starts) in table.rows.iter().zip(&columns) {
        let mut cells = vec![String::new(); width];
        for (cell, &start) in row.cells.iter().zip(starts) {
            if let Some(place) = cells.get_mut(start) {
                *place =
                    clean::rejoin_hyphenated(&clean::join_lines(&clean::text(&cell.plain_text())));
            }
        }
        if cells.iter().any(|cell| !cell.is_empty()) {
            rows.push(cells);
        }
    }
    markdown_table::drop_empty_columns(&mut rows);
    let caption = table.caption.as_deref().map(clean::text).filter(|text| !text.is_empty());
    let caption =
        caption.map(|text| PageBlock::new(PageBlockKind::Paragraph, 0, clean::join_lines(&text)));
    let is_grid = rows.len() >= 2 && rows.first().is_some_and(|row| row.len() >= 2);
    if !is_grid {
        let lines = rows.into_iter().map(|cells| cells.join(" ").trim().to_owned());
        let lines = lines.map(|text| PageBlock::new(PageBlockKind::Paragraph, 0, text));
        return caption.into_iter().chain(lines).collect();
    }
    caption
        .into_iter()
        .chain([PageBlock::new(PageBlockKind::Table, 0, markdown_table::to_markdown(&rows))])
        .collect()
}

#[cfg(test)]
mod tests {
    use unpdf::model::{TableCell, TableRow};

    use super::*;

    #[track_caller]
    fn check(rows: &[&[&str]], expected: &[(PageBlockKind, &str)]) {
        let mut table = Table::new();
        for row in rows {
            table.add_row(TableRow::new(row.iter().map(|cell| TableCell::text(*cell)).collect()));
        }
        let blocks = convert_table(&table);
        let found: Vec<_> = blocks.iter().map(|block| (block.kind, block.text.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_table_becomes_markdown_with_its_first_row_as_header() {
        let expected = "| Station | Height |\n| --- | --- |\n| North a\\|b | 2.1 m |";
        check(
            &[&["Station", "Height"], &["North\na|b", "2.1 m"]],
            &[(PageBlockKind::Table, expected)],
        );
    }

    #[test]
    fn empty_rows_and_columns_are_left_out() {
        let expected = "| a | b |\n| --- | --- |\n| c |  |";
        check(
            &[&["a", "", "b"], &["", "", ""], &["c", "", ""]],
            &[(PageBlockKind::Table, expected)],
        );
    }

    #[test]
    fn one_column_becomes_text() {
        let paragraph = PageBlockKind::Paragraph;
        check(&[&["one"], &["two"]], &[(paragraph, "one"), (paragraph, "two")]);
        check(&[&["one", "two"]], &[(paragraph, "one two")]);
        check(&[], &[]);
    }
}
