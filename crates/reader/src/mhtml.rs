//! Reads a saved web page (MHTML): the page in a message, without its pictures and styles.
//!
//! An MHTML file is a MIME message (RFC 2557) whose parts are the page and what it shows.

use mail_parser::decoders::base64::base64_decode;
use mail_parser::{MessageParser, MessagePart, MimeHeaders};

use super::{Emit, Input, Stop, html};
use crate::error::Failure;
use crate::extract::protocol::{ReadFailure, Tail};
use crate::text::decode;

/// Reads a saved page.
pub(crate) fn read(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<Tail, Stop> {
    let page = page(input.bytes)
        .ok_or_else(|| ReadFailure::new(Failure::WrongFormat, "there is no web page in it"))?;
    html::read(&Input { bytes: &page, ..*input }, emit)
}

/// Returns the bytes of the first page in a message.
fn page(message: &[u8]) -> Option<Vec<u8>> {
    let message = MessageParser::default().parse(message)?;
    let part = message.parts.iter().find(|part| is_page(part))?;
    let offset = |offset: u32| usize::try_from(offset).ok();
    let body = offset(part.raw_body_offset())?..offset(part.raw_end_offset())?;
    let body = message.raw_message.get(body)?;
    // As the message says: the library takes a part with a mistake for one that is not encoded.
    let encoding = part.content_transfer_encoding().unwrap_or_default().trim().to_lowercase();
    let bytes = match encoding.as_str() {
        "quoted-printable" => quoted_printable(body),
        "base64" => base64(body),
        _ => body.to_vec(),
    };
    // The charset of the message overrides that of the page.
    let charset = part.content_type().and_then(|kind| kind.attribute("charset"));
    let text = charset.and_then(|charset| decode::decode_as(&bytes, Some(charset.as_bytes())));
    Some(text.map_or(bytes, String::into_bytes))
}

fn is_page(part: &MessagePart<'_>) -> bool {
    let is = |kind: &str, subtype: &str| part.is_content_type(kind, subtype);
    is("text", "html") || is("application", "xhtml+xml")
}

/// Decodes quoted-printable text; a `=` that encodes nothing stays.
fn quoted_printable(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'=' {
            bytes.push(first);
            continue;
        }
        let hex = after.get(..2).and_then(|hex| str::from_utf8(hex).ok());
        if let Some(byte) = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else if let Some(next_line) = trim_blanks(after).strip_prefix(b"\n") {
            // The line continues.
            rest = next_line;
        } else {
            bytes.push(first);
        }
    }
    bytes
}

/// Removes the blanks of a line from the start of some bytes.
fn trim_blanks(bytes: &[u8]) -> &[u8] {
    let is_blank = |byte: &u8| byte.is_ascii_whitespace() && *byte != b'\n';
    let num_blanks = bytes.iter().position(|byte| !is_blank(byte)).unwrap_or(bytes.len());
    &bytes[num_blanks..]
}

/// Decodes base64; other characters are ignored.
fn base64(body: &[u8]) -> Vec<u8> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let end = body.iter().position(|byte| *byte == b'=').unwrap_or(body.len());
    let letters: Vec<u8> = body[..end].iter().copied().filter(is_letter).collect();
    base64_decode(&letters).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::output_of;

    #[track_caller]
    fn check(kind: &str, encoding: &str, body: &[u8], expected: &[&str]) {
        let mut message = format!(
            "From: <Saved by a browser>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related;\r\n\ttype=\"text/html\";\r\n\
             \tboundary=\"--x\"\r\n\r\nA message.\r\n----x\r\nContent-Type: image/png\r\n\r\nPNG\r\n----x\r\n\
             Content-Type: {kind}\r\nContent-Transfer-Encoding: {encoding}\r\n\r\n"
        )
        .into_bytes();
        message.extend(body);
        message.extend(b"\r\n----x--\r\n");
        assert_eq!(output_of(read, &message).unwrap().1, expected);
    }

    #[test]
    fn the_page_in_a_message_is_read() {
        check(
            "text/html",
            "quoted-printable",
            b"<h1>Tide=\r\ns</h1><p title=3D\"a\">Gr=C3=BC=C3=9Fe",
            &["# Tides", "Grüße"],
        );
        check("text/html; charset=\"windows-1251\"", "8bit", b"<p>\xCF\xF0\xE8", &["При"]);
        check("TEXT/HTML", "base64", b"PHA+SGln\r\naCB3YXRlcg==", &["High water"]);
    }

    #[test]
    fn a_page_with_a_mistake_in_its_encoding_is_read() {
        check("text/html", "quoted-printable", b"<p>Gr=C3=BC=C3=9Fe = a=b", &["Grüße = a=b"]);
        check("text/html", "base64", b"PHA+SGln*\r\naCB3YXRlcg==", &["High water"]);
    }

    #[test]
    fn the_pages_that_fuzzing_begins_with_have_words() {
        let page = include_bytes!("../../../fuzz/corpus/mhtml/page");
        assert_eq!(output_of(read, page).unwrap().1, ["# Tides", "При"]);
        let nested = include_bytes!("../../../fuzz/corpus/mhtml/nested");
        assert_eq!(output_of(read, nested).unwrap().1, ["# Tides", "High water at ten."]);
    }

    #[test]
    fn a_message_without_a_page_is_refused() {
        let nested = "Content-Type: multipart/mixed; boundary=x\n\n--x\n".repeat(50);
        for message in ["", "words", "Content-Type: text/plain\n\nwords", &nested] {
            match output_of(read, message.as_bytes()) {
                Err(Stop::Failed(failed)) => assert_eq!(failed.failure, Failure::WrongFormat),
                other => panic!("{other:?}"),
            }
        }
    }
}
