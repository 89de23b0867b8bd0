//! Reads the main content of a web page (`scraper`).

mod attributes;
mod body;
mod code;
mod content;
mod elements;
mod head;
mod math;
mod other;
mod parse;
mod xhtml;

use self::content::PageContent;
use self::parse::{ParsedPage, parse};
use super::writer::BlockWriter;
use super::{EarlyEnd, Emit, ReaderInput};
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, ReadFailure, ReadingSummary};
use crate::text::decode::{self, Decoded};

/// How far from the start of a page its encoding may be declared. The standard says 1,024 bytes
/// (HTML, 4.2.5.4), but browsers heed later declarations, which archives push down.
const CHARSET_WITHIN_BYTES: usize = 16 * 1024;

/// The warning about a page whose deepest tags are ignored.
const TOO_DEEP: &str =
    "elements are nested too deeply: below 512 levels, the text is read without them";

/// How an element begins that may declare the encoding.
const META: &[u8] = b"<meta";

/// Reads a web page.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let Decoded { text, encoding } = decode::read(input.bytes, charset(input.bytes).as_slice())
        .ok_or_else(|| ReadFailure::new(FailureKind::NotText, ""))?;
    let ParsedPage { html, is_too_deep } = parse(&text);
    emit(AnswerLine::Document(head::read(&html)))?;
    let mut writer = BlockWriter::default();
    let content = if input.request.keeps_all {
        PageContent::whole(&html)
    } else {
        PageContent::of_page(&html)
    };
    body::write(&content, &mut writer);
    for page in other::noscript(&html) {
        body::write(&PageContent::whole(&page), &mut writer);
    }
    if let Some(article) = other::article(&html) {
        writer.paragraph(&article);
    }
    emit(AnswerLine::Page(writer.page(1)))?;
    let warnings = if is_too_deep { vec![TOO_DEEP.to_owned()] } else { Vec::new() };
    Ok(ReadingSummary { encoding, warnings, ..ReadingSummary::default() })
}

/// Writes the page of a message, whose whole content counts.
pub(crate) fn write_message(page: &str, writer: &mut BlockWriter) {
    body::write(&PageContent::of_message(&parse(page).html), writer);
}

/// Writes a chapter of a book: a page of XHTML.
pub(crate) fn write_chapter(page: &str, writer: &mut BlockWriter) {
    let html = parse(&xhtml::to_html(page)).html;
    body::write(&PageContent::whole(&html), writer);
}

/// Returns the addresses of the pages that a page shows in frames.
pub(crate) fn frames(page: &str) -> Vec<String> {
    let html = parse(page).html;
    let frames = elements::select(html.root_element(), "iframe[src], frame[src], object[data]");
    let addresses = frames.filter_map(|frame| frame.attr("src").or(frame.attr("data")));
    addresses.map(str::to_owned).collect()
}

/// Returns the name of the encoding that a `meta` element of the page declares.
pub(crate) fn charset(bytes: &[u8]) -> Option<&[u8]> {
    let head = &bytes[..bytes.len().min(CHARSET_WITHIN_BYTES)];
    let windows = head.windows(META.len()).enumerate();
    let starts = windows.filter(|(_, window)| window.eq_ignore_ascii_case(META));
    starts.map(|(at, _)| at).find_map(|at| {
        let element = &head[at..];
        let end = element.iter().position(|byte| *byte == b'>').unwrap_or(element.len());
        charset_of(&element[..end])
    })
}

fn charset_of(meta: &[u8]) -> Option<&[u8]> {
    const NAME: &[u8] = b"charset=";
    let at = meta.windows(NAME.len()).position(|window| window.eq_ignore_ascii_case(NAME))?;
    let value = meta[at + NAME.len()..].trim_ascii_start();
    let value = value.strip_prefix(b"\"").or(value.strip_prefix(b"'")).unwrap_or(value);
    let name =
        value.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"-_:.+".contains(*byte));
    Some(&value[..name.count()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::protocol::DocumentHead;

    /// Returns the metadata of a page and the texts of its blocks.
    pub(crate) fn blocks_of(page: &[u8]) -> (DocumentHead, Vec<String>) {
        let (mut head, mut blocks) = (DocumentHead::default(), Vec::new());
        let input = ReaderInput::of(page);
        let outcome = read(&input, &mut |line| {
            match line {
                AnswerLine::Document(document) => head = document,
                AnswerLine::Page(page) => {
                    blocks.extend(page.blocks.into_iter().map(|block| block.text));
                }
                _ => {}
            }
            Ok(())
        });
        assert!(outcome.is_ok(), "{outcome:?}");
        (head, blocks)
    }

    #[test]
    fn a_page_may_declare_its_encoding() {
        let page = b"<meta http-equiv=x content='text/html; charset=windows-1251'><p>\xCF\xF0\xE8";
        assert_eq!(blocks_of(page).1, ["\u{41F}\u{440}\u{438}"]);
        assert_eq!(blocks_of("<meta charset=latin1><p>Grüße".as_bytes()).1, ["Grüße"]);
        assert_eq!(charset(b"<meta CHARSET = x>"), None);
        assert_eq!(charset(b"<meta charset=\"utf-8\">"), Some(b"utf-8".as_slice()));
        let late = [b"<script charset=utf-8></script>".repeat(99), b"<META charset=gbk>".to_vec()];
        assert_eq!(charset(&late.concat()), Some(b"gbk".as_slice()));
        assert_eq!(charset(b"<meta name=x><p>charset=gbk"), None);
    }

    #[test]
    fn an_endlessly_nested_page_is_read() {
        let page = "<div><b>".repeat(3_000) + "deep";
        assert_eq!(blocks_of(page.as_bytes()).1, ["deep"]);
    }
}
