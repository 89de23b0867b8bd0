//! Reads a saved web page (MHTML): the page in a message, without its pictures and styles.
//!
//! An MHTML file is a MIME message (RFC 2557) whose parts are the page and what it shows.

use mail_parser::{MessageParser, MessagePart, MimeHeaders};

use super::{Emit, Input, Stop, html, mime};
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
    let bytes = mime::contents(&message, part).into_owned();
    // The charset of the message overrides that of the page.
    let charset = part.content_type().and_then(|kind| kind.attribute("charset"));
    let text = charset.and_then(|charset| decode::decode_as(&bytes, Some(charset.as_bytes())));
    Some(text.map_or(bytes, String::into_bytes))
}

fn is_page(part: &MessagePart<'_>) -> bool {
    let is = |kind: &str, subtype: &str| part.is_content_type(kind, subtype);
    is("text", "html") || is("application", "xhtml+xml")
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
