//! Reads texts whose parsers return complete documents: source code, markup, data and notebooks.

use super::{EarlyEnd, Emit, ReaderInput, code, data, html, markup, notebook};
use crate::document::{Data, Dialect, Document, Language};
use crate::error::{Error, FailureKind};
use crate::extract::headed;
use crate::extract::protocol::{AnswerLine, ParsedText, ReadFailure, ReadingSummary};

pub(super) fn code(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    send(input, emit, |text| Ok(code::extract(text, kind::<Language>(input)?)))
}

/// Reads a text in a markup language, or a table.
pub(super) fn markup(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    send(input, emit, |text| Ok(markup::extract(text, kind::<Dialect>(input)?)))
}

/// Reads text for programs.
pub(super) fn data(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    send(input, emit, |text| Ok(data::extract(text, kind::<Data>(input)?)))
}

/// Reads a notebook without the results of its cells.
pub(super) fn notebook(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    send(input, emit, |text| notebook::extract(text, None).map_err(failure))
}

/// Reads a notebook with the results of its cells, of which some are web pages.
pub(super) fn notebook_with_results(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    send(input, emit, |text| {
        notebook::extract(text, Some(&|page: &str| page_text(page, input))).map_err(failure)
    })
}

/// Returns the text of a web page within a document; `None` if it cannot be read.
fn page_text(page: &str, input: &ReaderInput<'_>) -> Option<String> {
    let (mut head, mut pages) = (None, Vec::new());
    let input = ReaderInput { bytes: page.as_bytes(), ..*input };
    let outcome = html::read(&input, &mut |line| {
        match line {
            AnswerLine::Document(found) => head = Some(found),
            AnswerLine::Page(page) => pages.push(page),
            _ => {}
        }
        Ok(())
    });
    outcome.ok()?;
    Some(headed::to_document(head?, pages, true).text)
}

/// Returns the language of a text, as its word says.
fn kind<T: std::str::FromStr>(input: &ReaderInput<'_>) -> Result<T, ReadFailure> {
    let kind = input.request.kind.as_deref().and_then(|word| word.parse().ok());
    kind.ok_or_else(|| ReadFailure::new(FailureKind::WrongFormat, "its language is unknown"))
}

/// Parses the text and sends the document; not the text itself, if the parser has not changed it.
fn send(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
    parse: impl FnOnce(&str) -> Result<Document, ReadFailure>,
) -> Result<ReadingSummary, EarlyEnd> {
    let text =
        str::from_utf8(input.bytes).map_err(|_| ReadFailure::new(FailureKind::NotText, ""))?;
    let mut document = parse(text)?;
    let has_same_text = document.text == text;
    if has_same_text {
        document.text = String::new();
    }
    emit(AnswerLine::Parsed(Box::new(ParsedText { document, has_same_text })))?;
    Ok(ReadingSummary::default())
}

fn failure(error: Error) -> ReadFailure {
    match error {
        Error::Extract { failure, detail } => ReadFailure { failure, detail },
        other => ReadFailure::new(FailureKind::Crashed, other.to_string()),
    }
}
